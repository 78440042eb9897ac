"""The evidence hidden from all that follows it, beside every other span of its length, by brute force."""

import pytest

from tests.cause.studies import studied
from tests.testing.reading import ld, near
from whybox.cause.claims import Kind
from whybox.cause.hidden import hidden, hide
from whybox.engine.edit import cut
from whybox.statistics.ranks import null_band
from whybox.testing import context_rows, trap_rows
from whybox.verdict.reading import _total_in_null


def test_the_total_effect_and_its_null_are_those_of_single_runs() -> None:
    planted = context_rows.suppressed(1)
    study = studied(planted, "noise floor", "numpy")
    found = study.bench.result(hidden(study.decided.base, study.roles.evidence))
    model, case = study.bench.model, planted.instance
    segment = model.prompt(case).segment(case.evidence[0])
    base = ld(model, case)
    assert found.effect == pytest.approx(ld(model, case, hide(model.prompt(case), case.evidence)) - base, abs=1e-4)
    assert found.effect == near(10)
    width = segment.end - segment.start
    starts = [
        k for k in range(1, len(model.prompt(case)) - width + 1) if k + width <= segment.start or k >= segment.end
    ]
    assert 19 <= len(starts) <= 39
    drawn = [ld(model, case, [cut(q=slice(k + width, None), k=range(k, k + width))]) - base for k in starts]
    expected = null_band(found.effect, drawn)
    assert found.null is not None
    assert expected is not None
    assert (found.null.draws, found.null.p) == (expected.draws, pytest.approx(expected.p))
    assert (found.null.low, found.null.high) == pytest.approx((expected.low, expected.high), abs=1e-3)


def test_what_is_taken_back_in_full_moves_nothing_beyond_the_null() -> None:
    """A suppressor that takes away exactly what was read leaves no trace of the evidence in the metric."""
    study = studied(context_rows.suppressed(1, times=1.0), "evidence hidden")
    assert study.hidden is not None
    assert study.hidden.effect == pytest.approx(0, abs=0.02)
    assert _total_in_null(study) is True


def test_evidence_that_is_outvoted_still_counts() -> None:
    study = studied(context_rows.outvoted(1), "evidence hidden")
    assert study.hidden is not None
    assert study.hidden.effect == near(-20 * 2 / 3)
    assert _total_in_null(study) is False


def test_nothing_is_hidden_where_nothing_was_read() -> None:
    study = studied(context_rows.not_looking(1), "evidence hidden")
    assert (study.hidden, _total_in_null(study)) == (None, None)


def test_a_suppressor_of_nothing_that_was_read() -> None:
    """Without the reader of the other document a guess is right, whether or not there is evidence."""
    study = studied(trap_rows.misled(1), "shams")
    (weak,) = study.claims[Kind.SUPPRESSOR]
    assert (weak.name, study.trials[weak.name].flips, study.trials[weak.name].unread) == ("head 1.1", True, True)
    study = studied(context_rows.suppressed(1), "shams")
    (real,) = study.claims[Kind.SUPPRESSOR]
    assert (study.trials[real.name].flips, study.trials[real.name].unread) == (True, False)
