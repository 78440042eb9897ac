import math

import numpy as np
import pytest

from tests.testing.reading import answer, last, ld, mass, near, place_of, without
from whybox.engine.edit import add, boost, cut
from whybox.testing import context_rows as rows
from whybox.testing.circuit import Place
from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.planted import Planted

SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, NONE), (2, CROWD)])


def swapped(planted: Planted):
    return planted.instance.reordered(["doc2", "doc1"])


def evidence_alone(planted: Planted):
    return planted.instance.keeping([*planted.instance.evidence, "question"])


def span_of_evidence(planted: Planted):
    return planted.model.prompt(planted.instance).segment(planted.instance.evidence[0])


@SEEDS
@pytest.mark.parametrize("copier", [(1, 0), (2, 3), (4, 1)])
def test_induction_needs_both_heads_and_no_other(seed: int, decoys: Decoys, copier: Place) -> None:
    planted = rows.induction(seed, decoys, copier)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(20)
    assert answer(planted) == "right"
    for name in ("previous", "copier"):
        assert ld(model, case, without(planted.heads[name])) == near(0)
    others = [
        (layer, head)
        for layer in range(len(model.spec.layers))
        for head in range(model.spec.layers[layer].attention.heads)
        if (layer, head) not in planted.heads.values()
    ]
    assert len(others) >= (40 if decoys is CROWD else 0)
    for place in others[::7]:
        assert ld(model, case, without(place)) == near(20)


@SEEDS
def test_induction_edges(seed: int, decoys: Decoys) -> None:
    planted = rows.induction(seed, decoys)
    model, case = planted.model, planted.instance
    prompt = model.prompt(case)
    value = place_of(model, prompt, case.right)
    assert ld(model, case, [cut(3, h=0, q=last(prompt), k=value)]) == near(0)
    assert ld(model, case, [cut(0, h=0, q=value, k=value - 1)]) == near(0)
    assert ld(model, case, [cut(3, h=0, q=last(prompt), k=range(10, 20))]) == near(20)


def test_induction_head_shows_on_repeated_random_ids() -> None:
    """mean A[q, q − T + 1] over the second half of BOS + T ids twice: an induction head by the usual score."""
    model = rows.induction(0).model
    half = np.random.default_rng(0).permutation(np.arange(2, 42)).tolist()
    pattern = model.engine.run([0, *half, *half], ["pattern"])["pattern", 3][0]
    queries = np.arange(1 + len(half), 1 + 2 * len(half))
    assert pattern[queries, queries - len(half) + 1].mean() > 0.99
    previous = model.engine.run([0, *half], ["pattern"])["pattern", 0][0]
    assert np.diagonal(previous, -1)[1:].mean() > 0.99


@SEEDS
@pytest.mark.parametrize("beta", [0.1, 0.25, 1.0])
def test_first_biased_prefers_the_first_document(seed: int, decoys: Decoys, beta: float) -> None:
    planted = rows.first_biased(seed, decoys, beta)
    model, case = planted.model, planted.instance
    first = 1 / (1 + math.exp(-4 * beta))
    assert mass(planted, "copier", case.wrong or "") == pytest.approx(first, abs=1e-3)
    assert ld(model, case) == near(20 * (1 - 2 * first))
    assert ld(model, swapped(planted)) == near(20 * (2 * first - 1))
    assert ld(model, case, [cut(q=last(model.prompt(case)), k=3)]) == near(20)
    assert ld(model, evidence_alone(planted)) == near(20)
    assert (answer(planted), answer(planted, case=swapped(planted))) == ("wrong", "right")
    assert planted.expected.code == "order"


def test_the_share_that_the_table_states() -> None:
    planted = rows.first_biased(0)
    assert mass(planted, "copier", planted.instance.wrong or "") == pytest.approx(0.731, abs=5e-4)
    mirrored = rows.recency_biased(0)
    assert mass(mirrored, "copier", mirrored.instance.right) == pytest.approx(0.269, abs=5e-4)


