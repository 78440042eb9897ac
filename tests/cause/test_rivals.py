"""Other values that a prompt states: which spans a boost is compared with."""

from dataclasses import replace

import pytest

from tests.cause.studies import opened, studied
from whybox.cause.rivals import rivals_in
from whybox.cause.spans import other_spans
from whybox.items.case import Case
from whybox.testing import ROWS
from whybox.testing.decoys import NONE
from whybox.text.prompt import Prompt, Segment, SegmentKind, Token


def written(text: str) -> Prompt:
    """A prompt whose tokens are single characters."""
    spelled = [(place, sign, sign.encode()) for place, sign in enumerate(text)]
    tokens = tuple(Token(ord(s), data, False, (p, p + 1), (p, p + 1), s) for p, s, data in spelled)
    part = Segment("doc", SegmentKind.PART, None, 0, len(text))
    return Prompt(tuple(map(ord, text)), tokens, (part,), text, text.encode())


@pytest.mark.parametrize(
    ("right", "wrong", "kind", "text", "rivals"),
    [
        ("7 days", "30 days", "number", "Refunds 7 days, exchanges 30 days, gifts 90 days.", ["30 days", "90 days"]),
        ("7 days", "30 days", "number", "7 days or seven hours; 17 daysoff", []),
        ("7天", "30天", "number", "退款七天，换货三十天，礼品卡９０天。", ["三十天", "９０天"]),
        ("$5", "€5", "number", "The fee is €5, the refund $5, the tax $2.", ["€5", "$2"]),
        ("Velmora", "Tanrik", "name", "Tanrik, Tanriks, Velmora.", ["Tanrik"]),
        ("7 أيام", "30 يوما", "text", "خلال 30 يوما أو 7 أيام", ["30 يوما"]),
    ],
)
def test_where_another_value_is_stated(right: str, wrong: str, kind: str, text: str, rivals: list[str]) -> None:
    data = {"id": "x", "text": text, "answer": {"right": right, "wrong": wrong, "kind": kind}}
    prompt = written(text)
    found = rivals_in(prompt, Case.from_data(data).filled(), wrong, ())
    assert [rival.text for rival in found] == rivals
    for rival in found:
        assert "".join(prompt.tokens[key].text for key in rival.keys) == rival.text
        assert rival.lies_in(rival.keys)
        assert not rival.lies_in(range(rival.keys.start + 1, rival.keys.stop + 3))
    assert rivals_in(prompt, Case.from_data(data).filled(), wrong, range(len(prompt))) == []


def test_spans_with_a_rival_come_first_up_to_half_of_the_places() -> None:
    chosen = other_spans(2, [50, 51], 200, 8, first=lambda span: 2 in span or span.start > 190)
    assert sum(span.start in (1, 2) or span.start > 190 for span in chosen) == 4
    assert [span for span in chosen if 40 < span.start < 60]
    assert len(set(chosen)) == len(chosen) == 8


def test_the_shams_of_a_boost_say_how_many_state_another_value() -> None:
    shams = studied(ROWS["not_looking"](1, NONE), "shams").trials["boost"].shams
    assert shams is not None
    assert shams.rivals is not None
    assert 0 < shams.rivals < len(shams.after)
    assert shams.flipped == 0


def test_the_prompt_itself_is_not_run_as_evidence_alone() -> None:
    planted = ROWS["memoriser"](1, NONE)
    study = opened(planted)
    assert study.roles.others
    kept = [part for part in planted.instance.parts if part.name in (*study.roles.evidence, study.roles.question)]
    data = planted.case.text.model_dump(exclude_none=True, exclude_unset=True)
    data |= {"text": [{"name": part.name, "text": part.text} for part in kept], "vary": {}}
    data["answer"] = {"right": planted.instance.right, "wrong": planted.instance.wrong, "kind": "name"}
    alone = studied(replace(planted, case=Case.from_data(data)), "attention edges")
    assert alone.roles.others == ()
    assert "alone" not in alone.trials
    assert alone.alone_right is False


def test_of_a_choice_the_other_options_are_sought_by_what_they_say() -> None:
    """The article of "A refund" is no option A."""
    options = {"A": "30 days", "B": "7 days", "C": "2 years"}
    answer = {"right": "B", "wrong": "A", "kind": "choice", "options": options}
    text = "A refund takes 7 days, an exchange 30 days. A: B."
    found = rivals_in(written(text), Case.from_data({"id": "x", "text": text, "answer": answer}).filled(), "A", ())
    assert [rival.text for rival in found] == ["30 days"]
