"""The explorer's answers against whole runs made by hand."""

import numpy as np
import pytest

from tests.real import real
from whybox.engine.edit import boost, cut, zero
from whybox.errors import CaseError, PromptError
from whybox.items.case import Case
from whybox.jobs.explore import Desk
from whybox.jobs.explore.question import case_file, case_of
from whybox.measure.lens import logit_lens
from whybox.report.document.explore import ChatPrompt, PartText, Question, RawPrompt, State, Turn

pytestmark = pytest.mark.model

PARTS = (
    PartText(name="rule", text="Exchanges are accepted for 30 days."),
    PartText(name="fact", text="Refunds are paid within 7 days."),
    PartText(name="question", text="A refund is paid within"),
)


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(real("smollm2", "torch"))


def state(*changes: dict, parts: tuple[PartText, ...] = PARTS) -> State:
    return State.model_validate({"prompt": RawPrompt(parts=parts).model_dump(), "changes": changes})


def alone(desk: Desk, text: str, edits: tuple = ()) -> np.ndarray:
    return desk.model.run(desk.model.prompt(text), edits=edits, tail=1).log_probs()


TEXT = "\n".join(part.text for part in PARTS)
CHANGES = {
    "head": ({"kind": "head", "layer": 1, "head": 0}, lambda p: (zero("head_out", 1, h=0),)),
    "mlp": ({"kind": "mlp", "layer": 3}, lambda p: (zero("mlp_out", 3),)),
    "edge": ({"kind": "edge", "key": 0}, lambda p: (cut(q=len(p) - 1, k=0),)),
    "cut": ({"kind": "cut", "segment": "fact"}, lambda p: (cut(q=len(p) - 1, k=_keys(p, "fact")),)),
    "cut all": (
        {"kind": "cut", "segment": "fact", "by": "all"},
        lambda p: (cut(q=slice(p.segment("fact").end, None), k=_keys(p, "fact")),),
    ),
    "boost": ({"kind": "boost", "segment": "fact"}, lambda p: (boost(q=len(p) - 1, k=_keys(p, "fact")),)),
}


def divergence_of(before: np.ndarray, after: np.ndarray) -> float:
    """KL(before‖after) = Σ p · (ln p − ln q), nats."""
    p, q = before.astype(np.float64), after.astype(np.float64)
    return float((np.exp(p) * (p - q)).sum())


def _keys(prompt, name: str) -> range:  # type: ignore[no-untyped-def]
    return range(prompt.segment(name).start, prompt.segment(name).end)


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_the_edit_that_its_words_say(desk: Desk, name: str) -> None:
    change, edits = CHANGES[name]
    found = desk.compare(state(change))
    before, after = alone(desk, TEXT), alone(desk, TEXT, edits(desk.prompt(state())))
    kl = divergence_of(before, after)
    assert found.kl == pytest.approx(kl, abs=2e-5)
    assert found.effects[0].kl == found.kl
    assert found.kl > 1e-6
    for row in found.next:
        assert (row.base, row.then) == pytest.approx((np.exp(before[row.id]), np.exp(after[row.id])), abs=1e-5)


def test_words_that_are_changed_are_another_prompt(desk: Desk) -> None:
    found = desk.compare(
        state(
            {"kind": "reword", "segment": "fact", "text": "Refunds are paid within 5 days."},
            {"kind": "drop", "segment": "rule"},
        )
    )
    before = alone(desk, TEXT)
    after = alone(desk, "Refunds are paid within 5 days.\nA refund is paid within")
    assert found.kl == pytest.approx(divergence_of(before, after), abs=2e-5)
    reworded = alone(desk, TEXT.replace("7", "5"))
    assert found.effects[0].kl == pytest.approx(divergence_of(before, reworded), abs=2e-5)


def test_a_change_that_is_off_has_an_effect_and_no_part_in_the_whole(desk: Desk) -> None:
    off = {"kind": "head", "layer": 1, "head": 0, "on": False}
    found = desk.compare(state(off))
    assert found.kl is None
    assert found.kl_reason == "no change is on"
    assert found.effects[0].kl is not None
    assert all(row.then is None for row in found.next)


def test_a_change_that_cannot_be_made_says_so_beside_those_that_can(desk: Desk) -> None:
    found = desk.compare(state({"kind": "head", "layer": 99, "head": 0}, {"kind": "mlp", "layer": 3}))
    assert found.effects[0].kl is None
    assert "99" in found.effects[0].kl_reason
    assert found.effects[1].kl is not None
    assert found.kl is None
    assert "99" in found.kl_reason


