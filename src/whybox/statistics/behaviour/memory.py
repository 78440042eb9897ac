"""Decay over turns: is the opening rule still obeyed at depth t? marks [item depth run] of one arm."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer

from whybox.statistics.calls import LOST, Calls, first, item_changes, item_means, pairs, present
from whybox.statistics.paired import Pairs
from whybox.statistics.ratios import Ratio, ratio
from whybox.statistics.survival import Step, survival
from whybox.statistics.unknown import Unknown


def drop(marks: Calls) -> Pairs:
    """P(first depth) − P(last depth) on first runs: its `harm`."""
    return pairs(first(marks)[:, 0], first(marks)[:, -1])


def sampled_drop(marks: Calls) -> Float[np.ndarray, "some"]:
    """The same for a target that samples: per item, averaged over its runs."""
    return item_changes(item_means(marks[:, -1]), item_means(marks[:, 0]))


def obeyed_until(marks: Integer[np.ndarray, "item depth"], depths: Float[np.ndarray, "depth"]) -> list[Step]:
    """S(t): no failure at any depth up to t. Not the share that obeys at t, since a model may recover.

    The event is the first depth that fails; an item is watched until its last depth, or until a call was lost. Items
    lost at their first depth say nothing and are left out.
    """
    times, failed = _first_failures(marks, depths)
    watched = times > 0
    return survival(times[watched], failed[watched])


def _first_failures(
    marks: Integer[np.ndarray, "item depth"], depths: Float[np.ndarray, "depth"]
) -> tuple[Float[np.ndarray, "item"], Bool[np.ndarray, "item"]]:
    stopped = marks != 1
    step = np.where(stopped.any(axis=1), stopped.argmax(axis=1), len(depths))
    failed = np.array([at < len(depths) and row[at] == 0 for at, row in zip(step, marks, strict=True)], bool)
    seen_until = np.concatenate([[0.0], depths])
    return np.where(failed, seen_until[np.minimum(step + 1, len(depths))], seen_until[step]), failed


def beyond_chance(
    marks: Integer[np.ndarray, "item"], no_rule: Integer[np.ndarray, "item"], generator: np.random.Generator
) -> Ratio | Unknown:
    """(P − c)/(1 − c), c being compliance without the rule at the same depth, on the same items."""
    both = (marks != LOST) & (no_rule != LOST)
    return ratio((marks[both] - no_rule[both]).astype(float), 1.0 - no_rule[both], generator)


def gained(arm: Integer[np.ndarray, "item"], baseline: Integer[np.ndarray, "item"]) -> Pairs:
    """P_arm − P_baseline at one depth, as `harm` of going from the arm to the baseline.

    restated over user: rescue. one-turn over user: what turns cost beyond their tokens.
    """
    return pairs(arm, baseline)


@dataclass(frozen=True)
class Unreliability:
    """P90 − P10 over the runs of an item, mean over items; runs: how many of each."""

    gap: float
    runs: int


def unreliability(scores: Calls) -> Unreliability | Unknown:
    """For targets that sample, at one depth kept as the arm axis: how far an item's better runs lie above its worse."""
    runs = scores.shape[-1]
    if runs < 3:
        return Unknown("fewer than three runs of an item")
    whole = scores[np.all(scores != LOST, axis=(1, 2))].astype(float).mean(axis=1)
    if len(whole) == 0:
        return Unknown("no item of which every call came back")
    low, high = np.quantile(whole, [0.1, 0.9], axis=1)
    return Unreliability(float((high - low).mean()), runs)


def compliance(marks: Calls) -> list[float | None]:
    """P(t) over everything that came back, for drawing; gates and intervals read first runs."""
    means = np.ma.atleast_1d(present(marks).mean(axis=(0, 2)))
    return [None if gone else float(mean) for mean, gone in zip(means.data, np.ma.getmaskarray(means), strict=True)]
