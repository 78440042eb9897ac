"""Sweeps: reads in the order of the changes whatever the engine's order, and a floor measured against fresh runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, reference
from tests.engine.fast.test_sweep import possible
from tests.engine.random_models import IDS, engine, spec
from whybox.engine.counterfactual import SAMPLE, fresh_run, sweep
from whybox.engine.edit import cut, zero
from whybox.engine.read import divergence, log_prob_of, logit_difference, logits_at, site
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Change, Trace, Wish
from whybox.errors import SiteError
from whybox.spec import NtkRope, PlainRope

MODEL = engine(spec())
LAST = slice(len(IDS) - 1, None)
CHANGES = [Change((zero("head_out", layer, h=h),)) for layer in range(3) for h in range(6)]


class Backwards(ReferenceEngine):
    """Hands its runs over last first, each a little off."""

    def counterfactuals(
        self, base: Trace, changes: Sequence[Change], see: Iterable[Wish] = ()
    ) -> Iterator[tuple[int, Trace]]:
        for index in reversed(range(len(changes))):
            trace = fresh_run(self, base, changes[index], see)
            yield index, replace(trace, logits=trace.logits + np.linspace(0, 1e-3, trace.logits.shape[1]))


def test_every_read_is_that_of_a_run_by_hand() -> None:
    base = MODEL.run(IDS)
    found = sweep(MODEL, base, CHANGES, logit_difference(3, 5))
    expected = [np.subtract(*MODEL.run(IDS, edits=change.edits).logits[-1, [3, 5]]) for change in CHANGES]
    assert list(found) == expected
    assert len(found) == found.runs == 18
    assert found[-1] == expected[-1]
    assert list(found[2:4]) == expected[2:4]
    assert all(type(value) is float for value in found)
    assert repr(found) == "<Swept: 18 reads>"


def test_the_base_runs_edits_hold_in_all() -> None:
    held = (cut(q=LAST, k=2),)
    base = MODEL.run(IDS, edits=held)
    (found,) = sweep(MODEL, base, [Change((zero("mlp_out", 1),))], logits_at())
    assert np.array_equal(found, MODEL.run(IDS, edits=(*held, zero("mlp_out", 1))).logits[-1:])


def test_sites_are_kept_for_the_read_that_wants_them() -> None:
    base = MODEL.run(IDS)
    (found,) = sweep(MODEL, base, CHANGES[:1], site("head_out", 0), see=[("head_out", 0)])
    assert not np.asarray(found)[:, 0].any()
    with pytest.raises(SiteError, match="was not kept"):
        sweep(MODEL, base, CHANGES[:1], site("head_out", 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", [None, 1])
def test_runs_that_begin_where_a_change_is_felt_equal_whole_runs(kind: str, tail: int | None) -> None:
    numpy = reference(KINDS[kind])
    base = numpy.run(IDS, edits=[cut(q=LAST, k=2)], tail=tail)
    changes = possible(KINDS[kind])
    for index, mine in numpy.counterfactuals(base, changes):
        theirs = fresh_run(numpy, base, changes[index])
        assert (mine.ids, mine.start, mine.rows, mine.changed) == (theirs.ids, 0, theirs.rows, theirs.changed)
        assert (mine.edits, mine.rope_length) == (theirs.edits, theirs.rope_length)
        np.testing.assert_allclose(mine.logits, theirs.logits, rtol=0, atol=1e-11, err_msg=str(changes[index]))


def test_rows_before_a_change_are_fed_once_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    base, fed, run = MODEL.run(IDS, tail=1), [], MODEL.run
    monkeypatch.setattr(MODEL, "run", lambda ids, *rest: (fed.append(len(ids)), run(ids, *rest))[1])
    list(MODEL.counterfactuals(base, [Change((zero("mlp_out", 1, q=slice(row, None)),)) for row in (9, 11, 4)]))
    assert fed == [12, 3, 1, 8]


def test_an_answer_of_several_tokens_is_scored_as_a_continuation() -> None:
    base, answer = MODEL.run(IDS, tail=1), (7, 9)
    changes = [Change(continuation=answer), Change((zero("mlp_out", 1),), continuation=answer)]
    found = sweep(MODEL, base, changes, log_prob_of(answer))
    whole = MODEL.run((*IDS, *answer), edits=[zero("mlp_out", 1)])
    assert found[1] == pytest.approx(whole.log_probs(11)[7] + whole.log_probs(12)[9], abs=1e-12)


def test_rows_are_as_many_as_the_base_run_has() -> None:
    other = Change(ids=IDS[:8], continuation=(1,))
    assert fresh_run(MODEL, MODEL.run(IDS), other).rows == range(9)
    assert fresh_run(MODEL, MODEL.run(IDS, tail=1), other).rows == range(7, 9)


def test_the_floor_of_fresh_runs_is_nought_and_it_is_measured_when_asked_for() -> None:
    base = MODEL.run(IDS)
    found = sweep(MODEL, base, CHANGES, divergence(base))
    assert found.runs == 18
    assert found.floor == 0.0
    assert found.runs == 18 + SAMPLE
    assert found.floor == 0.0
    assert found.runs == 18 + SAMPLE
    assert sweep(MODEL, base, [], divergence(base)).floor == 0.0


def test_the_floor_is_the_largest_difference_from_a_fresh_run() -> None:
    model = Backwards(MODEL.spec, MODEL.weights)
    base = MODEL.run(IDS)
    found = sweep(model, base, CHANGES, logit_difference(18, 0))
    sound = sweep(MODEL, base, CHANGES, logit_difference(18, 0))
    off = [float(value) - float(right) for value, right in zip(found, sound, strict=True)]
    np.testing.assert_allclose(off, 1e-3, atol=1e-12)
    assert found.floor == pytest.approx(1e-3, abs=1e-9)
    assert sweep(model, base, CHANGES[:2], logits_at()).floor == pytest.approx(1e-3, abs=1e-9)


def test_a_run_that_is_planned_for_more_tokens_keeps_its_frequencies() -> None:
    rope = NtkRope(PlainRope(100.0, 4), factor=4.0, original=11)
    model = engine(spec(rope=rope))
    base = model.run(IDS, cache=model.fresh_cache(40))
    same = fresh_run(model, base, Change())
    assert same.rope_length == 40
    assert np.array_equal(same.logits, base.logits)
    assert not np.allclose(same.logits, model.run(IDS).logits, atol=1e-6)


def test_a_run_behind_a_cache_is_no_base() -> None:
    first = MODEL.run(IDS[:5])
    with pytest.raises(SiteError, match="began at position 5"):
        fresh_run(MODEL, MODEL.run(IDS[5:], cache=first.cache), Change())
