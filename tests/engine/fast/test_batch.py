"""Many texts gone on with at once: the same logits at every step as one text at a time, whatever its neighbours are."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import IDS
from whybox.engine import machine, prefixes
from whybox.engine.edit import Edit, add, cut, scale, set_to, zero
from whybox.engine.fast import FastEngine, Kernel, Precision, batch
from whybox.engine.sampling import GREEDY, Decoding
from whybox.engine.trace import Cache, Draft, Engine
from whybox.engine.writing import Writing
from whybox.errors import CapacityError, NonFiniteError, PromptError, SiteError
from whybox.sites import sites_of
from whybox.spec import Mlp

Array = np.ndarray
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
STOP = 3
UNLIKE = (
    Draft((2, 7, 1, 8, 2), 4),
    Draft((3,), 7),
    Draft((2, 7, 1, 9, 4, 4, 5, 6, 7, 8, 1, 2), 9),
    Draft((2, 7, 1), 1),
    Draft((5, 5, 5, 5, 5, 5, 5), 12),
    Draft((2,), 3),
)


@dataclass
class Recorded:
    """A writing, and the logits that it chose from: of each draft, step by step."""

    writing: Writing
    logits: dict[int, list[Array]] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)

    def __call__(self, drafts: Sequence[int], logits: Array) -> list[int | None]:
        self.rows.append(len(drafts))
        for index, row in zip(drafts, logits, strict=True):
            self.logits.setdefault(index, []).append(row.copy())
        return self.writing(drafts, logits)


def written(engine: Engine, drafts: Sequence[Draft], decodings: Sequence[Decoding] = ()) -> Recorded:
    recorded = Recorded(Writing(drafts, decodings or [GREEDY] * len(drafts), (STOP,)))
    engine.write(drafts, recorded)
    return recorded


def seeded(count: int, banned: tuple[int, ...] = ()) -> list[Decoding]:
    return [Decoding(temperature=1.0, seed=seed, banned=banned) for seed in range(count)]


def assert_same(mine: Recorded, theirs: Recorded, error: float = 1e-12) -> None:
    assert mine.writing.written == theirs.writing.written
    for index, rows in theirs.logits.items():
        np.testing.assert_allclose(np.array(mine.logits[index]), np.array(rows), rtol=0, atol=error)


@EVERY_KIND
@pytest.mark.parametrize("kernel", [Kernel.SDPA, Kernel.PLAIN])
def test_texts_of_unlike_lengths_go_on_as_each_alone(kind: str, kernel: Kernel) -> None:
    """Drawn with a seed each, some stop early, so that rows leave at unlike steps."""
    of, decodings = KINDS[kind], seeded(len(UNLIKE))
    mine, theirs = written(fast(of, kernel=kernel), UNLIKE, decodings), written(reference(of), UNLIKE, decodings)
    assert_same(mine, theirs)
    assert mine.rows != theirs.rows
    assert set(theirs.rows) == {1}


@EVERY_KIND
@pytest.mark.parametrize("prefix", [1, 2, 9])
def test_a_shared_prefix_is_computed_once(kind: str, prefix: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the next token's window reaches into it, and where it does not."""
    monkeypatch.setattr(batch, "schedule", partial(prefixes.schedule, launch=0))
    drafts = [Draft((*IDS[:prefix], *rest), 6) for rest in [(4,), (5, 1), (6, 2, 9, 1, 1, 7), (6, 2, 9, 3), (8,) * 11]]
    engine = fast(KINDS[kind])
    assert_same(written(engine, drafts, seeded(5)), written(reference(KINDS[kind]), drafts, seeded(5)))


@pytest.mark.parametrize("precision", [Precision.FP32, Precision.BF16])
@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if isinstance(of.layers[0].mlp, Mlp)])
def test_a_neighbours_content_cannot_matter(kind: str, precision: Precision) -> None:
    """Bit by bit at equal shapes. Experts multiply the rows that chose them: there the shapes are the neighbours'."""
    engine, mine = fast(KINDS[kind], precision), Draft((2, 7, 1, 8, 2), 6)
    found = [
        written(engine, [mine, *(Draft(ids, 6) for ids in others)], seeded(3, (STOP,)))
        for others in [((1, 2, 3, 4, 5, 6, 7), (9, 9)), ((8, 11, 13, 2, 2, 1, 17), (5, 14))]
    ]
    assert not np.allclose(found[0].logits[1][0], found[1].logits[1][0])
    assert found[0].writing.written[0] == found[1].writing.written[0]
    assert np.array_equal(found[0].logits[0], found[1].logits[0])


