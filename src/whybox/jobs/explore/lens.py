"""The logit lens of a state: what each layer would answer, as it is and with the changes."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from whybox.engine.trace import Change, Trace
from whybox.model import Model
from whybox.report.document.explore import Lens, LensLayer

SEEN = ("resid_post",)


def lens_of(model: Model, base: Trace, change: Change | str, pair: tuple[int, int]) -> Lens:
    """pair: two ids, whose logits are compared by layer. change: the counterfactual, or why there is none."""
    changes = [Change(), *([change] if isinstance(change, Change) else [])]
    streams = [np.asarray(each) for each in model.sweep(base, changes, _last_rows, SEEN)]
    rows = [tuple(_layers(model, stream, pair)) for stream in streams]
    first, second = map(model.tokenizer.label, pair)
    then = rows[1] if len(rows) > 1 else None
    return Lens(first=first, second=second, base=rows[0], then=then, then_reason="" if then else str(change))


def _last_rows(run: Trace) -> Float[np.ndarray, "l c"]:
    """The residual stream of the deciding row after every layer."""
    return np.stack([run["resid_post", layer][-1] for layer in range(len(run.spec.layers))])


def _layers(model: Model, stream: Float[np.ndarray, "l c"], pair: tuple[int, int]) -> Iterator[LensLayer]:
    logits = model.engine.unembed(stream)
    for layer, row in enumerate(logits):
        top = model.tokenizer.label(int(row.argmax()))
        yield LensLayer(layer=layer, top=top, ld=float(row[pair[0]] - row[pair[1]]))
