"""The ground: its floor, its reads, and what counts as a change."""

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near
from whybox.cause.floor import noise
from whybox.cause.ground import between, of_answer, of_run
from whybox.engine.edit import cut, scale, zero
from whybox.engine.read import divergence
from whybox.engine.trace import Change
from whybox.errors import CaseError
from whybox.testing import ROWS


def test_the_read_is_the_difference_of_the_answers() -> None:
    found, ground = planted("memoriser")
    assert ground.value == near(found.expected.numbers["ld"])
    assert ground.row == ground.length - 1
    assert ground.decision is not None
    assert ground.decision.answers == (found.instance.right, found.instance.wrong)


def test_an_edit_that_changes_nothing_moves_nothing_and_says_so() -> None:
    found, ground = planted("sink")
    layer, head = found.heads["sink"]
    quiet, loud, same, other = ground.moved(
        [
            Change((zero("head_out", layer, h=head),)),
            Change((zero("head_out", 2, h=0),)),
            Change(),
            Change(ids=(*ground.trace.ids[:2], ground.trace.ids[3], *ground.trace.ids[3:])),
        ]
    )
    assert (quiet.effect, quiet.changed) == (0.0, False)
    assert (loud.effect, loud.changed) == (near(-20), True)
    assert (same.effect, same.changed) == (0.0, False)
    assert other.changed


def test_the_floor_is_small_positive_and_seen_by_both_engines() -> None:
    found = ROWS["induction"](0)
    case = found.instance
    for engine in ("numpy", "torch"):
        model = found.model.variant(engine=engine)
        ground = between(model, case, case.right, case.wrong or "", generator=generator())
        assert 0 < ground.floor < 1e-4
        again = noise(model, ground.trace, ground.read, generator())
        assert again == ground.floor, "the same generator, the same floor"


def test_other_reads() -> None:
    found, _ = planted("induction")
    model, case = found.model, found.instance
    answer = of_answer(model, case, " " + case.right, floor=1e-5)
    assert answer.value == pytest.approx(model.score(case, " " + case.right).log_prob, abs=1e-5)
    assert answer.row == len(model.prompt(case)) - 1
    base = model.run(case, tail=1)
    ground = of_run(model, case, divergence(base), floor=1e-5)
    assert ground.value == pytest.approx(0, abs=1e-6)
    (moved,) = ground.moved([Change((zero("head_out", found.heads["copier"][0], h=found.heads["copier"][1]),))])
    assert moved.effect > 3


def test_a_longer_answer_is_read_from_its_first_row_on() -> None:
    found, _ = planted("induction")
    model, case = found.model, found.instance
    ground = of_answer(model, case, f" {case.right} .", floor=1e-5)
    assert len(ground.trace.rows) == 2
    assert ground.value == pytest.approx(model.score(case, f" {case.right} .").log_prob, abs=1e-5)
    (hidden,) = ground.moved([Change((cut(q=ground.answer_rows, k=range(1, 5)),))])
    assert hidden.effect < -1


def test_answers_that_do_not_part_are_refused() -> None:
    found, _ = planted("induction")
    with pytest.raises(CaseError, match="differ in no id"):
        between(found.model, found.instance, found.instance.right, found.instance.right)


def test_edits_of_the_base_hold_in_all_runs() -> None:
    found, ground = planted("cancel")
    model = found.model
    (alone,) = ground.moved([Change((zero("head_out", 2, h=1),))])
    edited = model.run(found.instance, edits=[zero("head_out", 2, h=2)], tail=1)
    moved = model.sweep(edited, [Change((zero("head_out", 2, h=1),))], lambda run: float(ground.read(run)))
    assert alone.effect == near(-20)
    assert float(np.asarray(moved[0])) - float(ground.read(edited)) == near(-20)
    assert float(ground.read(edited)) == near(40)
    assert ground.moved([Change((scale("mlp_out", 1.0, 1),))])[0].effect == 0
