"""Tiles against the plain path in NumPy: what comes out, and what a watcher gathers, for every setting."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.statistics.test_attention_rows import assert_equal_rows
from whybox.engine.fast import tiled
from whybox.engine.fast.statistics import Collector, Survey, heaviest
from whybox.engine.fast.tiled import Places, attend_tiled
from whybox.errors import UsageError
from whybox.parts.attention import attention
from whybox.parts.mask import visible
from whybox.parts.position import alibi_slopes
from whybox.parts.softmax import sink_mass
from whybox.spec import Attention
from whybox.statistics.head_table import summary
from whybox.statistics.marks import Behind, Duplicate, Induction, Keys
from whybox.statistics.rows import AttentionRows, AttentionWish, Segment, from_pattern, joined

CPU = torch.device("cpu")
PLAIN = Attention(heads=6, kv_heads=2, head_width=5, scale=0.7)
SETTINGS = {
    "plain": PLAIN,
    "multi-head": replace(PLAIN, kv_heads=6),
    "one kv head": replace(PLAIN, kv_heads=1),
    "window": replace(PLAIN, window=70),
    "window of one": replace(PLAIN, window=1),
    "window as long as the text": replace(PLAIN, window=150),
    "cap": replace(PLAIN, scale=3.0, cap=2.0),
    "alibi": replace(PLAIN, alibi=tuple(float(s) for s in alibi_slopes(6))),
    "all at once": replace(PLAIN, scale=3.0, cap=2.0, alibi=tuple(float(s) for s in alibi_slopes(6)), window=70),
}
SEGMENTS = Segment("a", 0, 3), Segment("b", 3, 131), Segment("c", 140, 1000), Segment("overlapping", 0, 128)
REPEATING = np.arange(40_000) % 7
MARKS = (
    ("previous", Behind(1)),
    ("next", Behind(-1)),
    ("copies", Duplicate(REPEATING)),
    ("after copies", Induction(REPEATING)),
    ("some", Keys(frozenset({0, 3, 64, 130}))),
)
WISH = AttentionWish(SEGMENTS, top=8, block=64, marks=MARKS, scores=True)

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def drawn(seed: int, spec: Attention, rows: int, keys: int) -> Drawn:
    """Query [q h d], key [k g d], value [k g dv], sinks [h]; one key in eleven is loud, a favourite."""
    rng = np.random.default_rng(seed)
    shapes = (rows, spec.heads, 5), (keys, spec.kv_heads, 5), (keys, spec.kv_heads, 3), (spec.heads,)
    query, key, value, sinks = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    key[::11] *= 3
    return query, key, value, sinks


def tiles_of(x: Drawn, places: Places, spec: Attention, sinks: np.ndarray | None, wish: AttentionWish = WISH):
    """Head outputs and record from the tiles."""
    query, key, value = (torch.from_numpy(part).transpose(0, 1)[None] for part in x[:3])
    collector = Collector(Survey.of(places, spec.window, wish, CPU), spec.heads)
    learned = None if sinks is None else torch.from_numpy(sinks)
    out = attend_tiled(query, key, value, places, spec, learned, collector)
    assert torch.equal(out, attend_tiled(query, key, value, places, spec, learned)), "looking changed the output"
    return out[0].numpy(), collector.rows()


def plain(
    x: Drawn, places: Places, spec: Attention, sinks: np.ndarray | None, wish: AttentionWish = WISH
) -> tuple[np.ndarray, AttentionRows, np.ndarray]:
    """The same from the full pattern, in float64, and that pattern."""
    query, key, value = (part.astype(np.float64) for part in x[:3])
    found = attention(query, key, value, places.query, places.key, spec, sinks)
    seen = visible(places.query, places.key, spec.window)
    mass = None if sinks is None else sink_mass(found.scores, seen, sinks.astype(np.float64))
    record = from_pattern(found.pattern, seen, wish, places.query, places.key, mass, found.scores)
    return found.head_out, record, found.pattern


def assert_same_record(found: AttentionRows, expected: AttentionRows, atol: float = 1e-5) -> None:
    """Weights and nats to `atol`, sums over rows in proportion; a distance also to what its tile's width costs."""
    for name in ("query_pos", "key_pos", "seen", "askers"):
        assert vars(found)[name].tolist() == vars(expected)[name].tolist(), name
    for name in ("entropy", "sink", "sink_mass", "shares", "previous", "own", "local", "top_weights", "marked"):
        np.testing.assert_allclose(vars(found)[name], vars(expected)[name], rtol=0, atol=atol, err_msg=name)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=20 * atol, atol=200 * atol, err_msg="scores")
    np.testing.assert_allclose(found.distance, expected.distance, rtol=atol, atol=5 * atol, err_msg="distance")
    for name in ("received", "map_total"):
        np.testing.assert_allclose(vars(found)[name], vars(expected)[name], rtol=atol, atol=atol, err_msg=name)


