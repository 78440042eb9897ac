"""What a bench makes at once, or once for many, equals what fresh runs of each compute."""

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from tests.cause.twin import OneByOne
from tests.engine import random_models
from tests.engine.fast.pairs import fast
from whybox.cause.asking import Array, Read, See, Settings, Write, Written, together
from whybox.cause.bench import Bench, Progress, Work
from whybox.engine.edit import Edit, boost, cut, scale, zero
from whybox.engine.sampling import Decoding
from whybox.engine.trace import Engine
from whybox.errors import PromptError, SiteError
from whybox.model import Model

IDS = random_models.IDS
LAST = len(IDS) - 1
OTHER = (*IDS[:5], 11, 12, *IDS[7:], 3)
ENGINES = ("numpy", "torch")
EVERY_ENGINE = pytest.mark.parametrize("name", ENGINES)


def made(name: str, **attention: object) -> Engine:
    of = random_models.spec(**attention)
    return random_models.engine(of) if name == "numpy" else fast(of)


def model(engine: Engine) -> Model:
    found = Mock(spec=Model)
    found.engine, found.spec, found.allow_long = engine, engine.spec, False
    found.tokenizer = Mock(stop_ids=frozenset({0}), text=lambda ids: " ".join(map(str, ids)))
    found.room = lambda length: Model.room(found, length)
    found.require_fits = lambda length: Model.require_fits(found, length)
    return found


def bench(name: str = "numpy", **attention: object) -> Bench:
    return Bench(model(made(name, **attention)))


def logits(ids: Sequence[int] = IDS, edits: Sequence[Edit] = (), tail: int = 1) -> Read[Array]:
    return Read(tuple(ids), lambda found: found, tuple(edits), tail=tail)


def answer(
    settings: Settings, ids: Sequence[int] = IDS, edits: Sequence[Edit] = ()
) -> Write[tuple[Written, list[Array]]]:
    return Write(tuple(ids), settings, lambda written, rows: (written, list(rows)), tuple(edits))


EDITS: dict[str, tuple[Edit, ...]] = {
    "cut from the last row": (cut(q=slice(LAST, None), k=(2, 3)),),
    "boost from the last row": (boost(q=slice(LAST, None), k=range(4, 6)),),
    "cut from all later rows": (cut(q=slice(5, None), k=range(3, 5)),),
    "two ranges": (cut(q=slice(3, None), k=range(1, 3)), cut(q=slice(8, None), k=range(6, 8))),
    "one head of one layer": (cut(1, q=LAST, k=(3,), h=(2,)),),
    "an MLP from a row on": (zero("mlp_out", 2, q=slice(7, None)),),
    "everywhere": (scale("head_out", 0.5, 1, h=3),),
    "a key": (zero("key", 1, k=4),),
}


@EVERY_ENGINE
@pytest.mark.parametrize("window", [None, 4])
def test_reads_made_at_once_equal_whole_runs(name: str, window: int | None) -> None:
    found = bench(name, window=window)
    asked = [logits(edits=edits) for edits in EDITS.values()] + [logits(OTHER, EDITS["everywhere"]), logits(OTHER)]
    twin = OneByOne(found.model)
    for mine, theirs in zip(found.results(asked), twin.results(asked), strict=True):
        assert np.abs(mine - theirs).max() < 1e-11
    if window is None:
        base = twin.result(logits())
        assert all(np.abs(twin.result(read) - base).max() > 1e-6 for read in asked)


@EVERY_ENGINE
def test_answers_written_at_once_equal_whole_runs(name: str) -> None:
    """Other texts, edits, seeds, limits and penalties side by side."""
    found = bench(name)
    hot = Settings(Decoding(temperature=2.0, seed=4, penalty=1.7), limit=9)
    asked = [answer(Settings(limit=6), edits=edits) for edits in EDITS.values()]
    asked += [answer(hot), answer(replace(hot, decoding=Decoding(temperature=2.0, seed=5))), answer(hot, OTHER)]
    mine, theirs = found.results(asked), OneByOne(found.model).results(asked)
    for (written, rows), (expected, alone) in zip(mine, theirs, strict=True):
        assert written == expected
        np.testing.assert_allclose(np.array(rows), np.array(alone), rtol=0, atol=1e-11)
    assert len({written.ids for written, _ in mine}) > 3


def test_rows_before_the_last_are_read_as_well() -> None:
    found = bench()
    (mine, other) = found.results([logits(tail=3), logits(edits=EDITS["everywhere"], tail=2)])
    assert (mine.shape[0], other.shape[0]) == (3, 2)
    assert np.abs(mine - found.model.engine.run(IDS).logits[-3:]).max() < 1e-12


def fed_by(found: Bench) -> list[int]:
    """How many tokens each pass is fed, from now on."""
    fed: list[int] = []
    run = found.model.engine.run
    found.model.engine.run = lambda ids, *rest, **more: (fed.append(len(ids)), run(ids, *rest, **more))[1]  # type: ignore[method-assign]
    return fed


def test_earlier_positions_are_computed_once() -> None:
    found = bench()
    fed = fed_by(found)
    found.results([logits(edits=[cut(q=slice(LAST, None), k=(key,))]) for key in range(1, 6)])
    assert fed == [len(IDS), len(IDS), 1, 1, 1, 1, 1]


def test_answers_to_one_prompt_read_it_once() -> None:
    found = bench()
    fed = fed_by(found)
    found.results([answer(Settings(limit=1), edits=[boost(q=slice(LAST, None), k=(key,))]) for key in range(1, 6)])
    assert fed == [LAST, 1, 1, 1, 1, 1]


