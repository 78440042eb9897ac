"""What one run takes over from another: never more than is the same, and the result is that of a fresh run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whybox
from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import IDS, spec
from tests.real import real
from whybox.engine import reuse
from whybox.engine.edit import Edit, cut, scale, set_to, zero
from whybox.engine.reuse import Asked
from whybox.engine.trace import Engine, Trace
from whybox.spec import Spec

LATE = zero("head_out", 1, q=slice(7, None), h=2)
HIGH = scale("mlp_out", 0.5, 2)
ROWS = set_to("resid_post", np.random.default_rng(0).normal(size=(4, 13)), 0, q=slice(4, 8))
AHEAD = set_to("pattern", 0.3, 1, q=5, k=8)


def asked(ids: tuple[int, ...], edits: tuple[Edit, ...] = (), more: int = 0) -> Asked:
    return Asked(ids, (), edits, None, len(ids) + more)


def make(engine: str, of: Spec) -> Engine:
    return reference(of) if engine == "numpy" else fast(of)


def equal(found: Trace, engine: Engine, ids: tuple[int, ...], edits: tuple[Edit, ...], more: int = 0) -> None:
    """Rows behind what was taken over are those of a fresh run, and so are the flags of its edits."""
    fresh = engine.run(ids, (), edits, engine.fresh_cache(len(ids) + more))
    assert found.end == len(ids)
    np.testing.assert_allclose(found.logits, fresh.logits[found.start :], atol=1e-10)
    assert found.changed == fresh.changed
    assert found.cache.ids == ids
    for mine, theirs in zip(found.cache.layers, fresh.cache.layers, strict=True):
        assert mine.positions.tolist() == theirs.positions.tolist()


@pytest.mark.parametrize("engine", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("before", "after", "ids", "start"),
    [
        ((), (), (*IDS, 3, 1), 12),
        ((), (), IDS, 11),
        ((), (), IDS[:6], 5),
        ((), (), (*IDS[:5], 9, 9, 9), 5),
        ((), (), (9, *IDS[1:]), 0),
        ((), (LATE,), IDS, 7),
        ((LATE,), (), IDS, 7),
        ((LATE,), (LATE,), (*IDS, 3), 12),
        ((HIGH,), (HIGH,), (*IDS, 3), 12),
        ((HIGH,), (HIGH, LATE), IDS, 0),
        ((LATE, HIGH), (HIGH, LATE), IDS, 0),
        ((ROWS,), (ROWS,), (*IDS[:6], 2, 2, 2), 6),
        ((ROWS,), (), IDS, 4),
        ((), (cut(q=9, k=2),), IDS, 9),
        ((AHEAD,), (AHEAD,), (*IDS[:10], 3), 5),
    ],
)
def test_as_much_as_is_the_same(
    engine: str, before: tuple[Edit, ...], after: tuple[Edit, ...], ids: tuple[int, ...], start: int
) -> None:
    runs = make(engine, spec())
    found = reuse.run(runs, asked(ids, after), runs.run(IDS, (), before))
    assert found.start == start
    equal(found, runs, ids, after)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_forked_equals_a_fresh_run(data: st.DataObject) -> None:
    """A chain of forks, each behind any of those before it."""
    kind = data.draw(st.sampled_from(["plain", "window 5", "global and local", "dynamic ntk", "learned positions"]))
    runs = make(data.draw(st.sampled_from(["numpy", "torch"])), KINDS[kind])
    known: list[Trace] = []
    for _ in range(4):
        ids = IDS[: data.draw(st.integers(1, 12))] + tuple(data.draw(st.lists(st.integers(0, 18), max_size=4)))
        edits = data.draw(st.sampled_from([(), (LATE,), (HIGH,), (LATE, HIGH)]))
        more = data.draw(st.integers(0, 3))
        behind = data.draw(st.sampled_from([None, *known]))
        known.append(reuse.run(runs, asked(ids, edits, more), behind))
        equal(known[-1], runs, ids, edits, more)
        assert known[-1].start == 0 or behind is not None, "only another run can give something"
        assert known[-1].start < len(ids), "the last row is always computed"


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_a_window_that_has_rolled_on_gives_nothing_back(engine: str) -> None:
    runs = make(engine, spec(window=4))
    first = runs.run(IDS)
    assert reuse.run(runs, asked((*IDS, 1)), first).start == 12
    assert reuse.run(runs, asked((*IDS[:9], 1)), first).start == 0


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_turned_otherwise_nothing_is_taken_over(engine: str) -> None:
    """RoPE stretched by the length of the run, beyond 8: keys of 12 tokens are not those of 13."""
    runs = make(engine, KINDS["dynamic ntk"])
    first = runs.run(IDS)
    assert reuse.run(runs, asked((*IDS, 1)), first).start == 0
    assert reuse.run(runs, asked((*IDS[:11], 1)), first).start == 11


def test_what_was_run_first_stays_as_it_was() -> None:
    runs = fast(spec())
    first = runs.run(IDS, tail=1, cache=runs.fresh_cache(40))
    forks = [reuse.run(runs, asked((*IDS, token, token)), first) for token in range(5)]
    for token, fork in enumerate(forks):
        equal(fork, runs, (*IDS, token, token), ())
    equal(reuse.run(runs, asked((*IDS, 4, 4, 7)), forks[4]), runs, (*IDS, 4, 4, 7), ())
    assert first.cache.layers[0].positions.tolist() == list(range(12))


def test_a_counterfactual_has_nothing_to_give() -> None:
    runs = fast(spec())
    ((_, found),) = runs.counterfactuals(runs.run(IDS), [whybox.Change(edits=(HIGH,))])
    assert reuse.run(runs, asked(IDS, (HIGH,)), found).start == 0


@pytest.mark.model
class TestDialogue:
    """One context, two questions, and a second turn behind either."""

    TURNS = ({"role": "user", "content": "The shop opens at 9 and closes at 17. When does it close?"},)

    @pytest.mark.parametrize("engine", ["numpy", "torch"])
    def test_a_dialogue_forks(self, engine: str) -> None:
        model = real("smollm2").variant(engine=engine)
        said = model.prompt([*self.TURNS])
        context = model.run(said, tail=1)
        first = model.generate(said, 6, after=context)
        assert first.ids == model.generate(said, 6).ids
        kept = context.cache.seen
        for question in ("And on Sundays?", "Who told you?"):
            turns = [*self.TURNS, {"role": "assistant", "content": first.text}, {"role": "user", "content": question}]
            prompt = model.prompt(turns)
            forked = model.run(prompt, tail=1, after=context)
            assert forked.start >= len(said) - 4  # the assistant's opening is of the same ids
            assert np.abs(forked.logits - model.run(prompt, tail=1).logits).max() < 1e-4
            again = model.generate(prompt, 5, after=forked)
            assert again.ids == model.generate(prompt, 5).ids
        assert context.cache.seen == kept

    def test_an_edited_answer_is_written_behind_what_the_edit_does_not_reach(self) -> None:
        model = real("smollm2").variant(engine="torch")
        prompt = model.prompt("The capital of France is")
        before = model.run(prompt, tail=1)
        edits = [whybox.zero("mlp_out", 20, q=slice(4, None))]
        found = model.generate(prompt, 4, edits=edits, after=before)
        fresh = model.generate(prompt, 4, edits=edits)
        assert (found.ids, found.changed) == (fresh.ids, (True,))
        steps = list(model.steps(prompt, 3, edits=edits, after=before))
        assert [trace.start for _, trace in steps] == [4, 5, 6]

    def test_what_was_written_is_gone_on_with(self) -> None:
        model = real("smollm2").variant(engine="torch")
        *_, (_, last) = model.steps("The capital of France is", 6)
        text = model.prompt([*last.cache.ids, 28])
        found = model.run(text, tail=1, after=last)
        assert found.start == len(text) - 1
        assert np.abs(found.logits - model.run(text, tail=1).logits).max() < 1e-4

    def test_without_a_cache_nothing_is_taken_over(self) -> None:
        model = real("smollm2").variant(cache=False)
        assert model.run("a b", after=model.run("a b c")).start == 0

    @pytest.mark.parametrize("engine", ["numpy", "torch"])
    def test_an_edit_that_changed_nothing_is_told(self, engine: str) -> None:
        """Whether written alone, in a batch, or scored."""
        model = real("smollm2").variant(engine=engine)
        edits = [whybox.scale("mlp_out", 1.0, 3), whybox.zero("mlp_out", 3, q=slice(5, None))]
        prompts = ["The capital of France is", "The capital of Spain is"]
        alone = [model.generate(prompt, 3, edits=edits) for prompt in prompts]
        assert [each.changed for each in alone] == [(False, True)] * 2
        assert [each.changed for each in model.generate_many(prompts, 3, edits=edits)] == [(False, True)] * 2
        assert model.generate(prompts[0], 1, edits=edits[1:]).changed == (False,)
        assert model.score(prompts[0], " Paris", edits=edits[:1]).changed == (False,)
        assert [each.changed for each in model.score_many(prompts, [" Paris", " Madrid"], edits[:1])] == [(False,)] * 2


def test_reading_on_keeps_what_was_asked_for() -> None:
    runs = fast(spec())
    first = runs.run(IDS[:8])
    found = reuse.run(runs, replace(asked(IDS), see=("pattern",), tail=2), first)
    whole = runs.run(IDS, ["pattern"], tail=2)
    np.testing.assert_allclose(found["pattern", 1], whole["pattern", 1][:, 8:], atol=1e-10)
    assert (found.start, found.rows) == (8, range(10, 12))
