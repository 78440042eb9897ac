"""Heads that read the evidence, patched from the run with the evidence alone, against runs made by hand."""

import numpy as np
import pytest

from tests.cause.studies import studied
from tests.testing.reading import near
from whybox.cause.claims import Kind
from whybox.cause.components import Head
from whybox.cause.parts import alone
from whybox.cause.readers import donor, patched
from whybox.engine.edit import set_to
from whybox.testing import context_rows, trap_rows
from whybox.testing.decoys import Decoys

FEW = Decoys(heads=3)


@pytest.mark.parametrize(("readers", "guessed"), [(1, 0.2), (2, 0.5)])
def test_the_readers_are_found_as_many_as_it_takes(readers: int, guessed: float) -> None:
    planted = context_rows.outvoted(1, FEW, readers, guessed)
    study = studied(planted, "removals")
    (claim,) = study.claims[Kind.READER]
    heads = [Head(*place) for name, place in planted.heads.items() if name.startswith("copier")]
    assert claim.name == " + ".join(map(str, heads)) + " patched"
    trial = study.trials[claim.name]
    assert trial.flips
    assert trial.touches == frozenset(map(str, heads))
    assert trial.outcome.old is not None
    assert trial.outcome.old.ld == near(planted.expected.numbers["ld_patched"])
    assert study.claims[Kind.SUPPRESSOR] == []


def test_one_of_two_readers_is_not_enough() -> None:
    planted = context_rows.outvoted(1, FEW, 2, 0.5)
    study = studied(planted, "noise floor")
    trial = study.bench.result(patched((Head(3, 0),))(study.bench.model, study.decided))
    assert not trial.flips
    assert trial.outcome.own.ld == near(10 - 10 / 3 - 10)


def test_a_patch_equals_the_value_of_the_other_run_put_in_by_hand() -> None:
    planted = context_rows.outvoted(2, FEW, 1, 0.2)
    study = studied(planted, "noise floor", "numpy")
    model, decision = study.bench.model, study.decided.base.decision
    trial = study.bench.result(patched((Head(3, 0),))(model, study.decided))
    other = model.run(model.prompt(alone(study.asked.case, study.roles)), see=[("head_out", 3)])
    edit = set_to("head_out", other["head_out", 3][-1, 0], 3, h=0, q=decision.row)
    logits = model.run(decision.ids, edits=[edit]).logits[-1]
    assert trial.outcome.old is not None
    assert trial.outcome.old.ld == pytest.approx(float(logits[decision.right[0]] - logits[decision.wrong[0]]), abs=1e-4)
    assert np.abs(other["head_out", 3][-1, 0]).max() > 0.5


def test_a_donor_that_cannot_see_the_evidence_gives_nothing() -> None:
    planted = context_rows.outvoted(1, FEW, 1, 0.2)
    study = studied(planted, "noise floor")
    trial = study.bench.result(patched((Head(3, 0),), hidden=True)(study.bench.model, study.decided))
    assert not trial.flips
    assert trial.outcome.own.ld == near(-20 * 0.2)
    assert donor(study.bench.model, study.decided, hidden=True).edits


def test_where_nothing_reads_the_evidence_there_are_no_readers() -> None:
    study = studied(trap_rows.misled(1, FEW), "removals")
    assert study.claims[Kind.READER] == []
    assert study.trials["alone"].flips
