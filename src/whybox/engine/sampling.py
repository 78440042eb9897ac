"""How the next token is chosen: greedily, or drawn with a seed from a narrowed distribution."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.engine.trace import log_softmax
from whybox.engine.wishes import number, whole, whole_numbers
from whybox.errors import UsageError

Array = np.ndarray


@dataclass(frozen=True)
class Decoding:
    """temperature 0 is greedy. top_k and top_p narrow the distribution, in that order, before the draw.

    banned: ids that are never chosen. penalty: on ids that the text holds already (`penalised`); 1 is none.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0
    banned: tuple[int, ...] = ()
    penalty: float = 1.0

    def __post_init__(self) -> None:
        if not number("temperature", self.temperature) >= 0:  # NaN too
            raise UsageError(f"temperature must be 0 or more, found {self.temperature}")
        if self.top_k is not None:
            whole("top_k", self.top_k, 1)
        if self.top_p is not None and not 0 < number("top_p", self.top_p) <= 1:
            raise UsageError(f"top_p must lie in (0, 1], found {self.top_p}")
        whole("seed", self.seed, 0)
        if min(whole_numbers("banned", self.banned), default=0) < 0:
            raise UsageError(f"banned ids count from 0, found {min(self.banned)}")
        if not number("penalty", self.penalty) > 0:
            raise UsageError(f"a repetition penalty must be above 0, found {self.penalty}", "1 is none")

    @property
    def greedy(self) -> bool:
        """Whether the largest logit is chosen, as it stands."""
        return self.temperature == 0 and not self.banned and self.penalty == 1.0


GREEDY = Decoding()


def decodings(given: object, count: int) -> list[Decoding]:
    """One decoding for each of `count` texts; a single one is for all. UsageError for anything else."""
    found: list[object] = list(given) if isinstance(given, Iterable) else [given] * count
    each = [decoding for decoding in found if isinstance(decoding, Decoding)]
    if len(each) < len(found):
        raise UsageError(f"decoding: expected a Decoding, found {given!r}", "such as Decoding(temperature=1.0, seed=7)")
    if len(each) != count:
        raise UsageError(f"expected one decoding, or one for each of {count} prompts, found {len(each)}")
    return each


def choose(logits: Array, decoding: Decoding, generator: np.random.Generator, text: Sequence[int]) -> int:
    """The next id from logits [v] behind a text of ids; greedy ties go to the lowest id."""
    allowed = penalised(logits, text, decoding.penalty)
    if decoding.banned:
        if max(decoding.banned) >= len(logits):
            raise UsageError(f"banned ids must be 0 … {len(logits) - 1}, found {max(decoding.banned)}")
        allowed = allowed.copy()
        allowed[list(decoding.banned)] = -np.inf
        if allowed.max() == -np.inf:
            raise UsageError("every id is banned", "leave at least one that can be chosen")
    if decoding.temperature == 0:
        return int(allowed.argmax())
    probabilities = distribution(allowed.astype(np.float64), decoding)
    return int(generator.choice(len(probabilities), p=probabilities))


def penalised(logits: Array, text: Sequence[int], penalty: float) -> Array:
    """Repetition penalty (arXiv 1909.05858): an id of the text has its logit divided by it, multiplied if negative."""
    if penalty == 1.0:
        return logits
    where = np.unique(np.asarray(text, np.int64))
    changed = logits.copy()
    changed[where] = np.where(logits[where] > 0, logits[where] / penalty, logits[where] * penalty)
    return changed


def distribution(logits: Array, decoding: Decoding) -> Array:
    """Probabilities [v] from which a token is drawn: temperature, then top-k, then top-p, renormalised."""
    with np.errstate(over="ignore"):  # a temperature near 0 sends all but the largest to −inf, which is its meaning
        scaled = (logits - logits.max()) / decoding.temperature
    probabilities = np.exp(log_softmax(scaled))
    order = np.argsort(-probabilities, kind="stable")
    kept = len(order) if decoding.top_k is None else decoding.top_k
    if decoding.top_p is not None:
        total = np.cumsum(probabilities[order[:kept]]) / probabilities[order[:kept]].sum()
        kept = min(kept, int(np.searchsorted(total, decoding.top_p)) + 1)
    narrowed = np.zeros_like(probabilities)
    narrowed[order[:kept]] = probabilities[order[:kept]]
    return narrowed / narrowed.sum()
