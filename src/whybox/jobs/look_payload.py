"""What the page computes exact rows from: queries and keys of the heads that it opens, packed."""

import base64
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from whybox.engine.one_head import queries_and_keys
from whybox.jobs.look_views import clearest
from whybox.measure.heads import Heads
from whybox.measure.looking import Looked
from whybox.report.document import KeyRows, LayerRule, LookPayload, Opened, Packed, QueryRows

MOST_OPENED = 8
MOST_BYTES = 4_000_000  # of queries and keys; base64 makes 5.3 MB of them, and a page may have 8
HeadAt = tuple[int, int]


def opened(looked: Looked, heads: Heads, asked: Sequence[HeadAt]) -> tuple[Opened, ...]:
    """The heads asked for, else the clearest of each class, as many as the page has room for (one at least)."""
    chosen = [(head, "asked for") for head in asked] or list(clearest(heads.table, heads.classes).items())
    kept: list[Opened] = []
    room = MOST_BYTES
    for (layer, head), why in chosen[:MOST_OPENED]:
        room -= _bytes(looked, layer, _dtype(looked, layer))
        if kept and room < 0:
            break
        kept.append(Opened(layer=layer, head=head, why=why))
    return tuple(kept)


def payload(looked: Looked, heads: Sequence[Opened]) -> LookPayload:
    """Queries and keys of the opened heads, each layer's made again from the nearest stream that the look kept."""
    layers = sorted({each.layer for each in heads})
    engine, length = looked.model.engine, len(looked.prompt)
    scored = {layer: queries_and_keys(engine, looked.entries, layer, length) for layer in layers}
    queries, keys = [], {}
    for each in heads:
        attention = looked.spec.layers[each.layer].attention
        query, key = scored[each.layer]
        dtype = _dtype(looked, each.layer)
        group = each.head // (attention.heads // attention.kv_heads)
        queries.append(
            QueryRows(layer=each.layer, head=each.head, group=group, rows=packed(query[:, each.head], dtype))
        )
        keys[each.layer, group] = KeyRows(layer=each.layer, group=group, rows=packed(key[:, group], dtype))
    rules = tuple(_rule(looked, layer) for layer in layers)
    return LookPayload(rules=rules, query_rows=tuple(queries), key_rows=tuple(keys.values()))


def packed(rows: Float[np.ndarray, "q d"], dtype: np.dtype[np.floating]) -> Packed:
    """Little-endian, row after row, as base64."""
    data = np.ascontiguousarray(rows, dtype.newbyteorder("<")).tobytes()
    return Packed(
        dtype="float16" if dtype == np.float16 else "float32",
        shape=(rows.shape[0], rows.shape[1]),
        data=base64.b64encode(data).decode("ascii"),
    )


def _dtype(looked: Looked, layer: int) -> np.dtype[np.floating]:
    """float32, whose rows are the engine's to a millionth, unless not even one head of the layer would fit so."""
    whole = np.dtype(np.float32)
    return whole if _bytes(looked, layer, whole) <= MOST_BYTES else np.dtype(np.float16)


def _bytes(looked: Looked, layer: int, dtype: np.dtype[np.floating]) -> int:
    """Of a head's queries and keys."""
    return 2 * len(looked.prompt) * looked.spec.layers[layer].attention.head_width * dtype.itemsize


def _rule(looked: Looked, layer: int) -> LayerRule:
    attention = looked.spec.layers[layer].attention
    sinks = looked.model.weights[f"layers.{layer}.sinks"].tolist() if attention.sinks else None
    return LayerRule(
        layer=layer,
        scale=attention.scale,
        cap=attention.cap,
        window=attention.window,
        slopes=attention.alibi,
        sinks=None if sinks is None else tuple(map(float, sinks)),
    )
