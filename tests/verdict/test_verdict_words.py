"""Sentences of verdicts: both languages, no claim beyond the facts."""

from dataclasses import replace

import pytest

from tests.verdict.test_tree import BOOST, CHOICE, NO_BOOST, ORDER, REFUND, STUCK, SWITCH
from whybox.statistics.intervals import Rate
from whybox.verdict import words
from whybox.verdict.facts import Doubt, Facts, Parting, ShamRun, Try, Unsettled
from whybox.verdict.leaf import Lack
from whybox.verdict.remark_words import LACKS, REMARKS
from whybox.verdict.remarks import Remark
from whybox.verdict.tree import rule

LONGER = Try("limit of 128 tokens", True, own=3.0, asserts=True)
FORBIDDEN = ("important", "thinks", "believes", "重要", "认为")


def test_the_refund_case_says_every_number_it_rests_on() -> None:
    said = words.because(rule(REFUND), REFUND, "en")
    assert "With the evidence alone the answer is right (LD +1.60); no other order" in said
    assert "“boost decision → doc2” turns the answer right (LD +0.180); 0 of 21 shams do (p = 0.0455)" in said
    assert "in 9 of 9 failing variants (95 % interval 0.70–1.00)" in said
    assert (
        "Path-dependent: behind “Answer: ” the right answer is ahead of the wrong one (LD +0.620), on the model's own path it is "
        "not (LD −1.96); the lead is what was compared." in said
    )


def test_the_site_at_which_two_runs_part_is_said() -> None:
    facts = replace(REFUND, switches=(SWITCH, replace(SWITCH, what="fp32")), divergence=Parting("pattern", 3, 12, 0.25))
    said = words.because(rule(facts), facts, "en")
    assert "“no cache” turns the answer right (LD +7.00); it does so in 9 of 9 failing variants" in said
    assert "each of these does it alone: no cache, fp32" in said
    assert "the two runs part first at pattern[3], position 12, by 0.25 of what is usual there (rms)." in said
    assert "pattern[3]、位置 12" in words.because(rule(facts), facts, "zh")


def test_a_candidate_says_what_it_lacks() -> None:
    facts = replace(REFUND, boost=replace(BOOST, shams=ShamRun(3, 21)))
    said = words.because(rule(facts), facts, "en")
    assert (
        "Candidate context-use · not-looked-at: shams turn the answer right as well (“boost decision → doc2”, "
        "3 of 21 shams, 9 of 9 variants)." in said
    )


def test_what_also_turns_the_answer_right_is_said() -> None:
    cut = Try("cut decision → doc1", True, after=1.1)
    facts = replace(REFUND, cuts=(cut,), closed=Try("closed book", True), lift=1.2)
    said = words.because(rule(facts), facts, "en")
    assert "“cut decision → doc1” turns the answer right (LD +1.10)." in said
    assert (
        "Without the evidence and what stands beside it the answer is right as well: the evidence is not needed for it."
        in said
    )
    assert "Its share is not low for its length: that more of it turns the answer right is all that is shown." in said


def test_a_boost_that_names_nothing_is_said() -> None:
    facts = replace(REFUND, alone=STUCK, cuts=(), orders=())
    found = rule(facts)
    assert found.causes[0].code == "not-determined"
    assert "“boost decision → doc2” turns the answer right; that names a cause only where" in words.because(
        found, facts, "en"
    )


def test_a_cut_that_alone_turns_the_answer_is_named() -> None:
    facts = replace(REFUND, boost=NO_BOOST, cuts=(Try("cut decision → note", True, after=1.0),))
    said = words.because(rule(facts), facts, "en")
    assert "These turn the answer right: “cut decision → note”; none of them has all that naming a cause takes." in said


def test_greedy_decoding_that_flips_is_never_left_out() -> None:
    greedy = Try("greedy decoding", True, own=0.5)
    facts = replace(REFUND, boost=NO_BOOST, cuts=(), stated_decoding=True, greedy=greedy)
    found = rule(facts)
    assert "These turn the answer right: “greedy decoding”" in words.because(found, facts, "en")
    assert "以下改动使答案变对：“贪心解码”" in words.because(found, facts, "zh")
    assert "Ask with “greedy decoding”" in words.next_step(found, facts, "en")


