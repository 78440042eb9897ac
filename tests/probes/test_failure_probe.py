"""`failure` on bots whose cause of failure is known: each is named, or nothing is."""

from dataclasses import replace

import pytest

from tests.probes.playing import estimate, holds
from tests.probes.rounds import all_rounds, ground, played_out
from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.items.generate import LANGUAGES, Item, Language, generate
from whybox.probes.design import Finding, Record
from whybox.probes.failure import FailureProbe
from whybox.probes.failure_reading import CAUSES, OPEN, Cause, cause_of
from whybox.probes.failure_reading import Case as FailedCase
from whybox.probes.failure_steps import steps
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.target import Reply

ITEMS = 20


def causes(found: Finding) -> dict[str, int]:
    """Failures by cause and detail."""
    curve = next((each for each in found.curves if each.name == "failures"), None)
    return {} if curve is None else {name: rate.hits for name, rate in curve.points}


def probe(language: Language = "en", items: int = ITEMS) -> FailureProbe:
    return FailureProbe(items=items, language=language, passages=4)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("bot", "named"),
    [
        (kinds.AlwaysFirst(), "order"),
        (kinds.AlwaysLast(), "order"),
        (kinds.MiddleBlind(1.0), "order"),
        (kinds.ClosedBook(0.5), "knowledge · overruled"),
        (kinds.Honest(0.5), "not-determined · beyond-the-model"),
    ],
)
def test_each_cause_is_named_and_no_other(bot: Bot, named: str, language: Language) -> None:
    found = causes(played_out(probe(language), bot, 1))
    assert set(found) == {named}
    assert found[named] >= 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_broken_form_is_told_from_a_wrong_content(language: Language) -> None:
    """Share r fails, all of it through format."""
    found = played_out(probe(language, 60), kinds.FormatDrift(0.4), 2)
    assert set(causes(found)) == {"format"}
    assert holds(found, "failing", 0.4)
    assert estimate(found, "through format").value == 1.0
    assert estimate(found, "unexplained").value == 0.0


def test_who_is_right_has_no_failures() -> None:
    found = played_out(probe(), kinds.Honest(1.0))
    assert causes(found) == {}
    assert found.notes == ("no item failed",)
    assert isinstance(estimate(found, "unexplained").value, Unknown)
    assert dict(found.measured)["order"][0][1].complete == Rate(0, ITEMS)


def test_what_is_known_wins_over_the_text() -> None:
    """The user's own cases: a common question, a text that states another answer; the entity in a slot."""
    cases = [
        Case.parse(
            f"""
id: conflict-{i}
prompt:
  - role: user
    parts:
      - {{name: doc1, text: "The {{entity}} keeps parcels for 17 days."}}
      - {{name: doc2, text: "The Tanlax depot keeps parcels for {i + 31} days."}}
      - {{name: question, text: "How many days does the {{entity}} keep parcels?"}}
vary: {{entity: ["Velmora depot"]}}
answer: {{right: "17 days", wrong: "30 days", kind: number}}
evidence: [doc1]
"""
        )
        for i in range(4)
    ]
    items = tuple(Item(c.id, "fact", "en", c.filled(), c.filled().scorer(), others=("30 days",)) for c in cases)
    bank = Bank.of(replace(item, instance=replace(item.instance, right="30 days")) for item in items)
    design = FailureProbe(data="mine", items=4)
    made = ground(kinds.Honest(), {"mine": items})
    target = BotTarget(kinds.Stubborn(1.0), replace(bank, known=tuple(replace(k, parts=()) for k in bank.known)))
    found = design.read(*all_rounds(design, {"bot": target}, made), 0)
    assert causes(found) == {"knowledge · overruled": 4}
    assert dict(found.deciding[0].seen)["undone by"].startswith("an invented entity")


def test_a_fact_that_nothing_states_is_missing() -> None:
    """Closed questions that a reader declines: it answers once the text says so."""
    items = tuple(replace(item, others=()) for item in generate("common", "en", 8, 0, len))
    design = FailureProbe(data="mine", items=8)
    found = played_out(design, kinds.Reader(), 0, {"mine": items})
    assert causes(found) == {"knowledge · missing": 8}


def test_a_system_text_that_does_not_arrive_is_the_template() -> None:
    """The rule stands in the system message, which is dropped: obeyed once it stands in the user's."""
    items = generate("rule", "en", 6, 0, len, size=2)
    design = FailureProbe(data="mine", items=6, max_tokens=48)
    found = played_out(design, kinds.TemplateBreaker("drops_system"), 0, {"mine": items})
    assert {name.split(" · ")[0] for name in causes(found)} == {"template"}
    assert all("tokens reach the model" in name for name in causes(found))


def test_what_plain_retries_undo_is_noise() -> None:
    """A fifth of calls is wrong: of those that were, 99 % are right in two of five retries or more."""
    found = causes(played_out(probe("en", 60), kinds.TieFlipper(0.2), 1))
    assert set(found) <= {"not-determined · noise", "not-determined · beyond-the-model"}
    assert found["not-determined · noise"] >= 5


