"""Matched random nulls: what changes of the same kind and size do, that the claim does not name.

    heads  same layers, same number        MLPs, layers  other layers, same number
    spans  same length, nearest depth      edges         same number, attention mass within ± 25 %

p = (1 + #{|e_r| ≥ |e|})/(R + 1) over R = 199 draws. Where fewer distinct draws exist, all of them are taken; below 19
no p can reach .05, and the smallest possible one stands beside it.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Generic, TypeVar, assert_never

import numpy as np

from whybox.cause.components import Component, Group, Head, Layer, Mlp, Positions, Selection
from whybox.cause.spans import other_spans
from whybox.spec import Spec
from whybox.statistics.ranks import NullBand, null_band, rank_p

DRAWS = 199
FEWEST = 19
MASS_TOLERANCE = 0.25
_TRIES = 50  # drawings of a set of edges, for each that is wanted

T = TypeVar("T")


@dataclass(frozen=True)
class Matched(Generic[T]):
    """Draws, all different; distinct: how many exist. The claim itself is none of them."""

    draws: tuple[T, ...]
    distinct: int


@dataclass(frozen=True)
class Null:
    """Effects of matched draws. distinct: how many different draws exist; where all were made, that many."""

    effects: tuple[float, ...]
    distinct: int

    @property
    def n(self) -> int:
        return len(self.effects)

    @property
    def few(self) -> bool:
        """Too few different draws exist for a p of .05: all were made."""
        return self.distinct < FEWEST

    @property
    def smallest_p(self) -> float:
        """1/(R + 1), what p is when no draw is as large."""
        return 1 / (self.n + 1)

    @property
    def bound(self) -> float:
        """The size |e| that 95 % of the draws do not exceed (the largest draw, where there are fewer than 20)."""
        return float(np.quantile(np.abs(self.effects), 0.95, method="higher"))

    def p(self, effect: float) -> float:
        return rank_p(effect, self.effects)

    def percentile(self, effect: float) -> float:
        """Share of draws, in percent, whose size lies below the effect's."""
        return 100 * sum(abs(drawn) < abs(effect) for drawn in self.effects) / self.n

    def beyond(self, effect: float) -> bool:
        """Whether the effect is larger than 95 % of the draws."""
        return abs(effect) > self.bound

    def band(self, effect: float) -> NullBand | None:
        """The 95 % band with its signs, for reports."""
        return null_band(effect, self.effects)


def other_groups(
    claim: Group, spec: Spec, length: int, generator: np.random.Generator, draws: int = DRAWS, apart: Group = ()
) -> Matched[Group]:
    """Groups of the claim's kind and size that share no component with it. length: positions of the run.

    apart: components of other claims, left out as well while 19 different draws remain without them.
    """
    pools = list(_pools(claim, spec, length))
    purer = [([one for one in pool if one not in set(apart)], count) for pool, count in pools]
    pools = purer if math.prod(math.comb(len(pool), count) for pool, count in purer) >= FEWEST else pools
    distinct = math.prod(math.comb(len(pool), count) for pool, count in pools)
    if distinct <= draws:
        chosen = [tuple(part for parts in one for part in parts) for one in product(*(combinations(*p) for p in pools))]
        return Matched(tuple(chosen) if distinct else (), distinct)
    return Matched(tuple(_different(lambda: _drawn(pools, generator), draws)), distinct)


def _pools(claim: Group, spec: Spec, length: int) -> Iterator[tuple[list[Component], int]]:
    """For each stratum of the claim, the components that may stand in, and how many are wanted.

    Any other selection of a site has no match: its pool is empty.
    """
    taken = set(claim)
    strata: dict[tuple[str, int], list[Component]] = {}
    for component in claim:
        strata.setdefault(_stratum(component), []).append(component)
    rows = [row for component in claim if isinstance(component, Positions) for row in component.rows]
    for found in strata.values():
        alike = _alike(found[0], spec, rows, length)
        yield [other for other in alike if other not in taken], len(found)


