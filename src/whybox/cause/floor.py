"""The noise floor of a read: how much it moves when nothing was changed."""

from collections.abc import Iterable, Sequence

import numpy as np

from whybox.engine.choice import has_reference
from whybox.engine.edit import Edit, cut, scale
from whybox.engine.read import Reading
from whybox.engine.trace import Change, Trace
from whybox.errors import InfrastructureError
from whybox.model import Model

RANDOM_EDITS = 5
WAYS = 5  # alone, again, with an edit that changes nothing, in a batch, behind a cache


def noise(model: Model, trace: Trace, read: Reading, generator: np.random.Generator) -> float:
    """δ: the largest |Δm| over (made again, in a batch, behind a cache, on the reference engine), on the base and under
    5 random edits; never below the spacing of numbers at the logits' size.

    An edit that changes nothing must give exactly the same number: InfrastructureError otherwise.
    """
    kinds = [(), *(_random_edit(trace, generator) for _ in range(RANDOM_EDITS))]
    alone = _alone(model, trace, read, kinds)
    again = _alone(model, trace, read, kinds)
    _require_equal(again, _alone(model, trace, read, [(*edits, scale("resid_post", 1.0)) for edits in kinds]))
    others = [again, _in_a_batch(model, trace, read, kinds), [_cached(model, trace, read, edits) for edits in kinds]]
    if asks_reference(model):
        others.append(_alone(model.on_reference(), trace, read, kinds))
    least = float(np.spacing(np.abs(trace.logits).max()))
    return max(least, float(np.abs(np.array(others) - alone).max()))


def asks_reference(model: Model) -> bool:
    """Whether the reference engine has a part in the floor: not where it is the engine, where the precision is another
    (that difference is no noise), or where the model is too large for it.
    """
    return model.engine.precision == "fp32" and has_reference(model.spec, model.way)


def runs(model: Model) -> int:
    """How many runs a floor is made of."""
    return (RANDOM_EDITS + 1) * (WAYS + asks_reference(model))


def _alone(model: Model, trace: Trace, read: Reading, kinds: Iterable[tuple[Edit, ...]]) -> list[float]:
    """Each as a fresh run."""
    return [float(read(model.changed(trace, Change(edits)))) for edits in kinds]


def _in_a_batch(model: Model, trace: Trace, read: Reading, kinds: Sequence[tuple[Edit, ...]]) -> list[float]:
    """All at once, as sweeps make them."""
    found = model.sweep(trace, [Change(edits) for edits in kinds], lambda run: float(read(run)))
    return [float(value) for value in found]


def _cached(model: Model, trace: Trace, read: Reading, edits: Sequence[Edit]) -> float:
    """The rows that are read, behind a cache that was computed under the same edits."""
    engine, ids, rows = model.engine, trace.ids, len(trace.rows)
    held = (*trace.edits, *edits)
    if rows >= len(ids):
        return float(read(engine.run(ids, (), held, engine.fresh_cache(trace.rope_length), tail=rows)))
    before = engine.run(ids[:-rows], (), held, engine.fresh_cache(trace.rope_length), tail=1)
    return float(read(engine.run(ids[-rows:], (), held, before.cache, tail=rows)))


def _require_equal(plain: Sequence[float], with_nothing: Sequence[float]) -> None:
    moved = max(abs(one - other) for one, other in zip(plain, with_nothing, strict=True))
    if moved:
        raise InfrastructureError(
            f"an edit that changes nothing moved what is read by {moved:.3g}",
            "this engine cannot be used for effects: please report it with the model's name",
        )


def _random_edit(trace: Trace, generator: np.random.Generator) -> tuple[Edit, ...]:
    """A head scaled, an MLP's output scaled, or a few keys cut from the last row."""
    layer, last = int(generator.integers(len(trace.spec.layers))), len(trace.ids) - 1
    match int(generator.integers(3)):
        case 0:
            head = int(generator.integers(trace.spec.layers[layer].attention.heads))
            return (scale("head_out", 0.5, layer, h=head),)
        case 1:
            return (scale("mlp_out", 0.9, layer),)
        case _:
            hidden = generator.choice(max(last, 1), size=min(3, max(last, 1)), replace=False)
            return (cut(q=last, k=tuple(sorted(map(int, hidden)))),) if last else ()
