"""One model, two kernels: attention with its scores stored and in tiles, each in a narrow format, on text A.

Weights are held in the format and every site is rounded to it, to nearest and ties to even; products are summed in
float32. In tiles, what stays inside attention is never written down, and so never rounded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from whybox.engine.rounded import RoundedEngine, held_as
from whybox.learn.course.computed import Cell, Rows
from whybox.learn.figures.faults import TILED
from whybox.learn.figures.figure import OnModel, OnModels, Value
from whybox.learn.ground import Ground, TextA, nll
from whybox.testing import faults
from whybox.testing.faults import Fault

Array = np.ndarray
PROFILED = 256
QUARTERS = 4


@dataclass(frozen=True, eq=False)
class Apart:
    """Two runs of text A. flips: rows whose first choice differs, at_ties: those among them whose best two are equal.

    largest: of all differences of logits. likely: NLL of each. by_row: root mean square of a row's differences.
    """

    flips: int
    at_ties: int
    largest: float
    likely: tuple[float, float]
    by_row: Float[np.ndarray, "q"]


def compared(first: Float[np.ndarray, "q v"], second: Float[np.ndarray, "q v"], ids: tuple[int, ...]) -> Apart:
    """What two kernels, or a sound and a faulty run, differ in."""
    flipped = first.argmax(axis=1) != second.argmax(axis=1)
    tied = _tied(first) | _tied(second)
    apart = second - first
    by_row = np.sqrt(np.einsum("qv,qv->q", apart, apart, dtype=np.float64) / apart.shape[1])
    likely = (nll(first, ids), nll(second, ids))
    return Apart(int(flipped.sum()), int((flipped & tied).sum()), float(np.abs(apart).max()), likely, by_row)


def _tied(logits: Float[np.ndarray, "q v"]) -> Array:
    """Rows whose best two are the same number."""
    best = np.partition(logits, -2, axis=1)[:, -2:]
    return np.asarray(best[:, 0] == best[:, 1])


def kernels(ground: Ground, precision: str) -> Apart:
    """Stored against tiles of 128 keys."""
    return ground.once(KERNELS[precision])


def _in_fp32(ground: Ground) -> Apart:
    text = ground.text_a
    tiled = TILED.engine_for(text.model.spec, text.model.weights).run(text.ids).logits
    return compared(text.base.logits, tiled, text.ids)


def _narrow(precision: str) -> Callable[[Ground], Apart]:
    def run(ground: Ground) -> Apart:
        text, ways = ground.text_a, ((), TILED.rewires)
        held = held_as(text.model.spec, text.model.weights, precision)
        stored, tiled = (RoundedEngine(*held, precision, rewires).run(text.ids).logits for rewires in ways)
        return compared(stored, tiled, text.ids)

    return run


KERNELS = {"fp32": _in_fp32, "fp16": _narrow("fp16"), "bf16": _narrow("bf16")}


def _faulty(fault: Fault, text: TextA) -> Array:
    """A fault in float32: root mean square of the logits' differences at each of the first positions."""
    ids = text.ids[:PROFILED]
    half = len(ids) // 2
    engine = fault.engine_for(text.model.spec, text.model.weights)
    if fault.cached is None:
        logits = engine.run(ids).logits
    else:
        first = engine.run(ids[:half], (), (), engine.fresh_cache(len(ids)))
        logits = np.concatenate([first.logits, engine.run(ids[half:], (), (), first.cache).logits])
    return compared(text.base.logits[: len(ids)], logits, ids).by_row


FAULTS: dict[str, Fault] = {
    "positions": faults.theta(1e4),
    "everywhere": faults.NORM_KIND,
    "cache": faults.CACHE_SLOT,
}
LETTERS = {"A": "everywhere", "B": "rounding", "C": "cache", "D": "positions"}
"""Profiles as they are shown, and what each of them is."""


def profiles(ground: Ground) -> Rows:
    """By span of positions; the one that is rounding in bf16, and once more with both sides in fp32."""
    text = ground.text_a
    rows: list[tuple[Cell, ...]] = []
    for letter, kind in LETTERS.items():
        if kind == "rounding":
            rows += [_profile(letter, each, kernels(ground, each).by_row) for each in ("bf16", "fp32")]
        else:
            rows.append(_profile(letter, "fp32", _faulty(FAULTS[kind], text)))
    return tuple(rows)


def _profile(letter: str, precision: str, by_row: Array) -> tuple[Cell, ...]:
    """The first position, and four quarters behind it."""
    ends = np.linspace(0, min(PROFILED, len(by_row)), QUARTERS + 1).astype(int)
    quarters = (by_row[max(start, 1) : stop] for start, stop in pairwise(ends))
    return (letter, precision, float(by_row[0]), *(float(quarter.mean()) for quarter in quarters))


def by_format(ground: Ground) -> Rows:
    """Format, first choices that differ, those of them at a tie, largest difference, both NLLs."""
    found = ((precision, kernels(ground, precision)) for precision in ("fp32", "fp16", "bf16"))
    return tuple((name, each.flips, each.at_ties, each.largest, *each.likely) for name, each in found)


def _figures(precision: str) -> OnModel:
    def compute(ground: Ground) -> Value:
        """Flips, those at a tie, the others, largest difference."""
        found = kernels(ground, precision)
        return float(found.flips), float(found.at_ties), float(found.flips - found.at_ties), found.largest

    return OnModel(compute, runs=2)


OF_MODEL: OnModels = {"l11.bf16": _figures("bf16"), "l11.fp16": _figures("fp16"), "l11.fp32": _figures("fp32")}