def test_a_limit_is_a_finding_of_its_own() -> None:
    longer = Try("limit of 32 tokens", True, own=3.0, asserts=True)
    facts = replace(REFUND, legal=False, own=False, own_ld=-2.5, longer=longer, limit_stated=True)
    found = rule(facts)
    said, step = words.because(found, facts, "en"), words.next_step(found, facts, "en")
    assert said.startswith("The answer was cut at the limit that the case states")
    assert "ahead" not in said
    assert "leads" not in said
    assert "greedily" not in step
    assert "max_tokens" in step


def test_shams_are_said_of_what_they_are_shams_of() -> None:
    order = Try("order doc2 doc1", True, after=1.6)
    facts = replace(REFUND, orders=(order,), boost=replace(REFUND.boost or NO_BOOST, shams=ShamRun(0, 23)))
    said = words.because(rule(facts), facts, "en")
    assert "An order has no shams: two parts have one other order, which is this one." in said
    assert "of the same edit elsewhere 0 of 23 do" in said


def test_what_would_change_a_verdict_asks_for_what_was_not_run() -> None:
    """Not for the variants that were: with 9 of 9 done, further ones; without any, the first."""
    assert REFUND.boost is not None
    assert REFUND.boost.repeats is not None
    n = REFUND.boost.repeats.n
    assert f"further variants, beside the {n} that were run" in words.would_change(rule(REFUND), "en")
    alone = replace(REFUND, boost=replace(REFUND.boost, repeats=None))
    assert "the case has none that fail alike" in words.would_change(rule(alone), "en")


def test_a_part_of_a_right_answer_with_too_few_others_beside_it_is_no_innocent() -> None:
    facts = replace(REFUND, right=True, ignores_evidence=True, evidence=("doc",), unsettled=(Unsettled("doc", "few"),))
    said = words.because(rule(facts), facts, "en")
    assert "What cutting doc takes away exceeds the floor, and too few other spans of its length exist" in said
    assert "Warning" not in said
    closed = replace(facts, closed=Try("closed book", True))
    assert "Warning: without the evidence and what stands beside it the answer is right as well." in words.because(
        rule(closed), closed, "en"
    )


def test_no_sham_is_asked_for_where_none_can_be_made() -> None:
    facts = replace(REFUND, lenient=Try("lenient parse", True))
    assert words.would_change(rule(facts), "en") == (
        "Variants of this prompt (the case has none that fail alike), if “lenient parse” turned fewer than 8 in 10 of "
        "them right."
    )
    assert "sham" in words.would_change(rule(REFUND), "en")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "facts",
    [
        REFUND,
        replace(REFUND, boost=NO_BOOST),
        replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=()),
        replace(REFUND, right=True, ignores_evidence=True),
        replace(REFUND, right=True, got_wrong=True),
        replace(REFUND, lenient=Try("lenient parse", True)),
        replace(REFUND, legal=False, own=False, choice=CHOICE),
        replace(REFUND, switches=(SWITCH, SWITCH), divergence=Parting("pattern", 3, 12, 0.25)),
        replace(REFUND, switches=(SWITCH,), divergence=Parting("logits", None, 12, 0.25)),
        replace(REFUND, pinned=Try("ids pinned", True, own=1.0)),
        replace(REFUND, legal=False, longer=LONGER, limit_stated=True),
        replace(REFUND, legal=False, longer=LONGER),
        replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), evidence_states=False),
        replace(REFUND, evidence=(), alone=None, stated_in=("doc1",)),
        replace(REFUND, boost=NO_BOOST, readers=(SWITCH,), total_in_null=False),
        replace(REFUND, several="right-first", own_ld=1.0),
        replace(REFUND, several="right-later"),
        replace(REFUND, orders=(replace(ORDER, several=True),)),
        replace(REFUND, alone=None, beside=False, boost=NO_BOOST, cuts=(), orders=()),
        replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 21, rivals=0))),
        replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 21, rivals=3, copied=1))),
        replace(REFUND, lenient=Try("lenient parse", True, repeats=Rate(9, 10))),
        replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), wrong_stated=("policy",), stated_beside=("doc3",)),
        replace(REFUND, right=True, stated_beside=("doc3",)),
        replace(REFUND, evidence=(), alone=None, fact=Try("fact added", True, own=2.0, shams=ShamRun(0, 19))),
        replace(REFUND, orders=(ORDER, replace(ORDER, flips=True, repeats=Rate(9, 9)))),
    ],
)
def test_every_verdict_has_sentences_in_both_languages(facts: Facts, lang: words.Lang) -> None:
    ruling = rule(facts)
    for said in (
        words.because(ruling, facts, lang),
        words.would_change(ruling, lang),
        words.next_step(ruling, facts, lang),
    ):
        assert said
        assert "{" not in said
        assert not any(word in said for word in FORBIDDEN)
        assert ("。" in said) == (lang == "zh")


