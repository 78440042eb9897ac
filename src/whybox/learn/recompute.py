"""Every number of the ledger, computed now: what fits its record, and whether a status still follows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from whybox.errors import FormatError
from whybox.learn.figures import ON_MODEL, TOYS, Value
from whybox.learn.ground import Ground
from whybox.learn.ledger import FILE, Claim, Rest
from whybox.learn.printed import in_powers

Found = tuple[float, ...]
Tell = Callable[[int, int], None]
BASE_RUNS = 1  # text A as it is


@dataclass(frozen=True)
class Number:
    """What a claim rests on, and what was computed for it; found: None where it was measured once."""

    name: str
    rest: Rest
    found: Found | None

    @property
    def fits(self) -> bool | None:
        """Whether it is what was recorded; None where it was not computed."""
        if self.found is None:
            return None
        places = self.rest.expected or self.found
        return len(self.found) == len(places) and all(
            low <= value <= high
            for value, (low, high) in zip(self.found, map(self.rest.bounds, range(len(places))), strict=True)
        )

    @property
    def agrees(self) -> bool | None:
        """Whether what the document prints is what is right; None where it prints no number."""
        right = self.found if self.found is not None else tuple(each.value for each in self.rest.expected)
        if not self.rest.stated:
            return None
        return all(printed.agrees(value) for printed, value in zip(self.rest.stated, right, strict=True))

    @property
    def shown(self) -> tuple[str, ...]:
        """As the sentence has it: in the digits of the record."""
        right = self.found if self.found is not None else tuple(each.value for each in self.rest.expected)
        if not self.rest.expected:
            return tuple(_noise(value) for value in right)
        if len(self.rest.expected) != len(right):
            return tuple(f"{value:g}" for value in right)
        return tuple(like.like(value) for like, value in zip(self.rest.expected, right, strict=True))


@dataclass(frozen=True)
class Entry:
    """One claim with its numbers."""

    claim: Claim
    numbers: tuple[Number, ...]

    @property
    def misfits(self) -> tuple[str, ...]:
        """Names of numbers that are no longer what was recorded."""
        return tuple(number.name for number in self.numbers if number.fits is False)

    @property
    def status_follows(self) -> bool:
        """right: all that the document prints is right. wrong: something of it is not. imprecise: neither is asked."""
        agreements = [number.agrees for number in self.numbers if number.agrees is not None]
        match self.claim.status:
            case "right":
                return all(agreements)
            case "wrong":
                return not agreements or not all(agreements)
            case "imprecise":
                return True

    @property
    def holds(self) -> bool:
        return not self.misfits and self.status_follows


def planned_runs(claims: Sequence[Claim]) -> int:
    """Passes of the default model over text A, or as long as that takes; 0 where no claim needs the model."""
    wanted = _wanted(claims)
    runs = sum(ON_MODEL[name].runs for name in wanted if name in ON_MODEL)
    return runs + BASE_RUNS * any(name in ON_MODEL for name in wanted)


def recompute(claims: Sequence[Claim], ground: Ground, tell: Tell) -> tuple[Entry, ...]:
    """Every number once, whichever claims rest on it: first those of toys, then those of the model.

    tell: runs done, of all. FormatError for a figure that does not exist.
    """
    found = _computed(_wanted(claims), ground, planned_runs(claims), tell)
    return tuple(Entry(claim, _numbers(claim, found)) for claim in claims)


def _computed(wanted: Sequence[str], ground: Ground, planned: int, tell: Tell) -> Mapping[str, Found]:
    found = {name: _several(TOYS[name]()) for name in wanted if name in TOYS}
    done = BASE_RUNS
    for name in (name for name in wanted if name in ON_MODEL):
        found[name] = _several(ON_MODEL[name].compute(ground))
        done += ON_MODEL[name].runs
        tell(done, planned)
    return found


def _wanted(claims: Sequence[Claim]) -> list[str]:
    """Names of figures, each once, those of toys first."""
    named = [(claim.id, rest.figure) for claim in claims for rest in claim.rests.values() if rest.figure is not None]
    for claim_id, figure in named:
        if figure not in TOYS and figure not in ON_MODEL:
            raise FormatError(FILE, f"{claim_id}.figure", "the name of a figure", repr(figure))
    figures = dict.fromkeys(figure for _, figure in named)
    return sorted(figures, key=lambda name: name in ON_MODEL)


def _numbers(claim: Claim, found: Mapping[str, Found]) -> tuple[Number, ...]:
    return tuple(Number(name, rest, _found(rest, found)) for name, rest in claim.rests.items())


def _found(rest: Rest, found: Mapping[str, Found]) -> Found | None:
    if rest.figure is None:
        return None
    values = found[rest.figure]
    return values if rest.take is None else values[rest.take : rest.take + 1]


def _several(value: Value) -> Found:
    return value if isinstance(value, tuple) else (value,)


def _noise(value: float) -> str:
    """Two digits: of rounding noise, more say nothing."""
    if value == 0:
        return "0"
    if abs(value) >= 0.01:
        return f"{value:.2g}".replace("-", "−")
    return in_powers(value, 1)