@EVERY_KIND
@pytest.mark.parametrize(("rows", "padding"), [(2, 0), (5, 0), (20, 0), (1, 3), (3, 7)])
def test_a_prompt_in_a_batch_is_the_prompt_alone(kind: str, rows: int, padding: int) -> None:
    """Every site, a batch of its own beginnings or beside a longer one, then one token at a time behind the cache."""
    of = KINDS[kind]
    see = [site.name for site in sites_of(of)]
    alone, among = fast(of), replace(fast(of), neighbours=rows, padding=padding)
    caches = alone.fresh_cache(len(IDS)), among.fresh_cache(len(IDS))
    for part in (IDS[:7], IDS[7:8], IDS[8:9], IDS[9:]):
        one, other = alone.run(part, see, (), caches[0]), among.run(part, see, (), caches[1])
        caches = one.cache, other.cache
        np.testing.assert_allclose(other.logits, one.logits, rtol=0, atol=1e-12)
        assert set(other.sites) == set(one.sites)
        for key, value in one.sites.items():
            np.testing.assert_allclose(other.sites[key], value, rtol=0, atol=1e-11, err_msg=str(key))


def test_a_prompt_in_a_batch_is_edited_like_the_prompt_alone() -> None:
    edits = (cut(1, h=2, q=slice(3, None), k=1), zero("head_out", 0, h=4, q=5), add("resid_post", np.ones(13), 1))
    one = fast(KINDS["plain"]).run(IDS, edits=edits)
    other = replace(fast(KINDS["plain"]), neighbours=3, padding=2, chunk=5).run(IDS, edits=edits)
    np.testing.assert_allclose(other.logits, one.logits, rtol=0, atol=1e-12)
    assert other.changed == (True, True, True)


EDITED: dict[str, tuple[Edit, ...]] = {
    "nothing": (),
    "head, always": (zero("head_out", 1, h=4),),
    "edges of later tokens": (cut(q=slice(4, None), k=range(1, 3)),),
    "a written position": (scale("mlp_out", -2.0, 0, q=range(5, 8)),),
    "patched rows": (set_to("attn_out", np.linspace(-1, 1, 26).reshape(2, 13), 0, q=slice(1, 3)),),
    "every weight": (set_to("pattern", 0.1, 2),),
    "jointly": (scale("scores", 0.5, 0), add("resid_mid", np.linspace(0, 1, 13), 2, q=slice(3, None))),
}


@pytest.mark.parametrize("kind", ["plain", "window 5", "experts", "sinks"])
@pytest.mark.parametrize("kernel", [Kernel.SDPA, Kernel.PLAIN])
def test_every_row_has_edits_of_its_own_which_hold_at_every_step(kind: str, kernel: Kernel) -> None:
    texts = [
        (2, 7, 1, 8, 2),
        (2, 7, 1, 8, 2, 6),
        (2, 7, 1),
        (4, 4, 4, 1, 9, 8, 7),
        (2, 7, 1, 8, 2),
        (6, 6, 2),
        (1, 5, 9),
    ]
    drafts = [Draft(text, 6, edits) for text, edits in zip(texts, EDITED.values(), strict=True)]
    mine = written(fast(KINDS[kind], kernel=kernel), drafts, seeded(7))
    assert_same(mine, written(reference(KINDS[kind]), drafts, seeded(7)))
    assert not np.allclose(mine.logits[0][0], mine.logits[4][0])


def test_a_cut_that_leaves_a_row_blind_is_refused() -> None:
    with pytest.raises(SiteError, match="query 4 of layer 1, head 0 with no key"):
        written(fast(KINDS["plain"]), [Draft((1, 2, 3, 4), 4, (cut(1, q=4, k=range(5)),)), Draft((1,), 9)])


def test_seeds_do_not_know_of_the_batch() -> None:
    engine, decodings = fast(KINDS["plain"]), seeded(4, (STOP,))
    drafts = [Draft((2, 7, 1), 8)] * 4
    together = written(engine, drafts, decodings).writing.written
    backwards = written(engine, drafts, decodings[::-1]).writing.written[::-1]
    alone = [written(engine, [draft], [own]).writing.written[0] for draft, own in zip(drafts, decodings, strict=True)]
    assert together == backwards == alone
    assert len({tuple(ids) for ids in together}) == 4


