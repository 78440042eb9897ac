"""Calls to a server that fails: counts, never times, which belong to the bench."""

from dataclasses import replace

from bench.calls import Measured, measured, serving


def test_none_lost_none_doubled() -> None:
    with serving(0.2, "429+500+malformed+half_closed") as (url, model):  # a busy machine makes its own timeouts
        found = measured(url, model, 300, 32, timeout=60.0)
    assert (found.replies, found.failures, found.lost, found.doubled) == (300, 0, 0, 0)
    assert found.answered == 300
    assert found.attempts > 330
    assert found.reached < found.ceiling


def test_each_bound_can_break() -> None:
    good = Measured(100, 100, 0, 0, 0, 110, 100, 1.0, 900.0, 1000.0, 1 << 20)
    assert good.held
    for broken in (
        replace(good, lost=1),
        replace(good, doubled=1),
        replace(good, answered=101),
        replace(good, replies=99, failures=1),
        replace(good, reached=840.0),
        replace(good, grown=20 << 20),
    ):
        assert not broken.held
