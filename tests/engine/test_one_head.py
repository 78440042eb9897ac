"""One head's pattern on demand, against the pattern that a run keeps."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast
from tests.engine.random_models import IDS, drawn
from whybox.engine import machine
from whybox.engine.edit import boost, scale, zero
from whybox.engine.one_head import pattern_of
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Trace
from whybox.errors import CapacityError, SiteError

EDITS = (zero("head_out", 0, h=2), scale("resid_post", 1.5, 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edits", [(), EDITS, (boost(1, q=11, k=range(3, 6)),)], ids=["plain", "edited", "boosted"])
def test_it_is_the_pattern_that_would_have_been_kept(kind: str, edits: tuple) -> None:
    weights = drawn(KINDS[kind], 0, np.float64)
    for engine in (fast(KINDS[kind]), ReferenceEngine(KINDS[kind], weights)):
        trace = engine.run(IDS, edits=edits)
        kept = engine.run(IDS, ["pattern"], edits)
        for layer, head in ((0, 0), (1, 4), (2, 3)):
            found = pattern_of(engine, weights, trace, layer, head)
            np.testing.assert_allclose(found, kept["pattern", layer][head], rtol=0, atol=1e-12)


def _no_run(*_arguments: object, **_named: object) -> Trace:
    raise AssertionError("a whole run was made")


@pytest.mark.parametrize("kind", KINDS)
def test_from_the_stream_of_an_earlier_layer_no_run_is_needed(kind: str) -> None:
    weights = drawn(KINDS[kind], 0, np.float64)
    for engine in (replace(fast(KINDS[kind]), chunk=5), ReferenceEngine(KINDS[kind], weights)):
        kept = engine.run(IDS, ["pattern"])
        trace = engine.run(IDS, [("resid_pre", (0, 1))])
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(engine), "run", _no_run)
            found = [pattern_of(engine, weights, trace, layer, 3) for layer in range(3)]
        for layer in range(3):
            np.testing.assert_allclose(found[layer], kept["pattern", layer][3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("edits", [EDITS, (zero("head_out", 2),)], ids=["edited", "edited behind it"])
def test_what_edits_change_is_run_whole(edits: tuple) -> None:
    weights = drawn(KINDS["plain"], 0, np.float64)
    for engine in (fast(KINDS["plain"]), ReferenceEngine(KINDS["plain"], weights)):
        trace, kept = engine.run(IDS, ["resid_pre"], edits), engine.run(IDS, ["pattern"], edits)
        found = pattern_of(engine, weights, trace, 2, 3)
        np.testing.assert_allclose(found, kept["pattern", 2][3], rtol=0, atol=1e-12)


def test_a_way_on_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = drawn(KINDS["plain"], 0, np.float64)
    for engine in (fast(KINDS["plain"]), ReferenceEngine(KINDS["plain"], weights)):
        trace = engine.run(IDS, ["resid_pre"])
        with monkeypatch.context() as patched:
            patched.setattr(machine, "available", lambda: 1000)
            with pytest.raises(CapacityError, match="this run needs"):
                pattern_of(engine, weights, trace, 1, 3)


class Counting(ReferenceEngine):
    runs = 0

    def run(self, *arguments: object, **named: object) -> Trace:
        self.runs += 1
        return super().run(*arguments, **named)  # type: ignore[arg-type]


def test_what_was_kept_is_not_computed_again() -> None:
    weights = drawn(KINDS["plain"], 0, np.float64)
    engine = Counting(KINDS["plain"], weights)
    bare = engine.run(IDS)
    pattern_of(engine, weights, bare, 1, 4)
    assert engine.runs == 2
    for see in (["query_pos", "key_pos"], ["pattern"]):
        trace, before = engine.run(IDS, see=see), engine.runs
        pattern_of(engine, weights, trace, 1, 4)
        assert engine.runs == before


def test_heads_and_layers_that_do_not_exist_are_refused() -> None:
    weights = drawn(KINDS["plain"], 0, np.float64)
    engine = ReferenceEngine(KINDS["plain"], weights)
    trace = engine.run(IDS)
    with pytest.raises(SiteError, match="layer 1 has no head 6"):
        pattern_of(engine, weights, trace, 1, 6)
    with pytest.raises(SiteError, match="layer 3"):
        pattern_of(engine, weights, trace, 3, 0)
    behind = engine.run(IDS[5:], cache=engine.run(IDS[:5]).cache)
    with pytest.raises(SiteError, match="began at position 5"):
        pattern_of(engine, weights, behind, 1, 0)