def test_long_texts_go_through_in_chunks_and_short_ones_together() -> None:
    engine, draft = replace(fast(KINDS["window 5"]), chunk=6), Draft((2, 7, 1, 9, 4, 4, 5, 6, 7, 8, 1, 2), 5)
    drafts = [draft, Draft((3, 1, 4), 5), Draft((1, 4), 3), Draft((9,) * 7, 3)]
    assert_same(written(engine, drafts, seeded(4)), written(reference(KINDS["window 5"]), drafts, seeded(4)))


def test_weights_given_to_keys_of_a_later_chunk_keep_the_text_in_one_piece() -> None:
    engine = replace(fast(KINDS["plain"]), chunk=5)
    drafts = [Draft(IDS, 3, (set_to("pattern", 0.1, 1),)), Draft(IDS[:4], 3)]
    assert_same(written(engine, drafts, seeded(2)), written(reference(KINDS["plain"]), drafts, seeded(2)))


def test_rows_that_nobody_reads_have_no_logits_to_edit() -> None:
    """Where a chunk ends within a text, nothing is read."""
    drafts = [Draft(IDS, 2, (zero("logits", q=4), zero("final", q=range(9)), zero("logits", v=3)))]
    for engine in (replace(fast(KINDS["plain"]), chunk=5), reference(KINDS["plain"])):
        writing = Writing(drafts, [GREEDY], ())
        assert [tuple(flags) for flags in engine.write(drafts, writing)] == [(False, False, True)]


def test_a_batch_of_many_rows_is_counted_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its neighbours are computed with it: of a million, the streams of one layer alone are gigabytes."""
    monkeypatch.setattr(FastEngine, "embed", lambda *_: pytest.fail("it was computed"))
    among = replace(fast(KINDS["plain"]), neighbours=10**9)
    for ids, cache in ((IDS, None), (IDS[:1], Cache(among.fresh_cache(1).layers, 1, 1, (2,)))):
        with pytest.raises(CapacityError, match=r"needs [\d,]+ GB of memory") as caught:
            among.run(ids, cache=cache)
        assert "fewer sequences at a time" in caught.value.remedy


@pytest.mark.parametrize("room", [1, 20, 40])
def test_memory_is_bounded(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    start = batch._Batch.of

    def counted(*given: object) -> object:
        found = start(*given)  # type: ignore[arg-type]
        held.append(found.columns.positions.size)
        return found

    monkeypatch.setattr(batch, "room", lambda engine: room)
    monkeypatch.setattr(batch._Batch, "of", counted)
    mine = written(fast(KINDS["plain"]), UNLIKE, seeded(6))
    assert_same(mine, written(reference(KINDS["plain"]), UNLIKE, seeded(6)))
    assert max(held) <= max(room, 12 + 9)
    assert len(held) > 1


LONG = tuple(Draft((index, *range(18), *range(18)) * 4, 20) for index in range(8))


def refused(drafts: Sequence[Draft], monkeypatch: pytest.MonkeyPatch, kind: str = "plain") -> CapacityError:
    """The message where 100 kB are left: they are too few for 8 texts of 148 + 20 tokens, and enough for one."""
    monkeypatch.setattr(machine, "available", lambda: 100_000)
    monkeypatch.setattr(FastEngine, "embed", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(CapacityError) as caught:
        written(replace(fast(KINDS[kind], Precision.FP32), chunk=32), drafts)
    return caught.value


def test_what_cannot_fit_is_refused_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 texts with 167 slots each, 3 layers, 2 groups of width 4, a key and a value of 4 bytes."""
    found = refused(LONG, monkeypatch)
    assert "keys and values of each text: b · k · 2 · g · d · bytes = 3 × (8 · 167 · 2 · 2 · 4 · 4)" in found.cause
    assert "fewer sequences at a time" in found.remedy


