"""A fact that was supplied, and its own words without the answer as shams."""

import pytest

from tests.cause.studies import studied
from whybox.cause.supplied import MOST, supplying, unanswered
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.testing import knowledge_rows


def asked(right: str, kind: str) -> CaseInstance:
    return Case.from_data({"id": "x", "text": "What is it?", "answer": {"right": right, "kind": kind}}).filled()


def test_words_without_the_answer_first_as_they_stand_then_in_other_orders() -> None:
    found = unanswered(asked("Canberra", "name"), "The capital of Australia is Canberra.")
    assert found[0] == "The capital of Australia is ."
    assert len(found) == len(set(found)) == MOST
    for text in found:
        assert sorted(text.split()) == sorted(found[0].split())
    chinese = unanswered(asked("7天", "number"), "退款需要7天。")
    assert chinese[0] == "退款需要。"
    assert not any("7" in text for text in chinese)


@pytest.mark.parametrize(
    ("right", "kind", "fact"),
    [("7 days", "number", "It takes a week."), ("7 days", "number", "7 days"), ("Osaka", "name", "Not Osaka, really.")],
)
def test_no_shams_where_no_answer_can_be_cut_out(right: str, kind: str, fact: str) -> None:
    assert unanswered(asked(right, kind), fact) == []


def test_few_words_have_few_orders() -> None:
    assert sorted(unanswered(asked("7 days", "number"), "Takes: 7 days now")) == ["Takes: now", "now Takes:"]


def test_a_planted_fact_has_silent_shams() -> None:
    planted = knowledge_rows.missing_fact(1)
    assert planted.fact is not None
    study = studied(planted, "shams", fact=planted.fact.text)
    fact = study.trials["fact"]
    assert fact.flips
    assert fact.shams is not None
    assert (fact.shams.flipped, len(fact.shams.after)) == (0, 6)


def test_every_sentence_that_tells_is_taken_out_in_turn_and_what_asks_stays() -> None:
    rules = {"name": "rules", "text": "Exchanges take a month. Refunds are paid within a week."}
    question = {"name": "question", "text": "The shop is open. How long does a refund take?"}
    case = Case.from_data(
        {
            "id": "x",
            "prompt": [{"role": "user", "parts": [rules, question]}],
            "answer": {"right": "7 days", "kind": "number"},
        }
    ).filled()
    found = {place: "|".join(part.text for part in without.parts) for place, without in supplying(case, "question")}
    assert found == {
        ("rules", 1): f"Refunds are paid within a week.|{question['text']}",
        ("rules", 2): f"Exchanges take a month. |{question['text']}",
        ("question", 1): f"{rules['text']}|How long does a refund take?",
    }


def test_a_planted_fact_that_was_missing_rests_on_no_other_sentence() -> None:
    planted = knowledge_rows.missing_fact(1)
    assert planted.fact is not None
    assert studied(planted, "shams", fact=planted.fact.text).supplied_by == ()
