"""How far logits move when a run is computed another way: within what its precision states, and not more exactly."""

from dataclasses import replace

import numpy as np
import pytest

from bench.bounds import apart, ways
from tests.engine.fast.pairs import CPU
from tests.engine.random_models import drawn, spec
from tests.real import real
from whybox.engine.fast import FastEngine, Precision, pack
from whybox.engine.trace import Change
from whybox.spec import Mlp, Spec

IDS = tuple(int(i) for i in np.random.default_rng(3).integers(0, 97, 45))  # more rows than one kernel of 8 bits takes


def wide(window: int | None) -> Spec:
    """Widths that the packed kernels take."""
    of = spec(heads=4, kv_heads=2, head_width=16, window=window)
    layers = tuple(replace(each, mlp=replace(each.mlp, width=96)) for each in of.layers if isinstance(each.mlp, Mlp))
    return replace(of, width=64, vocab=97, layers=layers)


def rows(engine: FastEngine, pieces: tuple[range, ...]) -> np.ndarray:
    """Logits of all rows, piece by piece behind a cache."""
    cache, found = engine.fresh_cache(len(IDS)), []
    for piece in pieces:
        trace = engine.run(IDS[piece.start : piece.stop], cache=cache)
        cache = trace.cache
        found.append(trace.logits)
    return np.concatenate(found)


@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("precision", [Precision.FP32, Precision.BF16, Precision.INT8, Precision.INT4])
def test_another_way_moves_logits_no_more_than_stated(precision: Precision, window: int | None) -> None:
    packed = pack(wide(window), drawn(wide(window), 0, np.float32), precision, CPU)
    engine = FastEngine(packed)
    whole = engine.run(IDS).logits
    single = tuple(range(i, i + 1) for i in range(40, 45))
    ((_, changed),) = engine.counterfactuals(engine.run((*IDS[:44], 1)), [Change(ids=IDS)])
    found = {
        "token by token": rows(engine, (range(40), *single)),
        "in chunks": rows(engine, (range(17), range(17, 45))),
        "beside others": FastEngine(packed, neighbours=3).run(IDS).logits,
        "as a counterfactual": changed.logits,
    }
    moved = {way: np.abs(logits - whole).max() / np.abs(whole).max() for way, logits in found.items()}
    assert 0 < max(moved.values()) <= precision.noise, moved


@pytest.mark.model
@pytest.mark.parametrize("precision", ["bf16", "int8"])
def test_the_real_model_keeps_to_it(precision: str) -> None:
    model = real("smollm2").variant(engine="torch", precision=precision)
    ids = model.prompt("The capital of France is Paris. The capital of Italy is Rome. " * 3).ids
    largest = float(np.abs(model.run(ids).logits).max())
    moved = {way: apart(found, expected)[0] / largest for way, found, expected in ways(model, ids)}
    assert 0 < max(moved.values()) <= Precision(precision).noise, moved