def test_every_lack_and_remark_has_words_in_both_languages() -> None:
    assert set(LACKS) == set(Lack)
    assert set(REMARKS) == set(Remark)
    assert all(en and zh for en, zh in [*LACKS.values(), *REMARKS.values(), *words.WORDS.values()])


def test_whether_a_control_could_have_given_an_answer_is_said() -> None:
    def said(rivals: int) -> str:
        facts = replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 21, rivals=rivals)))
        return words.because(rule(facts), facts, "en")

    assert (
        "4 of them boost text that holds the wrong answer or another value in the right one's unit, the others"
        in said(4)
    )
    assert "all of them boost text that holds the wrong answer" in said(21)
    assert "none of them boosts text that holds the wrong answer" in said(0)
    assert "another value" not in words.because(rule(REFUND), REFUND, "en")


def test_an_answer_with_both_says_what_that_means() -> None:
    facts = replace(REFUND, several="right-first", own_ld=1.5)
    said = words.because(rule(facts), facts, "en")
    assert "another one, the right one first, where the right one leads (LD +1.50)" in said
    assert (
        "Candidate context-use · not-looked-at: the answer states the right answer already, beside another one" in said
    )


def test_the_prompt_is_not_called_a_second_observation() -> None:
    facts = replace(REFUND, alone=None, beside=False, boost=NO_BOOST, cuts=(), orders=())
    said = words.because(rule(facts), facts, "en")
    assert "the evidence alone is this very prompt" in said
    assert "With the evidence alone the answer is" not in said


def test_a_lenient_reading_counts_its_variants() -> None:
    facts = replace(REFUND, lenient=Try("lenient parse", True, repeats=Rate(9, 10)))
    said = words.because(rule(facts), facts, "en")
    assert said.startswith(
        "Read without the required form, the answer is right: the value is there, its form is not; it is so"
    )
    assert "in 9 of 10 variants that fail alike" in said


def test_what_was_controlled_is_said() -> None:
    writer = Try("MLP 7 set to zero", True, touches=frozenset({"MLP 7"}), own=3.0, shams=ShamRun(0, 29), unread=False)
    overruled = replace(
        REFUND, alone=STUCK, boost=NO_BOOST, closed_same_wrong=True, writers=(writer,), follows_change=False
    )
    said = words.because(rule(overruled), overruled, "en")
    assert "With another value in the evidence the answer does not move to it." in said
    assert "0 of 29 shams do (p = 0.0333); with the evidence hidden it does not" in said
    guess = replace(overruled, writers=(replace(writer, unread=True),))
    assert "so the answer does not rest on it" in words.because(rule(guess), guess, "en")
    read = replace(REFUND, boost=NO_BOOST, readers=(writer,), total_in_null=True)
    assert "does not move the metric beyond its null" in words.because(rule(read), read, "en")


@pytest.mark.parametrize(
    ("why", "english", "chinese"),
    [
        ("none", "no other span of its length exists", "没有同样长度的其他片段"),
        ("few", "too few other spans of its length exist", "其他片段太少"),
        ("other-way", "but others raise it as much, and p, which counts both ways", "使它上升同样多"),
    ],
)
def test_why_a_null_cannot_settle_what_a_cut_takes_away(why: Doubt, english: str, chinese: str) -> None:
    facts = replace(REFUND, right=True, unsettled=(Unsettled("doc", why),))
    for lang, told in (("en", english), ("zh", chinese)):
        said = words.because(rule(facts), facts, lang)
        assert told in said
        assert words.WORDS["rests.nothing"][lang == "zh"] not in said.lower()


