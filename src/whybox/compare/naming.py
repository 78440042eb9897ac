"""From where two runs part to why: a fault is named when imposing it on ours gives what the other side did.

The model is walked in pieces, each run on what the other side had before it. In the first piece that rounding does not
explain, the faults that are first felt at the first such site are imposed one at a time, then two at a time. Those that
bring the piece to the floor are kept, and the walk goes on until nothing is left, or nothing helps.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from scipy.optimize import minimize_scalar

from whybox.compare.effort import Effort
from whybox.compare.floor import LEAST, Floor, floor
from whybox.compare.ground import Ground
from whybox.compare.observation import Errors, Observation, errors, in_order
from whybox.compare.pieces import Described, Piece, alone, entering, pieces
from whybox.compare.suspects import Family, Suspect, behind_cache, catalogue, changes_something, felt_at
from whybox.engine.trace import Key
from whybox.errors import NonFiniteError
from whybox.parts.rounding import UNIT
from whybox.testing.faults import NO_FAULT, Fault, together

MOST_ROUNDS = 6
STEPS, EXACT = 80, 1e-10  # of the logarithm: the error has a sharp end where it vanishes
SCANNED = 25  # places of a number that are looked at first: angles come round, and have valleys of their own
SPREAD = 8.0  # a fitted number is sought between the neighbours of the best of those tried, or so far beyond the last
PAIRED = 8  # layers of a piece in which two faults at once are sought: of a whole model there are too many to be sure
EXPLAINS = 3.0
"""A fault takes away at least so much of the error where the runs part. Some, as rounding in places, raise the floor
itself: under a floor that hides what there is to explain, nothing is explained."""


@dataclass(frozen=True)
class Parting:
    """The first place that rounding does not explain. error: ‖ours − theirs‖ / ‖ours‖ there; allowed: by rounding."""

    site: str
    layer: int | None
    position: int
    error: float
    allowed: float


@dataclass(frozen=True)
class Tried:
    """A fault that was imposed in one piece. left: the error, in multiples of the floor, that remained there."""

    fault: Fault
    piece: str
    left: float
    named: bool


@dataclass(frozen=True)
class Named:
    """A fault that brings what it explains to the floor. layers: where it holds, None for all that it can touch."""

    fault: Fault
    layers: tuple[int, ...] | None


@dataclass(frozen=True)
class Walk:
    """parted: the first place, None where rounding explains all. named: in the order of peeling. left: pieces that
    nothing explained, with the first place in each.
    """

    parted: Parting | None
    named: tuple[Named, ...] = ()
    tried: tuple[Tried, ...] = ()
    left: tuple[tuple[str, Parting], ...] = ()


@dataclass
class Walker:
    """One comparison: our description, what the other side was seen to do, and what was measured so far.

    ground: floors that were measured before, of a model held in `kind`.
    """

    model: Described
    seen: Observation
    precision: str = "fp32"
    own: Sequence[Suspect] = ()
    tried: list[Tried] = field(default_factory=list)
    ground: Ground | None = None
    kind: str = ""

    def __post_init__(self) -> None:
        self.spec = self.model[0]
        self.pieces = tuple(pieces(self.spec, self.seen))
        self.place = {key: number for number, key in enumerate(in_order(self.spec))}
        fixed, self.families = catalogue(self.spec)
        self.fixed = (*self.own, *(each for each in fixed if changes_something(each.fault, *self.model)))
        self.floors: dict[tuple[Piece, str], Floor] = {}
        self.effort = Effort() if self.ground is None else self.ground.effort
        self._latest: tuple[Piece, Fault, Observation] | None = None

    def walk(self, known: Sequence[Named] = ()) -> Walk:
        """Peels one fault after another, behind those that are known already."""
        named = list(known)
        stuck: set[str] = set()
        parted = self.partings(named)
        first = next(iter(parted.values()), None)
        for _ in range(MOST_ROUNDS):
            open_ones = [(piece, at) for piece, at in parted.items() if at.site not in stuck]
            if not open_ones:
                break
            piece, at = open_ones[0]
            fault = self.explain(piece, at, named)
            found = None if fault is None else self.limited(fault, parted, named)
            if found is None:
                stuck.add(at.site)
                continue
            named.append(found)
            parted = self.partings(named)
        left = tuple((str(piece), at) for piece, at in parted.items())
        return Walk(first, tuple(named[len(known) :]), tuple(self.tried), left)

    def partings(self, named: Iterable[Named]) -> dict[Piece, Parting]:
        """The first place beyond the floor of every piece that has one."""
        found = ((piece, self.parting(piece, named)) for piece in self.pieces)
        return {piece: at for piece, at in found if at is not None}

    def parting(self, piece: Piece, named: Iterable[Named]) -> Parting | None:
        """The first place of a piece beyond its floor, with what was named imposed."""
        fault = imposed(named)
        measured = self.errors_with(piece, fault)
        near = self._near_floor(piece) if fault is NO_FAULT else None
        if near is not None and all((rows <= 1).all() for rows in _known(near.ratios(measured))):
            return None
        limits = self.floor_of(piece, fault)
        for key, ratios in sorted(limits.ratios(measured).items(), key=lambda item: self.place[item[0]]):
            beyond = np.flatnonzero(ratios > 1)
            if beyond.size:
                row = int(beyond[0])
                return Parting(*key, row, float(measured[key][row]), float(limits.limits[key][row]))
        return None

    def floor_of(self, piece: Piece, fault: Fault) -> Floor:
        key = (piece, fault.what)
        if key not in self.floors:
            self.floors[key] = self._measured_floor(piece, fault)
        return self.floors[key]

    def _measured_floor(self, piece: Piece, fault: Fault) -> Floor:
        """Ours in the pair's format is what was just compared, where that is float32."""
        latest, coarse = self._latest, None
        if latest is not None and self.precision == "fp32" and latest[0] == piece and latest[1] is fault:
            coarse = latest[2]
        try:
            found = floor(piece, self.model, self.seen, fault, self.precision, coarse)
        except NonFiniteError:
            return Floor(self._everywhere(piece, LEAST * UNIT[self.precision]), self.precision)
        self.effort.did(_layers(piece) * (2 if coarse else 3))
        if self.ground is not None and fault is NO_FAULT:
            self.ground.floors[self.seen.ids, piece, self.kind] = self._entry(piece), found
        return found

    def _near_floor(self, piece: Piece) -> Floor | None:
        """A floor of the same piece that another comparison measured: enough to acquit, not to accuse."""
        if self.ground is None or (piece, NO_FAULT.what) in self.floors:
            return None
        return self.ground.near(self.seen.ids, piece, self._entry(piece), self.kind)

    def _entry(self, piece: Piece) -> np.ndarray | None:
        return None if piece.from_ids else entering(self.spec, self.seen, piece.start)

    def explain(self, piece: Piece, at: Parting, named: Sequence[Named]) -> Fault | None:
        """One fault, or else two at once, that bring the piece to the floor, or past the place where it parted."""
        base, sites = imposed(named), self.sites_at(piece, at)
        single = [suspect.fault for suspect in felt_at(self.fixed, sites)]
        cached = () if base.cached is not None else tuple(behind_cache(at.position))
        families = [family for family in self.families if set(family.felt) & set(sites)]
        return (
            self.best(piece, at, base, single)
            or self.fitted(piece, at, named, families)
            or self.best(piece, at, base, [suspect.fault for suspect in felt_at(cached, sites)])
            or (self.paired(piece, at, base, single, families) if len(piece.layers) <= PAIRED else None)
        )

    def paired(
        self, piece: Piece, at: Parting, base: Fault, single: Sequence[Fault], families: Sequence[Family]
    ) -> Fault | None:
        """Two at once: both without a number, or one of them with a number that is tried."""
        return self.best(piece, at, base, [together(pair) for pair in combinations(single, 2)]) or next(
            (found for each in single if (found := self.beside(piece, at, base, each, families))), None
        )

    def beside(self, piece: Piece, at: Parting, base: Fault, fault: Fault, families: Sequence[Family]) -> Fault | None:
        """A fault with one of the numbers that are tried, both felt at the same site."""
        grid = [together((fault, family.make(value))) for family in families for value in family.tried]
        return self.best(piece, at, base, grid)

    def best(self, piece: Piece, at: Parting, base: Fault, candidates: Sequence[Fault]) -> Fault | None:
        """The candidate that clears the whole piece, else the one that clears most of it behind the place."""
        self.effort.plan(_layers(piece) * len(candidates))
        before = self.errors_with(piece, base)
        measured = [(self.cleared(piece, at, base, fault, before), fault) for fault in candidates]
        past = [(reach, left, fault) for (reach, left), fault in measured if reach > self.place[at.site, at.layer]]
        winner = max(past, key=lambda each: (each[0], -each[1]), default=None)
        for (_, left), fault in measured:
            self.tried.append(Tried(fault, str(piece), left, winner is not None and fault is winner[2]))
        return None if winner is None else winner[2]

    def cleared(self, piece: Piece, at: Parting, base: Fault, fault: Fault, before: Errors) -> tuple[float, float]:
        """(place of the first site beyond the floor, ∞ if none; the largest multiple of the floor where it parted)."""
        both, here = together((base, fault)), (at.site, at.layer)
        measured = self.errors_with(piece, both)
        if explains_little(measured.get(here), before[here]):
            return -1.0, self.floor_of(piece, base).overall(measured).get(here, np.inf)
        limits = self.floor_of(piece, both)
        worst = limits.overall(measured)
        beyond = [self.place[key] for key, ratio in worst.items() if not ratio <= 1]
        if here not in worst:
            return -1.0, np.inf
        was = limits.overall({here: before[here]})[here]
        if was <= max(1.0, EXPLAINS * worst[here]):
            return -1.0, worst[here]
        return (float(min(beyond)) if beyond else np.inf), worst[here]

    def errors_with(self, piece: Piece, fault: Fault) -> Errors:
        """What is left in a piece with a fault imposed; infinitely much where it drives our numbers out of range."""
        self.effort.did(_layers(piece))
        try:
            found = alone(piece, self.model, self.seen, fault)
        except NonFiniteError:
            self._latest = None
            return self._everywhere(piece, np.inf)
        self._latest = piece, fault, found
        return errors(found, self.seen, self.spec)

    def _everywhere(self, piece: Piece, value: float) -> Errors:
        seen = (key for key in self.seen.sites if key in self.place and self.in_piece(piece, key))
        return {key: np.full(len(self.seen.ids), value) for key in seen}

    def fitted(self, piece: Piece, at: Parting, named: Sequence[Named], families: Sequence[Family]) -> Fault | None:
        """The best of the numbers that are tried, or else a number near it."""
        base = imposed(named)
        grids = [self.best(piece, at, base, [family.make(value) for value in family.tried]) for family in families]
        if any(grids):
            return self.broadest(grids, named)
        return self.broadest(
            [self.best(piece, at, base, self._near(piece, at, base, each)) for each in families], named
        )

    def broadest(self, found: Sequence[Fault | None], named: Sequence[Named]) -> Fault | None:
        """Of several that explain one piece the one that leaves the fewest pieces of the model unexplained."""
        chosen = [fault for fault in found if fault is not None]
        if len(chosen) < 2:
            return next(iter(chosen), None)
        return min(chosen, key=lambda fault: len(self.partings([*named, Named(fault, None)])))

    def _near(self, piece: Piece, at: Parting, base: Fault, family: Family) -> list[Fault]:
        key = (at.site, at.layer)

        def error(log: float) -> float:
            both = together((base, family.make(float(np.exp(log)))))
            rows = self.errors_with(piece, both).get(key)
            return np.inf if rows is None else float(np.nanmean(rows))

        tried = sorted(family.tried)
        best = min(range(len(tried)), key=lambda at: error(float(np.log(tried[at]))))
        around = (tried[0] / SPREAD, *tried, tried[-1] * SPREAD)[best : best + 3]
        scanned = np.linspace(np.log(around[0]), np.log(around[-1]), SCANNED)
        self.effort.plan(_layers(piece) * (len(tried) + SCANNED + STEPS))
        least = int(np.argmin([error(float(log)) for log in scanned]))
        bounds = (scanned[max(least - 1, 0)], scanned[min(least + 1, SCANNED - 1)])
        found = minimize_scalar(error, bounds=bounds, method="bounded", options={"maxiter": STEPS, "xatol": EXACT})
        return [family.make(float(np.exp(found.x)))]

    def sites_at(self, piece: Piece, at: Parting) -> list[str]:
        """Sites at which the fault may be first felt: behind the last one that was recorded, up to where it shows."""
        here = self.place[at.site, at.layer]
        recorded = [self.place[key] for key in self.seen.sites if key in self.place and self.place[key] < here]
        inside = [place for key, place in self.place.items() if self.in_piece(piece, key)]
        after = max([place for place in recorded if place >= min(inside)], default=min(inside) - 1)
        return [key[0] for key, place in self.place.items() if after < place <= here]

    def in_piece(self, piece: Piece, key: Key) -> bool:
        site, layer = key
        if layer is not None:
            return layer in piece.layers
        return piece.from_ids if site == "embed" else piece.head

    def limited(self, fault: Fault, parted: Collection[Piece], named: Sequence[Named]) -> Named | None:
        """Everywhere, unless that would break pieces that were at the floor: then in the layers that need it.

        None where it is contradicted and no layer needs it.
        """
        quiet = [piece for piece in self.pieces if piece not in parted]
        broken = any(self.parting(piece, [*named, Named(fault, None)]) is not None for piece in quiet)
        needed = tuple(layer for piece in parted for layer in piece.layers)
        if broken and not needed:
            return None
        return Named(fault, needed if broken else None)


def explains_little(left: np.ndarray | None, before: np.ndarray) -> bool:
    """Whether a fault leaves so much at every position that no floor can make an explanation of it."""
    return left is None or bool((EXPLAINS * left >= before)[np.isfinite(before) | np.isinf(before)].all())


def _known(ratios: Mapping[Key, np.ndarray]) -> Iterable[np.ndarray]:
    """Of every site the positions that were kept."""
    return (rows[~np.isnan(rows)] for rows in ratios.values())


def _layers(piece: Piece) -> int:
    """What running a piece counts for."""
    return max(1, len(piece.layers))


def imposed(named: Iterable[Named]) -> Fault:
    """What was named so far, each where it holds."""
    chosen = tuple(each.fault if each.layers is None else each.fault.within(each.layers) for each in named)
    return together(chosen) if chosen else NO_FAULT
