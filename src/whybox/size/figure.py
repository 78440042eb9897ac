"""A number beside what it comes from: formula in letters, the same in numbers, unit."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whybox.engine.memory import Term, products

Unit = Literal[
    "parameters", "bytes", "FLOP", "tokens", "rows", "requests", "FLOP/byte", "s", "tokens/s", "requests/s", "bits", "×"
]


@dataclass(frozen=True)
class Figure:
    """path: where the value stands in the document (`kv_cache.bytes`). numbers: the formula with its numbers."""

    path: str
    value: int | float
    unit: Unit
    formula: str
    numbers: str


def summed(
    path: str, unit: Unit, formula: str, terms: Sequence[Term], minus: Sequence[Term] = (), over: int = 1
) -> Figure:
    """A sum of products of whole numbers, exact. minus: what is taken off. over: what it is divided by, rounded up."""
    total = sum(map(math.prod, terms)) - sum(map(math.prod, minus))
    shown = " − ".join(products([_told(term) for term in each]) for each in (terms, minus) if each)
    if over == 1:
        return Figure(path, total, unit, formula, shown)
    return Figure(path, -(-total // over), unit, formula, f"{shown} / {over:,}")


def divided(path: str, unit: Unit, formula: str, top: float, bottom: float) -> Figure:
    """A ratio."""
    return Figure(path, top / bottom, unit, formula, f"{spelled(top)} / {spelled(bottom)}")


def spelled(value: float) -> str:
    """A number as formulas show it: whole where it is large."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.6g}"


def _told(term: Term) -> Term:
    """Without the factors that change nothing."""
    return tuple(factor for factor in term if factor != 1) or (1,)