def _stratum(component: Component) -> tuple[str, int]:
    match component:
        case Head(layer):
            return "head", layer
        case Positions(rows):
            return "positions", len(rows)
        case Mlp() | Layer() | Selection():
            return type(component).__name__, 0
        case _:
            assert_never(component)


def _alike(component: Component, spec: Spec, rows: Sequence[int], length: int) -> list[Component]:
    match component:
        case Head(layer):
            return [Head(layer, head) for head in range(spec.layers[layer].attention.heads)]
        case Mlp():
            return [Mlp(layer) for layer in range(len(spec.layers))]
        case Layer():
            return [Layer(layer) for layer in range(len(spec.layers))]
        case Positions(own):
            return [Positions(tuple(span)) for span in other_spans(len(own), rows, length, DRAWS)]
        case Selection(site, layer, at):
            return [*_same_site(site, layer, at, spec)]
        case _:
            assert_never(component)


def _same_site(site: str, layer: int | None, at: tuple[tuple[str, object], ...], spec: Spec) -> Iterator[Selection]:
    """A single head's (or key head's) value: the others of its layer. No match for anything else."""
    chosen = dict(at)
    if layer is None or len(chosen) != 1:
        return
    attention = spec.layers[layer].attention
    for letter, count in (("h", attention.heads), ("g", attention.kv_heads)):
        if isinstance(chosen.get(letter), int):
            yield from (Selection(site, layer, ((letter, other),)) for other in range(count))


def _drawn(pools: Sequence[tuple[list[Component], int]], generator: np.random.Generator) -> Group:
    return tuple(
        pool[index] for pool, count in pools for index in sorted(generator.choice(len(pool), count, replace=False))
    )


def _different(draw: Callable[[], T | None], wanted: int) -> Iterator[T]:
    """Draws that differ from each other, up to the wanted number or until drawing again is hopeless."""
    seen: set[T] = set()
    for _ in range(_TRIES * wanted):
        found = draw()
        if found is not None and found not in seen:
            seen.add(found)
            yield found
        if len(seen) == wanted:
            return


@dataclass(frozen=True, order=True)
class Edge:
    """One attention edge: in a layer, a head, from a query position to a key position."""

    layer: int
    head: int
    query: int
    key: int


def other_edges(
    claim: Sequence[Edge],
    pool: Sequence[Edge],
    mass: Callable[[Edge], float],
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Matched[tuple[Edge, ...]]:
    """Sets of as many edges of a pool, whose attention mass is that of the claim ± 25 %.

    pool: edges that may stand in; those of the claim are left out. mass: the pattern's weight on an edge. Each edge of
    the claim is matched by one of like weight, where there is one. distinct: as many as were found.
    """
    taken = set(claim)
    free = sorted((edge for edge in pool if edge not in taken), key=mass)
    if len(free) < len(claim):
        return Matched((), 0)
    weights = np.array([mass(edge) for edge in free])
    wanted = np.array(sorted((mass(edge) for edge in claim), reverse=True))
    found = tuple(_different(lambda: _edges_like(free, weights, wanted, generator), draws))
    return Matched(found, len(found))


def _edges_like(
    pool: list[Edge], weights: np.ndarray, wanted: np.ndarray, generator: np.random.Generator
) -> tuple[Edge, ...] | None:
    free = np.ones(len(pool), bool)
    chosen: list[int] = []
    for weight in wanted:
        low = np.searchsorted(weights, (1 - MASS_TOLERANCE) * weight, side="left")
        high = np.searchsorted(weights, (1 + MASS_TOLERANCE) * weight, side="right")
        inside = low + np.flatnonzero(free[low:high])
        pick = int(generator.choice(inside)) if inside.size else _nearest(weights, free, float(weight))
        free[pick] = False
        chosen.append(pick)
    total, own = weights[chosen].sum(), wanted.sum()
    if abs(total - own) > MASS_TOLERANCE * own:
        return None
    return tuple(sorted(pool[index] for index in chosen))


def _nearest(weights: np.ndarray, free: np.ndarray, weight: float) -> int:
    left = np.flatnonzero(free)
    return int(left[np.abs(weights[left] - weight).argmin()])