def test_a_change_that_changes_nothing_is_told(desk: Desk) -> None:
    same = {"kind": "reword", "segment": "fact", "text": PARTS[1].text}
    found = desk.compare(state(same))
    assert found.effects[0].nothing
    assert found.kl == pytest.approx(0, abs=1e-6)


def test_the_floor_is_measured_once_and_then_shown(desk: Desk) -> None:
    asked = state({"kind": "mlp", "layer": 3})
    fresh = Desk(desk.model)
    assert fresh.compare(asked).floor_reason == "not measured yet"
    steps: list[tuple[int, int]] = []
    floor = fresh.floor(asked, lambda done, of: steps.append((done, of)))
    assert 0 < floor < 1e-3
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert steps[-1][0] <= steps[-1][1] + 5
    assert fresh.compare(asked).floor == floor
    assert fresh.floor(asked, lambda done, of: pytest.fail("it is known")) == floor


def test_answers_are_those_of_generate(desk: Desk) -> None:
    asked = state({"kind": "cut", "segment": "fact"})
    *steps, last = desk.write(asked, False, 6)
    assert [len(step.ids) for step in steps] == [1, 2, 3, 4, 5, 6]
    assert last.ended
    assert last.text == desk.model.generate(TEXT, 6).text
    prompt = desk.prompt(asked)
    edits = (cut(q=slice(len(prompt.ids) - 1, None), k=_keys(prompt, "fact")),)
    assert list(desk.write(asked, True, 6))[-1].text == desk.model.generate(prompt, 6, edits=edits).text


def test_the_lens_is_that_of_whole_runs(desk: Desk) -> None:
    change, edits = CHANGES["cut"]
    found = desk.lens(state(change))
    for rows, own in ((found.base, ()), (found.then, edits(desk.prompt(state())))):
        trace = desk.model.run(TEXT, see=["resid_post"], edits=own, tail=1)
        ids = [desk.model.tokenizer.label(i) for i in range(desk.model.spec.vocab)]
        first, second = ids.index(found.first), ids.index(found.second)
        lens = logit_lens(trace, desk.model.engine, first, second)
        assert [row.ld for row in rows] == pytest.approx([row.ld for row in lens], abs=2e-3)
        assert rows[-1].top == trace.next(1)[0][0]


def test_without_a_change_the_lens_sets_the_first_against_the_second(desk: Desk) -> None:
    found = desk.lens(state())
    assert found.then is None
    assert found.then_reason == "no change is on"
    assert (found.first, found.second) == tuple(token for token, _ in desk.model.run(TEXT).next(2))
    assert found.base[-1].ld > 0


def test_a_state_is_a_case_with_its_texts_as_they_are(desk: Desk) -> None:
    asked = state(parts=(PartText(name="doc", text="{braces} and 7 days"), PartText(name="question", text="How long?")))
    question = Question(right="7 days", wrong="30 days", evidence=("doc",))
    case = case_of(asked, question)
    assert desk.model.prompt(case).text == "{braces} and 7 days\nHow long?"
    again = Case.parse(case_file(asked, question))
    assert again.filled() == case.filled()
    assert again.text.answer.kind == "number"
    with pytest.raises(CaseError, match="evidence"):
        case_of(asked, Question(right="7 days", evidence=("nosuch",)))


def test_a_conversation_goes_through_the_template(desk: Desk) -> None:
    turns = (Turn(role="user", parts=(PartText(name="q", text="Hello"),)),)
    read = desk.read(State(prompt=ChatPrompt(messages=turns)))
    assert tuple(token.id for token in read.tokens) == desk.model.prompt([{"role": "user", "content": "Hello"}]).ids
    assert [segment.name for segment in read.segments if segment.part] == ["q"]
    assert read.tokens[read.segments[-1].start].segment == len(read.segments) - 1


def test_runs_that_are_kept_have_a_limit(desk: Desk) -> None:
    small = Desk(desk.model, most_tokens=40)
    for text in ("One fine day in spring", "Two cold days in autumn there", "Three nights of rain and wind, then sun"):
        small.compare(state(parts=(PartText(name="p", text=text),)))
    assert sum(map(len, small._held)) <= 40


def test_a_prompt_that_cannot_be_run_is_an_error(desk: Desk) -> None:
    with pytest.raises(PromptError, match="empty"):
        desk.compare(state(parts=(PartText(name="p", text=""),)))
    with pytest.raises(PromptError, match="8192"):
        desk.read(state(parts=(PartText(name="p", text="word " * 9000),)))
