"""What a bench reuses equals what a fresh run computes."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from tests.engine import random_models
from whybox.cause.bench import Bench, Progress, Settings, Work, first_felt, penalised
from whybox.engine.edit import Edit, boost, cut, scale, zero
from whybox.engine.sampling import Decoding
from whybox.model import Model

IDS = random_models.IDS
LAST = len(IDS) - 1


def bench(**attention: object) -> Bench:
    engine = random_models.engine(random_models.spec(**attention))
    model = Mock(spec=Model)
    model.engine, model.spec = engine, engine.spec
    model.tokenizer = Mock(stop_ids=frozenset({0}))
    model.room = lambda length: Model.room(model, length)
    model.allow_long = False
    return Bench(model)


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


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("window", [None, 4])
def test_runs_from_where_an_edit_is_felt_equal_whole_runs(name: str, window: int | None) -> None:
    found = bench(window=window)
    whole = found.model.engine.run(IDS, (), EDITS[name], tail=1).logits[-1]
    assert np.abs(found.read(IDS, EDITS[name])[-1] - whole).max() < 1e-12
    if window is None:
        assert np.abs(found.model.engine.run(IDS).logits[-1] - whole).max() > 1e-6


def test_earlier_positions_are_computed_once() -> None:
    found = bench()
    fed: list[int] = []
    run = found.model.engine.run
    found.model.engine.run = lambda ids, *rest, **more: (fed.append(len(ids)), run(ids, *rest, **more))[1]
    for key in range(1, 6):
        found.read(IDS, [cut(q=slice(LAST, None), k=(key,))])
    assert fed == [LAST, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (cut(q=slice(9, None), k=(2, 3)), 9),
        (cut(q=7, k=(1,)), 7),
        (cut(k=range(4, 6)), 4),
        (zero("mlp_out", 1), 0),
        (zero("key", 0, k=(5, 3)), 3),
        (zero("mlp_out", 1, q=slice(None, 4)), 0),
    ],
)
def test_where_an_edit_is_first_felt(edit: Edit, place: int) -> None:
    assert first_felt(edit) == place


def test_a_written_answer_equals_greedy_whole_runs() -> None:
    found = bench()
    edits = [boost(q=slice(LAST, None), k=range(4, 6))]
    written = found.write(IDS, Settings(limit=6), edits)
    ids = IDS
    for step, token in enumerate(written.ids):
        logits = found.model.engine.run(ids, (), edits, tail=1).logits[-1]
        assert np.abs(written.logits[step] - logits).max() < 1e-12
        assert int(logits.argmax()) == token
        ids = (*ids, token)


def test_writing_ends_at_the_limit_and_at_a_stop_token() -> None:
    found = bench()
    free = found.write(IDS, Settings(limit=8))
    assert len(free.ids) == 8
    assert not free.stopped
    found.model.tokenizer.stop_ids = frozenset({free.ids[2]})
    ended = found.write(IDS, Settings(limit=8))
    assert ended.stopped
    assert ended.ids == free.ids[: free.ids.index(free.ids[2])]


def test_writing_ends_where_the_context_does() -> None:
    found = bench()
    found.model.tokenizer.stop_ids = frozenset()
    found.model.spec = replace(found.model.spec, context=len(IDS) + 2)
    whole = found.write(IDS, Settings(limit=3))
    assert found.write(IDS, Settings(limit=1_000_000)).ids == whole.ids
    assert len(whole.ids) == 3


def test_sampling_repeats_with_its_seed_and_differs_with_another() -> None:
    found = bench()
    hot = [found.write(IDS, Settings(Decoding(temperature=3.0, seed=seed), limit=12)).ids for seed in (1, 1, 2)]
    assert hot[0] == hot[1]
    assert hot[0] != hot[2]


def test_repetition_penalty_lowers_ids_seen_before_whatever_their_sign() -> None:
    logits = np.array([2.0, -2.0, 1.0])
    assert penalised(logits, [0, 1, 1], 2.0).tolist() == [1.0, -4.0, 1.0]
    assert penalised(logits, [0], 1.0) is logits


def test_progress_counts_runs_and_never_promises_less_than_was_done() -> None:
    told: list[Progress] = []
    found = bench()
    found.tell = told.append
    found.planned = Work(reads=2)
    for _ in range(3):
        found.read(IDS)
    assert [(one.done, one.planned) for one in told] == [(1, 2), (2, 2), (3, 3)]
    assert told[-1].left_s == 0
