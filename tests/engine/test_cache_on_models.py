"""Caches of whole runs: positions that survive an eviction, prefixes that stay, windows that roll, sizes in bytes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.engine import random_models
from tests.market import market_ids
from tests.real import real
from whybox.engine.edit import cut
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Cache, Trace
from whybox.errors import UsageError

CAPITAL = (504, 3575, 282, 4649, 314)  # The capital of France is
FLOOR = 1e-4  # one pass against steps, float32: 5.1e-5 in transformers on the same ids
IDS = (2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5)


def one_by_one(engine: ReferenceEngine, ids: Sequence[int], cache: Cache, see: Sequence[str] = ()) -> list[Trace]:
    traces = []
    for token in ids:
        traces.append(engine.run([token], see, cache=cache))
        cache = traces[-1].cache
    return traces


def positions(cache: Cache) -> list[list[int]]:
    """Distinct lists of positions that the layers hold."""
    return [list(held) for held in sorted({tuple(layer.positions.tolist()) for layer in cache.layers})]


@pytest.mark.model
def test_two_tokens_behind_a_cache_of_three_equal_one_pass() -> None:
    engine = real("smollm2").engine
    whole, first = engine.run(CAPITAL, see=["query_pos"]), engine.run(CAPITAL[:3])
    steps = one_by_one(engine, CAPITAL[3:], first.cache, ["query_pos"])
    error = np.abs(np.concatenate([first.logits, *(s.logits for s in steps)]) - whole.logits).max()
    assert 0 < error < FLOOR
    assert [step.rows for step in steps] == [range(3, 4), range(4, 5)]
    assert positions(steps[-1].cache) == [[0, 1, 2, 3, 4]]
    for layer in range(30):
        for place, step in zip((3, 4), steps, strict=True):
            np.testing.assert_allclose(step["query_pos", layer][0], whole["query_pos", layer][place], atol=1e-3)


@pytest.mark.model
def test_evicting_slot_1_moves_no_position() -> None:
    """The two tokens stay at 3 and 4 in every layer; the run equals one in which they may not look at token 1."""
    engine = real("smollm2").engine
    cache = engine.run(CAPITAL[:3]).cache
    evicted = replace(cache, layers=tuple(layer.evict(np.array([1])) for layer in cache.layers))
    steps = one_by_one(engine, CAPITAL[3:], evicted, ["query", "query_pos"])
    assert [step.start for step in steps] == [3, 4]
    last = steps[-1].cache
    assert positions(last) == [[0, 2, 3, 4]]
    assert {(len(layer), layer.seen) for layer in last.layers} == {(4, 5)}
    masked = engine.run(CAPITAL, edits=[cut(q=slice(3, None), k=1)])
    found = np.concatenate([step.logits for step in steps])
    assert np.abs(found - masked.logits[3:]).max() < FLOOR
    for place, step in zip((3, 4), steps, strict=True):
        angle = _turned(step["query", 0][0], step["query_pos", 0][0])
        np.testing.assert_allclose(angle, place, rtol=1e-4)


def _turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Angle by which the fastest pair (frequency 1) of every head was turned: the position itself, below 2π."""
    was, now = (x[:, 0] + 1j * x[:, 32] for x in (before.astype(np.float64), after.astype(np.float64)))
    return np.angle(now / was) % (2 * np.pi)


@pytest.mark.model
def test_a_prefix_of_20_serves_two_questions() -> None:
    engine = real("smollm2").engine
    text = market_ids("smollm2", lines=15, count=200)
    prefix = engine.run(text[:20]).cache
    kept = [layer.key.copy() for layer in prefix.layers]
    for question in (text[20:25], CAPITAL):
        answered = engine.run(question, cache=prefix)
        assert (answered.cache.seen, positions(answered.cache)) == (25, [list(range(25))])
        assert np.abs(answered.logits - engine.run((*text[:20], *question)).logits[20:]).max() < FLOOR
        assert (prefix.seen, positions(prefix)) == (20, [list(range(20))])
        assert all(np.array_equal(layer.key, key) for layer, key in zip(prefix.layers, kept, strict=True))


class TestWindowOfEight:
    engine = random_models.engine(random_models.spec(window=8))

    def test_nothing_is_dropped_before_the_ninth_token(self) -> None:
        first = self.engine.run(IDS[:6])
        steps = one_by_one(self.engine, IDS[6:10], first.cache)
        held = [positions(step.cache) for step in steps]
        assert held == [[list(range(7))], [list(range(8))], [list(range(1, 9))], [list(range(2, 10))]]
        whole = self.engine.run(IDS[:10]).logits
        np.testing.assert_allclose(np.concatenate([s.logits for s in steps]), whole[6:], atol=1e-12)

    def test_a_prefill_longer_than_the_window_equals_token_by_token(self) -> None:
        at_once = self.engine.run(IDS)
        steps = one_by_one(self.engine, IDS, self.engine.fresh_cache(12))
        np.testing.assert_allclose(np.concatenate([s.logits for s in steps]), at_once.logits, atol=1e-12)
        assert positions(at_once.cache) == positions(steps[-1].cache) == [list(range(4, 12))]

    def test_taking_back_3_of_12_is_refused(self) -> None:
        for layer in self.engine.run(IDS).cache.layers:
            with pytest.raises(UsageError, match="from 2 on, but those below 4"):
                layer.crop(9, 8)


@pytest.mark.gemma
def test_prefill_and_decode_agree_across_the_window_of_gemma() -> None:
    """A local layer forgets position 0 when position 512 is fed; local layers keep 512 slots, global ones all."""
    engine = real("gemma3-270m").engine
    ids = market_ids("gemma3-270m", lines=45, count=700)[:515]
    whole = engine.run(ids, tail=5)
    first = engine.run(ids[:510], tail=1, cache=engine.fresh_cache(515))
    steps = one_by_one(engine, ids[510:], first.cache)
    assert np.abs(np.concatenate([s.logits for s in steps]) - whole.logits).max() < 1e-3
    for cache in (whole.cache, steps[-1].cache):
        assert [layer.positions[[0, -1]].tolist() for layer in cache.layers] == [
            [0, 514] if index in (5, 11, 17) else [3, 514] for index in range(18)
        ]
        assert _at_16_bit(cache) == 1024 * (3 * 515 + 15 * 512)


@pytest.mark.model
def test_bytes_kept_for_each_token() -> None:
    """3 kv heads of 64 in 30 layers: 23,040 bytes at 16 bit; 9 query heads would make 69,120."""
    assert _at_16_bit(real("smollm2").engine.run(CAPITAL).cache) == 5 * 23_040


def _at_16_bit(cache: Cache) -> int:
    return 2 * sum(layer.key.size + layer.value.size for layer in cache.layers)
