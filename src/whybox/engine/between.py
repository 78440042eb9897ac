"""What an engine calls between two layers of a run: a thread that several share may do other work there.

It is called before each layer of each pass, whatever the pass is for. What it raises ends the run, and leaves nothing
behind: a run keeps its values to itself until it is finished.
"""

from collections.abc import Callable
from copy import copy
from typing import Protocol, TypeVar, runtime_checkable

Between = Callable[[], None]


def nothing() -> None:
    """Nobody else uses the thread."""


@runtime_checkable
class Pausing(Protocol):
    """An engine that calls `between` before each layer of each pass."""

    @property
    def between(self) -> Between: ...


E = TypeVar("E", bound=Pausing)


def pausing(engine: E, between: Between) -> E:
    """The same engine on the same weights, which calls `between`."""
    found = copy(engine)
    vars(found)["between"] = between
    return found
