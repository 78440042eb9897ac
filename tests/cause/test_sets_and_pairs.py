"""Pairs, minimal flipping sets, and which parts are looked at, on planted mechanisms whose sets are known."""

from dataclasses import replace

import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near, place_of
from whybox.cause.candidates import candidates
from whybox.cause.components import Component, Head, Mlp, all_heads
from whybox.cause.effects import Unknown
from whybox.cause.experiment import effects
from whybox.cause.flipping import MOST, RUNS, Flipping, edges, flipping, towards
from whybox.cause.ground import Ground
from whybox.cause.ledger import said
from whybox.cause.null import Null
from whybox.cause.pairs import CANCEL, MORE, TOGETHER, flag_of, pairs_of
from whybox.cause.replacement import Zeroed
from whybox.testing import CROWD, Decoys

BESIDE = Decoys(heads=20)


def heads_of(row: str, decoys: Decoys = BESIDE, engine: str = "torch") -> tuple[dict[str, Component], Ground]:
    found, ground = planted(row, decoys, engine)
    return {name: Head(*place) for name, place in found.heads.items()}, ground


def alone(ground: Ground, parts: list[Component]) -> dict[Component, float]:
    return {group[0]: moved.effect for group, moved in effects(ground, Zeroed(), [(one,) for one in parts]).items()}


def test_a_pair_that_cancels_is_reported_as_a_pair() -> None:
    heads, ground = heads_of("cancel")
    found = pairs_of(ground, Zeroed(), [heads["plus"], heads["minus"], Head(2, 9)], generator(), draws=25)
    (pair,) = found.pairs
    assert set(pair.parts) == {heads["plus"], heads["minus"]}
    assert pair.flag == CANCEL
    assert sorted(pair.alone) == [near(-20), near(20)]
    assert pair.joint.value == near(0)
    assert pair.interaction == near(0)
    assert found.tried == 3
    assert isinstance(pair.joint.null, Null)
    assert pair.joint.null.n == 25


def test_a_primary_and_its_backup_act_only_together() -> None:
    heads, ground = heads_of("backup")
    found = pairs_of(ground, Zeroed(), [*heads.values(), Head(2, 5)], generator(), draws=19)
    (pair,) = [one for one in found.pairs if one.flag == TOGETHER]
    assert set(pair.parts) == {heads["primary"], heads["backup"]}
    assert pair.alone == (near(0), near(0))
    assert pair.joint.value == near(-20)
    assert pair.interaction == near(-20)
    assert pair.joint.p == pytest.approx(1 / 20)


@pytest.mark.parametrize(("alone", "flag"), [(-0.4, TOGETHER), (-0.6, MORE), (-6.0, "")])
def test_only_together_is_said_of_parts_that_hardly_act_alone(alone: float, flag: str) -> None:
    _, ground = planted("redundant_or")
    one, other = Head(2, 0), Head(2, 1)
    assert flag_of(ground, {(one,): alone, (other,): 0.0, (one, other): -10.0}, (one, other), abs(alone)) == flag


def test_unrelated_parts_are_no_pair() -> None:
    heads, ground = heads_of("induction")
    found = pairs_of(ground, Zeroed(), [*heads.values(), Head(0, 4), Head(0, 5)], generator(), draws=0)
    assert [one.flag for one in found.pairs if heads["copier"] not in one.parts] == []


@pytest.mark.parametrize(
    ("row", "names"),
    [("backup", ["primary", "backup"]), ("redundant_or", ["copier 0", "copier 1", "copier 2"])],
)
def test_stand_ins_are_found_only_as_a_whole_set(row: str, names: list[str]) -> None:
    heads, ground = heads_of(row)
    found = flipping(ground, Zeroed(), [*(heads[name] for name in names), Head(2, 9), Head(2, 8)])
    assert isinstance(found, Flipping)
    assert set(found.parts) == {heads[name] for name in names}
    assert found.ld == near(0)
    assert found.others == ()
    assert found.tried <= RUNS


def test_no_set_is_run_twice() -> None:
    heads, ground = heads_of("redundant_or")
    run: list[str] = []
    counted = replace(ground, told=lambda trace, _: run.append(said(trace.edits)))
    found = flipping(counted, Zeroed(), [*(heads[f"copier {i}"] for i in range(3)), Head(2, 9)])
    assert isinstance(found, Flipping)
    assert len(run) == len(set(run)) == found.tried


def test_a_wrong_answer_turns_where_the_writer_is_out() -> None:
    rows, ground = planted("memoriser", CROWD, "torch")
    memory: Component = Mlp(rows.mlps["memory"])
    single = alone(ground, [memory, *(Head(*place) for place in rows.heads.values())])
    found = flipping(ground, Zeroed(), towards(ground, single))
    assert isinstance(found, Flipping)
    assert found.parts == (memory,)
    assert found.ld == near(rows.expected.numbers["ld_without_mlp"])


def test_where_nothing_turns_the_outcome_that_is_said() -> None:
    _, ground = heads_of("beyond")
    found = flipping(ground, Zeroed(), [Head(0, 3), Head(0, 4)])
    assert found == Unknown("no set of up to 2 of the strongest parts turns the outcome")


def test_the_boosted_edge_of_one_head_turns_what_was_not_looked_at() -> None:
    rows, ground = planted("not_looking", BESIDE, "torch")
    value = place_of(ground.model, ground.prompt, rows.instance.right)
    edited = edges("boost", (value,), ground.answer_rows)
    single = {head: moved.effect for head, moved in _edge_effects(ground, edited).items()}
    found = flipping(ground, edited, towards(ground, single))
    assert isinstance(found, Flipping)
    assert Head(*rows.heads["copier"]) in found.parts
    assert len(found.parts) <= 2
    assert found.ld > 0
    (edit,) = edges("cut", (3, 4), 7)((Head(1, 2), Head(1, 0)))
    assert (edit.layers, dict(edit.at)) == ((1,), {"h": (0, 2), "k": (3, 4), "q": 7})


def _edge_effects(ground: Ground, edited: object) -> dict[Component, object]:
    return {group[0]: moved for group, moved in effects(ground, edited, [(h,) for h in all_heads(ground.spec)]).items()}  # type: ignore[arg-type]


def test_parts_move_towards_the_turn_of_their_own_case() -> None:
    _, right = heads_of("induction")
    _, wrong = heads_of("memoriser")
    given: dict[Component, float] = {Head(0, 0): -3.0, Head(0, 1): 2.0, Head(0, 2): -5.0}
    assert towards(right, given) == [Head(0, 2), Head(0, 0)]
    assert towards(wrong, given) == [Head(0, 1)]
    assert MOST * (MOST + 1) // 2 < RUNS


def test_stand_ins_are_candidates_although_each_alone_does_nothing() -> None:
    """Among 20 decoys a layer: copiers of an OR by the rest of their layer, a backup by the writers."""
    heads, ground = heads_of("redundant_or")
    found = candidates(ground, Zeroed(), {})
    for index in range(3):
        copier = heads[f"copier {index}"]
        assert abs(found.alone[copier]) < 0.02
        assert found.size(copier) == near(20)
    assert {heads[f"copier {i}"] for i in range(3)} < set(found.strongest(list(all_heads(ground.spec)), 4))
    heads, ground = heads_of("backup")
    seen = candidates(ground, Zeroed(), {heads["primary"]: 20.0, heads["previous"]: 0.0})
    assert seen.without[heads["backup"]] == near(-20)
    assert seen.size(heads["previous"]) == near(20)
