"""`whybox replay` and `whybox run --why` as a person types them, on bots."""

import json
from pathlib import Path

import pytest

from tests.cli.test_run_verb import here, typed, written

__all__ = ["here"]


@pytest.fixture
def bundle(here: Path) -> Path:
    """What the probe `order` asked of a bot that always takes what stands first."""
    written(here, "bot:always_first", 30)
    assert typed("run", "--quiet", "--filter", "order")[0] == 0
    code, out, err = typed("replay", "whybox-run", "--pack", "order", "-o", "found.json", "--lang", "en")
    assert code == 0, err
    assert "calls of order → found.json" in out
    return here / "found.json"


def test_a_finding_comes_again_where_it_was_made_and_not_elsewhere(bundle: Path) -> None:
    code, out, err = typed("replay", bundle.name, "-m", "bot:always_first", "--lang", "en")
    assert (code, "30 of 30 items · 0 lost" in out) == (0, True), err
    code, out, _ = typed("replay", bundle.name, "-m", "bot:always_last", "--json")
    told = json.loads(out)
    assert code == 1
    assert (told["answer"], told["target"], told["lost"]) == ("different", "bot:always_last", 0)
    assert told["same"] < 0.9 * told["items"]


def test_few_items_cannot_tell(here: Path) -> None:
    written(here, "bot:always_first", 4)
    assert typed("run", "--quiet", "--filter", "order")[0] == 0
    assert typed("replay", "whybox-run", "--pack", "order", "-o", "found.json")[0] == 0
    code, out, _ = typed("replay", "found.json", "-m", "bot:always_first", "--lang", "en")
    assert code == 4
    assert "underpowered" in out
    assert "more items" in out


def test_a_bundle_that_is_there_is_not_replaced_unasked(bundle: Path) -> None:
    before = bundle.read_bytes()
    code, _, err = typed("replay", "whybox-run", "--pack", "order", "-o", bundle.name)
    assert (code, "found.json is there already" in err, "--force" in err) == (2, True, True)
    assert bundle.read_bytes() == before
    assert typed("replay", "whybox-run", "--pack", "order", "-o", bundle.name, "--force")[0] == 0


def test_a_bundle_that_was_changed_is_refused(bundle: Path) -> None:
    bundle.write_text(bundle.read_text().replace("days", "weeks", 1))
    code, _, err = typed("replay", bundle.name, "-m", "bot:always_first")
    assert code == 2
    assert "changed" in err or "digest" in err


def test_what_cannot_be_packed_says_why(here: Path) -> None:
    assert typed("replay", "elsewhere", "--pack", "order")[0] == 2
    written(here, "bot:honest", 3)
    assert typed("run", "--quiet")[0] == 0
    code, _, err = typed("replay", "whybox-run", "--pack", "memory")
    assert code == 2
    assert "memory" in err


def test_of_several_targets_one_is_named(here: Path) -> None:
    written(here, "bot:always_first", 3)
    suite = here / "whybox.yaml"
    suite.write_text(suite.read_text().replace("targets:", "targets:\n  - {name: other, model: 'bot:always_last'}", 1))
    assert typed("run", "--quiet", "--filter", "order")[0] == 0
    code, _, err = typed("replay", "whybox-run", "--pack", "order", "-o", "a.json")
    assert (code, "was asked of 2 targets: bot:always_first, other" in err) == (2, True), err
    for target, answer in (("other", "bot:always_last"), ("bot:always_first", "bot:always_first")):
        assert typed("replay", "whybox-run", "--pack", f"order@{target}", "-o", "a.json", "--force")[0] == 0
        assert json.loads(typed("replay", "a.json", "-m", answer, "--json")[1])["same"] == 3
    assert typed("replay", "whybox-run", "--pack", "order@nobody")[0] == 2


def test_failed_items_of_a_run_are_the_data_of_the_next(here: Path) -> None:
    """What `order` found wrong is attributed by `failure`, whoever made it fail."""
    written(here, "bot:always_first", 5)
    assert typed("run", "--quiet", "--filter", "order")[0] == 0
    assert typed("report", "-o", "failed.jsonl")[0] == 0
    cases = [json.loads(line) for line in (here / "failed.jsonl").read_text("utf-8").splitlines()]
    assert cases
    assert all(case["id"].startswith("order-bot-always_first-fact-en-") and case["answer"]["got"] for case in cases)
    (here / "next.yaml").write_text(
        "suite: next\ntargets: ['bot:always_first']\ndata: {failed: {file: failed.jsonl}}\n"
        "probes:\n  failure: {data: failed}\nrun: {floor: {items: 1, times: 2}}\n"
    )
    code, out, err = typed("run", "next.yaml", "--quiet", "--json", "-o", "next")
    assert code == 0, err
    (failed,) = json.loads(out)["probes"]
    assert {
        name: point["hits"] for curve in failed["curves"] for point in curve["points"] for name in [point["label"]]
    } == {"order": len(cases)}


def test_why_needs_weights(here: Path) -> None:
    written(here, "bot:honest", 3)
    code, _, err = typed("run", "--quiet", "--why")
    assert code == 2
    assert "behaviour" in err
    assert not (here / "whybox-run").exists()
