"""Which parts of the context an answer rests on: sources left out in many combinations (ContextCite, arXiv 2409.00729).

    y = ln P − ln(1 − P),  P = Π over the answer's ids

Up to 6 sources all 2^n masks are run, and the scores are exact Shapley values of y. Beyond, a LASSO on 64 keep-masks
(128 above 30 sources) stands for the model, and is judged on 32 masks that it has not seen: below an LDS of .5 its
scores are hidden. Sources are removed from view (ids kept, no later position sees them); nothing is rendered anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from whybox.cause.effects import Unknown
from whybox.cause.ground import Ground
from whybox.cause.knockout import ranges
from whybox.cause.surrogate import Linear, all_masks, drawn_masks, lasso, shapley
from whybox.engine.edit import Edit, cut
from whybox.engine.read import LogProb
from whybox.engine.trace import Change
from whybox.errors import UsageError
from whybox.items.generate import sentences
from whybox.statistics.ranks import Correlation, spearman
from whybox.text.prompt import Prompt, SegmentKind

EXACT = 6  # sources of which all masks are run
MANY = 30
MASKS, MORE_MASKS, UNSEEN = 64, 128, 32
USABLE = 0.5
TOPS = (1, 3, 5)
RANDOM = 20  # random sets of k sources beside the top k
MOST_LEFT_OUT = 12
METHOD = "removed from view: ids kept, no later position sees them"
NOT_USABLE = "surrogate not usable"

Sources = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Drop:
    """log P(full) − log P(without k sources), nats: the top k by score, and the mean and SD over random k."""

    k: int
    top: float
    random: float
    random_sd: float
    draws: int


@dataclass(frozen=True)
class Attributed:
    """scores: what keeping each source adds to y (log-odds of the answer), or why they are hidden.

    exact: Shapley values over all masks. lds: Spearman of surrogate and truth on 32 unseen masks; where all masks were
    run nothing is unseen, and `fit` (on all masks) tells how far the scores simply add up. left_out: exact effect on
    log P of leaving out each source alone. floor: of log P.
    """

    scores: Mapping[str, float] | Unknown
    exact: bool
    masks: int
    lds: Correlation | Unknown | None
    fit: Correlation | None
    drops: tuple[Drop, ...] | Unknown
    left_out: Mapping[str, float] | Unknown
    floor: float
    method: str = METHOD

    @property
    def ranking(self) -> list[str]:
        """Sources by score, what supports the answer most first; empty where the scores are hidden."""
        scores = self.scores
        return [] if isinstance(scores, Unknown) else sorted(scores, key=lambda name: -scores[name])


def sources_of(prompt: Prompt, leave_out: Sequence[str] = ("question",)) -> dict[str, tuple[int, ...]]:
    """The named parts of a prompt; where there is only one, its sentences. leave_out: parts that are no source."""
    parts = [one for one in prompt.segments if one.kind is SegmentKind.PART and one.name not in leave_out]
    held = {one.name: tuple(range(one.start, one.end)) for one in parts if one.end > one.start}
    if len(held) > 1:
        return held
    return {name: rows for only in held.values() for name, rows in _sentences(prompt, only).items()}


def _sentences(prompt: Prompt, rows: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """A token belongs to the sentence that holds its last character: blanks before a word are part of its token."""
    start, end = prompt.tokens[rows[0]].span[0], prompt.tokens[rows[-1]].span[1]
    ends = start + np.cumsum([len(one) for one in sentences(prompt.text[start:end])])
    owner = {row: int(np.searchsorted(ends, prompt.tokens[row].span[1] - 1, side="right")) for row in rows}
    found = {f"sentence {i + 1}": tuple(r for r in rows if owner[r] == i) for i in range(len(ends))}
    return {name: held for name, held in found.items() if held}


def attribute(ground: Ground, sources: Sources, generator: np.random.Generator) -> Attributed:
    """ground: that of an answer (`of_answer`). UsageError for fewer than two sources, or another read.

    Runs: 2^n, or 64 to 128 and 32 more; then a set of masks for the drops.
    """
    if len(sources) < 2:
        raise UsageError(
            f"expected at least two sources, found {len(sources)}", "name parts, or give several sentences"
        )
    if not isinstance(ground.read, LogProb):
        raise UsageError("context attribution reads log P of an answer", "use whybox.cause.ground.of_answer")
    return _Run(ground, tuple(sources), tuple(map(tuple, sources.values())), len(ground.read.ids), {}).attributed(
        generator
    )


@dataclass(frozen=True, eq=False)
class _Run:
    """Keep-masks and log P under each; every mask is run once."""

    ground: Ground
    names: tuple[str, ...]
    keys: tuple[tuple[int, ...], ...]
    answer: int
    known: dict[bytes, float]

    def attributed(self, generator: np.random.Generator) -> Attributed:
        few = len(self.names) <= EXACT
        found = self._exactly(generator) if few else self._by_surrogate(generator)
        left_out = self._left_out() if len(self.names) <= MOST_LEFT_OUT else Unknown("more than 12 sources")
        drops = found.scores if isinstance(found.scores, Unknown) else self._drops(found.ranking, generator)
        return replace(found, drops=drops, left_out=left_out)

    def _exactly(self, generator: np.random.Generator) -> Attributed:
        masks = all_masks(len(self.names))
        y = self._log_odds(masks)
        scores = shapley(dict(enumerate(map(float, y))), len(self.names))
        added = Linear(scores, 0.0)(masks)
        fit = spearman(added.tolist(), y.tolist(), generator)
        return self._of(scores, True, len(masks), Unknown("every mask was run: none is unseen"), fit)

    def _by_surrogate(self, generator: np.random.Generator) -> Attributed:
        count = MORE_MASKS if len(self.names) > MANY else MASKS
        masks = drawn_masks(len(self.names), count, generator)
        unseen = drawn_masks(len(self.names), UNSEEN, generator, [mask.tobytes() for mask in masks])
        fitted = lasso(masks, self._log_odds(masks) / self.answer)
        predicted, true = fitted(unseen) * self.answer, self._log_odds(unseen)
        lds = spearman(predicted.tolist(), true.tolist(), generator)
        usable = lds is not None and lds.rho >= USABLE
        scores = fitted.weights * self.answer if usable else None
        return self._of(scores, False, count, lds, None)

    def _of(
        self,
        scores: Float[np.ndarray, "s"] | None,
        exact: bool,
        masks: int,
        lds: Correlation | Unknown | None,
        fit: Correlation | None,
    ) -> Attributed:
        held = dict(zip(self.names, map(float, scores), strict=True)) if scores is not None else Unknown(NOT_USABLE)
        nothing = Unknown(NOT_USABLE)
        return Attributed(held, exact, masks, lds, fit, nothing, nothing, self.ground.floor)

    def _left_out(self) -> dict[str, float]:
        """log P with each source left out alone, less log P with all."""
        alone = ~np.eye(len(self.names), dtype=bool)
        return dict(zip(self.names, map(float, self._log_p(alone) - self.ground.value), strict=True))

    def _drops(self, ranking: Sequence[str], generator: np.random.Generator) -> tuple[Drop, ...]:
        order = [self.names.index(name) for name in ranking]
        return tuple(self._drop(k, order, generator) for k in TOPS if k < len(order))

    def _drop(self, k: int, order: Sequence[int], generator: np.random.Generator) -> Drop:
        without = [order[:k], *(generator.choice(len(order), k, replace=False) for _ in range(RANDOM))]
        masks = np.ones((len(without), len(order)), bool)
        for mask, left_out in zip(masks, without, strict=True):
            mask[list(left_out)] = False
        top, *others = self.ground.value - self._log_p(masks)
        return Drop(k, float(top), float(np.mean(others)), float(np.std(others, ddof=1)), RANDOM)

    def _log_odds(self, masks: Bool[np.ndarray, "n s"]) -> Float[np.ndarray, "n"]:
        """ln P − ln(1 − P); where P rounds to 1, the smallest number below it stands in."""
        log_p = np.minimum(self._log_p(masks), -np.finfo(np.float64).eps)
        return log_p - np.log(-np.expm1(log_p))

    def _log_p(self, masks: Bool[np.ndarray, "n s"]) -> Float[np.ndarray, "n"]:
        new = {mask.tobytes(): mask for mask in masks if mask.tobytes() not in self.known}
        moved = self.ground.moved([Change(self._hidden(mask)) for mask in new.values()])
        self.known.update({key: self.ground.value + one.effect for key, one in zip(new, moved, strict=True)})
        return np.array([self.known[mask.tobytes()] for mask in masks])

    def _hidden(self, mask: Bool[np.ndarray, "s"]) -> tuple[Edit, ...]:
        """Every source that is not kept, hidden from all positions behind it."""
        taken = [keys for keys, kept in zip(self.keys, mask, strict=True) if not kept]
        return tuple(cut(q=slice(piece.stop, None), k=tuple(piece)) for keys in taken for piece in ranges(keys))
