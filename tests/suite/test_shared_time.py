"""Wall time shared among calls that are under way together: worked by hand, and against adding it up in small steps."""

import numpy as np
import pytest

from whybox.suite.shared_time import seconds_taken, shares
from whybox.targets.target import Attempt, Reply


def test_three_calls_worked_by_hand() -> None:
    """a alone for 1 s, a and b for 2 s, b alone for 1 s; then a pause of 6 s, then c for 0.5 s."""
    found = shares({"a": (0.0, 3.0), "b": (1.0, 4.0), "c": (10.0, 10.5)})
    assert found == pytest.approx({"a": 2.0, "b": 2.0, "c": 0.5})


def test_parts_of_a_batch_are_added_and_spans_of_a_wire_are_shared() -> None:
    """Four calls of one batch of 2 s are kept within a millisecond; two calls to an endpoint overlap for 3 s."""
    batch = [(f"local {i}", Reply("a", seconds=0.5), 100 + i / 4000) for i in range(4)]
    tries = (Attempt("ok", 4.0, 0.0),)
    wire = [(f"wire {i}", Reply("b", seconds=4.0, attempts=tries), 204.0 + i) for i in range(2)]
    found = seconds_taken([*batch, *wire])
    assert [found[f"local {i}"] for i in range(4)] == [0.5] * 4
    assert [found[f"wire {i}"] for i in range(2)] == pytest.approx([2.5, 2.5])


def test_nothing_and_no_time_at_all() -> None:
    assert shares({}) == {}
    assert shares({1: (5.0, 5.0)}) == {1: 0.0}
    assert shares({1: (5.0, 5.0), 2: (5.0, 6.0)}) == {1: 0.0, 2: 1.0}


def test_they_add_up_to_the_time_that_something_was_under_way() -> None:
    rng = np.random.default_rng(0)
    begun = rng.integers(0, 400, 60) / 8
    spans = {
        i: (float(b), float(b + w)) for i, (b, w) in enumerate(zip(begun, rng.integers(0, 90, 60) / 8, strict=True))
    }
    slow = dict.fromkeys(spans, 0.0)
    for tick in np.arange(0, 70, 1 / 8):
        here = [i for i, (first, last) in spans.items() if first <= tick < last]
        for i in here:
            slow[i] += 1 / 8 / len(here)
    assert shares(spans) == pytest.approx(slow, abs=1e-9)
