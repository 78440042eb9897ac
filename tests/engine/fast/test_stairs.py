"""Attention in steps of rows: the same attention, whatever the number of rows, behind any keys that all rows see."""

import math

import numpy as np
import pytest
import torch

from whybox.engine.fast import kernels, stairs
from whybox.engine.fast.keys import NOWHERE, Part
from whybox.engine.fast.sight import Sight
from whybox.engine.fast.stairs import STAIR, attend_in_stairs
from whybox.spec import Attention

CPU = torch.device("cpu")
SPEC = Attention(6, 3, 5, scale=1 / math.sqrt(5))
BATCH = 2


def drawn(rows: int, shared: int, before: int) -> tuple[torch.Tensor, list[Part], Sight]:
    """Queries of two texts, 3 groups of 2 heads of width 5: behind keys that both share, and keys of their own."""
    generator = torch.Generator().manual_seed(rows)
    draw = lambda *shape: torch.randn(*shape, 5, generator=generator, dtype=torch.float64).bfloat16()  # noqa: E731
    places = shared + np.arange(before + rows)[None].repeat(BATCH, 0)
    own = Part(draw(BATCH, 3, before + rows), draw(BATCH, 3, before + rows), places)
    front = Part(draw(1, 3, shared), draw(1, 3, shared), np.arange(shared)[None])
    parts = [front, own] if shared else [own]
    query = places[:, before:]
    return draw(BATCH, 6, rows), parts, Sight(query, tuple(part.positions for part in parts), None, CPU)


def exact(query: torch.Tensor, parts: list[Part], sight: Sight) -> torch.Tensor:
    """Plain attention in double precision."""
    wide = [Part(part.key.double(), part.value.double(), part.positions) for part in parts]
    pattern, _ = kernels.softmax(kernels.scores(query.double(), wide, SPEC), sight, None)
    return kernels.mix(pattern, wide)


@pytest.mark.parametrize("rows", [2, STAIR - 1, STAIR, STAIR + 1, 2 * STAIR + 3])
@pytest.mark.parametrize(("shared", "before"), [(0, 0), (0, 7), (11, 0), (11, 7)])
@pytest.mark.parametrize("together", [1, stairs.TOGETHER])
def test_steps_are_causal_attention(
    rows: int, shared: int, before: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2⁻⁷: scores and pattern are rounded."""
    monkeypatch.setattr(stairs, "TOGETHER", together)
    query, parts, sight = drawn(rows, shared, before)
    assert sight.stairs
    assert sight.triangle == (shared + before == 0)
    found = attend_in_stairs(query, parts, sight.corner, SPEC)
    error = (found.double() - exact(query, parts, sight)).abs().max() / max(part.value.abs().max() for part in parts)
    assert 1e-5 < error < 2.0**-6


@pytest.mark.parametrize("rows", [2, kernels.SHARED_FROM])
def test_the_fused_product_takes_the_stairs_or_not(rows: int) -> None:
    query, parts, sight = drawn(rows, shared=11, before=7)
    found = kernels.fused(query, parts, sight, None, SPEC)
    error = (found.double() - exact(query, parts, sight)).abs().max()
    assert 1e-5 < error < 2.0**-5
    assert torch.equal(found, attend_in_stairs(query, parts, sight.corner, SPEC)) == (rows == kernels.SHARED_FROM)


def test_what_is_no_staircase() -> None:
    rows = np.array([[4, 5, 6]])
    assert Sight(rows, (np.array([[0, 1, 2, 3]]), rows), None, CPU).stairs
    assert Sight(rows, (np.array([[0, 1, 2, 3]]), rows), 7, CPU).stairs
    assert not Sight(rows, (np.array([[0, 1, 2, 3]]), rows), 6, CPU).stairs, "the window hides the first key"
    assert not Sight(rows, (np.array([[0, 1, 5]]), rows), None, CPU).stairs, "a key is later than a row"
    assert not Sight(rows, (rows, np.array([[7, 8, 9]])), None, CPU).stairs, "the last keys are others"
    assert not Sight(np.array([[4, 4, 6]]), (np.array([[4, 4, 6]]),), None, CPU).stairs, "two rows see each other"


def test_padding_behind_a_text_stands_on_the_stairs() -> None:
    rows = np.array([[4, 5, 6], [4, NOWHERE, NOWHERE + 1]])
    assert Sight(rows, (np.array([[0, 1, 2, 3]]), rows), 7, CPU).stairs
    assert Sight(rows[:, 1:], (np.array([[0, 1, 2, 3]]), rows), None, CPU).stairs
    assert not Sight(rows[:, 2:], (np.array([[0, 1, 2, 3]]), rows), None, CPU).stairs, "padding before a row"