def test_windows_let_nothing_go_while_texts_stand_together(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "3 × (8 · 167 · 2 · 2 · 4 · 4)" in refused(LONG, monkeypatch, "window 5").cause


@pytest.mark.parametrize(("kind", "edits"), [("plain", (cut(1, q=100, k=3),)), ("cap", ())])
def test_scores_are_counted_where_they_are_held(
    kind: str, edits: tuple[Edit, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One text: 32 rows at a time with 167 keys, two arrays for 6 heads, 4 bytes each, and a mask of one byte."""
    drafts = [replace(draft, edits=edits) for draft in LONG[: 1 + (kind == "cap")]]
    found = refused(drafts, monkeypatch, kind).cause
    assert f"scores of one layer: b·q · k · (2 · h · bytes + 1) = 32 · 167 · {2 * 6 * 4 + 1} = " in found


def test_one_text_fits_where_eight_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: 100_000)
    engine = replace(fast(KINDS["plain"], Precision.FP32), chunk=32)
    assert len(written(engine, LONG[:1], [Decoding(banned=(STOP,))]).writing.written[0]) == 20


def test_rows_leave_once_a_quarter_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight rows that end one after the other: a place runs idle for a while, and no row is computed to the end."""
    sizes: list[int] = []
    step = batch._Batch._step

    def counted(self: batch._Batch) -> object:
        sizes.append(len(self.rows))
        return step(self)

    monkeypatch.setattr(batch._Batch, "_step", counted)
    drafts = [Draft((2, 7, index), 2 + index) for index in range(8)]
    mine = written(fast(KINDS["plain"]), drafts, [Decoding(banned=(STOP,))] * 8)
    assert sizes == [8, 8, 6, 6, 4, 3, 2, 1]
    assert [len(ids) for ids in mine.writing.written] == list(range(2, 10))


def test_one_that_stops_at_once_and_none_at_all() -> None:
    engine = fast(KINDS["plain"])
    first = written(engine, [Draft((2, 7), 1)]).writing.written[0][0]
    stopping = Writing([Draft((2, 7), 5), Draft((1,), 5)], [GREEDY] * 2, (first,))
    engine.write(stopping.drafts, stopping)
    assert stopping.written[0] == [first]
    nothing = Writing([], [], ())
    engine.write([], nothing)
    assert nothing.written == []


def test_an_empty_prompt_is_refused() -> None:
    with pytest.raises(PromptError, match="prompt 1 is empty"):
        written(fast(KINDS["plain"]), [Draft((1,), 2), Draft((), 2)])


def test_equal_texts_are_fed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []
    run = FastEngine.run
    monkeypatch.setattr(FastEngine, "run", lambda self, ids, **more: fed.append(len(ids)) or run(self, ids, **more))
    drafts = [Draft(IDS, 4)] * 3
    mine = written(fast(KINDS["window 5"]), drafts, seeded(3))
    assert fed == [len(IDS) - 1]
    assert_same(mine, written(reference(KINDS["window 5"]), drafts, seeded(3)))


def test_non_finite_values_are_named_where_they_first_appear() -> None:
    drafts = [Draft((1, 2, 3), 4), Draft((1, 2), 6, (scale("resid_post", np.inf, 1, q=4),))]
    with pytest.raises(NonFiniteError) as caught:
        written(fast(KINDS["plain"]), drafts, [Decoding(banned=(STOP,))] * 2)
    assert (caught.value.site, caught.value.layer, caught.value.position) == ("resid_post", 1, 4)


def test_batches_behind_different_prefixes_go_on_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text is that of its own run, and a step serves all of them; where rows copy too much, none are joined."""
    monkeypatch.setattr(batch, "schedule", partial(prefixes.schedule, launch=0))
    of, texts = KINDS["plain"], [(7, *IDS[:4], 1), (7, *IDS[:4], 2, 3), (9, 5, 1, 1), (9, 5, 1, 2), (3,), (3,)]
    drafts = [Draft(text, 5) for text in texts]
    theirs = written(reference(of), drafts, seeded(6))
    mine = written(fast(of), drafts, seeded(6))
    assert_same(mine, theirs)
    assert mine.rows[0] == len(drafts)
    monkeypatch.setattr(batch, "parameters", lambda spec: {})
    alone = written(fast(of), drafts, seeded(6))
    assert_same(alone, theirs)
    assert max(alone.rows) < len(drafts)
    monkeypatch.undo()
    monkeypatch.setattr(batch._Writer, "_holds", lambda *_: False)
    assert_same(written(fast(of), drafts, seeded(6)), theirs)
