"""One head's whole pattern, made again when it is asked for: a run that kept none needs no store for all heads."""

from dataclasses import replace

import numpy as np

from whybox.engine.trace import Engine, Trace, Wish
from whybox.engine.wishes import whole
from whybox.errors import SiteError
from whybox.parts.attention import shaped_scores
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.sites import exists_in, require_layer
from whybox.weights import Weights

Array = np.ndarray


def pattern_of(engine: Engine, weights: Weights, trace: Trace, layer: int, head: int) -> Array:
    """pattern [q k] of one head, from its queries and keys: softmax(scale · q · k), as the layer's settings say.

    Costs one run of the trace's ids without its logits, unless the trace kept query and key (`_pos` where the model
    rotates), and n² numbers for the head. Where an edit acts on the layer's scores or pattern, h · n² for all heads.
    """
    attention = trace.spec.layers[require_layer(whole("layer", layer), trace.spec)].attention
    if not 0 <= whole("head", head) < attention.heads:
        raise SiteError(f"layer {layer} has no head {head}", f"its heads: 0 … {attention.heads - 1}")
    if ("pattern", layer) in trace.sites:
        return trace["pattern", layer][head]
    if any(edit.touches(site, layer) for edit in trace.edits for site in ("scores", "pattern")):
        pattern: Array = _again(engine, trace, ("pattern", layer))["pattern", layer][head]
        return pattern
    rotated = exists_in("query_pos", trace.spec.layers[layer])
    query, key = ("query_pos", layer) if rotated else ("query", layer), ("key_pos" if rotated else "key", layer)
    known = trace if {query, key} <= set(trace.sites) and not trace.start else _again(engine, trace, query, key)
    alone = replace(attention, heads=1, kv_heads=1, alibi=None if attention.alibi is None else (attention.alibi[head],))
    group = head // (attention.heads // attention.kv_heads)
    places = np.arange(len(trace.ids))
    one_query, one_key = known[query][:, head : head + 1], known[key][:, group : group + 1]
    scores = shaped_scores(one_query, one_key, places, places, alone)
    sinks = weights[f"layers.{layer}.sinks"][head : head + 1].astype(scores.dtype) if attention.sinks else None
    return np.asarray(softmax(scores, visible(places, places, attention.window), sinks)[0])


def _again(engine: Engine, trace: Trace, *see: Wish) -> Trace:
    """The same run, with other sites kept."""
    if trace.start:
        raise SiteError(f"this run began at position {trace.start}", "run the whole prompt without a cache")
    return engine.run(trace.ids, see, trace.edits, engine.fresh_cache(trace.rope_length), tail=1)
