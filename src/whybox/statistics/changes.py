"""How often an answer changes between arms, beyond how often it changes when the same is asked again.

codes [item arm run]; every arm is run at least twice, since the repeats of one arm alone say little about the floor.
D_i = F_i − F₀_i: the share of pairs of calls with different answers, between arms minus within one arm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped

from whybox.statistics.calls import LOST, Calls
from whybox.statistics.effects import Effects, effect_interval
from whybox.statistics.intervals import Interval
from whybox.statistics.permutation import RESAMPLES, Permuted, within_items
from whybox.statistics.unknown import Unknown


@dataclass(frozen=True)
class PairsOfCalls:
    """Which calls of an item are compared, as slots arm · runs + run: between arms, and within one arm."""

    between: Integer[np.ndarray, "pair 2"]
    within: Integer[np.ndarray, "repeat 2"]


@dataclass(frozen=True)
class Changes:
    """effect: D = between − floor, over the items that have a pair of both kinds. effects: D_i of those items."""

    effect: float
    between: float
    floor: float
    interval: Interval
    null: Permuted | Unknown
    effects: Effects

    @property
    def items(self) -> int:
        return self.effects.size


def pairs_of_calls(arms: int, runs: int, compared: Sequence[tuple[int, int]] | None = None) -> PairsOfCalls:
    """All pairs of runs in different arms (or in the arms that are compared), and all repeats within one arm."""
    chosen = list(combinations(range(arms), 2)) if compared is None else list(compared)
    slots = np.arange(arms * runs).reshape(arms, runs)
    between = [(a, b) for one, other in chosen for a in slots[one] for b in slots[other]]
    within = [pair for arm in slots for pair in combinations(arm, 2)]
    return PairsOfCalls(np.array(between).reshape(-1, 2), np.array(within, int).reshape(-1, 2))


def changes(
    codes: Calls,
    generator: np.random.Generator,
    compared: Sequence[tuple[int, int]] | None = None,
    resamples: int = RESAMPLES,
) -> Changes | Unknown:
    """D over items with its interval, and its null: the calls of every item dealt anew to the arms."""
    items, arms, runs = codes.shape
    if runs < 2:
        return Unknown("every arm must be run at least twice, or the floor has no pair")
    chosen = pairs_of_calls(arms, runs, compared)
    slots = codes.reshape(items, arms * runs)
    both, between, within = _both_kinds(slots.T, chosen)
    if not both.any():
        return Unknown("no item has both a pair of arms and a repeat")
    effects = between - within
    interval = effect_interval(effects)
    assert interval is not None, "there is an item"
    null = _null(slots[both], chosen, generator, resamples)
    return Changes(float(effects.mean()), float(between.mean()), float(within.mean()), interval, null, effects)


def item_effects(codes: Calls, compared: Sequence[tuple[int, int]] | None = None) -> Float[np.ndarray, "some"]:
    """D_i of the items that have a pair of both kinds."""
    items, arms, runs = codes.shape
    _, between, within = _both_kinds(codes.reshape(items, arms * runs).T, pairs_of_calls(arms, runs, compared))
    return between - within


def worst_effects(codes: Calls, compared: Sequence[tuple[int, int]] | None = None) -> Effects:
    """D_i if every lost call had given another answer than other arms and the same as its repeats."""
    items, arms, runs = codes.shape
    chosen = pairs_of_calls(arms, runs, compared)
    slots = codes.reshape(items, arms * runs).T
    between, within = (slots[pairs] for pairs in (chosen.between.T, chosen.within.T))
    changed = (between[0] != between[1]) | np.any(between == LOST, axis=0)
    repeated = (within[0] != within[1]) & np.all(within != LOST, axis=0)
    return np.asarray(changed.mean(axis=0) - (repeated.mean(axis=0) if runs > 1 else 0), np.float64)


def _null(
    slots: Integer[np.ndarray, "item slot"], chosen: PairsOfCalls, generator: np.random.Generator, resamples: int
) -> Permuted | Unknown:
    """Items whose calls all agree cannot be dealt into anything else: they are counted, not drawn."""
    varying = slots[np.any(slots != slots[:, :1], axis=1)]
    if len(varying) < 2:
        return Unknown("no item differed" if len(varying) == 0 else "one item differed")
    return within_items(varying, partial(_mean_effect, chosen, len(slots)), generator, resamples=resamples)


def _mean_effect(
    chosen: PairsOfCalls, items: int, slots: Integer[np.ndarray, "slot *draws some"]
) -> Float[np.ndarray, "*draws"]:
    """Σ D_i / items; an item that a deal leaves without a pair counts 0. Rounded, so that equal sums are equal."""
    effects = _shares(slots, chosen.between) - _shares(slots, chosen.within)
    return np.asarray(np.round(np.nan_to_num(effects, nan=0.0).sum(axis=-1) / items, 12))


def _both_kinds(
    slots: Integer[np.ndarray, "slot item"], chosen: PairsOfCalls
) -> tuple[Bool[np.ndarray, "item"], Float[np.ndarray, "some"], Float[np.ndarray, "some"]]:
    """Which items have a pair between and a pair within arms, and the shares of both that differ."""
    between, within = _shares(slots, chosen.between), _shares(slots, chosen.within)
    both = np.isfinite(between) & np.isfinite(within)
    return both, between[both], within[both]


def _shares(
    slots: Integer[np.ndarray, "slot *draws item"], pairs: Integer[np.ndarray, "pair 2"]
) -> Float[np.ndarray, "*draws item"]:
    """Share of different answers among the pairs of which both calls came back; NaN where there is none."""
    differ = np.zeros(slots.shape[1:], np.int64)
    known = np.zeros(slots.shape[1:], np.int64)
    for one, other in pairs:
        came = _came(slots[one], slots[other])
        known += came
        differ += came & (slots[one] != slots[other])
    with np.errstate(invalid="ignore"):
        return differ / known


def _came(one: Shaped[np.ndarray, "..."], other: Shaped[np.ndarray, "..."]) -> Bool[np.ndarray, "..."]:
    return (one != LOST) & (other != LOST)
