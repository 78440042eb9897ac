"""How likely an answer is, from the logits of the rows that choose its ids."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybox.engine.trace import Answer, Trace, log_softmax

Array = np.ndarray


@dataclass(frozen=True)
class Scored:
    """Log-probability of an answer in nats: total, and for each of its ids. `joined_at`: first row that differs.

    changed: for each edit, whether it changed any element.
    """

    log_prob: float
    per_token: tuple[float, ...]
    ids: tuple[int, ...]
    joined_at: int
    changed: tuple[bool, ...] = ()


def scored(trace: Trace, ids: Sequence[int], start: int) -> Scored:
    """Log-probability of ids[start:], from the rows before them."""
    rows = trace.logits[start - 1 - trace.rows[0] : len(ids) - 1 - trace.rows[0]]
    return weighed(rows, Answer(tuple(ids), start), trace.changed)


def weighed(rows: Array, answer: Answer, changed: tuple[bool, ...] = ()) -> Scored:
    """Log-probability of an answer, from logits [n v] of the rows that choose its n ids."""
    chosen = answer.ids[answer.start :]
    log_probs = log_softmax(rows)[np.arange(len(chosen)), list(chosen)]
    return Scored(float(log_probs.sum()), tuple(map(float, log_probs)), chosen, answer.start, changed)