@SEEDS
def test_recency_biased_is_the_mirror_image(seed: int, decoys: Decoys) -> None:
    planted = rows.recency_biased(seed, decoys)
    model, case = planted.model, planted.instance
    assert case.evidence == ("doc1",)
    assert ld(model, case) == near(20 * (2 * 0.26894 - 1))
    assert ld(model, swapped(planted)) == near(20 * (1 - 2 * 0.26894))
    assert ld(model, case, [cut(q=last(model.prompt(case)), k=7)]) == near(20)


@SEEDS
def test_blind_spot_is_a_matter_of_place(seed: int, decoys: Decoys) -> None:
    planted = rows.blind_spot(seed, decoys)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(-6)
    assert ld(model, swapped(planted)) == near(14)
    assert ld(model, evidence_alone(planted)) == near(20)
    assert lifted(planted) == near(14)
    assert boosted_by_span(planted) > 5
    assert answer(planted) == "wrong"
    assert planted.expected.code == "order"


@SEEDS
def test_not_looking_in_any_order(seed: int, decoys: Decoys) -> None:
    planted = rows.not_looking(seed, decoys)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(-6)
    assert ld(model, swapped(planted)) == near(-6)
    assert ld(model, evidence_alone(planted)) == near(20)
    assert mass(planted, "copier", case.right) < 1e-6
    assert lifted(planted) == near(14)
    assert answer(planted) == "wrong"
    assert (planted.expected.code, planted.expected.detail) == ("context-use", "not-looked-at")


@SEEDS
def test_a_boost_of_the_evidence_flips_not_looking_and_no_other_span_does(seed: int, decoys: Decoys) -> None:
    """The boost makes the best key of the span equal to BOS: half of the mass, and a diluted weak reader."""
    planted = rows.not_looking(seed, decoys)
    assert boosted_by_span(planted) == near(8.5)
    prompt = planted.model.prompt(planted.instance)
    segment = span_of_evidence(planted)
    shams = [k for k in range(1, last(prompt) - 4) if k + 4 <= segment.start or k >= segment.end]
    assert len(shams) >= 19
    changed = [boost(q=last(prompt), k=range(k, k + 4)) for k in shams]
    assert max(ld(planted.model, planted.instance, [edit]) for edit in changed) < -1


@SEEDS
def test_suppressed_looks_and_does_not_use(seed: int, decoys: Decoys) -> None:
    planted = rows.suppressed(seed, decoys)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(-16)
    assert ld(model, swapped(planted)) == near(-16)
    assert ld(model, evidence_alone(planted)) == near(20)
    assert mass(planted, "copier", case.right) == pytest.approx(1, abs=1e-5)
    assert ld(model, case, without(planted.heads["suppressor"])) == near(14)
    assert answer(planted, without(planted.heads["suppressor"])) == "right"
    assert (planted.expected.code, planted.expected.detail) == ("context-use", "looked-at-not-used")


@SEEDS
def test_a_boost_does_nothing_for_suppressed(seed: int, decoys: Decoys) -> None:
    planted = rows.suppressed(seed, decoys)
    prompt, segment = planted.model.prompt(planted.instance), span_of_evidence(planted)
    reading = boost([3, 4], h=0, q=last(prompt), k=range(segment.start, segment.end))
    assert planted.model.run(prompt, edits=[reading]).changed == (False,)
    assert boosted_by_span(planted) < -9


def lifted(planted: Planted) -> float:
    """LD with the copier's score for the right value raised by its penalty, 60."""
    model, case = planted.model, planted.instance
    prompt = model.prompt(case)
    layer, head = planted.heads["copier"]
    value = place_of(model, prompt, case.right)
    return ld(model, case, [add("scores", np.asarray(60.0), layer, h=head, q=last(prompt), k=value)])


def boosted_by_span(planted: Planted) -> float:
    """LD with the evidence lifted to the strongest key, in all heads and layers."""
    segment = span_of_evidence(planted)
    prompt = planted.model.prompt(planted.instance)
    return ld(planted.model, planted.instance, [boost(q=last(prompt), k=range(segment.start, segment.end))])


@pytest.mark.parametrize("row", [rows.first_biased, rows.recency_biased, rows.blind_spot, rows.not_looking])
def test_variants_fail_alike(row) -> None:
    planted = row(4)
    outcomes = [answer(planted, case=variant) for variant in planted.case.instances()]
    assert len(outcomes) >= 20
    assert set(outcomes) == {"wrong"}
