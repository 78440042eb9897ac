"""Layouts written out once more by hand; the highway of the residual."""

import numpy as np
import pytest

from whybox.parts.block import Sublayer, block
from whybox.parts.norm import rms_norm
from whybox.spec import Layout

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 7))
A, M = RNG.normal(size=(7, 7)), RNG.normal(size=(7, 7))
GAINS = RNG.uniform(0.5, 2, size=(4, 7))


def f(x: np.ndarray) -> np.ndarray:
    return np.tanh(x @ A)


def g(x: np.ndarray) -> np.ndarray:
    return np.tanh(x @ M)


def norm(i: int, x: np.ndarray) -> np.ndarray:
    return rms_norm(x, GAINS[i], 1e-6)


def layouts() -> dict[Layout, np.ndarray]:
    mid = {
        Layout.PRE: X + f(norm(0, X)),
        Layout.POST: norm(1, X + f(X)),
        Layout.SANDWICH: X + norm(1, f(norm(0, X))),
        Layout.INNER_POST: X + norm(1, f(X)),
    }
    return {
        Layout.PRE: mid[Layout.PRE] + g(norm(2, mid[Layout.PRE])),
        Layout.POST: norm(3, mid[Layout.POST] + g(mid[Layout.POST])),
        Layout.SANDWICH: mid[Layout.SANDWICH] + norm(3, g(norm(2, mid[Layout.SANDWICH]))),
        Layout.INNER_POST: mid[Layout.INNER_POST] + norm(3, g(mid[Layout.INNER_POST])),
        Layout.PARALLEL: X + f(norm(0, X)) + g(norm(2, X)),
    }


def sublayers() -> tuple[Sublayer, Sublayer]:
    return (
        Sublayer(f, lambda x: norm(0, x), lambda x: norm(1, x)),
        Sublayer(g, lambda x: norm(2, x), lambda x: norm(3, x)),
    )


@pytest.mark.parametrize("layout", list(Layout))
def test_every_layout_by_hand(layout: Layout) -> None:
    got = block(X, *sublayers(), layout)
    np.testing.assert_allclose(got.resid_post, layouts()[layout], rtol=0, atol=1e-13)


def test_layouts_differ() -> None:
    outs = list(layouts().values())
    assert min(np.abs(a - b).max() for i, a in enumerate(outs) for b in outs[:i]) > 0.1


@pytest.mark.parametrize("layout", [layout for layout in Layout if layout is not Layout.POST])
def test_the_stream_is_the_sum_of_the_writes(layout: Layout) -> None:
    got = block(X, *sublayers(), layout)
    np.testing.assert_allclose(got.resid_post, X + got.attn_out + got.mlp_out, rtol=0, atol=1e-13)
    assert (got.resid_mid is None) == (layout is Layout.PARALLEL)


def test_after_a_post_norm_the_stream_is_no_longer_the_sum() -> None:
    got = block(X, *sublayers(), Layout.POST)
    assert got.resid_mid is not None
    np.testing.assert_allclose(got.resid_mid, norm(1, X + got.attn_out), rtol=0, atol=1e-13)
    np.testing.assert_allclose(got.resid_post, norm(3, got.resid_mid + got.mlp_out), rtol=0, atol=1e-13)
    assert np.abs(got.resid_post - (X + got.attn_out + got.mlp_out)).max() > 0.1


def test_depth_eighty_needs_the_highway() -> None:
    """∂out/∂x = Π(I + J) against Π J, each J of norm about one half."""
    rng = np.random.default_rng(0)
    without, with_skip = np.eye(16), np.eye(16)
    for _ in range(80):
        jacobian = rng.normal(size=(16, 16)) / 8 * 0.8
        without, with_skip = jacobian @ without, (np.eye(16) + jacobian) @ with_skip
    lost, kept = np.linalg.norm(without), np.linalg.norm(with_skip)
    assert lost < 1e-20 < 1 < kept
    assert kept / lost > 1e20
