"""Many answers at once, each as in a run of its own: the reference engine is the oracle."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import IDS
from whybox.engine import machine, prefixes
from whybox.engine.fast import FastEngine, Kernel, Precision, answers
from whybox.engine.fast.block import Batch
from whybox.engine.trace import Answer, Engine
from whybox.errors import CapacityError, NonFiniteError, PromptError
from whybox.spec import Mlp

Array = np.ndarray
CONTEXT = IDS[:6]
ASKED = (
    Answer((*CONTEXT, 4, 9), 6),
    Answer((*CONTEXT, 4, 9, 1), 8),
    Answer((*CONTEXT, 4, 9, 1), 6),  # the same text as the one before, with a longer answer
    Answer((*CONTEXT, 5), 6),
    Answer((*CONTEXT, 8), 6),  # the last id is not fed: the same text as the one before
    Answer((*CONTEXT[:3], 8, 8, 2, 2, 7, 1, 3), 9),
    Answer((2, 7), 1),
    Answer((11, 3, 5, 2), 1),
)


def found(engine: Engine, asked: tuple[Answer, ...] = ASKED) -> list[Array]:
    rows = dict(engine.answer_rows(asked))
    assert sorted(rows) == list(range(len(asked)))
    return [rows[index] for index in range(len(asked))]


def assert_same(mine: list[Array], theirs: list[Array], error: float = 1e-12) -> None:
    for own, other in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("launch", [0, 10**6])
def test_each_is_that_of_a_run_of_its_own(kind: str, launch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every common token shared, and with none."""
    monkeypatch.setattr(answers, "schedule", partial(prefixes.schedule, launch=launch))
    mine = found(fast(KINDS[kind], kernel=(Kernel.SDPA, Kernel.AUTO)[launch > 0]))
    assert_same(mine, found(reference(KINDS[kind])))
    assert [len(rows) for rows in mine] == [answer.rows for answer in ASKED]


@pytest.mark.parametrize("logit_rows", [1, 4])
def test_long_texts_go_in_chunks_and_few_logits_are_held_at_once(
    logit_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "LOGIT_ROWS", logit_rows)
    engine = replace(fast(KINDS["window 5"]), chunk=5)
    assert_same(found(engine), found(reference(KINDS["window 5"])))


def test_a_shared_context_is_fed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "schedule", partial(prefixes.schedule, launch=0))
    fed: list[int] = []
    engine = fast(KINDS["plain"])
    embed = type(engine).embed

    def counted(self: FastEngine, ids: torch.Tensor, batch: Batch) -> torch.Tensor:
        fed.append(ids.numel())
        return embed(self, ids, batch)

    monkeypatch.setattr(type(engine), "embed", counted)
    found(engine, tuple(Answer((*IDS, answer, 3), len(IDS)) for answer in range(5)))
    assert fed == [len(IDS) - 1, 5 * 2]


@pytest.mark.parametrize("precision", [Precision.FP32, Precision.BF16])
@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if isinstance(of.layers[0].mlp, Mlp)])
def test_a_neighbours_content_cannot_matter(kind: str, precision: Precision) -> None:
    """Bit by bit at equal shapes."""
    engine = fast(KINDS[kind], precision, kernel=Kernel.AUTO)
    mine = Answer((2, 7, 1, 8, 2), 3)
    one = found(engine, (mine, Answer((1, 2, 3, 4, 5, 6, 7), 6)))
    other = found(engine, (mine, Answer((3, 11, 13, 2, 2, 1, 17), 6)))
    assert np.array_equal(one[0], other[0])
    assert not np.array_equal(one[1], other[1])


def test_what_cannot_fit_is_refused_before_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: 100_000)
    monkeypatch.setattr(FastEngine, "embed", lambda *_: pytest.fail("it was computed"))
    asked = tuple(Answer((index, *IDS * 8, 5), 90) for index in range(12))
    with pytest.raises(CapacityError, match="of memory, 100,000 bytes are available") as caught:
        found(fast(KINDS["plain"], Precision.FP32), asked)
    assert caught.value.remedy


def test_nothing_asked_and_nothing_before() -> None:
    assert found(fast(KINDS["plain"]), ()) == []
    with pytest.raises(PromptError, match="prompt 0 is empty"):
        found(fast(KINDS["plain"]), (Answer((3,), 0),))


def test_non_finite_values_are_named_where_they_first_appear() -> None:
    engine = fast(KINDS["own head"])
    engine.packed.embed[5] = np.inf
    with pytest.raises(NonFiniteError) as caught:
        found(engine, (Answer((1, 2, 3), 1), Answer((1, 2, 5, 3), 2)))
    assert (caught.value.site, caught.value.position) == ("embed", 2)
