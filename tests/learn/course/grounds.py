"""One ground on the default model for the chapters that a worker tests: what they share is computed once.

On the torch engine, which takes half the time; every figure is held against what was recorded, whatever computed it.
"""

from functools import cache

from tests.real import real
from whybox.learn.course.computed import Cell
from whybox.learn.ground import Ground


@cache
def on_smollm2() -> Ground:
    return Ground(lambda: real("smollm2", "torch"))


def number(cell: Cell) -> float:
    """A cell that holds one."""
    assert isinstance(cell, int | float)
    return float(cell)