def assert_same_keys(found: AttentionRows, pattern: np.ndarray, seen: np.ndarray, atol: float = 1e-5) -> None:
    """The heaviest keys have the weights that are said of them; stripes, but for weights on the very threshold."""
    index = np.searchsorted(found.key_pos, found.top_keys)
    weights = np.take_along_axis(pattern, np.minimum(index, len(found.key_pos) - 1), axis=-1)
    np.testing.assert_allclose(np.where(found.top_keys >= 0, weights, 0), found.top_weights, rtol=0, atol=atol)
    for row in found.top_keys.reshape(-1, found.top_keys.shape[-1]):
        assert len(set(row[row >= 0])) == (row >= 0).sum()
    later = found.query_pos[:, None] - found.key_pos[None, :] >= 8
    from_weight = np.maximum(0.1, 5 / np.maximum(found.seen, 1))[:, None]
    least, most = (((pattern >= from_weight + d) & seen & later).sum(axis=1) for d in (atol, -atol))
    assert ((least <= found.stripes) & (found.stripes <= most)).all()


@pytest.mark.parametrize("with_sinks", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_output_and_record_are_those_of_the_plain_path(name: str, with_sinks: bool) -> None:
    spec, places = SETTINGS[name], Places(np.arange(150), np.arange(150))
    x = drawn(3, spec, 150, 150)
    sinks = x[3] if with_sinks else None
    out, record = tiles_of(x, places, spec, sinks)
    expected, expected_record, pattern = plain(x, places, spec, sinks)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5)
    assert_same_record(record, expected_record)
    assert_same_keys(record, pattern, visible(places.query, places.key, spec.window))
    table, other = summary(record), summary(expected_record)
    for column in other:
        for here, there in zip(table[column], other[column], strict=True):
            assert here is there is None or here == pytest.approx(there, rel=1e-5, abs=1e-5), column


def chunk_of(rows: int, earlier: int, dropped: int, gap: int) -> Places:
    """Queries after `earlier` keys, of which the first `dropped` are gone and with a gap in between."""
    key_pos = np.arange(min(dropped, earlier), earlier + rows)
    key_pos = key_pos + gap * (key_pos >= earlier // 2 + dropped)
    return Places(np.arange(earlier, earlier + rows) + gap, key_pos)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(SETTINGS)),
    places=st.builds(chunk_of, st.integers(1, 90), st.integers(0, 140), st.integers(0, 40), st.integers(0, 9)),
    size=st.sampled_from([1, 7, 64]),
    elements=st.sampled_from([1, 20_000]),
    with_sinks=st.booleans(),
)
def test_any_shape_place_and_tile(
    seed: int, name: str, places: Places, size: int, elements: int, with_sinks: bool
) -> None:
    spec = SETTINGS[name]
    x = drawn(seed, spec, len(places.query), len(places.key))
    sinks = x[3] if with_sinks else None
    wish = replace(WISH, block=48 if size == 7 else 64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiled, "ROWS", size)
        patch.setattr(tiled, "ELEMENTS", elements)
        out, record = tiles_of(x, places, spec, sinks, wish)
    expected, expected_record, pattern = plain(x, places, spec, sinks, wish)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5)
    assert_same_record(record, expected_record)
    assert_same_keys(record, pattern, visible(places.query, places.key, spec.window))


