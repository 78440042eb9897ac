"""Full effort on planted models: the report says what is known of each mechanism, and counts every run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.jobs.full_process import BESIDE
from tests.testing.reading import near
from whybox.report import findings
from whybox.report.document import Full, WhyDocument
from whybox.testing import ROWS
from whybox.testing.planted import Planted

FULL = ("backup", "cancel", "redundant_or", "induction", "memoriser")
QUICK = ("not_looking", "missing_fact", "memoriser")
ASKED = (*(f"{row}:torch:full" for row in FULL), "sink:numpy:full", *(f"{row}:numpy:quick" for row in QUICK))
WORDS_NEVER_SAID = ("unimportant", "important", "irrelevant", "not needed")


@cache
def everything() -> dict[str, dict[str, Any]]:
    """All of them, explained once."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.jobs.full_process", *ASKED]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=True, timeout=300)
    return dict(zip(ASKED, map(json.loads, ended.stdout.splitlines()), strict=True))


@cache
def explained(row: str, engine: str = "torch", effort: str = "full") -> tuple[Planted, WhyDocument, dict[str, int]]:
    found = everything()[f"{row}:{engine}:{effort}"]
    return ROWS[row](1, BESIDE), WhyDocument.model_validate(found["document"]), dict(found["announced"])


def full_of(row: str, engine: str = "torch") -> tuple[dict[str, str], Full, WhyDocument]:
    planted, document, _ = explained(row, engine)
    assert document.full is not None
    return {name: f"head {layer}.{head}" for name, (layer, head) in planted.heads.items()}, document.full, document


def test_a_backup_is_reported_and_its_primary_is_made_good() -> None:
    heads, full, document = full_of("backup")
    repairs = {row.name: row for row in full.repairs}
    primary, backup = repairs[heads["primary"]], repairs[heads["backup"]]
    assert (primary.direct.value, primary.total.value) == (near(-20), near(0))
    assert primary.repaired == pytest.approx(1, abs=1e-2)
    assert backup.flags == ("backup",)
    assert backup.conditional.value == near(-20)
    assert full.joint is not None
    assert heads["primary"] in full.joint.parts
    assert full.joint.sum_of_direct == near(-20)
    told = " ".join(findings.findings(document, "en"))
    assert f"{heads['backup']} act once others are gone (backup)" in told
    assert f"{heads['primary']} is made good" in " ".join(findings.made_good(full, document, "en"))
    together = next(pair for pair in full.pairs if set(pair.parts) == {heads["primary"], heads["backup"]})
    assert together.flag == "only together"
    removal = next(row for row in full.sets if row.what == "removal")
    both = {heads["primary"], heads["backup"]}
    assert both in [set(parts) for parts in (removal.parts, *removal.others)] or len(removal.parts) == 1


def test_heads_that_cancel_are_reported_as_a_pair() -> None:
    heads, full, document = full_of("cancel")
    pair = next(pair for pair in full.pairs if set(pair.parts) == {heads["plus"], heads["minus"]})
    assert pair.flag == "cancel each other"
    assert pair.joint.value == near(0)
    told = " ".join(findings.pair_sentences(full, document, "en"))
    assert "cancel each other: alone" in told
    assert "Read the pair, not either." in told


def test_what_gradients_cannot_see_is_flagged() -> None:
    for row, name in (("redundant_or", "copier 0"), ("induction", "previous")):
        heads, full, document = full_of(row)
        assert full.gradients is not None, full.gradients_reason
        rows = {one.name: one for one in full.gradients.rows}
        assert rows[heads[name]].low_confidence
        assert full.gradients.flagged >= 1
        assert "Low confidence" in findings.gradient_sentence(full.gradients, document, "en")
    lookups = [one for one in full.gradients.rows if one.name.startswith(("query", "key"))]
    assert any("saturated softmax" in one.flags for one in lookups)


def test_what_one_gradient_cannot_see_is_integrated_and_its_largest_part_measured() -> None:
    heads, full, document = full_of("redundant_or")
    assert full.gradients is not None
    along = {one.place: one for one in full.gradients.along}
    layer = heads["copier 0"].removeprefix("head ").split(".")[0]
    copiers = along[f"head_out {layer}"]
    assert abs(copiers.estimate) < 0.1 * abs(copiers.joint)
    assert copiers.joint == near(-20)
    assert copiers.shared == pytest.approx(copiers.joint, rel=0.05)
    assert copiers.largest in {heads[f"copier {i}"] for i in range(3)}
    assert copiers.effect.value == near(0), "a spare alone does nothing, whatever its share"
    told = " ".join(findings.along_sentences(full.gradients, document, "en"))
    assert f"One gradient does not see head_out {layer}" in told
    listed = [run for run in document.runs if run.what == f"gradient of LD along head_out {layer}"]
    assert len(listed) >= copiers.midpoints


def test_spares_of_an_or_are_found_as_a_set() -> None:
    heads, full, _ = full_of("redundant_or")
    copiers = {heads[f"copier {i}"] for i in range(3)}
    removal = next(row for row in full.sets if row.what == "removal")
    assert copiers in [set(parts) for parts in (removal.parts, *removal.others)] or len(removal.parts) == 1
    spares = [row for row in full.repairs if row.name in copiers]
    assert len(spares) == 3
    for row in spares:
        assert row.total.value == near(0)
        assert row.conditional.value == near(-20)
        assert not any("no effect" in flag for flag in row.flags)


