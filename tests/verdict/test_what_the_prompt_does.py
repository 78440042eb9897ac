"""What the prompt itself does to an answer: it orders the wrong one, leads astray, or holds words of the right one."""

from dataclasses import replace

import pytest

from tests.cause.studies import opened, studied
from tests.verdict.test_tree import BOOST, FLIPPING_ORDER, REFUND, STUCK, lacks, verdict
from whybox.cause import study as cause_study
from whybox.cause.parts import asked_alone
from whybox.items.case import Case
from whybox.testing import ROWS, knowledge_rows
from whybox.verdict.facts import Demand, Facts, ShamRun, Try
from whybox.verdict.leaf import Lack
from whybox.verdict.reading import facts_of
from whybox.verdict.remarks import Remark
from whybox.verdict.tree import rule
from whybox.verdict.words import because, next_step, would_change

WITHOUT = Try("without rule", True, touches=frozenset({"rule"}), after=2.0, own=2.0)
ORDERED = replace(REFUND, demands=(Demand("rule", WITHOUT),))
FACT = Try("fact added", True, touches=frozenset({"fact"}), after=2.0, own=2.0, shams=ShamRun(0, 19))
MISSING = Facts(right=False, delta=1e-5, own=True, own_ld=-2.0, legal=True, fact=FACT)
ALONE_ASKED = Try("the question alone", True, own=3.0)


def test_a_model_that_obeys_the_prompt_did_not_fail_to_read() -> None:
    found = rule(ORDERED)
    assert verdict(ORDERED) == ("not-determined", "demanded")
    assert found.causes[0].about == ("rule",)
    assert lacks(found) == {Lack.DEMANDED}
    assert Remark.DEMANDED in found.remarks
    assert "rule orders it, and without rule the answer is right" in because(found, ORDERED, "en")
    assert "rule 这样要求，去掉它答案就正确" in because(found, ORDERED, "zh")
    assert next_step(found, ORDERED, "en").startswith("Take the order out of the prompt")
    assert "does not ask for it" in would_change(found, "en")
    assert verdict(replace(ORDERED, orders=(FLIPPING_ORDER,))) == ("not-determined", "demanded")
    assert verdict(replace(ORDERED, boost=replace(BOOST, flips=False))) == ("not-determined", "demanded")


def test_an_order_without_which_the_answer_stays_wrong_is_only_said() -> None:
    stays = replace(ORDERED, demands=(Demand("rule", replace(WITHOUT, flips=False)),))
    assert verdict(stays) == verdict(REFUND)
    assert Remark.DEMANDED_TOO in rule(stays).remarks
    assert "is ordered in rule; without rule alone" in because(rule(stays), stays, "en")
    assert Remark.DEMANDED_TOO in rule(replace(ORDERED, demands=(Demand("rule", None),))).remarks


def test_a_part_that_orders_is_taken_out_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing else stands beside the evidence, that is the evidence alone."""
    planted = ROWS["not_looking"](1)
    others = opened(planted).roles.others
    monkeypatch.setattr(cause_study, "demanding_parts", lambda *_: others[:1])
    study = studied(planted, "other prompts")
    (demand,) = facts_of(study, None, None).demands
    assert demand.part == others[0]
    assert demand.without is not None
    assert demand.without.what == ("evidence alone" if len(others) == 1 else f"without {others[0]}")
    study.roles = replace(study.roles, others=others[:1])
    (demand,) = facts_of(study, None, None).demands
    assert demand.without is not None
    assert demand.without.what == "evidence alone"


def test_what_the_question_alone_gets_right_is_not_missing() -> None:
    assert verdict(MISSING) == ("knowledge", "missing")
    known = replace(MISSING, asked_alone=ALONE_ASKED)
    found = rule(known)
    assert (verdict(known)[0], lacks(found)) == ("not-determined", {Lack.KNOWN})
    assert "the question alone, without the rest of the prompt, is answered right" in because(found, known, "en")
    assert "leads the model astray" in next_step(found, known, "en")
    assert "模型引偏" in next_step(found, known, "zh")
    assert verdict(replace(MISSING, asked_alone=replace(ALONE_ASKED, flips=False))) == ("knowledge", "missing")


def test_a_lead_of_the_question_alone_leaves_open_what_is_missing() -> None:
    """Nothing whole is written to the question alone, and right is ahead there: examples may have led astray."""
    leads = replace(MISSING, asked_alone=Try("the question alone", False, after=0.41, cut=True))
    found = rule(leads)
    assert (verdict(leads)[0], lacks(found)) == ("not-determined", {Lack.LEADS_ALONE})
    assert "the right answer leads the wrong one" in because(found, leads, "en")
    behind = replace(MISSING, asked_alone=Try("the question alone", False, after=-0.41))
    assert verdict(behind) == ("knowledge", "missing")


def test_a_fact_that_was_given_is_not_asked_for() -> None:
    failed = replace(MISSING, fact=replace(FACT, flips=False))
    assert "--fact" not in next_step(rule(failed), failed, "en")
    assert "--fact" not in next_step(rule(failed), failed, "zh")
    assert "--fact" in next_step(rule(replace(failed, fact=None)), replace(failed, fact=None), "en")


@pytest.mark.parametrize(
    ("parts", "left"),
    [
        ({"examples": "Q: Italy? A: Milan", "question": "Q: Of Brazil?\nA:"}, "Q: Of Brazil?\nA:"),
        ({"text": "Q: Of Italy?\nA: Milan\nQ: Of Brazil?\nA:"}, "Q: Of Brazil?\nA:"),
        ({"text": "Q: Of Brazil?\nA:"}, None),
        ({"text": "The capital of Brazil is"}, None),
    ],
)
def test_the_question_alone(parts: dict[str, str], left: str | None) -> None:
    data = {
        "id": "x",
        "text": [{"name": name, "text": text} for name, text in parts.items()],
        "answer": {"right": "Brasília", "wrong": "Rio", "kind": "name"},
    }
    found = asked_alone(Case.from_data(data).filled(), next(reversed(parts)))
    assert (found and [part.text for part in found.parts]) == (left and [left])


def test_a_planted_fact_that_is_missing_is_missing_of_the_question_alone() -> None:
    planted = knowledge_rows.missing_fact(1)
    assert planted.fact is not None
    study = studied(planted, "shams", fact=planted.fact.text)
    facts = facts_of(study, None, None)
    assert facts.asked_alone is None or not facts.asked_alone.flips
    assert verdict(facts) == ("knowledge", "missing")


def test_words_of_the_right_answer_are_not_said_to_answer_the_question() -> None:
    labels = replace(REFUND, evidence=(), alone=None, boost=None, cuts=(), orders=(), stated_in=("examples",))
    said = because(rule(labels), labels, "en")
    assert "the words of the right answer stand in examples" in said.casefold()
    assert "whether they answer the question there was not checked" in said
    assert next_step(rule(labels), labels, "en").startswith("Where examples answers the question, name it")
    beside = replace(REFUND, stated_beside=("doc3",))
    assert "whether they are said there of what the question asks was not checked" in because(
        rule(beside), beside, "en"
    )


def test_orders_that_were_cut_are_counted_of_all_that_were_tried() -> None:
    cut = replace(FLIPPING_ORDER, flips=False, cut=True)
    facts = replace(REFUND, alone=STUCK, orders=(FLIPPING_ORDER, cut, replace(cut, cut=False)), boost=None, cuts=())
    said = because(rule(facts), facts, "en")
    assert "in 1 of 3 other orders the answer is right; in 1 of the 3 orders that were tried the answer was cut" in said
