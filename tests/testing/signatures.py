"""What a fault does to the logits of a text: largest change, KL by position, likelihood, first position."""

from dataclasses import dataclass

import numpy as np

from whybox.engine.trace import log_softmax
from whybox.model import Model

_ANIMALS = ["fox", "hen", "ox", "owl", "eel"]


def ids_of_lines(model: Model, lines: int) -> list[int]:
    """Ids of a text that anyone can rebuild."""
    written = (
        f"Line {i}: the {_ANIMALS[i % 5]} sold {i * i % 89} apples to the {_ANIMALS[(i + 2) % 5]} in town {i % 7}."
        for i in range(1, lines + 1)
    )
    return list(model.prompt(" ".join(written)).ids)


@dataclass(frozen=True, eq=False)
class Signature:
    """kl: KL(right ‖ faulty) by position, nats. nll: of the faulty run. first: the first position that differs."""

    largest: float
    kl: np.ndarray
    nll: float
    flips: int
    first: int | None


_ROWS = 70  # of logits at a time: a vocabulary of 262,144 would fill the memory


def streamed(ids: list[int], right: np.ndarray, faulty: np.ndarray, table: np.ndarray) -> Signature:
    """The same from both runs' `final` [q c] and the head's table [v c], a few rows of logits at a time."""
    starts = range(0, len(ids), _ROWS)
    pairs = ((right[i : i + _ROWS] @ table.T, faulty[i : i + _ROWS] @ table.T) for i in starts)
    parts = [signature(ids[i : i + _ROWS + 1], *pair) for i, pair in zip(starts, pairs, strict=True)]
    firsts = [i + part.first for i, part in zip(starts, parts, strict=True) if part.first is not None]
    kl = np.concatenate([part.kl for part in parts])
    largest = max(part.largest for part in parts)
    return Signature(largest, kl, float("nan"), sum(part.flips for part in parts), min(firsts, default=None))


def signature(ids: list[int], right: np.ndarray, faulty: np.ndarray) -> Signature:
    """Both runs' logits [q v], compared at every position."""
    change = np.abs(faulty - right).max(axis=-1)
    log_right, log_faulty = log_softmax(right), log_softmax(faulty)
    return Signature(
        largest=float(change.max()),
        kl=(np.exp(log_right) * (log_right - log_faulty)).sum(axis=-1),
        nll=float(-log_faulty[np.arange(len(ids) - 1), ids[1:]].mean()),
        flips=int((right.argmax(axis=-1) != faulty.argmax(axis=-1)).sum()),
        first=int(np.flatnonzero(change)[0]) if change.any() else None,
    )
