"""What every head of the default model does on text A: scores, sinks, neighbours, entropy."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from whybox.learn.figures.figure import OnModel, OnModels, Value
from whybox.learn.ground import Ground
from whybox.learn.text_attention import COLUMNS_FROM, HeadsRead

LOUD = 0.3
CAPITAL = "The capital of France is"


def _of(ground: Ground) -> HeadsRead:
    return ground.text_a.heads


def _at(values: Float[np.ndarray, "n"], ground: Ground, layer: int, head: int) -> float:
    return float(values[layer * ground.model.spec.layers[0].attention.heads + head])


def _score_sds(ground: Ground) -> Value:
    """Smallest, median and largest sd of a head's visible scores; the largest score."""
    found = _of(ground)
    return float(found.sd.min()), float(np.median(found.sd)), float(found.sd.max()), float(found.largest.max())


def _thirds(ground: Ground) -> Value:
    """Mean weight on the last five keys: the first, second and last third of the layers."""
    return tuple(float(part.mean()) for part in np.split(_of(ground).local, 3))


def _most_local(ground: Ground) -> Value:
    """Layers of the five heads that look most at the last five keys, in order of layers."""
    best = np.argsort(-_of(ground).local)[:5] // ground.model.spec.layers[0].attention.heads
    return tuple(map(float, sorted(best)))


def _stripes(ground: Ground) -> Value:
    """Keys with a mean weight above .3, over all heads: how many, how many of them key 0, key 58."""
    loud = _of(ground).columns[:, :-COLUMNS_FROM] > LOUD
    return float(loud.sum()), float(loud[:, 0].sum()), float(loud[:, 58].sum())


def _flat(ground: Ground) -> Value:
    """Heads with an entropy above .8 of ln n, and all heads."""
    entropy = _of(ground).entropy
    return float((entropy > 0.8).sum()), float(len(entropy))


def _first_key(ground: Ground) -> Value:
    """Of key 0: mean weight, mean part of what is written, size of its value over that of the others (median)."""
    found = _of(ground)
    return float(found.sink.mean()), float(found.first_written.mean()), float(np.median(found.first_size))


def _capital_sink(ground: Ground) -> Value:
    """Mean weight on key 0 for queries from the second on."""
    ids = ground.model.tokenizer.encode(CAPITAL)
    trace = ground.model.engine.run(ids, ["pattern"], tail=1)
    layers = range(len(trace.spec.layers))
    return float(np.mean([trace["pattern", layer][:, 1:, 0] for layer in layers]))


def _value_unturned(ground: Ground) -> Value:
    """Positions 1,000 further on: largest change of the first layer's values, and of its rotated keys."""
    engine, ids = ground.model.on_reference().engine, ground.model.tokenizer.encode(CAPITAL)
    at_0 = engine.fresh_cache(len(ids))
    caches = (at_0, replace(at_0, seen=1000))
    here, there = (engine.run(ids, [("value", 0), ("key_pos", 0)], (), cache, tail=1) for cache in caches)
    return tuple(float(np.abs(here[site, 0] - there[site, 0]).max()) for site in ("value", "key_pos"))


ON_MODEL: OnModels = {
    "reading.score_sds": OnModel(_score_sds),
    "reading.thirds": OnModel(_thirds, runs=0),
    "reading.most_local": OnModel(_most_local, runs=0),
    "reading.stripes": OnModel(_stripes, runs=0),
    "reading.flat": OnModel(_flat, runs=0),
    "reading.previous": OnModel(lambda ground: _at(_of(ground).previous, ground, 16, 0), runs=0),
    "reading.first_key": OnModel(_first_key, runs=0),
    "reading.sink": OnModel(lambda ground: float(_of(ground).sink.mean()), runs=0),
    "reading.capital_sink": OnModel(_capital_sink, runs=0),
    "reading.row_sum_error": OnModel(lambda ground: float(_of(ground).row_sum_error.max()), runs=0),
    "reading.value_unturned": OnModel(_value_unturned, runs=0),
}
