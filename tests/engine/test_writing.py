"""Writing behind many texts, one after the other: as the model writes behind one."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import whybox
from tests.engine.fast.pairs import fast
from tests.engine.random_models import IDS, engine, spec
from tests.real import real
from whybox.engine.edit import add, cut, zero
from whybox.engine.sampling import GREEDY, Decoding, choose
from whybox.engine.trace import Draft, Engine
from whybox.engine.writing import Writing, sharing
from whybox.errors import PromptError, SiteError, UsageError
from whybox.spec import Spec

PROMPTS = [
    "The capital of France is",
    "Once upon a time",
    "The capital of Spain is",
    "1, 2, 3,",
    "The capital of France is",
]
LONG = "In the year of our Lord, the old king of the northern islands wrote a long letter to his three daughters, who "


def fresh(runs: Engine, ids: tuple[int, ...], count: int, decoding: Decoding) -> list[int]:
    """Each token from a run of its own, without a cache."""
    generator, text = np.random.default_rng(decoding.seed), list(ids)
    for _ in range(count):
        text.append(choose(runs.run(text).logits[-1], decoding, generator, text))
    return text[len(ids) :]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_each_token_is_that_of_a_fresh_run(temperature: float) -> None:
    runs = engine(spec(window=5))
    decodings = [Decoding(temperature, seed=seed) for seed in range(3)]
    drafts = [Draft(IDS, 6), Draft(IDS[:1], 3), Draft(IDS[2:6], 1)]
    writing = Writing(drafts, decodings, ())
    runs.write(drafts, writing)
    assert writing.written == [
        fresh(runs, draft.ids, draft.count, own) for draft, own in zip(drafts, decodings, strict=True)
    ]


def test_what_no_edit_reaches_is_shared_by_texts_of_one_length() -> None:
    of = spec()
    late = [(zero("mlp_out", 1, q=slice(9, None), c=c),) for c in range(3)]
    drafts = [Draft(IDS, 4, late[0]), Draft(IDS, 4, late[1]), Draft(IDS, 5, late[2]), Draft(IDS, 4), Draft(IDS, 4)]
    drafts += [Draft(IDS, 4, (zero("head_out", 0, h=2),)), Draft((*IDS[:9], 1, 2, 3), 4, late[2])]
    assert list(sharing(drafts, of)) == [(IDS[:9], [0, 1, 6]), (IDS[:11], [3, 4]), ((), [2, 5])]


@pytest.mark.parametrize("make", [engine, fast])
def test_edited_texts_go_on_behind_a_shared_prefix_as_each_alone(make: Callable[[Spec], Engine]) -> None:
    runs = make(spec(window=5))
    rows = np.random.default_rng(0).normal(size=(3, 13))
    edits = [(cut(q=slice(9, None), k=(key, 8)),) for key in (7, 3)] + [(add("resid_mid", rows, 1, q=slice(9, 12)),)]
    drafts = [Draft(IDS, 5, edit) for edit in edits]
    writing = Writing(drafts, [GREEDY] * 3, ())
    runs.write(drafts, writing)
    for draft, written in zip(drafts, writing.written, strict=True):
        text = list(draft.ids)
        for _ in range(draft.count):
            text.append(int(runs.run(text, (), draft.edits).logits[-1].argmax()))
        assert written == text[len(IDS) :]


def test_a_stop_is_kept_and_ends_its_draft_alone() -> None:
    runs = engine(spec())
    ids = fresh(runs, IDS, 4, GREEDY)
    writing = Writing([Draft(IDS, 4), Draft(IDS[:3], 4)], [GREEDY] * 2, (ids[0],))
    runs.write(writing.drafts, writing)
    assert writing.written[0] == ids[:1]
    assert ids[0] not in writing.written[1][:-1]


def test_greedy_takes_the_lowest_of_equals_and_none_that_is_banned() -> None:
    logits = np.array([0.5, 2.0, 2.0, 1.0], np.float32)
    logits.flags.writeable = False
    generator = np.random.default_rng(0)
    assert choose(logits, GREEDY, generator, ()) == 1
    assert choose(logits, Decoding(banned=(1, 2)), generator, ()) == 3


@pytest.mark.model
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_many_are_each_generated_in_order(name: str) -> None:
    model = real("smollm2", name)
    together = model.generate_many(PROMPTS, 8)
    assert [each.text for each in together] == [model.generate(prompt, 8).text for prompt in PROMPTS]
    assert [each.prompt.text for each in together] == [
        prompt + each.text for prompt, each in zip(PROMPTS, together, strict=True)
    ]
    assert together[0] == together[4]


@pytest.mark.model
def test_prefixes_that_many_share_change_no_token() -> None:
    model = real("smollm2", "torch")
    prompts = [LONG * 3 + end for end in ("said", "lived far away and", "were", "never answered", "said that")]
    edits = (whybox.zero("head_out", 3, h=4), whybox.scale("mlp_out", 0.5, 9, q=slice(20, None)))
    for given in ((), edits):
        together = model.generate_many(prompts, 12, edits=given)
        assert together == [model.generate(prompt, 12, edits=given) for prompt in prompts]


@pytest.mark.model
def test_every_prompt_may_have_a_seed_of_its_own() -> None:
    model = real("smollm2", "torch")
    seeds = [Decoding(temperature=1.0, seed=seed) for seed in range(4)]
    together = model.generate_many(["Once upon a time"] * 4, 6, seeds)
    assert [each.text for each in together] == [model.generate("Once upon a time", 6, seed).text for seed in seeds]
    assert len({each.text for each in together}) == 4


@pytest.mark.model
def test_nothing_is_asked_and_what_cannot_be() -> None:
    model = real("smollm2", "torch")
    assert model.generate_many([]) == []
    assert model.generate_many(["Paris"], 0)[0].ids == ()
    with pytest.raises(PromptError, match="the prompt is empty"):
        model.generate_many(["Paris", ""])
    with pytest.raises(UsageError, match="one for each of 2 prompts, found 1"):
        model.generate_many(["Paris", "London"], decoding=[GREEDY])


@pytest.mark.model
def test_without_a_cache_the_same_is_written() -> None:
    model = real("smollm2", "torch")
    assert model.variant(cache=False).generate_many(PROMPTS[:2], 3) == model.generate_many(PROMPTS[:2], 3)


@pytest.mark.model
def test_a_prompt_as_one_of_a_batch() -> None:
    model = real("smollm2", "torch")
    among = model.variant(batch=4)
    alone, other = model.run(PROMPTS[0], see=["pattern"]), among.run(PROMPTS[0], see=["pattern"])
    np.testing.assert_allclose(other.logits, alone.logits, rtol=0, atol=5e-4)
    np.testing.assert_allclose(other["pattern", 7], alone["pattern", 7], rtol=0, atol=1e-5)
    assert among.generate(PROMPTS[0], 8) == model.generate(PROMPTS[0], 8)


ANSWERS = [" Paris", " the old town of Paris", " three small boats", " 4, 5", " Lyon"]


@pytest.mark.model
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_many_answers_are_each_scored_in_order(name: str) -> None:
    model = real("smollm2", name)
    asked = [*zip(PROMPTS, ANSWERS, strict=True), (LONG + "said", " that"), (LONG + "said", " nothing at all")]
    together = model.score_many([prompt for prompt, _ in asked], [answer for _, answer in asked])
    for found, (prompt, answer) in zip(together, asked, strict=True):
        alone = model.score(prompt, answer)
        assert (found.ids, found.joined_at) == (alone.ids, alone.joined_at)
        np.testing.assert_allclose(found.per_token, alone.per_token, rtol=0, atol=2e-4)
        assert found.log_prob == pytest.approx(sum(found.per_token), abs=1e-12)
    assert together[0].log_prob > together[4].log_prob


@pytest.mark.model
def test_edited_answers_are_scored_as_each_alone() -> None:
    model = real("smollm2", "torch")
    edits = (whybox.zero("head_out", 3, h=4),)
    (found,) = model.score_many(PROMPTS[:1], ANSWERS[:1], edits)
    assert found == model.score(PROMPTS[0], ANSWERS[0], edits)
    assert abs(found.log_prob - model.score(PROMPTS[0], ANSWERS[0]).log_prob) > 1e-3


@pytest.mark.model
def test_answers_that_cannot_be_scored() -> None:
    model = real("smollm2", "torch")
    assert model.score_many([], []) == []
    with pytest.raises(UsageError, match="an answer for each of 2 prompts, found 1"):
        model.score_many(["Paris", "London"], [" is"])
    with pytest.raises(PromptError, match="the prompt is empty"):
        model.score_many(["Paris is", ""], [" big", " big"])
    for asked in (lambda: model.score("Paris is", ""), lambda: model.score_many(["Paris is"] * 2, [" big", ""])):
        with pytest.raises(PromptError, match="the answer is empty"):
            asked()


@pytest.mark.model
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_edits_at_positions_that_are_never_read_are_refused(name: str) -> None:
    """A prompt of 5 tokens and 3 written ones: the last of those is chosen, and never read."""
    model = real("smollm2", name)
    last, beyond = (whybox.zero("mlp_out", 3, q=place) for place in (6, 7))
    assert model.generate(PROMPTS[0], 3, edits=[last]) == model.generate_many(PROMPTS[:1], 3, edits=[last])[0]
    for ask in (
        lambda: model.generate(PROMPTS[0], 3, edits=[beyond]),
        lambda: model.generate_many([LONG, PROMPTS[0]], 3, edits=[beyond]),
    ):
        with pytest.raises(SiteError, match="position 7 on axis 'q' is beyond the 7 tokens"):
            ask()


@pytest.mark.model
@pytest.mark.parametrize(("precision", "most"), [("fp32", 5e-4), ("bf16", 1.0), ("int8", 1.0)])
def test_first_steps_of_a_batch_are_near_those_of_each_alone(precision: str, most: float) -> None:
    """In fp32 to the noise floor; in lower precision a product rounds a row otherwise among other rows."""
    model = real("smollm2", "torch").variant(precision=precision)
    texts = [model.prompt(text).ids for text in (*PROMPTS[:4], LONG + "said")]
    drafts = [Draft(ids, 2) for ids in texts]
    steps: dict[int, list[np.ndarray]] = {}

    def fixed(indices: Sequence[int], logits: np.ndarray) -> list[int | None]:
        for index, row in zip(indices, logits, strict=True):
            steps.setdefault(index, []).append(row)
        return [504 if len(steps[index]) < 2 else None for index in indices]

    model.engine.write(drafts, fixed)
    for index, ids in enumerate(texts):
        first = model.engine.run(ids, cache=model.engine.fresh_cache(len(ids) + 2), tail=1)
        second = model.engine.run((504,), cache=first.cache, tail=1)
        apart = [np.abs(row - alone.logits[-1]).max() for row, alone in zip(steps[index], (first, second), strict=True)]
        print(precision, index, apart)
        assert max(apart) <= most
