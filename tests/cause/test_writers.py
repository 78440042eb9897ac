"""Writers of the wrong answer, alone, together and in another order, where the model's wiring says who they are."""

from typing import NoReturn

import pytest

from tests.cause.studies import opened, studied
from tests.testing.reading import near
from whybox.cause import writers
from whybox.cause.claims import Kind
from whybox.cause.components import Head, Mlp, named
from whybox.cause.removed import alike, removed
from whybox.cause.sets import nested, small_sets
from whybox.cause.study import Study
from whybox.errors import UnsupportedError
from whybox.spec import Spec
from whybox.testing import knowledge_rows, trap_rows
from whybox.testing.cases import Scene
from whybox.testing.decoys import NONE, Decoys

FEW = Decoys(heads=3)


def claimed(study: Study, kind: Kind) -> list[str]:
    return [claim.name for claim in study.claims[kind]]


@pytest.mark.parametrize(
    ("keepers", "name"),
    [
        (("head",), "head 3.0"),
        (("mlp", "mlp"), "MLP 3 + MLP 4"),
        (("head", "mlp"), "MLP 4 + head 3.0"),
        (("head", "head"), "head 3.0 + head 3.1"),
    ],
)
def test_all_places_of_a_memory_and_no_other(keepers: tuple[knowledge_rows.Keeper, ...], name: str) -> None:
    planted = knowledge_rows.shared_memory(1, FEW, keepers)
    study = studied(planted, "removals")
    (found,) = claimed(study, Kind.WRITER)
    assert set(found.split(" + ")) == set(name.split(" + "))
    trial = study.trials[found]
    assert trial.outcome.old is not None
    assert trial.outcome.old.ld == near(20)
    assert trial.touches == frozenset(name.split(" + "))
    assert [one.follows for one in study.changed] == [False] * 3


def test_with_one_of_two_memories_left_it_still_overrules() -> None:
    planted = knowledge_rows.shared_memory(1, FEW, ("mlp", "mlp"))
    study = studied(planted, "noise floor")
    trial = study.bench.result(removed((Mlp(3),))(study.bench.model, study.decided))
    assert (trial.flips, trial.outcome.own.ld) == (False, near(planted.expected.numbers["ld_without_one"]))


def test_the_answer_to_what_is_left_does_not_rest_on_hidden_evidence() -> None:
    """Without its memory a model reads; one that only guesses needs nothing to read."""
    for planted, unread in ((knowledge_rows.memoriser(1), False), (trap_rows.two_memories(1), True)):
        study = studied(planted, "shams")
        assert claimed(study, Kind.WRITER) == ["MLP 3"]
        assert study.trials["MLP 3"].unread is unread


def test_evidence_that_is_followed_is_not_overruled() -> None:
    study = studied(trap_rows.averse(1), "removals")
    assert claimed(study, Kind.WRITER) == ["MLP 3"]
    assert {one.follows for one in study.changed} == {True}


def test_pairs_begin_with_the_order_that_helps_most() -> None:
    """Of many orders of five documents only few bring the evidence before its competitor, and first of all."""
    planted = knowledge_rows.mixed(1, NONE, 0.2, scene=Scene(distractors=3))
    study = studied(planted, "removals")
    assert len(study.orders) > writers.TRIED
    (pair,) = claimed(study, Kind.PAIR)
    effects = {order: study.trials[order].effect or 0.0 for order in study.orders}
    assert pair == f"{max(effects, key=lambda order: effects[order])} + MLP 3"
    assert study.trials[pair].flips


def test_a_set_is_reduced_to_what_it_needs() -> None:
    wanted = {Mlp(2), Head(1, 1)}

    def leads(groups):  # type: ignore[no-untyped-def]
        return [1.0 if wanted <= set(group) else -1.0 for group in groups]

    ranked = (Mlp(1), Mlp(2), Head(0, 0), Head(1, 1), Mlp(3), Mlp(4))
    assert [len(group) for group in nested(ranked)] == [1, 2, 3, 4, 6]
    study = opened(knowledge_rows.memoriser(1))
    assert [set(group) for group in small_sets(study, "together", nested(ranked), leads)] == [wanted]
    assert [(screen.what, screen.runs, screen.value) for screen in study.screens] == [("together", 5, 1.0)]
    assert list(small_sets(study, "together", nested(ranked[:3]), leads)) == []
    assert list(small_sets(study, "together", [], leads)) == []


def test_shams_are_as_many_of_the_same_kind_and_never_the_claim() -> None:
    spec = knowledge_rows.memoriser(1, Decoys(heads=4, layers=12)).model.spec
    assert {one for (one,) in alike((Mlp(3),), spec)} == {Mlp(layer) for layer in range(12) if layer != 3}
    heads = alike((Head(2, 0),), spec)
    assert len(heads) == 39
    assert (Head(2, 0),) not in heads
    claim = (Head(2, 0), Head(2, 1), Mlp(3))
    for group in alike(claim, spec):
        assert not set(group) & set(claim)
        assert sorted(type(part).__name__ for part in group) == ["Head", "Head", "Mlp"]
        assert {part.layer for part in group if isinstance(part, Head)} == {2}
    assert named(claim) == "head 2.0 + head 2.1 + MLP 3"


def test_a_family_without_a_sum_of_writes_is_searched_by_its_mlps(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Spec) -> NoReturn:
        raise UnsupportedError("a norm behind the addition")

    monkeypatch.setattr(writers, "wishes", refuse)
    assert claimed(studied(knowledge_rows.memoriser(1), "removals"), Kind.WRITER) == ["MLP 3"]
    kept_by_heads = studied(knowledge_rows.shared_memory(1, NONE, ("head",)), "removals")
    assert claimed(kept_by_heads, Kind.WRITER) == []
