"""What a chapter computes, by the names that its words use: figures, tables, grids, right answers, tasks, judges.

Every module `chapters/lNN.py` ends with one `COMPUTED = Computations(...)`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from whybox.learn.figures.figure import OnModels, Toys
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said

Cell = str | float | int | Said
"""A number, text that is alike in both languages, or text in each."""
Rows = tuple[tuple[Cell, ...], ...]
Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Grid:
    """A matrix with a name for each row and column. hidden: what has no value there (masked), drawn empty."""

    values: Float[np.ndarray, "r k"]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    hidden: np.ndarray | None = None


@dataclass(frozen=True)
class Remark:
    """One thing that a hidden test found. en, zh: what was tried, what was expected and what came.

    mistake: it names a classic mistake, and is told only where that was made.
    """

    holds: bool
    en: str
    zh: str
    mistake: bool = False


@dataclass(frozen=True)
class Task:
    """Hidden tests of one piece of code, in three steps of which only the middle one is the child's.

    needs: names that the code must define.
    draw: inputs, with prime shapes and random seeds (parent).
    drive: Python source of a function `drive(code, inputs)`: `code` holds the learner's names, `inputs` the arrays
        drawn; gives a dict of arrays. It runs in the child process and imports nothing but numpy.
    judge: inputs and what came out → remarks (parent); compares with `parts/` and the figures.
    on_model: the inputs hold weights of the default model, so that drawing takes seconds.
    """

    needs: tuple[str, ...]
    draw: Callable[[np.random.Generator, Ground], Arrays]
    drive: str
    judge: Callable[[Arrays, Arrays], tuple[Remark, ...]]
    on_model: bool = False


Right = Callable[[Ground], tuple[str, ...]]
Judge = Callable[[str, Ground], tuple[Remark, ...]]


@dataclass(frozen=True)
class Computations:
    """All of a chapter. Functions take the ground, which opens the default model only when they ask for it.

    figures, on_model: figures of this chapter alone, by `lNN.name`.
    answers: ids of what is right, in order for `order`, one for each item for `match`.
    """

    figures: Toys = field(default_factory=dict)
    on_model: OnModels = field(default_factory=dict)
    tables: Mapping[str, Callable[[Ground], Rows]] = field(default_factory=dict)
    grids: Mapping[str, Callable[[Ground], Grid]] = field(default_factory=dict)
    answers: Mapping[str, Right] = field(default_factory=dict)
    tasks: Mapping[str, Task] = field(default_factory=dict)
    judges: Mapping[str, Judge] = field(default_factory=dict)