def test_what_is_asked_for_twice_is_made_once() -> None:
    found = bench()
    first, second, third = found.results([logits(edits=EDITS["a key"]), logits(), logits(edits=EDITS["a key"])])
    assert np.array_equal(first, third)
    assert not np.array_equal(first, second)
    assert found.made == Work(reads=2)


def test_answers_and_looks_that_several_ask_for_are_made_once() -> None:
    found = bench()
    blind = (cut(q=slice(5, None), k=range(3, 5)),)
    looks = [See(IDS, ("head_out",), lambda trace: trace["head_out", 1], edits, 3) for edits in (blind, blind, ())]
    first, again, plain, written, same = found.results([*looks, *[answer(Settings(limit=3), edits=blind)] * 2])
    assert found.made == Work(reads=2, writes=1)
    assert np.array_equal(first, again)
    assert np.abs(first - plain).max() > 1e-6
    assert written[0] == same[0]


@EVERY_ENGINE
def test_a_look_at_the_last_rows_is_one_at_all_rows_with_edits_that_begin_before_them(name: str) -> None:
    found = bench(name)
    edits = (cut(q=slice(4, None), k=range(2, 4)), scale("mlp_out", 0.5, 0, q=slice(3, 8)))
    kept = found.result(See(IDS, ("head_out", "resid_post"), lambda trace: trace["resid_post", 2], edits, 4))
    whole = found.model.engine.run(IDS, ["resid_post"], edits)["resid_post", 2]
    assert np.abs(kept - whole[-4:]).max() < 1e-11


@EVERY_ENGINE
def test_a_run_that_cannot_be_made_is_refused_alone(name: str) -> None:
    async def told(read: Read[Array]) -> str:
        try:
            return "read" if len(await read) else "empty"
        except (SiteError, PromptError) as error:
            return type(error).__name__

    async def said(write: Write[tuple[Written, list[Array]]]) -> str:
        try:
            return "written" if (await write)[1] else "empty"
        except SiteError as error:
            return type(error).__name__

    blind = (cut(q=slice(LAST, None), k=range(len(IDS))),)
    reads = [logits(edits=edits) for edits in (EDITS["a key"], blind, EDITS["everywhere"], EDITS["two ranges"])]
    long = logits(IDS * 6)
    found = bench(name)
    assert found.results([told(read) for read in (*reads, long)]) == [
        "read",
        "SiteError",
        "read",
        "read",
        "PromptError",
    ]
    writes = [answer(Settings(limit=2), edits=edits) for edits in (EDITS["a key"], blind, EDITS["everywhere"])]
    assert found.results([said(write) for write in writes]) == ["written", "SiteError", "written"]
    assert found.made == Work(reads=3, writes=2)


def test_experiments_go_on_together_and_end_one_by_one() -> None:
    """Three that ask one, two and three times are three rounds; each gets what it asked for."""
    found, rounds = bench(), []
    answers = found._answers
    found._answers = lambda requests: (rounds.append(len(requests)), answers(requests))[1]  # type: ignore[method-assign]

    async def several(texts: Sequence[Sequence[int]]) -> list[int]:
        return [int((await logits(ids))[-1].argmax()) for ids in texts]

    asked = [[IDS], [IDS[:7], IDS[:5]], [IDS[:3], IDS[:4], IDS[:9]]]

    async def nested() -> list[list[int]]:
        return await together([several(texts) for texts in asked])

    expected = [[int(found.model.engine.run(ids).logits[-1].argmax()) for ids in texts] for texts in asked]
    assert found.result(nested()) == expected
    assert rounds == [3, 2, 1]


def test_an_experiment_that_fails_ends_the_others() -> None:
    async def broken() -> None:
        await logits()
        raise ValueError("of its own")

    ended: list[str] = []

    async def other() -> None:
        try:
            for _ in range(3):
                await logits()
        finally:
            ended.append("other")

    with pytest.raises(ValueError, match="of its own"):
        bench().results([other(), broken()])
    assert ended == ["other"]


def test_writing_ends_at_the_limit_and_at_a_stop_token() -> None:
    found = bench()
    free, _ = found.result(answer(Settings(limit=8)))
    assert len(free.ids) == 8
    assert not free.stopped
    found.model.tokenizer.stop_ids = frozenset({free.ids[2]})  # type: ignore[misc]
    ended, rows = found.result(answer(Settings(limit=8)))
    assert ended.stopped
    assert ended.ids == free.ids[: free.ids.index(free.ids[2])]
    assert len(rows) == len(ended.ids) + 1


def test_writing_ends_where_the_context_does() -> None:
    found = bench()
    found.model.tokenizer.stop_ids = frozenset()  # type: ignore[misc]
    found.model.spec = replace(found.model.spec, context=len(IDS) + 2)  # type: ignore[misc]
    whole, _ = found.result(answer(Settings(limit=3)))
    assert found.result(answer(Settings(limit=1_000_000)))[0].ids == whole.ids
    assert len(whole.ids) == 3


def test_sampling_repeats_with_its_seed_and_differs_with_another() -> None:
    found = bench()
    hot = [answer(Settings(Decoding(temperature=3.0, seed=seed), limit=12)) for seed in (1, 1, 2)]
    first, again, other = (written.ids for written, _ in found.results(hot))
    assert first == again
    assert first != other


@EVERY_ENGINE
def test_progress_counts_every_run_and_never_promises_less_than_was_done(name: str) -> None:
    told: list[Progress] = []
    found = bench(name)
    found.tell = told.append
    found.planned = Work(reads=2)
    found.results([logits(), logits(OTHER)])
    found.result(answer(Settings(limit=2)))
    assert [(one.done, one.planned) for one in told] == [(1, 2), (2, 2), (3, 3)]
    assert told[-1].left_s == 0