def test_what_stands_beside_the_evidence_and_stays_is_named() -> None:
    bare = replace(REFUND, beside=False, alone=None, orders=(), cuts=(), boost=NO_BOOST)
    assert "Nothing stands beside the evidence and the question" in words.because(rule(bare), bare, "en")
    kept = replace(bare, kept=("policy", "a1"))
    said = words.because(rule(kept), kept, "en")
    assert "Beside the evidence and the question stands only policy, a1, which stays in every prompt" in said
    assert "Nothing stands" not in said
    assert "只有 policy, a1，它在每个提示中都保留" in words.because(rule(kept), kept, "zh")


def test_greedy_decoding_of_this_very_prompt_is_not_said_to_be_left_out() -> None:
    greedy = Try("greedy decoding", False, own=-0.5)
    facts = replace(
        REFUND, beside=False, alone=None, orders=(), cuts=(), boost=NO_BOOST, stated_decoding=True, greedy=greedy
    )
    found = rule(facts)
    assert Remark.STATED_DECODING_ONE in found.remarks
    assert Remark.STATED_DECODING not in found.remarks
    assert "This very prompt was decoded greedily too" in words.because(found, facts, "en")


def test_an_answer_that_no_evidence_states_does_not_stand_outside_it_as_well() -> None:
    for right in (True, False):
        facts = replace(REFUND, right=right, stated_beside=("doc3",), evidence_states=False)
        said = words.because(rule(facts), facts, "en")
        assert "the right answer stands in doc3 and not in the evidence" in said
        assert "as well, in doc3" not in said


def test_what_was_missing_is_said_beside_its_shams() -> None:
    fact = Try("fact added", True, own=2.0, after=1.5, shams=ShamRun(0, 19))
    facts = replace(REFUND, evidence=(), alone=None, boost=None, cuts=(), orders=(), fact=fact)
    said = words.because(rule(facts), facts, "en")
    assert "“fact added” turns the answer right (LD +1.50); 0 of 19 shams do (p = 0.0500)." in said
    assert "The shams are its own words without the answer, in other orders." in said


def test_a_prompt_that_holds_the_wrong_answer_is_said_so() -> None:
    facts = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, wrong_stated=("policy",))
    said = words.because(rule(facts), facts, "en")
    assert "The wrong answer stands in policy itself: an answer that is copied from there was not remembered." in said
    sought = replace(facts, wrong_stated=(), writers_sought=True)
    assert "so that memory may stand against the text" in words.because(rule(sought), sought, "en")
    assert words.next_step(rule(sought), sought, "en").startswith("Ask about an invented name")


def test_what_to_try_next_follows_from_what_is_missing() -> None:
    def said(facts: Facts, lang: words.Lang = "en") -> str:
        return words.next_step(rule(facts), facts, lang)

    stuck = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    assert said(stuck).startswith("Ask a larger model the same")
    assert said(replace(stuck, wrong_stated=("policy",))).startswith("Take the wrong answer out of policy")
    few = replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 4)))
    assert said(few).startswith("For “boost decision → doc2” more shams are needed")
    assert said(few).endswith("Keep the bare case as a known failure; see everything that was tried below.")
    assert said(few, "zh").startswith("“增强注意力：决定位置 → doc2”需要更多对照")
    assert said(REFUND).startswith("Move the same evidence to every place")


def test_what_the_evidence_alone_does_is_no_contradiction() -> None:
    facts = replace(REFUND, boost=NO_BOOST, cuts=())
    assert words.because(rule(facts), facts, "en").startswith("Beside keeping the evidence alone, no single change")
    assert words.because(rule(facts), facts, "zh").startswith("除了只留证据之外")
    wrong = replace(facts, alone=None)
    assert words.because(rule(wrong), wrong, "en").startswith("No single change after which")
