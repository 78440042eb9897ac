"""The logit lens of a state: what each layer would answer, as it is and with the changes."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from whybox.engine.trace import Change, Trace
from whybox.model import Model
from whybox.report.document.explore import Lens, LensLayer

SEEN = ("resid_post",)


def lens_of(model: Model, base: Trace, change: Change | str) -> Lens:
    """The most probable token against the one that the change makes of it, else against the second.

    change: the counterfactual, or why there is none.
    """
    logits = _logits(model, base, [Change(), *([change] if isinstance(change, Change) else [])])
    first, second = map(int, np.argsort(-base.log_probs(), kind="stable")[:2])
    changed = int(logits[-1][-1].argmax())
    pair = (first, changed if len(logits) > 1 and changed != first else second)
    rows = [tuple(_layers(model, each, pair)) for each in logits]
    then = rows[1] if len(rows) > 1 else None
    names = [model.tokenizer.label(token) for token in pair]
    return Lens(first=names[0], second=names[1], base=rows[0], then=then, then_reason="" if then else str(change))


def rows_of(model: Model, base: Trace, pair: tuple[int, int]) -> tuple[LensLayer, ...]:
    """By layer: the most probable next token, and how far the first of two ids is above the second."""
    (logits,) = _logits(model, base, [Change()])
    return tuple(_layers(model, logits, pair))


def _logits(model: Model, base: Trace, changes: list[Change]) -> list[Float[np.ndarray, "l v"]]:
    """What each layer would answer if it were the last, under each change."""
    return [model.engine.unembed(np.asarray(stream)) for stream in model.sweep(base, changes, _last_rows, SEEN)]


def _last_rows(run: Trace) -> Float[np.ndarray, "l c"]:
    """The residual stream of the deciding row after every layer."""
    return np.stack([run["resid_post", layer][-1] for layer in range(len(run.spec.layers))])


def _layers(model: Model, logits: Float[np.ndarray, "l v"], pair: tuple[int, int]) -> Iterator[LensLayer]:
    for layer, row in enumerate(logits):
        top = model.tokenizer.label(int(row.argmax()))
        yield LensLayer(layer=layer, top=top, ld=float(row[pair[0]] - row[pair[1]]))
