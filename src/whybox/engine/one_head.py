"""One head's whole pattern, made again when it is asked for: a run that kept none needs no store for all heads."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whybox.engine.trace import Engine, Trace, Wish
from whybox.engine.wishes import whole
from whybox.errors import SiteError
from whybox.parts.attention import shaped_scores
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.sites import exists_in, require_layer
from whybox.spec import Layer
from whybox.weights import Weights

Array = np.ndarray


def pattern_of(engine: Engine, weights: Weights, trace: Trace, layer: int, head: int) -> Array:
    """pattern [q k] of one head, from its queries and keys: softmax(scale · q · k), as the layer's settings say.

    Costs n² numbers for the head, and a run of the trace's ids without its logits: none where the trace kept query and
    key (`_pos` where the model rotates), a few layers where nothing is edited and `resid_pre` of the layer or of one
    before it was kept. Where an edit acts on the layer's scores or pattern, h · n² for all heads.
    """
    attention = trace.spec.layers[require_layer(whole("layer", layer), trace.spec)].attention
    if not 0 <= whole("head", head) < attention.heads:
        raise SiteError(f"layer {layer} has no head {head}", f"its heads: 0 … {attention.heads - 1}")
    if ("pattern", layer) in trace.sites:
        return trace["pattern", layer][head]
    if any(edit.touches(site, layer) for edit in trace.edits for site in ("scores", "pattern")):
        pattern: Array = _again(engine, trace, ("pattern", layer))["pattern", layer][head]
        return pattern
    query, key = _queries_and_keys(engine, trace, layer)
    alone = replace(attention, heads=1, kv_heads=1, alibi=None if attention.alibi is None else (attention.alibi[head],))
    group = head // (attention.heads // attention.kv_heads)
    places = np.arange(len(trace.ids))
    one_query, one_key = query[:, head : head + 1], key[:, group : group + 1]
    scores = shaped_scores(one_query, one_key, places, places, alone)
    sinks = weights[f"layers.{layer}.sinks"][head : head + 1].astype(scores.dtype) if attention.sinks else None
    return np.asarray(softmax(scores, visible(places, places, attention.window), sinks)[0])


def scored(layer: Layer) -> tuple[str, str]:
    """The sites of queries and keys as the layer's scores are made of them."""
    return ("query_pos", "key_pos") if exists_in("query_pos", layer) else ("query", "key")


def queries_and_keys(engine: Engine, entries: Mapping[int, Array], layer: int, length: int) -> tuple[Array, Array]:
    """Queries [q h d] and keys [k g d] of one layer, by going on from the nearest of the streams that are there.

    entries: layer → the stream [q c] that entered it, of the layer itself or of one before it. length: for RoPE.
    """
    nearest = max(known for known in entries if known <= layer)
    query, key = scored(engine.spec.layers[layer])
    found = engine.onward(entries[nearest], range(nearest, layer + 1), (query, key), length)
    return found[query], found[key]


def _queries_and_keys(engine: Engine, trace: Trace, layer: int) -> tuple[Array, Array]:
    query, key = ((site, layer) for site in scored(trace.spec.layers[layer]))
    if {query, key} <= set(trace.sites) and not trace.start:
        return trace[query], trace[key]
    entries = {at: kept for (site, at), kept in trace.sites.items() if site == "resid_pre" and at is not None}
    if min(entries, default=layer + 1) <= layer and not trace.edits and not trace.start:
        return queries_and_keys(engine, entries, layer, trace.rope_length)
    again = _again(engine, trace, query, key)
    return again[query], again[key]


def _again(engine: Engine, trace: Trace, *see: Wish) -> Trace:
    """The same run, with other sites kept."""
    if trace.start:
        raise SiteError(f"this run began at position {trace.start}", "run the whole prompt without a cache")
    return engine.run(trace.ids, see, trace.edits, engine.fresh_cache(trace.rope_length), tail=1)
