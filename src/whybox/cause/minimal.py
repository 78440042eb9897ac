"""Minimal sets: of a set of parts whose change flips the outcome, the smallest found that still flips it."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from whybox.errors import UsageError

Part = TypeVar("Part", bound=Hashable)
Margins = Callable[[Sequence[tuple[Part, ...]]], Sequence[float]]
"""Sets → how far beyond the flip each lies; above 0 it flips."""
NOT_UNIQUE = "not unique"


@dataclass(frozen=True)
class Minimal(Generic[Part]):
    """parts: each of them is needed, none can be dropped. others: other minimal sets that were found.

    margin: how far beyond the flip the set lies. tried: sets that were run.
    """

    parts: tuple[Part, ...]
    margin: float
    others: tuple[tuple[Part, ...], ...]
    tried: int

    @property
    def flags(self) -> tuple[str, ...]:
        return (NOT_UNIQUE,) if self.others else ()


def minimal(parts: Sequence[Part], margins: Margins[Part]) -> Minimal[Part]:
    """Parts are dropped one by one, the one that matters least first, while the flip holds.

    Another set is looked for without each part of the set found. UsageError where all parts together do not flip.
    """
    known = _Known(margins)
    whole = tuple(dict.fromkeys(parts))
    if known.of([whole])[0] <= 0:
        raise UsageError("the whole set does not flip the outcome, so no part of it can be minimal", "name more parts")
    found = [known.reduced(whole)]
    for part in found[0]:
        rest = tuple(one for one in whole if one != part)
        if rest and known.of([rest])[0] > 0 and set(other := known.reduced(rest)) not in [set(one) for one in found]:
            found.append(other)
    best = min(found, key=len)
    others = tuple(one for one in found if one is not best)
    return Minimal(best, known.of([best])[0], others, len(known.found))


def reduced(parts: Sequence[Part], margins: Margins[Part]) -> tuple[Part, ...]:
    """Parts of a set that flips dropped one by one, the one that matters least first, while the flip holds."""
    return _Known(margins).reduced(tuple(parts))


class _Known(Generic[Part]):
    """Margins of sets, each asked for once."""

    def __init__(self, margins: Margins[Part]) -> None:
        self._margins = margins
        self.found: dict[tuple[Part, ...], float] = {}

    def of(self, sets: Sequence[tuple[Part, ...]]) -> list[float]:
        new = [one for one in dict.fromkeys(sets) if one not in self.found]
        if new:
            self.found.update(zip(new, self._margins(new), strict=True))
        return [self.found[one] for one in sets]

    def reduced(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        while len(parts) > 1:
            smaller = [parts[:i] + parts[i + 1 :] for i in range(len(parts))]
            margin, best = max(zip(self.of(smaller), range(len(smaller)), strict=True))
            if margin <= 0:
                break
            parts = smaller[best]
        return parts
