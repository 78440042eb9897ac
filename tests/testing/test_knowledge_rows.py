import pytest

from tests.testing.reading import answer, last, ld, mass, near, without
from whybox.engine.edit import boost, zero
from whybox.testing import knowledge_rows as rows
from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.vocabulary import ENTITIES

SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, NONE), (2, CROWD)])


@SEEDS
@pytest.mark.parametrize("layer", [1, 3, 5])
def test_memoriser_overrules_the_evidence(seed: int, decoys: Decoys, layer: int) -> None:
    planted = rows.memoriser(seed, decoys, layer)
    model, case = planted.model, planted.instance
    assert planted.mlps == {"memory": layer}
    assert mass(planted, "copier", case.right) == pytest.approx(1, abs=1e-5)
    assert ld(model, case) == near(-20)
    assert ld(model, case, [zero("mlp_out", layer)]) == near(20)
    for other in set(range(len(model.spec.layers))) - {layer}:
        assert ld(model, case, [zero("mlp_out", other)]) == near(-20)
    assert (answer(planted), answer(planted, [zero("mlp_out", layer)])) == ("wrong", "right")
    assert (planted.expected.code, planted.expected.detail) == ("knowledge", "overruled")


@SEEDS
def test_memoriser_says_the_same_without_any_evidence(seed: int, decoys: Decoys) -> None:
    planted = rows.memoriser(seed, decoys)
    closed = planted.instance.keeping(["question"])
    assert ld(planted.model, closed) == near(-40)
    assert answer(planted, case=closed) == "wrong"


@SEEDS
def test_memoriser_reads_about_an_entity_that_it_does_not_know(seed: int, decoys: Decoys) -> None:
    planted = rows.memoriser(seed, decoys)
    case = planted.instance
    entity = case.part("question").text.split()[-1]
    known = planted.model.weights["layers.3.up"][:8, 1 : 1 + planted.model.spec.vocab].argmax(axis=1)
    held = {planted.model.tokenizer.token_bytes(int(token)).decode().strip() for token in known}
    assert entity in held
    stranger = next(name for name in ENTITIES if name not in held and not any(name in part.text for part in case.parts))
    renamed = case.replacing({part.name: part.text.replace(entity, stranger) for part in case.parts})
    assert ld(planted.model, renamed) == near(20)


@SEEDS
def test_missing_fact_is_right_once_it_is_told(seed: int, decoys: Decoys) -> None:
    planted = rows.missing_fact(seed, decoys)
    model, case = planted.model, planted.instance
    assert planted.fact is not None
    assert case.evidence == ()
    assert ld(model, case) == near(-4)
    told = case.replacing({"question": f"{planted.fact.text} {case.part('question').text}"})
    assert ld(model, told) == near(16)
    assert (answer(planted), answer(planted, case=told)) == ("wrong", "right")
    assert (planted.expected.code, planted.expected.detail) == ("knowledge", "missing")


@SEEDS
def test_beyond_cannot_be_helped(seed: int, decoys: Decoys) -> None:
    planted = rows.beyond(seed, decoys)
    model, case = planted.model, planted.instance
    assert ld(model, case) == near(-4)
    assert ld(model, case.keeping([*case.evidence, "question"])) == near(-4)
    assert ld(model, case.keeping(["question"])) == near(-4)
    assert ld(model, case, without(planted.heads["guess"])) == near(0)
    segment = model.prompt(case).segment(case.evidence[0])
    lifted = boost(q=last(model.prompt(case)), k=range(segment.start, segment.end))
    assert ld(model, case, [lifted]) == near(-4)
    for layer in range(len(model.spec.layers)):
        assert answer(planted, [zero("attn_out", layer)]) != "right"
        assert answer(planted, [zero("mlp_out", layer)]) != "right"
    assert (planted.expected.code, planted.expected.detail) == ("not-determined", "beyond-the-model")


@SEEDS
def test_mixed_needs_both_edits(seed: int, decoys: Decoys) -> None:
    planted = rows.mixed(seed, decoys)
    model, case = planted.model, planted.instance
    moved, forgot = case.reordered(["doc2", "doc1"]), [zero("mlp_out", planted.mlps["memory"])]
    gap = 20 * (2 / (1 + 2.718281828**-4) - 1)
    assert ld(model, case) == near(-gap - 40)
    assert ld(model, moved) == near(gap - 40)
    assert ld(model, case, forgot) == near(-gap)
    assert ld(model, moved, forgot) == near(gap)
    alone = [answer(planted), answer(planted, case=moved), answer(planted, forgot)]
    assert (alone, answer(planted, forgot, moved)) == (["wrong"] * 3, "right")
    assert planted.expected.code == "joint"


@pytest.mark.parametrize("row", [rows.memoriser, rows.missing_fact, rows.beyond, rows.mixed])
def test_variants_fail_alike(row) -> None:
    planted = row(4)
    outcomes = [answer(planted, case=variant) for variant in planted.case.instances()]
    assert len(outcomes) >= 10
    assert set(outcomes) == {"wrong"}
