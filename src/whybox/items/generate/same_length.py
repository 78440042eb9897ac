"""Same length, measured and not assumed: draw again until the token counts agree, and say so when they do not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
MOST_DRAWS = 200
LENGTH_DIFFERS = "length differs"


@dataclass(frozen=True)
class Matched(Generic[T]):
    """A drawn value with its length in tokens; `flags` holds `length differs` when no draw had the wanted one."""

    value: T
    length: int
    draws: int
    flags: tuple[str, ...] = ()


def draw_of_length(draw: Callable[[], T], length: Callable[[T], int], wanted: int) -> Matched[T]:
    """Draw up to 200 times for a value of the wanted length; else the nearest one, flagged. Nothing is ever padded."""
    nearest: Matched[T] | None = None
    for number in range(1, MOST_DRAWS + 1):
        value = draw()
        matched = Matched(value, length(value), number)
        if matched.length == wanted:
            return matched
        if nearest is None or abs(matched.length - wanted) < abs(nearest.length - wanted):
            nearest = matched
    assert nearest is not None
    return Matched(nearest.value, nearest.length, MOST_DRAWS, (LENGTH_DIFFERS,))