def test_that_a_head_does_nothing_is_said_of_none_that_does_something_anywhere() -> None:
    heads, full, document = full_of("sink", "numpy")
    assert document.parts is not None
    sink = next(row for row in document.parts.rows if row.name == heads["sink"])
    assert (sink.zero.value, sink.zero.changed) == (0, False)
    previous = next(row for row in full.repairs if row.name == heads["previous"])
    assert previous.total.value == near(0)
    assert previous.everywhere == near(-20)
    assert previous.flags == ()
    for row in ("backup", "redundant_or", "cancel", "induction"):
        names, other, _ = full_of(row)
        silent = {one.name for one in other.repairs if any("no effect" in flag for flag in one.flags)}
        assert not silent & set(names.values())


def test_the_context_rests_on_the_evidence() -> None:
    _, full, document = full_of("induction")
    assert full.context is not None
    assert full.context.right
    assert full.context.exact
    best = max(full.context.sources, key=lambda row: row.score or 0.0)
    assert best.name == document.prompt.evidence[0]
    assert "rests most on " + best.name in findings.context_finding(full.context, "en")


def test_the_writer_of_a_wrong_answer_is_the_smallest_set_and_the_answer_turns() -> None:
    planted, document, _ = explained("memoriser")
    assert document.full is not None
    removal = next(row for row in document.full.sets if row.what == "removal")
    assert removal.parts == (f"MLP {planted.mlps['memory']}",)
    assert removal.turns
    assert removal.ld == near(planted.expected.numbers["ld_without_mlp"])
    assert document.full.context is not None
    assert not document.full.context.right


def test_three_ablations_stand_side_by_side_with_their_draws() -> None:
    heads, full, _ = full_of("induction")
    rows = {row.name: row for row in full.ablations}
    copier = rows[heads["copier"]]
    assert copier.zero.value == near(-20)
    assert (copier.zero.n, copier.mean.n, copier.resample.n) == (1, 1, 16)
    assert rows[heads["previous"]].zero.value == near(-20)
    assert copier.resample.draws >= 1
    assert copier.resample.smallest_p == pytest.approx(1 / (copier.resample.draws + 1))


def test_numpy_says_why_there_are_no_gradients_and_finds_the_rest() -> None:
    _, full, _ = full_of("sink", "numpy")
    assert full.gradients is None
    assert "computes no gradients" in (full.gradients_reason or "")
    assert full.repairs
    assert full.ablations
    assert full.context is not None


@pytest.mark.parametrize("asked", ASKED)
def test_no_more_runs_than_were_announced_and_every_one_is_listed(asked: str) -> None:
    _, document, announced = explained(*asked.split(":"))
    assert 0 < document.provenance.runs <= sum(announced.values())
    assert len(document.runs) == document.provenance.runs == sum(stage.made for stage in document.stages)
    assert {stage.name: stage.announced for stage in document.stages} == announced
    over = {stage.name: (stage.made, stage.announced) for stage in document.stages if stage.made > stage.announced}
    assert over == {}
    assert {run.text for run in document.runs} == set(range(1, len(document.texts) + 1))


def test_quick_says_that_full_was_not_run() -> None:
    _, document, _ = explained("memoriser", "numpy", "quick")
    assert document.full is None
    assert document.full_reason == "run with --effort full"
    assert document.parts is not None
    assert sum(row.resample is not None for row in document.parts.rows) == min(20, len(document.parts.rows))


@pytest.mark.parametrize("asked", ASKED)
def test_every_missing_number_says_why(asked: str) -> None:
    _, document, _ = explained(*asked.split(":"))
    assert list(_bare(document.model_dump(mode="json"), "")) == []


SAID_ELSEWHERE = {"detail", "undone_by"}  # texts, not numbers
MEAN_OF_ALL = {".pattern.layer", ".pattern.head"}  # the map is the mean over all of them
SIDES = {"direct_sides": "direct_reason", "total_sides": "total_reason", "removed_sides": "removed_reason"}


def _bare(value: Any, place: str) -> Iterator[str]:
    """Places of a null without a reason beside it."""
    match value:
        case dict():
            for key, inner in value.items():
                reason = value.get(f"{key}_reason") or value.get(SIDES.get(key, ""))
                optional = key.endswith("_reason") or key in SAID_ELSEWHERE or (key == "answer" and "what" in value)
                if inner is None and not reason and not optional and f"{place}.{key}" not in MEAN_OF_ALL:
                    yield f"{place}.{key}"
                yield from _bare(inner, f"{place}.{key}")
        case list():
            for index, inner in enumerate(value):
                yield from _bare(inner, f"{place}[{index}]")


def test_no_report_calls_a_part_unimportant() -> None:
    for row in ("backup", "cancel", "redundant_or", "induction"):
        _, document, _ = explained(row)
        told = " ".join([*findings.findings(document, "en"), findings.parts_finding(document, "en")])
        assert not any(word in told.lower() for word in WORDS_NEVER_SAID)
