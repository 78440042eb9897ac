"""The logit lens: what each layer would answer if it were the last."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from whybox.engine.trace import Trace, log_softmax


@runtime_checkable
class Head(Protocol):
    """Whatever turns a residual stream into logits: an engine."""

    def unembed(self, residual: np.ndarray) -> np.ndarray: ...


@dataclass(frozen=True)
class LensRow:
    """After one layer: log-probabilities of two ids (nats) and ld, the difference of their logits."""

    layer: int
    right: float
    wrong: float
    ld: float


def logit_lens(trace: Trace, head: Head, right: int, wrong: int) -> list[LensRow]:
    """head(final norm(resid_post[l])) at the last row of a trace that kept `resid_post`.

    The norm is taken of that very vector; the last layer's row equals the run's logits exactly, because as many rows
    are multiplied at once as the run did (float32 sums depend on it). Early layers are uncalibrated: there only ranks
    and ld are worth reading.
    """
    rows = len(trace.rows)
    return [
        _row(layer, head.unembed(trace["resid_post", layer][-rows:])[-1], right, wrong)
        for layer in range(len(trace.spec.layers))
    ]


def decided_at(rows: Sequence[LensRow], floor: float) -> int | None:
    """The first layer from which on ld keeps its final sign and exceeds the floor; None where the last row does not."""
    if not rows or abs(rows[-1].ld) <= floor:
        return None
    sign = np.sign(rows[-1].ld)
    kept = [row.ld * sign > floor for row in rows]
    return len(kept) - kept[::-1].index(False) if False in kept else 0


def _row(layer: int, logits: Float[np.ndarray, "v"], right: int, wrong: int) -> LensRow:
    log_probs = log_softmax(logits)
    return LensRow(layer, float(log_probs[right]), float(log_probs[wrong]), float(logits[right] - logits[wrong]))
