"""Exact rows of a head from what a page would compute them from, and the same pooling in blocks."""

import base64

import numpy as np
from jaxtyping import Float

from whybox.parts.attention import shaped_scores
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.report.document import LayerRule, LookDocument, LookPayload, Packed
from whybox.spec import Attention


def exact_pattern(
    document: LookDocument, payload: LookPayload, layer: int, head: int
) -> Float[np.ndarray, "q k"] | None:
    """The pattern of an opened head, NaN where a query cannot see a key; None for a head that is not in the payload."""
    stored = [each for each in payload.patterns if (each.layer, each.head) == (layer, head)]
    if stored:
        pattern = unpacked(stored[0].rows)
        hidden = document.direction == "causal"
        return np.where(np.tril(np.ones_like(pattern)) > 0, pattern, np.nan) if hidden else pattern
    queries = [each for each in payload.query_rows if (each.layer, each.head) == (layer, head)]
    if not queries:
        return None
    keys = next(k for k in payload.key_rows if (k.layer, k.group) == (layer, queries[0].group))
    rule = next(rule for rule in payload.rules if rule.layer == layer)
    return weights(unpacked(queries[0].rows), unpacked(keys.rows), rule, head)


def weights(
    query: Float[np.ndarray, "q d"], key: Float[np.ndarray, "k d"], rule: LayerRule, head: int
) -> Float[np.ndarray, "q k"]:
    """softmax of the scores of one head, as its layer's rule says; NaN where masked."""
    alone = Attention(
        heads=1,
        kv_heads=1,
        head_width=query.shape[1],
        scale=rule.scale,
        cap=rule.cap,
        window=rule.window,
        alibi=None if rule.slopes is None else (rule.slopes[head],),
    )
    places = np.arange(len(query))
    seen = visible(places, places, rule.window)
    sinks = None if rule.sinks is None else np.array(rule.sinks[head : head + 1], query.dtype)
    scores = shaped_scores(query[:, None], key[:, None], places, places, alone)
    return np.where(seen, softmax(scores, seen, sinks)[0], np.nan)


def unpacked(packed: Packed) -> Float[np.ndarray, "rows columns"]:
    """The numbers of a packed array, float32."""
    data = np.frombuffer(base64.b64decode(packed.data), "<f4" if packed.dtype == "float32" else "<f2")
    return data.reshape(packed.shape).astype(np.float32)


def pooled(pattern: Float[np.ndarray, "q k"], most: int) -> tuple[Float[np.ndarray, "Q K"], int]:
    """At most so many cells a side: share of a block of keys, mean over a block of queries; and the block's size."""
    size = -(-max(pattern.shape) // most)
    if size == 1:
        return pattern, 1
    rows, columns = (np.arange(0, count, size) for count in pattern.shape)
    known = ~np.isnan(pattern)
    total = np.add.reduceat(np.add.reduceat(np.where(known, pattern, 0), rows, axis=0), columns, axis=1)
    seen = np.add.reduceat(np.add.reduceat(known, rows, axis=0, dtype=int), columns, axis=1)
    members = np.minimum(size, pattern.shape[0] - rows)[:, None]
    return np.where(seen > 0, total / members, np.nan), size