def test_rows_that_see_nothing_are_zero_and_undefined() -> None:
    places = Places(np.array([2, 3, 9, 200, 290]), np.array([5, 7, 8, 100]))
    spec = replace(PLAIN, window=101)
    x = drawn(0, spec, 5, 4)
    out, record = tiles_of(x, places, spec, None)
    expected, expected_record, _ = plain(x, places, spec, None)
    assert record.defined.tolist() == [False, False, True, True, False]
    assert not out[~record.defined].any()
    assert not record.local[:, ~record.defined].any()
    assert (record.top_keys[:, ~record.defined] == -1).all()
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-6)
    assert_same_record(record, expected_record)


def test_no_keys_at_all() -> None:
    x = drawn(0, PLAIN, 3, 0)
    out, record = tiles_of(x, Places(np.arange(3), np.arange(0)), PLAIN, None)
    assert not out.any()
    assert not record.defined.any()


@pytest.mark.parametrize("name", ["plain", "window"])
def test_a_text_of_many_chunks(name: str) -> None:
    """Rows with more chunks than heaviest keys are read another way than short ones."""
    spec, places = SETTINGS[name], Places(np.arange(900), np.arange(900))
    x = drawn(7, spec, 900, 900)
    out, record = tiles_of(x, places, spec, None)
    expected, expected_record, pattern = plain(x, places, spec, None)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5)
    assert_same_record(record, expected_record)
    assert_same_keys(record, pattern, visible(places.query, places.key, spec.window))
    assert record.stripes.any()


@pytest.mark.parametrize("top", [1, 3, 12])
@pytest.mark.parametrize("length", [150, 900])
def test_stripes_are_counted_however_few_keys_are_asked_for(top: int, length: int) -> None:
    spec, places = SETTINGS["plain"], Places(np.arange(length), np.arange(length))
    query, key, value, _ = drawn(11, spec, length, length)
    x, wish = (3 * query, key, value, np.zeros(0)), AttentionWish(top=top)
    out, record = tiles_of(x, places, spec, None, wish)
    expected, expected_record, pattern = plain(x, places, spec, None, wish)
    np.testing.assert_allclose(out, expected, rtol=0, atol=2e-5)
    assert_same_record(record, expected_record, 2e-5)
    assert_same_keys(record, pattern, visible(places.query, places.key, spec.window))
    assert ((pattern > 0.1).sum(axis=-1) > 3).any()


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 7),
    chunks=st.integers(1, 23),
    count=st.integers(1, 64),
    levels=st.sampled_from([2, 5, 1000]),
)
def test_heaviest_by_brute_force(seed: int, rows: int, chunks: int, count: int, levels: int) -> None:
    """Few levels make many equals, and many zeros: whichever equals are taken, values and columns agree."""
    weights = (np.random.default_rng(seed).integers(0, levels, (rows, chunks * 64)) / levels).astype(np.float32)
    peaks = torch.from_numpy(weights.reshape(rows, chunks, 64).max(axis=-1))
    values, columns = (found.numpy() for found in heaviest(torch.from_numpy(weights), peaks, count))
    np.testing.assert_array_equal(values, -np.sort(-weights, axis=-1)[:, :count])
    above = values > 0
    np.testing.assert_array_equal(np.take_along_axis(weights, columns, axis=-1)[above], values[above])
    assert all(len(set(row[kept])) == kept.sum() for row, kept in zip(columns, above, strict=True))


def test_chunks_joined_are_the_whole() -> None:
    """Prefill in chunks leaves the record of the whole text: no edge of a tile or chunk is seen in it."""
    spec, places = SETTINGS["window"], Places(np.arange(150), np.arange(150))
    x = drawn(5, spec, 150, 150)
    parts = []
    for a, b in ((0, 37), (37, 101), (101, 150)):
        chunk = x[0][a:b], x[1][:b], x[2][:b], x[3]
        parts.append(tiles_of(chunk, Places(np.arange(a, b), np.arange(b)), spec, None)[1])
    assert_same_record(joined(parts), plain(x, places, spec, None)[1])


def test_a_batch_is_its_rows() -> None:
    places = Places(np.arange(100), np.arange(100))
    rng = np.random.default_rng(0)
    query, key, value = (
        torch.from_numpy(rng.normal(size=(3, heads, 100, 5)).astype(np.float32)) for heads in (6, 2, 2)
    )
    whole = attend_tiled(query, key, value, places, PLAIN)
    for i in range(3):
        one = slice(i, i + 1)
        assert torch.equal(whole[one], attend_tiled(query[one], key[one], value[one], places, PLAIN))
    with pytest.raises(UsageError, match="one text at a time"):
        attend_tiled(query, key, value, places, PLAIN, watch=lambda step: None)


