"""Which channels are apart: each against its own size, since some are a thousand times larger than others."""

import numpy as np

from whybox.compare.observation import Observation
from whybox.compare.profile import channels_apart

KEY = ("mlp_out", 3)
SIZES = np.array([900.0, 1.0, 2.0, 1.0, 0.5, 3.0, 700.0])
ROWS = np.random.default_rng(0).normal(size=(11, 7)) * SIZES


def apart(other: np.ndarray) -> tuple[int, int] | None:
    return channels_apart(Observation((0,) * 11, {KEY: ROWS}), Observation((0,) * 11, {KEY: other}), KEY)


def test_a_scaled_site_is_apart_in_all_channels() -> None:
    assert apart(ROWS * 1.01) is None


def test_few_channels_are_told_whatever_their_size() -> None:
    factor = np.ones(7)
    factor[3:5] = 1.01
    assert apart(ROWS * factor) == (3, 4)
    assert apart(ROWS) is None
