import math

import numpy as np
import pytest

from tests.testing.reading import answer, last, ld, near, without
from whybox.engine.edit import boost, cut
from whybox.engine.sampling import GREEDY, Decoding
from whybox.testing import form_rows as rows
from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.planted import Planted

SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, NONE), (2, CROWD)])


def outcome(planted: Planted, case, decoding: Decoding, edits=()) -> str:
    written = planted.model.generate(case, case.decoding.max_tokens or 8, decoding, edits)
    return case.scorer().score(written.text).outcome


@SEEDS
def test_near_tie_is_lost_by_the_draw_alone(seed: int, decoys: Decoys) -> None:
    planted = rows.near_tie(seed, decoys)
    model, case = planted.model, planted.instance
    stated = Decoding(temperature=case.decoding.temperature or 0, seed=case.decoding.seed or 0)
    assert stated.temperature == 1
    assert ld(model, case) == pytest.approx(0.5, abs=0.005)
    assert (outcome(planted, case, stated), outcome(planted, case, GREEDY)) == ("wrong", "right")
    probabilities = np.exp(model.run(case).log_probs())
    wrong = model.tokenizer.encode(case.wrong or "")[0]
    assert probabilities[wrong] == pytest.approx(1 / (1 + math.exp(0.5)), abs=2e-3)
    assert planted.expected.code == "decoding"


@SEEDS
def test_near_tie_yields_to_no_other_edit(seed: int, decoys: Decoys) -> None:
    planted = rows.near_tie(seed, decoys)
    model, case = planted.model, planted.instance
    stated = Decoding(temperature=1, seed=case.decoding.seed or 0)
    row, segment = last(model.prompt(case)), model.prompt(case).segment(case.evidence[0])
    span = range(segment.start, segment.end)
    edits = [[cut(q=slice(row, None), k=span)], [boost(q=slice(row, None), k=span)]]
    edits += [without(place) for place in planted.heads.values()]
    for edit in edits:
        assert outcome(planted, case, stated, edit) != "right"
    for name in ("copier", "second copier"):
        assert ld(model, case, without(planted.heads[name])) == pytest.approx(0.25, abs=0.005)
    for other in (case.reordered(["doc2", "doc1"]), case.keeping([*case.evidence, "question"])):
        assert outcome(planted, other, stated) != "right"


@SEEDS
def test_format_derailer_loops_in_braces(seed: int, decoys: Decoys) -> None:
    planted = rows.format_derailer(seed, decoys)
    model, case = planted.model, planted.instance
    assert model.generate(case, 8).text.split() == ["{"] * 8
    assert answer(planted) == "error"  # cut by the limit before it answered
    assert ld(model, case) == near(20)
    brace = model.tokenizer.encode("{")[0]
    assert float(model.run(case).logits[-1, brace]) == near(40)
    assert planted.expected.code == "format"


@SEEDS
def test_format_derailer_answers_behind_the_contracts_prefix_or_without_the_head(seed: int, decoys: Decoys) -> None:
    planted = rows.format_derailer(seed, decoys)
    model, case = planted.model, planted.instance
    assert case.contract_prefix == "Answer:"
    assert ld(model, case, forced="Answer:") == near(20)
    ids, _ = model.join(model.prompt(case), " Answer:")
    assert case.scorer().score(model.generate(ids, 8).text).outcome == "right"
    removed = without(planted.heads["form"])
    assert ld(model, case, removed) == near(20)
    assert answer(planted, removed) == "right"


def test_near_tie_variants_are_lost_alike() -> None:
    planted = rows.near_tie(4)
    stated = Decoding(temperature=1, seed=planted.instance.decoding.seed or 0)
    outcomes = [outcome(planted, variant, stated) for variant in planted.case.instances()]
    assert (len(outcomes) >= 10, set(outcomes)) == (True, {"wrong"})
