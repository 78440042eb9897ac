"""Key/value heads merged: what fewer of them would cost before any training. An upper bound, and called so."""

from dataclasses import replace

import numpy as np

from whybox.engine import choice
from whybox.model import Model
from whybox.weights import Weights

MERGED = ("key", "value", "key_bias", "value_bias")


def merged_heads(model: Model) -> Model:
    """The same model with every key/value head of a layer replaced by the mean of all of them.

    Shapes stay, so that nothing else changes: g heads [g d …] that are alike do what one head does for all queries.
    """
    arrays = {
        role: _merged(np.asarray(array)) if role.startswith("layers.") and role.split(".", 2)[2] in MERGED else array
        for role, array in model.weights.items()
    }
    merged = Weights(arrays, model.weights.ledger, model.weights.origin)
    return replace(model, engine=choice.build(model.spec, merged, model.way).engine)


def _merged(heads: np.ndarray) -> np.ndarray:
    return np.broadcast_to(heads.mean(axis=0), heads.shape).copy()
