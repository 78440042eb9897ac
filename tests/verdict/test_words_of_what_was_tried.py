"""What is said of orders that were tried and of answers that their limit cut."""

from dataclasses import replace

from tests.verdict.test_tree import BOOST, NO_BOOST, ORDER, REFUND
from whybox.statistics.intervals import Rate
from whybox.verdict import words
from whybox.verdict.facts import ShamRun, Try
from whybox.verdict.tree import rule

LONGER = Try("limit of 128 tokens", True, own=3.0, asserts=True)


def test_how_many_orders_were_tried_is_said() -> None:
    turned = replace(ORDER, what="order doc3 doc2 doc1", flips=True, repeats=Rate(9, 9))
    facts = replace(REFUND, orders=(ORDER, turned, replace(ORDER, what="order doc1 doc3 doc2")))
    assert "in 1 of 3 other orders the answer is right." in words.because(rule(facts), facts, "en")
    single = replace(REFUND, orders=(turned,))
    for lang in ("en", "zh"):
        told = words.because(rule(single), single, lang)
        assert told.count("doc3 doc2 doc1") == 1, "one other order, said once"


def test_an_order_that_names_nothing_is_said_once_too() -> None:
    turned = replace(ORDER, what="order doc2 doc1", flips=True, repeats=None)
    facts = replace(REFUND, orders=(turned,), boost=NO_BOOST, cuts=())
    found = rule(facts)
    assert found.causes[0].code == "not-determined"
    grounds = words.because(found, facts, "en").split("Candidate")[0]
    assert grounds.count("doc2 doc1") == 1


def test_orders_that_were_not_tried_are_no_orders_that_fail() -> None:
    """Five parts have 119 other orders, of which nine are tried."""
    facts = replace(REFUND, orders=(ORDER,) * 9, orders_left=110)
    said = words.because(rule(facts), facts, "en")
    assert "none of the 9 other orders that were tried gives the right answer (110 more exist)" in said
    assert "no other order" not in said
    both = replace(facts, orders=(*facts.orders[1:], replace(ORDER, several=True)))
    assert "other orders that were tried gives the right answer alone (110 more" in words.because(
        rule(both), both, "en"
    )
    turned = replace(facts, orders=(replace(ORDER, flips=True, repeats=Rate(9, 9)), *facts.orders[1:]))
    assert "was tried" not in words.because(rule(turned), turned, "en")
    assert "另有 110 种未试" in words.because(rule(facts), facts, "zh")


LIMITED = replace(
    REFUND, legal=False, own=False, limit_stated=True, forced=None,
    longer=Try("limit of 16 tokens", False, own=-2.0, asserts=True),
    alone=replace(REFUND.alone or BOOST, flips=False, cut=True),
    boost=replace(BOOST, flips=False, shams=None, cut=True),
    orders=tuple(replace(order, flips=False, cut=True) for order in REFUND.orders), cuts=(), closed=None,
)  # fmt: skip


def test_where_the_limit_cut_every_answer_nothing_is_called_wrong() -> None:
    told = words.because(rule(LIMITED), LIMITED, "en")
    assert "every answer before that, so that none of them shows anything" in told
    assert "neither right nor wrong" in told
    assert "in every other order that was tried the answer was cut" in told
    for never in ("not right either", "No single change", "no other order", "raise the limit"):
        assert never not in told
    step = words.next_step(rule(LIMITED), LIMITED, "en")
    assert step.startswith("Raise the limit that the case states (`decoding.max_tokens`)")
    assert "-n" not in step
    assert "failure" not in step
    assert words.would_change(rule(LIMITED), "en") == "An answer that gives a whole value before the limit."
    chinese = words.because(rule(LIMITED), LIMITED, "zh")
    assert "既不算对也不算错" in chinese
    assert "不正确" not in chinese


def test_what_was_cut_among_others_is_counted() -> None:
    some = replace(LIMITED, boost=replace(BOOST, flips=False, shams=None))
    told = words.because(rule(some), some, "en")
    assert "2 of the 3 changes gave no whole value before the limit" in told
    left = replace(REFUND, boost=replace(BOOST, undecided=2))
    assert "in 2 more its answer was cut by the limit" in words.because(rule(left), left, "en")


def test_an_edge_that_flips_with_its_shams_is_told_beside_the_order() -> None:
    moved = Try("order doc2 doc1", True, touches=frozenset({"order"}), effect=3.6, after=1.4, own=1.4)
    facts = replace(REFUND, orders=(moved,), boost=replace(BOOST, shams=ShamRun(9, 21)), cuts=())
    told = words.because(rule(facts), facts, "en")
    assert "no edge does" not in told
    assert "an edge does it too without all that a proof takes (“boost decision → doc2”, 9 of 21 shams" in told


def test_nothing_that_is_right_here_is_called_a_failure() -> None:
    facts = replace(REFUND, right=True, got_wrong=True)
    for lang, never in (("en", ("failing", "known failure")), ("zh", ("出错变体", "已知失败"))):
        said = words.would_change(rule(facts), lang) + words.next_step(rule(facts), facts, lang)
        assert not any(word in said for word in never), said
    assert "regression test" in words.next_step(rule(facts), facts, "en")