def test_scores_far_from_zero_neither_overflow_nor_vanish() -> None:
    spec, places = replace(PLAIN, scale=400.0), Places(np.arange(80), np.arange(80))
    x = drawn(1, spec, 80, 80)
    (out, record), (expected, expected_record, _) = tiles_of(x, places, spec, None), plain(x, places, spec, None)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out, expected, rtol=0, atol=2e-3)  # scores of some thousands, in float32
    np.testing.assert_allclose(record.entropy, expected_record.entropy, rtol=0, atol=5e-3)


def test_a_sink_far_above_the_scores_takes_everything() -> None:
    places = Places(np.arange(80), np.arange(80))
    x = drawn(1, PLAIN, 80, 80)
    sinks = np.array([300, -300, 0, 20, 5, 90], np.float32)
    wish = replace(WISH, scores=False)  # scores are counted from the peak down: beside a sink of 300 they lose digits
    out, record = tiles_of(x, places, PLAIN, sinks, wish)
    expected, expected_record, _ = plain(x, places, PLAIN, sinks, wish)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-5)
    assert_same_record(record, expected_record)
    assert record.sink_mass[0].min() == 1
    assert record.sink_mass[1].max() == 0


def test_in_bfloat16_products_are_rounded_and_sums_are_not() -> None:
    """Bounds: 2⁻⁷ of the largest value for outputs, .03 for weights; shares of a row still add up to 1 exactly."""
    places = Places(np.arange(150), np.arange(150))
    spec = replace(PLAIN, head_width=64, scale=0.125)
    rng = np.random.default_rng(0)
    narrow = [torch.from_numpy(rng.normal(size=(1, heads, 150, 64))).bfloat16() for heads in (6, 2, 2)]
    wish = AttentionWish((Segment("a", 0, 77), Segment("b", 77, 150)))
    records, outs = [], []
    for query, key, value in (narrow, [part.float() for part in narrow]):
        collector = Collector(Survey.of(places, None, wish, CPU), 6)
        outs.append(attend_tiled(query, key, value, places, spec, watch=collector).float())
        records.append(collector.rows())
    assert 0 < (outs[0] - outs[1]).abs().max() <= outs[1].abs().max() * 2**-7
    assert_same_weights(*records, atol=0.03)
    np.testing.assert_allclose(records[0].shares.sum(axis=-1), 1, rtol=0, atol=1e-6)


def assert_same_weights(found: AttentionRows, expected: AttentionRows, atol: float) -> None:
    for name in ("entropy", "sink", "previous", "own", "local", "shares", "top_weights"):
        np.testing.assert_allclose(vars(found)[name], vars(expected)[name], rtol=0, atol=atol, err_msg=name)


def test_memory_grows_with_the_text_and_not_with_its_square() -> None:
    """Bytes of every buffer that a run of 4 n tokens makes, against one of n."""
    taken = [bytes_taken(n) for n in (1024, 4096)]
    assert taken[1] <= 4.5 * taken[0]
    assert taken[1] < 6 * 4096 * 4096 * 4 / 8  # the patterns alone would take eight times as much


def bytes_taken(n: int) -> int:
    spec, places = replace(PLAIN, head_width=4), Places(np.arange(n), np.arange(n))
    query, key, value = (torch.ones(1, heads, n, 4) for heads in (6, 2, 2))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        collector = Collector(Survey.of(places, None, WISH, CPU), 6)
        attend_tiled(query, key, value, places, spec, watch=collector)
    held = peak = 0
    for event in profile.events():
        if event.name == "[memory]":
            held += event.cpu_memory_usage
            peak = max(peak, held)
    return peak


def test_positions_must_ascend() -> None:
    with pytest.raises(UsageError, match="ascending key"):
        Places(np.arange(3), np.array([0, 2, 1]))


def test_records_of_equal_runs_are_equal() -> None:
    x, places = drawn(2, PLAIN, 70, 70), Places(np.arange(70), np.arange(70))
    assert_equal_rows(tiles_of(x, places, PLAIN, None)[1], tiles_of(x, places, PLAIN, None)[1], 0)