def case_after(**right: int) -> FailedCase:
    """A case of two passages that fails, and after each step so many of five runs are right."""
    (item,) = generate("fact", "en", 1, 0, len, size=2)
    plan = FailureProbe(data="mine").plan("failure", ground(kinds.Honest(), {"mine": (item,)}, 1.0))
    good, bad = Reply(item.instance.right), Reply(item.others[0])
    runs = {arm.replace("_", ":"): (good,) * n + (bad,) * (5 - n) for arm, n in right.items()}
    return FailedCase(item, Record(plan.calls[0], bad), {}, {"retry": (bad,) * 5, "sham:1": (bad,) * 5, **runs})


@pytest.mark.parametrize(
    ("right", "code", "detail"),
    [
        ({"greedy": 5}, "decoding", ""),
        ({"greedy": 4, "retry": 2}, "not-determined", "noise"),
        ({"greedy": 3}, "not-determined", "beyond-the-model"),
        ({"greedy": 5, "sham_1": 4}, "not-determined", "beyond-the-model"),
        ({"alone": 4}, "context-use", ""),
        ({"alone": 5, "order_2-1": 4}, "order", ""),
        ({"renamed": 5, "closed": 0, "changed": 0}, "knowledge", "overruled"),
        ({"renamed": 5, "closed": 0, "changed": 2}, "not-determined", "beyond-the-model"),
        ({"renamed": 5}, "not-determined", "beyond-the-model"),
        ({"prefix": 5}, "not-determined", "beyond-the-model"),
    ],
)
def test_four_of_five_against_one_and_no_sham(right: dict[str, int], code: str, detail: str) -> None:
    found = cause_of(case_after(**right))
    assert (found.code, found.detail) == (code, detail)


def test_several_steps_are_all_told() -> None:
    assert cause_of(case_after(greedy=5, alone=5)).others == ("context-use",)


def test_the_forced_prefix_counts_only_where_no_legal_answer_was_written() -> None:
    case = case_after(prefix=5)
    formless = replace(case, plain=replace(case.plain, outcome=Reply("Well, that depends.")))
    assert cause_of(formless).code == "format"


def test_lost_calls_explain_nothing_and_count_against_every_gate() -> None:
    found = played_out(probe("en", 4), kinds.NullContent())
    assert found.lost == Rate(4, 4)
    for code in CAUSES:
        assert found.measured[code][0][1].complete == Rate(0, 0)
        assert found.measured[code][0][1].worst == Rate(4, 4)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_step_changes_what_it_says_and_nothing_else(language: Language) -> None:
    (item,) = generate("fact", language, 1, 0, len, size=4)
    found = dict(steps(item, None, ground(kinds.Honest())))
    gold, case = item.instance.evidence[0], item.instance
    assert [part.name for part in found["alone"].instance.parts] == ["policy", gold, "question"]
    assert [part.name for part in found["closed"].instance.parts] == ["policy", "question"]
    assert gold not in [part.name for part in found["removed"].instance.parts]
    assert found["changed"].instance.right != case.right
    name = item.facts[item.asked or 0].name
    assert not any(name in part.text for part in found["renamed"].instance.parts)
    assert found["renamed"].instance.right == case.right
    places = {each.instance.parts.index(case.part(gold)) for arm, each in found.items() if arm.startswith("order:")}
    assert len(places) == 3
    assert case.parts.index(case.part(gold)) not in places
    shams = [each.instance for arm, each in found.items() if arm.startswith("sham:")]
    assert len(shams) == 5
    assert all([part for part in sham.parts if part.name != "sham"] == list(case.parts) for sham in shams)


def test_nothing_says_where_in_a_model_it_failed() -> None:
    found = played_out(probe("en", 12), kinds.AlwaysFirst())
    text = " ".join([*(name for name in causes(found)), *(value for each in found.deciding for _, value in each.seen)])
    assert not any(word in text.lower() for word in ("attention", "ffn", "head", "layer"))
    assert set(found.grids[0].rows) == {each.item for each in found.deciding}
    assert all(0 <= runs <= 5 for row in found.grids[0].counts for runs in row)


def test_another_target_that_is_right_names_no_cause() -> None:
    """A step that undoes the failure is the cause, whoever else is right; without one only the difference is told."""
    asked_elsewhere = {"elsewhere:theirs": 5}
    assert cause_of(case_after(**asked_elsewhere)) == Cause(OPEN, "another-server", "asked of theirs")
    assert cause_of(case_after(alone=5, **asked_elsewhere)).code == "context-use"
    assert cause_of(case_after(**{"elsewhere:theirs": 3})).detail == "beyond-the-model"


def test_failing_cases_are_asked_of_other_targets_as_they_are() -> None:
    probe = FailureProbe(items=3, against=["theirs"])
    made = replace(ground(kinds.AlwaysFirst()), others=("theirs",))
    bank = Bank.of(generate("fact", "en", 3, 0, made.count, size=5))
    targets = {"bot": BotTarget(kinds.KeywordDeaf(), bank), "theirs": BotTarget(kinds.Honest(1.0), bank)}
    plan, records = all_rounds(probe, targets, made)
    elsewhere = [record.call for record in records if record.call.target == "theirs"]
    failed = {record.call.item for record in records if record.call.arm == "retry"}
    assert {(call.item, call.run) for call in elsewhere} == {(item, run) for item in failed for run in range(5)}
    plain = {call.item: call.request.digest for call in plan.calls if call.arm == "plain"}
    assert all(call.request.digest == plain[call.item] for call in elsewhere)
    with pytest.raises(UsageError, match="against 'nobody'"):
        FailureProbe(items=3, against=["nobody"]).plan("failure", made)
