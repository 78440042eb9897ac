"""Weights are not causes: what a head's attention on a segment says of what cutting that very edge does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.cause.components import Head, all_heads
from whybox.cause.ground import Ground
from whybox.engine.edit import cut
from whybox.engine.trace import Change
from whybox.errors import UsageError
from whybox.statistics.ranks import Correlation, spearman


@dataclass(frozen=True)
class Beside:
    """Of every head: its share of attention on the keys, and what cutting that edge does to the read.

    signed, absolute: Spearman's ρ of share with effect, and with its size; None where one of them is constant.
    """

    shares: Mapping[Head, float]
    effects: Mapping[Head, float]
    signed: Correlation | None
    absolute: Correlation | None
    floor: float

    @property
    def n(self) -> int:
        return len(self.shares)

    @property
    def brightest(self) -> Head:
        """The head that looks most at the keys; what it does stands in `effects`."""
        return max(self.shares, key=lambda head: self.shares[head])

    @property
    def strongest(self) -> Head:
        """The head whose edge does most."""
        return max(self.effects, key=lambda head: abs(self.effects[head]))


def shares_beside_effects(ground: Ground, keys: Sequence[int], generator: np.random.Generator) -> Beside:
    """Attention of the decision row on some keys, against the effect of cutting decision → keys, over all heads."""
    hidden = tuple(sorted(set(keys)))
    if not hidden or not set(hidden) < set(range(ground.row + 1)):
        raise UsageError(f"keys: expected some of the positions 0 … {ground.row}, not all, found {list(keys)}")
    heads = list(all_heads(ground.spec))
    edits = (cut(head.layer, h=head.head, q=ground.answer_rows, k=hidden) for head in heads)
    effects = [moved.effect for moved in ground.moved([Change((edit,)) for edit in edits])]
    rows = decision_rows(ground)
    shares = [float(rows[head.layer][head.head, list(hidden)].sum()) for head in heads]
    return Beside(
        dict(zip(heads, shares, strict=True)),
        dict(zip(heads, effects, strict=True)),
        spearman(shares, effects, generator),
        spearman(shares, np.abs(effects).tolist(), generator),
        ground.floor,
    )


def decision_rows(ground: Ground) -> list[Float[np.ndarray, "h k"]]:
    """The decision row's pattern in every layer; keys that a window hides have weight 0."""
    engine, trace, row = ground.model.engine, ground.trace, ground.row
    cache = engine.fresh_cache(trace.rope_length)
    if row:
        cache = engine.run(trace.ids[:row], (), trace.edits, cache, tail=1).cache
    seen = engine.run(trace.ids[row : row + 1], ["pattern"], trace.edits, cache, tail=1)
    found = [seen["pattern", layer][:, 0] for layer in range(len(ground.spec.layers))]
    return [np.pad(one, ((0, 0), (row + 1 - one.shape[1], 0))) for one in found]
