"""Attention statistics of a run: both engines, every kind of model, whole and in chunks; and what looking costs."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.fast.test_tiled import assert_same_record
from tests.engine.random_models import IDS
from whybox.engine.edit import Edit, boost, cut, scale, zero
from whybox.engine.fast import Kernel, Precision
from whybox.engine.trace import Trace
from whybox.errors import CapacityError, SiteError, UsageError
from whybox.statistics.head_table import HeadTable
from whybox.statistics.marks import Duplicate, Induction
from whybox.statistics.rows import AttentionWish, Segment

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
REPEATING = np.array([1, 2, 1, 2, 3, 1, 1, 2, 3, 4, 3, 1])
MARKS = ("copies", Duplicate(REPEATING)), ("after copies", Induction(REPEATING))
WISH = AttentionWish((Segment("a", 0, 5), Segment("b", 5, 12)), top=3, block=4, marks=MARKS, scores=True)


def assert_same_records(mine: Trace, theirs: Trace, atol: float = 1e-10) -> None:
    assert len(mine.attention) == len(theirs.attention) == len(mine.spec.layers)
    for here, there in zip(mine.attention, theirs.attention, strict=True):
        assert_same_record(here, there, atol)


def assert_same_tables(mine: HeadTable, theirs: HeadTable, atol: float = 1e-5) -> None:
    assert set(mine) >= set(theirs)
    for name in theirs:
        for here, there in zip(mine[name], theirs[name], strict=True):
            assert here is there is None or here == pytest.approx(there, rel=atol, abs=atol), name


@EVERY_KIND
def test_both_engines_make_the_same_record(kind: str) -> None:
    theirs = reference(KINDS[kind]).run(IDS, statistics=WISH)
    assert_same_records(fast(KINDS[kind]).run(IDS, statistics=WISH), theirs)


@EVERY_KIND
def test_float32_is_as_exact_as_it_can_be(kind: str) -> None:
    theirs = reference(KINDS[kind]).run(IDS, statistics=WISH)
    assert_same_records(fast(KINDS[kind], Precision.FP32).run(IDS, statistics=WISH), theirs, 5e-5)


@EVERY_KIND
@pytest.mark.parametrize("chunk", [1, 5, 7])
def test_chunks_joined_are_the_whole(kind: str, chunk: int) -> None:
    theirs = reference(KINDS[kind]).run(IDS, statistics=WISH)
    assert_same_records(replace(fast(KINDS[kind]), chunk=chunk).run(IDS, statistics=WISH), theirs)


@EVERY_KIND
def test_padding_is_in_no_statistic(kind: str) -> None:
    theirs = reference(KINDS[kind]).run(IDS, statistics=WISH)
    assert_same_records(replace(fast(KINDS[kind]), padding=3).run(IDS, statistics=WISH), theirs)


@EVERY_KIND
def test_rows_of_bf16_weights_sum_to_one_within_their_digits(kind: str) -> None:
    sites = ["pattern", *(["sink_mass"] if "sinks" in kind else [])]
    trace = fast(KINDS[kind], Precision.BF16).run(IDS, see=sites)
    for layer in range(3):
        mass = trace["sink_mass", layer] if "sinks" in kind else 0
        np.testing.assert_allclose(trace["pattern", layer].sum(axis=-1) + mass, 1, rtol=0, atol=2**-8)


@EVERY_KIND
def test_the_rest_behind_a_cache(kind: str) -> None:
    mine, theirs = fast(KINDS[kind]), reference(KINDS[kind])
    found = []
    for engine in (mine, theirs):
        cache = engine.run(IDS[:7], cache=engine.fresh_cache(len(IDS))).cache
        found.append(engine.run(IDS[7:], cache=cache, statistics=WISH))
    assert_same_records(*found)
    assert found[0].attention[0].query_pos.tolist() == [7, 8, 9, 10, 11]
    assert_same_tables(*(trace.heads() for trace in found))


@EVERY_KIND
def test_the_heads_table_is_that_of_the_patterns(kind: str) -> None:
    engine = fast(KINDS[kind])
    from_patterns = engine.run(IDS, see=["pattern"]).heads()
    assert_same_tables(engine.run(IDS, statistics=WISH).heads(), from_patterns)
    assert_same_tables(reference(KINDS[kind]).run(IDS, statistics=WISH).heads(), from_patterns)


@EVERY_KIND
@pytest.mark.parametrize("precision", [Precision.FP32, Precision.BF16])
def test_gathering_statistics_changes_no_bit_on_the_same_kernel(kind: str, precision: Precision) -> None:
    engine = fast(KINDS[kind], precision, kernel=Kernel.TILED)
    seen, plain = engine.run(IDS, statistics=WISH), engine.run(IDS)
    assert np.array_equal(seen.logits, plain.logits)
    assert seen.kernel == plain.kernel == "tiled attention on cpu"


EDITS: dict[str, tuple[Edit, ...]] = {
    "cut": (cut(1, q=slice(6, None), k=range(2, 5)),),
    "boost": (boost(q=11, k=range(3, 6)),),
    "muted edge": (zero("pattern", 1, h=2, q=8, k=3),),
    "louder pattern": (scale("pattern", 1.5, 0, q=9),),
    "a head": (zero("head_out", 0, h=3),),
}


@pytest.mark.parametrize("kind", ["plain", "window 5", "sinks", "alibi"])
@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_what_is_counted(kind: str, name: str) -> None:
    engine, theirs = fast(KINDS[kind]), reference(KINDS[kind]).run(IDS, (), EDITS[name], statistics=WISH)
    assert_same_records(engine.run(IDS, (), EDITS[name], statistics=WISH), theirs)
    assert_same_records(replace(engine, chunk=5).run(IDS, (), EDITS[name], statistics=WISH), theirs)


def test_a_cut_edge_is_not_in_the_record() -> None:
    trace = fast(KINDS["plain"]).run(IDS, edits=[cut(1, q=slice(6, None), k=range(5))], statistics=WISH)
    assert trace.attention[1].shares[:, 6:, 0].max() == 0
    assert trace.attention[0].shares[:, 6:, 0].min() > 0
    assert trace.kernel == "tiled attention on cpu, plain in layers 1"


def test_patterns_and_statistics_of_one_run() -> None:
    trace = fast(KINDS["sinks"]).run(IDS, see=["pattern", "sink_mass"], statistics=WISH)
    assert_same_records(trace, reference(KINDS["sinks"]).run(IDS, statistics=WISH))
    np.testing.assert_allclose(trace.attention[2].sink_mass, trace["sink_mass", 2], rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.attention[2].shares.sum(-1), trace["pattern", 2].sum(-1), rtol=0, atol=1e-12)


def test_the_kernel_is_said() -> None:
    engine = fast(KINDS["plain"], Precision.FP32)
    assert engine.run(IDS).kernel == "sdpa attention on cpu"
    assert engine.run(IDS, statistics=WISH).kernel == "tiled attention on cpu"
    assert engine.run(IDS, see=[("pattern", 1)], statistics=WISH).kernel == "tiled attention on cpu, plain in layers 1"


def test_what_was_not_asked_for_is_refused() -> None:
    for engine in (reference(KINDS["plain"]), fast(KINDS["plain"])):
        trace = engine.run(IDS)
        assert trace.statistics is None
        with pytest.raises(SiteError, match="attention statistics were not kept") as caught:
            _ = trace.attention
        assert caught.value.remedy == "run again with statistics=True"


def test_more_of_the_heaviest_keys_than_a_chunk_holds() -> None:
    with pytest.raises(UsageError, match="at most 64 of the heaviest keys, found 65"):
        fast(KINDS["plain"]).run(IDS, statistics=AttentionWish(top=65))


def test_statistics_are_counted_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wish that would need more than there is: refused, with the number, in both engines."""
    wish = AttentionWish(tuple(Segment(str(i), i, i + 1) for i in range(4000)))
    monkeypatch.setattr("whybox.engine.machine.available", lambda: 2_000_000)
    for engine in (reference(KINDS["plain"]), fast(KINDS["plain"])):
        engine.run(IDS, statistics=WISH)
        with pytest.raises(CapacityError, match="attention statistics: h · b · q · numbers · bytes"):
            engine.run(IDS, statistics=wish)
