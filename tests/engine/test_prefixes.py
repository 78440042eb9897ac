"""Shared prefixes: walking the steps with a stack of caches gives every prompt its own logits, and computes no more."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_models import engine, spec
from whybox.engine.prefixes import Fill, Finish, Schedule, schedule
from whybox.errors import PromptError, UsageError

Ids = tuple[int, ...]


def walked(found: Schedule) -> dict[int, Ids]:
    """Each prompt as its steps spell it, with the stack of spans that an engine would keep caches for."""
    stack: list[Ids] = [()]
    spelled: dict[int, Ids] = {}
    for step in found:
        del stack[step.depth + 1 :]
        assert len(stack[step.depth]) == step.start
        match step:
            case Fill():
                stack.append(stack[step.depth] + step.ids)
            case Finish():
                for text, prompts in zip(step.texts, step.prompts, strict=True):
                    assert text
                    for prompt in prompts:
                        assert prompt not in spelled
                        spelled[prompt] = stack[step.depth] + text
    return spelled


def least(prompts: Sequence[Ids]) -> int:
    """Tokens of a tree that shares every common one and leaves each distinct prompt its last."""
    heads = {prompt[:end] for prompt in prompts for end in range(1, len(prompt))}
    return len(heads) + len(set(prompts))


def test_questions_after_one_context_share_it() -> None:
    context = tuple(range(100))
    prompts = [(*context, 200, 201), (*context, 300), (*context, 400, 401)]
    found = schedule(prompts, room=100)
    assert found.steps == (
        Fill(0, 0, context),
        Finish(1, 100, ((200, 201), (300,), (400, 401)), ((0,), (1,), (2,))),
    )
    assert (found.tokens, found.computed, found.saved) == (305, 105, 200)
    assert [step.rows for step in found if isinstance(step, Finish)] == [6]


def test_a_tree_of_two_levels() -> None:
    a, b = (1,) * 50, (2,) * 50
    prompts = [(*a, *b, 3), (*a, *b, 4), (*a, 5, 5), (9, 9)]
    found = schedule(prompts, room=100)
    assert found.steps == (
        Finish(0, 0, ((9, 9),), ((3,),)),
        Fill(0, 0, a),
        Finish(1, 50, ((5, 5),), ((2,),)),
        Fill(1, 50, b),
        Finish(2, 100, ((3,), (4,)), ((0,), (1,))),
    )


def test_nothing_in_common() -> None:
    found = schedule([(1, 2), (3, 4)], room=100)
    assert found.steps == (Finish(0, 0, ((1, 2), (3, 4)), ((0,), (1,))),)
    assert found.saved == 0


def test_equal_prompts_run_once_and_a_prefix_of_another_keeps_its_last_token() -> None:
    long = tuple(range(60))
    found = schedule([long, long[:50], long], room=100)
    assert found.steps == (Fill(0, 0, long[:49]), Finish(1, 49, ((49,), long[49:]), ((1,), (0, 2))))
    assert found.saved == 60 + 49


def test_each_keeps_as_many_tokens_as_it_is_read_at() -> None:
    """The second is read at its last two rows, so that they share one token less."""
    context = tuple(range(100))
    prompts = [(*context, 200), (*context, 300), (*context[:99], 7)]
    ends = [1, 2, 1]
    assert schedule(prompts, room=100, launch=0, ends=ends).steps == (
        Fill(0, 0, context[:99]),
        Finish(1, 99, ((7,),), ((2,),)),
        Finish(1, 99, ((99, 200), (99, 300)), ((0,), (1,))),
    )


def test_a_short_span_is_not_worth_a_pass() -> None:
    prompts = [(1, 2, 3), (1, 2, 4)]
    assert schedule(prompts, room=100).steps == (Finish(0, 0, ((1, 2, 3), (1, 2, 4)), ((0,), (1,))),)
    assert schedule(prompts, room=100, launch=0).saved == 2


def test_a_dialogue_of_a_thousand_turns() -> None:
    turns = [tuple(range(5 * turn)) for turn in range(1, 1001)]
    found = schedule(turns, room=2000)
    assert walked(found) == dict(enumerate(turns))
    assert found.computed < 0.01 * found.tokens
    assert max(step.depth for step in found) < 1000


def test_what_cannot_be_scheduled() -> None:
    assert len(schedule([], room=1)) == 0
    with pytest.raises(PromptError, match="prompt 1 is empty"):
        schedule([(1,), ()], room=1)
    with pytest.raises(UsageError, match="found 0"):
        schedule([(1,)], room=0)


texts = st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple)


@given(st.lists(texts, max_size=25), st.integers(1, 40), st.integers(0, 12))
def test_every_prompt_is_spelled_once_within_the_room(prompts: list[Ids], room: int, launch: int) -> None:
    found = schedule(prompts, room, launch)
    assert walked(found) == dict(enumerate(prompts))
    assert all(step.rows <= room or len(step.texts) == 1 for step in found if isinstance(step, Finish))
    assert least(prompts) <= found.computed <= found.tokens
    assert launch > 1 or found.computed == least(prompts)
    assert found == schedule(prompts, room, launch)
    spans = [len(step.ids) for step in found if isinstance(step, Fill)]
    assert found.computed + launch * len(spans) <= sum(map(len, set(prompts)))


def test_the_logits_of_a_walk_are_those_of_whole_runs() -> None:
    model = engine(spec())
    prompts = [(1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 9), (1, 2, 8, 8), (1, 2, 3, 4), (7,), (1, 2, 8, 8)]
    caches = [model.fresh_cache(6)]
    found: dict[int, np.ndarray] = {}
    for step in schedule(prompts, room=8, launch=0):
        del caches[step.depth + 1 :]
        match step:
            case Fill():
                caches.append(model.run(step.ids, cache=caches[step.depth]).cache)
            case Finish():
                for text, indices in zip(step.texts, step.prompts, strict=True):
                    logits = model.run(text, cache=caches[step.depth]).logits[-1]
                    found |= dict.fromkeys(indices, logits)
    for index, prompt in enumerate(prompts):
        np.testing.assert_allclose(found[index], model.run(prompt).logits[-1], atol=1e-12)
