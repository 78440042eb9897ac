"""Scores become weights: non-negative, summing to one over what is visible (and the sink, if one was learned).

A row that sees nothing has no weights: it is 0 throughout and *undefined*, never NaN and never uniform.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float


def softmax(
    scores: Float[np.ndarray, "*rows k"],
    visible: Bool[np.ndarray, "..."] | None = None,
    sinks: Float[np.ndarray, "h"] | None = None,
) -> Float[np.ndarray, "*rows k"]:
    """exp(s − m) / Σ exp(s − m), with m the largest visible score of the row.

    visible broadcasts against scores; hidden weights are exactly 0. sinks: one learned logit for each entry of the
    first axis, which takes its share of the sum and carries no value (arXiv 2309.17453).
    """
    weights = _hide(scores, visible)
    total = _exponentiate(weights, None if sinks is None else _beside(sinks, scores))
    total[total == 0] = 1
    weights /= total
    return weights


def sink_mass(
    scores: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "..."] | None, sinks: Float[np.ndarray, "h"]
) -> Float[np.ndarray, "h q"]:
    """The share that the learned sink takes of each row: 1 where the row sees nothing else."""
    weights, sink = _hide(scores, visible), _beside(sinks, scores)
    peak = np.maximum(_peak(weights), sink)
    total = _exponentiate(weights, sink)
    mass: Float[np.ndarray, "h q"] = (np.exp(sink - peak) / total)[..., 0]
    return mass


def defined(visible: Bool[np.ndarray, "*rows k"]) -> Bool[np.ndarray, "*rows"]:
    """Which rows see anything at all; the others stay out of every statistic."""
    return np.asarray(visible.any(axis=-1))


def online_softmax(scores: Float[np.ndarray, "k"]) -> Float[np.ndarray, "k"]:
    """The weights of one row from one pass for the normaliser, score by score (arXiv 1805.02867).

    total ← total · exp(m − m′) + exp(s − m′). Hidden scores are −inf, also when they come first.
    """
    peak, total = -np.inf, 0.0
    for score in scores:
        higher = max(peak, score)
        if higher == -np.inf:
            continue
        total = total * np.exp(peak - higher) + np.exp(score - higher)
        peak = higher
    return np.zeros_like(scores) if total == 0 else np.exp(scores - peak) / total


@dataclass(frozen=True, eq=False)
class Running:
    """What is kept of a row of scores while its keys arrive in tiles: peak, sum and the mixed values so far."""

    peak: Float[np.ndarray, "*rows 1"]
    total: Float[np.ndarray, "*rows 1"]
    mixed: Float[np.ndarray, "*rows d"]

    def absorb(self, scores: Float[np.ndarray, "*rows k"], value: Float[np.ndarray, "*groups k d"]) -> "Running":
        """One more tile. Hidden scores are −inf. Earlier sums are rescaled to the new peak, values included."""
        higher = np.maximum(self.peak, _peak(scores))
        kept = np.exp(self.peak - higher)
        weights = np.exp(scores - higher)
        return Running(
            higher, self.total * kept + weights.sum(axis=-1, keepdims=True), self.mixed * kept + weights @ value
        )

    def finish(self) -> Float[np.ndarray, "*rows d"]:
        """The weighted mean of the values; 0 where nothing was visible."""
        return self.mixed / np.where(self.total == 0, 1, self.total)


def nothing_seen(rows: tuple[int, ...], width: int, dtype: np.dtype) -> Running:
    """Where every row begins."""
    lowest = np.full((*rows, 1), np.finfo(dtype).min, dtype)
    return Running(lowest, np.zeros((*rows, 1), dtype), np.zeros((*rows, width), dtype))


def _hide(
    scores: Float[np.ndarray, "*rows k"], visible: Bool[np.ndarray, "..."] | None
) -> Float[np.ndarray, "*rows k"]:
    hidden = scores.copy()
    if visible is not None:
        np.copyto(hidden, -np.inf, where=~visible)  # half the time of np.where
    return hidden


def _peak(scores: Float[np.ndarray, "*rows k"]) -> Float[np.ndarray, "*rows 1"]:
    """The row's largest score. Finite even where all are −inf, so that −inf − peak stays −inf and not NaN."""
    lowest = np.finfo(scores.dtype).min
    peak: Float[np.ndarray, "*rows 1"] = scores.max(axis=-1, keepdims=True, initial=lowest)
    return peak


def _exponentiate(
    weights: Float[np.ndarray, "*rows k"], sink: Float[np.ndarray, "..."] | None
) -> Float[np.ndarray, "*rows 1"]:
    """Turns scores into exp(s − m) in place and returns the sum of each row, the sink's part included."""
    peak = _peak(weights) if sink is None else np.maximum(_peak(weights), sink)
    weights -= peak
    np.exp(weights, out=weights)
    total: Float[np.ndarray, "*rows 1"] = weights.sum(axis=-1, keepdims=True)
    if sink is not None:
        total += np.exp(sink - peak)
    return total


def _beside(sinks: Float[np.ndarray, "h"], scores: Float[np.ndarray, "h *rows"]) -> Float[np.ndarray, "h ..."]:
    return sinks.reshape(-1, *(1 for _ in scores.shape[1:])).astype(scores.dtype, copy=False)
