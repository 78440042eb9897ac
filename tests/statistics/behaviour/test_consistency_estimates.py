"""Consistency: ties are no drift, distances in nats, where runs part."""

import numpy as np
import pytest

from whybox.statistics.behaviour import consistency
from whybox.statistics.behaviour.consistency import Distances, Drift
from whybox.statistics.unknown import Unknown


def test_only_changes_beyond_the_width_of_a_tie_count() -> None:
    changed = np.zeros((10, 64), bool)
    changed[0, :4] = True
    gap = np.full((10, 64), 1.0)
    gap[0, 0] = 0.01
    found = consistency.drift(changed, gap, 0.02)
    assert isinstance(found, Drift)
    assert (found.drift, found.ties) == (pytest.approx(3000 / 640), pytest.approx(1000 / 640))
    assert found.positions == 640
    assert found.interval[0] == 0.0
    assert found.interval[1] > found.drift


def test_the_interval_of_common_drift_is_not_that_of_whole_prompts() -> None:
    changed = np.random.default_rng(0).random((200, 64)) < 0.02
    found = consistency.drift(changed, np.ones(changed.shape), 0.1)
    assert isinstance(found, Drift)
    half = 1.97 * 1000 * np.sqrt(0.02 * 0.98 / 64 / 200)
    assert np.ptp(found.interval) / 2 == pytest.approx(half, rel=0.15)


def test_the_width_is_a_high_quantile_of_repeats() -> None:
    assert consistency.tie_width(np.linspace(-1, 1, 2001)) == pytest.approx(0.999, abs=1e-3)
    assert isinstance(consistency.tie_width(np.zeros(0)), Unknown)
    assert consistency.tie_width(np.zeros(50)) == 0.0


def test_distances() -> None:
    found = consistency.distances(np.array([0.0, 0.0, 1.0, 3.0]))
    assert isinstance(found, Distances)
    assert (found.mean, found.median, found.most) == (1.0, 0.5, 3.0)
    assert isinstance(consistency.distances(np.zeros(0)), Unknown)
    assert isinstance(consistency.drift(np.zeros((0, 4), bool), np.zeros((0, 4)), 0.1), Unknown)


def test_a_window_breaks_every_prompt_at_one_place() -> None:
    changed = np.zeros((4, 32), bool)
    changed[:3, 16:] = True
    assert consistency.first_break(changed).tolist() == [16, 16, 16]


def test_growth_over_positions() -> None:
    assert consistency.growth(np.linspace(0, 1, 20) ** 2) == pytest.approx(1.0)
    assert consistency.growth(np.full(20, 0.3)) is None


def test_equal_errors_share_a_rank() -> None:
    """One early error among nine zeros, which share rank 4: ρ = (4.5 · −3.5 − .5 · 3.5)/√(22.5 · 82.5) = −.406."""
    early = np.eye(10)[1]
    assert consistency.growth(early) == pytest.approx(-17.5 / np.sqrt(22.5 * 82.5))
    assert consistency.growth(early[::-1]) == pytest.approx(17.5 / np.sqrt(22.5 * 82.5))
