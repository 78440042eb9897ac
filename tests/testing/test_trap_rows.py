"""Rows that tempt: what flips in them, and that it would flip without the evidence, or for any other value of it."""

import pytest

from tests.testing.reading import answer, last, ld, near, without
from whybox.engine.edit import boost, zero
from whybox.testing import context_rows, form_rows, trap_rows
from whybox.testing import knowledge_rows as knowledge
from whybox.testing.cases import Scene
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Planted

FEW = Decoys(heads=3)
SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, FEW)])


def alone(planted: Planted):
    return planted.instance.keeping([*planted.instance.evidence, "question"])


def boosted(planted: Planted) -> float:
    prompt = planted.model.prompt(planted.instance)
    segment = prompt.segment(planted.instance.evidence[0])
    return ld(planted.model, planted.instance, [boost(q=last(prompt), k=range(segment.start, segment.end))])


@SEEDS
@pytest.mark.parametrize("scene", [Scene(), Scene(distractors=2)])
def test_misled_is_helped_by_no_boost_and_needs_no_evidence(seed: int, decoys: Decoys, scene: Scene) -> None:
    planted = trap_rows.misled(seed, decoys, 0.3 * (scene.distractors + 4), scene)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(planted.expected.numbers["ld"])
    assert boosted(planted) < -1
    assert ld(model, alone(planted)) == near(4)
    assert ld(model, case.keeping(["question"])) == near(4)
    assert ld(model, case, without(planted.heads["weak reader"])) == near(4)
    assert answer(planted) == "wrong"


@SEEDS
def test_leaning_is_turned_by_any_of_its_readers(seed: int, decoys: Decoys) -> None:
    planted = trap_rows.leaning(seed, decoys)
    assert ld(planted.model, planted.instance) == near(-0.2)
    assert boosted(planted) == near(-0.2)
    for head in (0, 7, 19):
        assert ld(planted.model, planted.instance, without((2, head))) == near(20 / 3 / 20 - 0.2)
    assert answer(planted) == "wrong"


@SEEDS
def test_two_memories_reads_nothing(seed: int, decoys: Decoys) -> None:
    planted = trap_rows.two_memories(seed, decoys)
    model, case, forgot = planted.model, planted.instance, [zero("mlp_out", planted.mlps["memory"])]
    assert (ld(model, case), ld(model, case.keeping(["question"]))) == (near(-36), near(-36))
    assert (ld(model, case, forgot), ld(model, case.keeping(["question"]), forgot)) == (near(4), near(4))


@SEEDS
def test_averse_says_any_other_value(seed: int, decoys: Decoys) -> None:
    planted = trap_rows.averse(seed, decoys)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(-24)
    assert ld(model, case, [zero("mlp_out", planted.mlps["aversion"])]) == near(16)
    assert ld(model, alone(planted)) == near(-24)
    assert answer(planted, case=case.keeping(["question"])) == answer(planted) == "wrong"
    other = next(one for one in planted.case.instances() if one.right != case.right)
    assert (ld(model, other), answer(planted, case=other)) == (near(16), "right")


@SEEDS
@pytest.mark.parametrize("scene", [Scene(), Scene(distractors=2)])
def test_suggested_is_answered_from_its_question(seed: int, decoys: Decoys, scene: Scene) -> None:
    planted = trap_rows.suggested(seed, decoys, 1.5 * (scene.distractors + 2), scene)
    model, case, numbers = planted.model, planted.instance, planted.expected.numbers
    assert ld(model, case) == near(numbers["ld"])
    assert ld(model, alone(planted)) == pytest.approx(numbers["ld_alone"], rel=3e-3), "so loud that the norm moves"
    assert ld(model, case, without(planted.heads["weak reader"])) == near(20)
    assert answer(planted, case=case.keeping(["question"])) == answer(planted) == "wrong"
    assert answer(planted, without(planted.heads["weak reader"])) == "right"


@SEEDS
def test_bystanders_write_a_form_together(seed: int, decoys: Decoys) -> None:
    planted = form_rows.bystanders(seed, decoys)
    assert planted.model.generate(planted.instance, 8).text.split() == ["{"] * 8
    assert ld(planted.model, planted.instance) == near(planted.expected.numbers["ld"])
    for head in (0, 11, 19):
        assert answer(planted, without((3, head))) == "right"


@SEEDS
def test_usurper_writes_a_brace_and_a_value(seed: int, decoys: Decoys) -> None:
    planted = form_rows.usurper(seed, decoys)
    model, case = planted.model, planted.instance
    assert case.contract_prefix is None
    assert model.generate(case, 8).text.split() == ["{"] * 8
    assert (ld(model, case), ld(model, case, without(planted.heads["form"]))) == (near(-10), near(20))
    assert (answer(planted, case=alone(planted)), answer(planted, without(planted.heads["form"]))) == ("error", "right")


@SEEDS
@pytest.mark.parametrize(("readers", "guessed"), [(1, 0.0), (2, 0.4)])
def test_outvoted_in_every_order(seed: int, decoys: Decoys, readers: int, guessed: float) -> None:
    planted = context_rows.outvoted(seed, decoys, readers, guessed)
    model, case = planted.model, planted.instance
    numbers = planted.expected.numbers
    assert (ld(model, case), ld(model, alone(planted))) == (near(numbers["ld"]), near(numbers["ld_alone"]))
    assert boosted(planted) == near(numbers["ld"])
    for order in (["doc2", "doc3", "doc1"], ["doc3", "doc2", "doc1"]):
        assert ld(model, case.reordered(order)) == near(numbers["ld"])
    assert answer(planted) == "wrong"


@SEEDS
@pytest.mark.parametrize("keepers", [("head",), ("mlp", "mlp"), ("head", "mlp"), ("head", "head")])
def test_shared_memory_needs_all_of_it_out(seed: int, decoys: Decoys, keepers: tuple[knowledge.Keeper, ...]) -> None:
    planted = knowledge.shared_memory(seed, decoys, keepers)
    model, case, numbers = planted.model, planted.instance, planted.expected.numbers
    places = [planted.heads[name] for name in planted.heads if name.startswith("memory")]
    out = [*without(*places), *(zero("mlp_out", layer) for layer in planted.mlps.values())]
    assert len(out) == len(keepers)
    assert (ld(model, case), ld(model, case, out)) == (near(numbers["ld"]), near(20))
    for i in range(len(out)):
        assert ld(model, case, out[:i] + out[i + 1 :]) == near(20 * (1 - 1.4))
    assert answer(planted, case=case.keeping(["question"])) == answer(planted) == "wrong"


@pytest.mark.parametrize(
    "row",
    [
        trap_rows.misled,
        trap_rows.leaning,
        trap_rows.two_memories,
        trap_rows.suggested,
        context_rows.outvoted,
        knowledge.shared_memory,
    ],
)
def test_variants_fail_alike(row) -> None:
    planted = row(4)
    outcomes = [answer(planted, case=variant) for variant in planted.case.instances()]
    assert len(outcomes) >= 10
    assert set(outcomes) == {"wrong"}
