"""What an engine calls between layers: once for each layer of each pass, without any effect on the values."""

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast
from tests.engine.random_models import drawn
from whybox.engine.between import pausing
from whybox.engine.edit import zero
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Change, Engine

IDS = (3, 5, 2, 7, 1, 4)
SPEC = KINDS["plain"]
LAYERS = len(SPEC.layers)


class Left(Exception):
    """Whoever waited is gone."""


@pytest.fixture(params=["numpy", "torch"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return fast(SPEC) if request.param == "torch" else ReferenceEngine(SPEC, drawn(SPEC, 0, np.float32))


def test_it_is_called_before_each_layer_and_changes_nothing(engine: Engine) -> None:
    calls: list[int] = []
    watched = pausing(engine, lambda: calls.append(1))
    assert np.array_equal(watched.run(IDS).logits, engine.run(IDS).logits)
    assert len(calls) == LAYERS


def test_a_run_within_a_run_disturbs_neither(engine: Engine) -> None:
    alone, other = engine.run(IDS).logits, engine.run(IDS[::-1]).logits
    found: list[bool] = []
    watched = pausing(engine, lambda: found.append(np.array_equal(engine.run(IDS[::-1]).logits, other)))
    assert np.array_equal(watched.run(IDS).logits, alone)
    assert found == [True] * LAYERS


def test_counterfactuals_pause_as_well(engine: Engine) -> None:
    calls: list[int] = []
    watched = pausing(engine, lambda: calls.append(1))
    base = engine.run(IDS, tail=1)
    changes = [Change((zero("head_out", 0, h=1),)), Change(ids=(*IDS[:3], 6, 6, 6))]
    plain = {index: trace.logits for index, trace in engine.counterfactuals(base, changes)}
    for index, trace in watched.counterfactuals(base, changes):
        assert np.array_equal(trace.logits, plain[index])
    assert len(calls) >= 2 * LAYERS - 1


def test_what_it_raises_ends_the_run_and_the_next_one_is_whole(engine: Engine) -> None:
    left = iter([False, True])

    def between() -> None:
        if next(left, False):
            raise Left

    watched = pausing(engine, between)
    with pytest.raises(Left):
        watched.run(IDS)
    assert np.array_equal(watched.run(IDS).logits, engine.run(IDS).logits)
