"""The verdict tree on measured results as plain data: every leaf, and everything that must not be named."""

from dataclasses import replace

import pytest

from whybox.statistics.intervals import Rate
from whybox.verdict.facts import Facts, Pair, ShamRun, Try
from whybox.verdict.leaf import Lack
from whybox.verdict.remarks import Remark
from whybox.verdict.tree import Ruling, holds, rule
from whybox.verdict.words import because, next_step

SILENT = ShamRun(0, 21)
NINE = Rate(9, 9)
BOOST = Try(
    "boost decision → doc2", True, ("doc2",), frozenset({"edge doc2"}), 2.1, 0.18, 0.5, shams=SILENT, repeats=NINE
)
NO_BOOST = replace(BOOST, flips=False, shams=None, repeats=None)
ALONE = Try("evidence alone", True, touches=frozenset({"doc1"}), effect=3.5, after=1.6, own=3.2)
STUCK = replace(ALONE, flips=False, after=-2.0, own=-2.0)
ORDER = Try("order doc2 doc1", False, touches=frozenset({"order"}), effect=0.6, after=-1.4)
FLIPPING_ORDER = replace(ORDER, flips=True, after=2.0, own=2.0, repeats=NINE)
CUT = Try("cut decision → doc1", True, ("doc1",), frozenset({"edge doc1"}), 3.1, 1.1, 2.4, shams=SILENT, repeats=NINE)
WRITER = Try("MLP 7 set to zero", True, (), frozenset({"mlp 7"}), 9.0, 3.0, 3.0, shams=ShamRun(0, 29))
CHOICE = Try("choice between the two answers at the start", True, touches=frozenset({"choice"}), own=0.3)
CLOSED = Try("closed book", False, after=-3.0, own=-3.0)

REFUND = Facts(
    right=False, delta=1e-5, own=True, own_ld=-1.96, legal=True, forced=("Answer: ", 0.62), evidence=("doc2",),
    alone=ALONE, orders=(ORDER,), boost=BOOST, cuts=(CUT,), closed=CLOSED, closed_same_wrong=False, lift=0.35,
)  # fmt: skip


def verdict(facts: Facts) -> tuple[str, str | None]:
    first = rule(facts).causes[0]
    return first.code, first.detail


def lacks(ruling: Ruling) -> set[Lack]:
    return {lack for leaf in ruling.candidates for lack in leaf.lacks}


def test_the_refund_case_is_context_not_looked_at() -> None:
    found = rule(REFUND)
    assert (found.causes[0].code, found.causes[0].detail) == ("context-use", "not-looked-at")
    assert found.causes[0].undone_by == BOOST
    assert found.variants
    assert found.remarks == (Remark.PATH_DEPENDENT,)


def test_nothing_is_named_when_shams_flip_too() -> None:
    facts = replace(REFUND, boost=replace(BOOST, shams=ShamRun(3, 21)))
    assert verdict(facts) == ("not-determined", None)
    assert lacks(rule(facts)) == {Lack.SHAMS_FLIP}


def test_one_sham_of_39_is_still_within_alpha_one_of_38_is_not() -> None:
    assert verdict(replace(REFUND, boost=replace(BOOST, shams=ShamRun(1, 39))))[0] == "context-use"
    assert verdict(replace(REFUND, boost=replace(BOOST, shams=ShamRun(1, 38))))[0] == "not-determined"


def test_nothing_is_named_when_too_few_shams_exist_or_none_were_run() -> None:
    few = replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 18)))
    assert (verdict(few)[0], lacks(rule(few))) == ("not-determined", {Lack.FEW_SHAMS})
    none = replace(REFUND, boost=replace(BOOST, shams=None))
    assert (verdict(none)[0], lacks(rule(none))) == ("not-determined", {Lack.NO_SHAMS})


def test_nothing_is_named_when_variants_do_not_follow() -> None:
    facts = replace(REFUND, boost=replace(BOOST, repeats=Rate(7, 9)))
    assert (verdict(facts)[0], lacks(rule(facts))) == ("not-determined", {Lack.VARIANTS})


def test_few_variants_or_none_leave_a_verdict_on_this_prompt_only() -> None:
    for repeats in (None, Rate(1, 1), Rate(3, 7)):
        found = rule(replace(REFUND, boost=replace(BOOST, repeats=repeats)))
        assert found.causes[0].code == "context-use"
        assert not found.variants


def test_a_boost_that_does_not_flip_names_nothing_and_says_what_was_not_run() -> None:
    found = rule(replace(REFUND, boost=NO_BOOST))
    assert (found.causes[0].code, found.causes[0].detail) == ("not-determined", None)
    assert Remark.READERS_NOT_RUN in found.remarks
    in_vain = replace(REFUND, boost=replace(BOOST, shams=ShamRun(9, 21)))
    assert Remark.READERS_NOT_RUN not in rule(in_vain).remarks


def test_looked_at_not_used_needs_a_suppressor_and_a_boost_that_does_nothing() -> None:
    head = Try("head 20.3 set to zero", True, (), frozenset({"head 20.3"}), 9.0, 3.0, 3.0, shams=ShamRun(0, 39))
    facts = replace(REFUND, boost=NO_BOOST, suppressors=(head,), lift=6.3)
    found = rule(facts)
    assert (found.causes[0].code, found.causes[0].detail) == ("context-use", "looked-at-not-used")
    assert found.causes[0].about == ("doc2",)
    assert found.remarks[-1] is Remark.ZERO_ONLY
    assert Remark.LIFT_LOW in rule(replace(facts, lift=0.4)).remarks
    assert verdict(replace(facts, boost=BOOST)) == ("context-use", "not-looked-at")
    noisy = replace(facts, suppressors=(replace(head, shams=ShamRun(2, 39)),))
    assert (verdict(noisy)[0], lacks(rule(noisy))) == ("not-determined", {Lack.SHAMS_FLIP})


def test_order_needs_moving_and_an_edge() -> None:
    facts = replace(REFUND, orders=(FLIPPING_ORDER,))
    found = rule(facts)
    assert (found.causes[0].code, found.causes[0].about) == ("order", ("doc1",))
    assert Remark.MECHANISM_NOT_SHOWN not in found.remarks


def test_an_order_that_changes_roles_as_well_is_said_so() -> None:
    facts = replace(REFUND, orders=(FLIPPING_ORDER,), across_roles=True)
    assert rule(facts).causes[0].code == "order"
    assert Remark.ROLES_TOO in rule(facts).remarks
    assert Remark.ROLES_TOO not in rule(replace(REFUND, across_roles=True)).remarks


def test_order_without_an_edge_needs_variants_and_says_that_no_mechanism_was_shown() -> None:
    no_edge = replace(REFUND, orders=(FLIPPING_ORDER,), boost=NO_BOOST, cuts=(replace(CUT, flips=False),))
    found = rule(no_edge)
    assert found.causes[0].code == "order"
    assert Remark.MECHANISM_NOT_SHOWN in found.remarks
    alone = replace(no_edge, orders=(replace(FLIPPING_ORDER, repeats=None),))
    assert (verdict(alone)[0], lacks(rule(alone))) == ("not-determined", {Lack.NO_EDGE})


def test_overruled_needs_the_closed_book_answer_and_a_writer() -> None:
    facts = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, writers=(WRITER,))
    assert verdict(facts) == ("knowledge", "overruled")
    assert verdict(replace(facts, writers=())) == ("not-determined", "beyond-the-model")
    assert verdict(replace(facts, closed_same_wrong=False))[0] == "not-determined"
    broken = replace(facts, writers=(replace(WRITER, shams=ShamRun(4, 29)),))
    assert verdict(broken)[0] == "not-determined"


def test_beyond_the_model_when_nothing_flips() -> None:
    facts = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    assert verdict(facts) == ("not-determined", "beyond-the-model")


def test_missing_needs_the_fact_to_flip() -> None:
    bare = Facts(right=False, delta=1e-5, own=True, own_ld=-2.0, legal=True)
    fact = Try("fact added", True, touches=frozenset({"fact"}), after=2.0, own=2.0)
    assert verdict(replace(bare, fact=fact)) == ("knowledge", "missing")
    assert verdict(replace(bare, fact=replace(fact, flips=False)))[0] == "not-determined"
    assert rule(bare).remarks == (Remark.NO_EVIDENCE_NAMED,)


def test_decoding_needs_the_lead_on_the_own_path() -> None:
    greedy = Try("greedy decoding", True, touches=frozenset({"decoding"}), effect=0.0, after=0.5, own=0.5)
    facts = replace(REFUND, own_ld=0.5, stated_decoding=True, greedy=greedy, boost=NO_BOOST, alone=STUCK)
    assert verdict(facts) == ("decoding", None)
    assert verdict(replace(facts, own_ld=4e-5))[0] == "not-determined"
    assert verdict(replace(facts, own=False))[0] == "not-determined"
    assert verdict(replace(facts, greedy=replace(greedy, flips=False)))[0] == "not-determined"


def test_greedy_decoding_that_flips_is_told_whatever_is_named() -> None:
    """Without a lead on the own path it names nothing, and nothing is said to be beyond the model."""
    greedy = Try("greedy decoding", True, touches=frozenset({"decoding"}), own=0.5)
    stuck = replace(REFUND, boost=NO_BOOST, alone=STUCK, cuts=(), forced=None, stated_decoding=True)
    found = rule(replace(stuck, greedy=greedy))
    assert (found.causes[0].code, found.causes[0].detail) == ("not-determined", None)
    assert [(leaf.code, leaf.undone_by, leaf.lacks) for leaf in found.candidates] == [
        ("decoding", greedy, (Lack.NO_LEAD,))
    ]
    ahead = rule(replace(stuck, greedy=greedy, own=False, own_ld=1.35))
    assert lacks(ahead) == {Lack.NO_OWN}, "it leads where the answer begins, and neither was written"
    in_vain = rule(replace(stuck, greedy=replace(greedy, flips=False)))
    assert in_vain.causes[0].detail is None, "the evidence alone was asked under the stated decoding only"
    assert Remark.STATED_DECODING in in_vain.remarks
    assert verdict(replace(stuck, stated_decoding=False)) == ("not-determined", "beyond-the-model")
    cut = replace(stuck, stated_decoding=False, alone=replace(STUCK, cut=True))
    assert verdict(cut) == ("not-determined", None), "the limit ended what the evidence alone gave"


@pytest.mark.parametrize("field", ["fact", "contract", "choice", "greedy", "longer", "boost", "closed", "reference"])
def test_nothing_that_flips_is_beyond_the_model(field: str) -> None:
    stuck = replace(REFUND, boost=NO_BOOST, alone=STUCK, cuts=(), forced=None, closed=replace(NO_BOOST, what="closed"))
    assert verdict(stuck) == ("not-determined", "beyond-the-model")
    flips = Try(f"some {field}", True, own=1.0)
    found = rule(replace(stuck, **{field: flips}))
    assert found.causes[0].detail != "beyond-the-model"


def test_a_forced_prefix_that_is_right_names_nothing() -> None:
    facts = replace(REFUND, boost=NO_BOOST, alone=STUCK, cuts=(), forced=("Answer: ", 5.0))
    assert verdict(facts)[0] == "not-determined"
    assert Remark.PATH_DEPENDENT in rule(facts).remarks
    tie = replace(facts, own_ld=1e-5)
    assert verdict(tie) == ("not-determined", "path-dependent")
    assert verdict(replace(tie, evidence_states=False)) == ("not-determined", None), "nothing could have been read"
    silent = replace(facts, own=False, legal=False)
    assert verdict(silent) == ("not-determined", "path-dependent")
    assert verdict(replace(silent, legal=True))[1] != "path-dependent", "a third value was written"


def test_format_by_lenient_parse_by_contract_and_by_choice_at_the_start() -> None:
    lenient = Try("lenient parse", True, touches=frozenset({"parse"}))
    assert verdict(replace(REFUND, lenient=lenient, boost=NO_BOOST)) == ("format", None)
    contract = Try("prefix 'Answer: ' forced", True, touches=frozenset({"prefix"}), own=1.0)
    silent = replace(REFUND, legal=False, own=False, boost=NO_BOOST)
    assert verdict(replace(silent, contract=contract)) == ("format", None)
    assert verdict(replace(silent, choice=CHOICE)) == ("format", None)
    assert rule(replace(silent, choice=CHOICE)).causes[0].undone_by is CHOICE
    assert verdict(replace(REFUND, contract=contract, choice=CHOICE, boost=NO_BOOST))[0] == "not-determined"


def test_that_the_right_answer_leads_at_the_start_names_no_format_unless_choosing_it_gives_the_answer() -> None:
    silent = replace(REFUND, legal=False, own=False, boost=NO_BOOST, alone=STUCK)
    assert verdict(replace(silent, choice=replace(CHOICE, flips=False)))[0] == "not-determined"
    few = replace(silent, choice=replace(CHOICE, repeats=Rate(2, 9)))
    assert (verdict(few)[0], lacks(rule(few))) == ("not-determined", {Lack.VARIANTS})
    lenient = Try("lenient parse", True, repeats=Rate(3, 10))
    assert verdict(replace(silent, lenient=lenient))[0] == "not-determined"


def test_an_answer_that_states_both_shows_no_cause_of_what_it_states() -> None:
    for several, remark in (("right-first", Remark.RIGHT_FIRST), ("right-later", Remark.RIGHT_LATER)):
        found = rule(replace(REFUND, several=several, own_ld=1.0))
        assert (found.causes[0].code, found.causes[0].detail) == ("not-determined", "several-answers")
        assert remark in found.remarks
        assert lacks(found) == {Lack.SEVERAL}
        assert found.candidates[0].undone_by is BOOST
    greedy = replace(REFUND, several="right-first", own_ld=0.5, stated_decoding=True, greedy=GREEDY)
    assert verdict(greedy) == ("not-determined", "several-answers")
    assert verdict(replace(REFUND, several="right-first", switches=(SWITCH,)))[0] == "implementation"
    both = replace(ORDER, several=True)
    assert Remark.ORDER_BOTH in rule(replace(REFUND, orders=(both,))).remarks


def test_the_evidence_alone_is_no_second_fact_where_nothing_stands_beside_it() -> None:
    only = replace(REFUND, alone=None, beside=False, orders=(), cuts=(), boost=NO_BOOST, forced=None)
    assert verdict(only) == ("not-determined", "beyond-the-model")
    overruled = replace(only, closed_same_wrong=True, writers=(WRITER,))
    assert verdict(overruled) == ("knowledge", "overruled")
    assert Remark.BOOST_FLIPS in rule(replace(only, boost=BOOST)).remarks
    assert Remark.BOOST_FLIPS not in rule(replace(only, boost=BOOST, stated_decoding=True)).remarks, "a draw"


def test_a_boost_that_makes_other_text_the_answer_is_said() -> None:
    copied = replace(REFUND, boost=replace(BOOST, shams=ShamRun(0, 21, rivals=4, copied=2)))
    assert Remark.BOOST_COPIES in rule(copied).remarks
    assert Remark.BOOST_COPIES not in rule(REFUND).remarks


def test_a_pair_is_joint_and_never_one_of_the_two() -> None:
    both = Try("order doc2 doc1 + MLP 7", True, touches=frozenset({"order", "mlp 7"}), own=2.0, shams=ShamRun(0, 29))
    facts = replace(
        REFUND,
        alone=STUCK,
        boost=NO_BOOST,
        cuts=(),
        closed_same_wrong=True,
        pairs=(Pair(("order", "knowledge"), both),),
    )
    assert verdict(facts) == ("joint", "order+knowledge")


def test_the_contained_change_comes_first_and_the_others_stay_listed() -> None:
    lenient = Try("lenient parse", True, touches=frozenset())
    found = rule(replace(REFUND, lenient=lenient))
    assert [leaf.code for leaf in found.causes] == ["format", "context-use"]


def test_a_right_answer_says_what_it_rests_on_and_warns() -> None:
    found = rule(replace(REFUND, right=True, rests_on=("doc2",), ignores_evidence=True))
    assert (found.causes[0].code, found.causes[0].about) == ("none", ("doc2",))
    assert found.remarks == (Remark.NOT_ON_EVIDENCE,)
    assert rule(replace(REFUND, right=True, ignores_evidence=False)).remarks == ()


def test_wrong_elsewhere_and_right_here_is_not_reproduced() -> None:
    assert verdict(replace(REFUND, right=True, got_wrong=True)) == ("not-determined", "not-reproduced-here")
    assert verdict(replace(REFUND, right=True, got_wrong=False))[0] == "none"


def test_interrupted_before_the_prompts_nothing_is_claimed() -> None:
    bare = replace(REFUND, alone=None, orders=(), boost=None, cuts=(), closed=None, closed_same_wrong=None)
    assert verdict(bare) == ("not-determined", None)


@pytest.mark.parametrize(
    ("hits", "n", "enough"),
    [(8, 10, True), (7, 10, False), (8, 9, True), (7, 9, False), (7, 8, True), (6, 8, False), (7, 7, False)],
)
def test_eight_of_ten(hits: int, n: int, enough: bool) -> None:
    assert holds(Rate(hits, n)) is enough


SWITCH = Try("no cache", True, touches=frozenset({"no cache"}), effect=9.0, after=7.0, own=7.0, repeats=NINE)
GREEDY = Try("greedy decoding", True, touches=frozenset({"decoding"}), effect=0.0, after=0.5, own=0.5)


def test_a_sound_engine_that_is_right_ends_the_tree() -> None:
    facts = replace(REFUND, orders=(FLIPPING_ORDER,), switches=(SWITCH, replace(SWITCH, what="fp32")))
    found = rule(facts)
    assert [(leaf.code, leaf.undone_by) for leaf in found.causes] == [("implementation", SWITCH)]
    assert found.variants
    assert verdict(replace(facts, switches=())) == ("order", None)


def test_a_switch_that_fails_in_the_variants_names_nothing() -> None:
    facts = replace(REFUND, switches=(replace(SWITCH, repeats=Rate(2, 10)),))
    found = rule(facts)
    assert found.causes[0].code == "context-use"
    assert Lack.VARIANTS in lacks(found)


def test_the_ids_that_were_meant() -> None:
    pinned = Try("ids pinned", True, touches=frozenset({"ids"}), own=3.0)
    assert verdict(replace(REFUND, pinned=pinned)) == ("template", None)
    assert verdict(replace(REFUND, pinned=replace(pinned, flips=False)))[0] == "context-use"


def test_where_the_right_answer_leads_no_other_flip_counts() -> None:
    """A draw that went wrong goes right under anything that makes it anew."""
    drawn = replace(REFUND, own_ld=0.5, stated_decoding=True, greedy=GREEDY, orders=(FLIPPING_ORDER,))
    assert [(leaf.code) for leaf in rule(drawn).causes] == ["decoding"]
    assert verdict(replace(drawn, own_ld=-0.5)) == ("order", None)


def test_an_answer_that_its_limit_cut_short_is_neither_illegal_nor_wrong() -> None:
    longer = Try("limit of 128 tokens", True, own=3.0, asserts=True)
    cut = replace(REFUND, legal=False, own=False, choice=CHOICE, longer=longer)
    found = rule(cut)
    assert (found.causes[0].code, found.candidates) == ("not-determined", ())
    assert Remark.CUT_SHORT in found.remarks
    assert verdict(replace(cut, limit_stated=True)) == ("decoding", "limit")
    assert Remark.CUT_SHORT not in rule(replace(cut, limit_stated=True)).remarks
    wrong = replace(longer, flips=False)
    assert verdict(replace(cut, limit_stated=True, longer=wrong)) == ("not-determined", "cut-short")
    assert Remark.CUT_BY_CASE in rule(replace(cut, limit_stated=True, longer=wrong)).remarks
    assert verdict(replace(cut, longer=replace(wrong, asserts=False), boost=NO_BOOST, alone=STUCK)) == ("format", None)


def test_a_cut_answer_to_the_evidence_alone_is_neither_right_nor_wrong() -> None:
    for flips in (False, True):
        cut = replace(REFUND, alone=replace(ALONE, flips=flips, cut=True))
        assert cut.alone_right is None
    assert verdict(replace(REFUND, alone=replace(STUCK, cut=True)))[0] == "not-determined"


def test_a_boost_that_was_cut_does_not_show_that_looking_more_is_in_vain() -> None:
    head = Try("head 20.3 set to zero", True, (), frozenset({"head 20.3"}), 9.0, 3.0, 3.0, shams=ShamRun(0, 39))
    facts = replace(REFUND, boost=NO_BOOST, suppressors=(head,), lift=6.3)
    assert verdict(facts) == ("context-use", "looked-at-not-used")
    assert verdict(replace(facts, boost=replace(NO_BOOST, cut=True)))[0] == "not-determined"


def test_an_edge_that_flips_without_proof_is_no_missing_edge() -> None:
    moved = replace(FLIPPING_ORDER, repeats=None)
    facts = replace(REFUND, orders=(moved,), boost=replace(BOOST, shams=ShamRun(9, 21)), cuts=())
    (leaf,) = (leaf for leaf in rule(facts).candidates if leaf.code == "order")
    assert leaf.lacks == (Lack.EDGE_UNPROVEN,)
    assert leaf.edge == facts.boost
    assert lacks(rule(replace(facts, boost=NO_BOOST))) == {Lack.NO_EDGE}
    assert lacks(rule(replace(facts, boost=replace(NO_BOOST, cut=True)))) == {Lack.EDGE_CUT}


def test_missing_is_never_said_of_what_the_prompt_states() -> None:
    fact = Try("fact added", True, touches=frozenset({"fact"}), after=2.0, own=2.0)
    bare = Facts(right=False, delta=1e-5, own=True, own_ld=-2.0, legal=True, fact=fact)
    assert verdict(bare) == ("knowledge", "missing")
    said = replace(bare, stated_in=("examples",))
    assert verdict(said)[0] == "not-determined"
    assert Remark.STATED_UNNAMED in rule(said).remarks


def test_evidence_that_states_nothing_says_nothing_about_the_model() -> None:
    facts = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    assert verdict(replace(facts, evidence_states=True)) == ("not-determined", "beyond-the-model")
    silent = replace(facts, evidence_states=False)
    assert verdict(silent) == ("not-determined", None)
    assert Remark.EVIDENCE_SILENT in rule(silent).remarks


def test_readers_patched_from_the_run_with_the_evidence_alone() -> None:
    reader = Try("heads 12.3 14.0 patched", True, touches=frozenset({"heads"}), own=3.0, shams=ShamRun(0, 39))
    facts = replace(REFUND, boost=NO_BOOST, readers=(reader,))
    assert verdict(facts) == ("context-use", "looked-at-not-used")
    assert Remark.READERS_NOT_RUN not in rule(replace(facts, readers=())).remarks
    assert Remark.TOTAL_NOT_NULL in rule(replace(facts, total_in_null=False)).remarks
    weak = replace(reader, shams=ShamRun(9, 39))
    assert len(rule(replace(facts, readers=(weak, reader))).causes) == 1


def test_knowledge_does_not_overrule_what_the_answer_follows() -> None:
    facts = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, writers=(WRITER,))
    assert verdict(replace(facts, follows_change=False)) == ("knowledge", "overruled")
    found = rule(replace(facts, follows_change=True))
    assert (found.causes[0].code, lacks(found)) == ("not-determined", {Lack.FOLLOWS})


def test_the_writer_of_the_form_needs_its_shams() -> None:
    writer = Try("head 9.1 set to zero", True, touches=frozenset({"head 9.1"}), own=3.0, shams=ShamRun(0, 39))
    silent = replace(REFUND, legal=False, own=False, boost=NO_BOOST, alone=STUCK, form_writers=(writer,))
    assert verdict(silent) == ("format", None)
    assert verdict(replace(silent, form_writers=(replace(writer, shams=ShamRun(5, 39)),)))[0] == "not-determined"


def test_a_change_that_needs_no_evidence_shows_nothing_about_the_evidence() -> None:
    head = Try("head 20.3 set to zero", True, (), frozenset({"head 20.3"}), 9.0, 3.0, 3.0, shams=ShamRun(0, 39))
    for facts in (
        replace(REFUND, boost=NO_BOOST, suppressors=(replace(head, unread=True),)),
        replace(REFUND, boost=NO_BOOST, readers=(replace(head, unread=True),)),
        replace(REFUND, alone=STUCK, boost=NO_BOOST, closed_same_wrong=True, writers=(replace(WRITER, unread=True),)),
    ):
        found = rule(facts)
        assert (found.causes[0].code, found.causes[0].detail) == ("not-determined", None)
        assert lacks(found) == {Lack.UNREAD}
    rests = replace(REFUND, boost=NO_BOOST, suppressors=(replace(head, unread=False),))
    assert verdict(rests) == ("context-use", "looked-at-not-used")


def test_beyond_the_model_is_not_said_where_a_form_or_a_pair_flips() -> None:
    stuck = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    noisy = replace(WRITER, shams=ShamRun(9, 29))
    assert verdict(stuck) == ("not-determined", "beyond-the-model")
    pair = Pair(("order", "knowledge"), noisy)
    assert verdict(replace(stuck, pairs=(pair,))) == ("not-determined", None)
    assert verdict(replace(stuck, legal=False, own=False, form_writers=(noisy,))) == ("not-determined", None)


def test_nothing_was_remembered_that_the_prompt_itself_holds() -> None:
    stuck = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    overruled = replace(stuck, writers=(WRITER,), follows_change=False)
    assert verdict(overruled) == ("knowledge", "overruled")
    found = rule(replace(overruled, wrong_stated=("policy",)))
    assert (found.causes[0].code, found.causes[0].detail, lacks(found)) == ("not-determined", None, {Lack.WRONG_STATED})
    assert Remark.WRONG_STATED in found.remarks
    assert verdict(replace(stuck, wrong_stated=("policy",))) == ("not-determined", None)
    pair = Pair(("order", "knowledge"), replace(WRITER, what="order doc2 doc1 and MLP 7 set to zero"))
    assert verdict(replace(stuck, pairs=(pair,))) == ("joint", "order+knowledge")
    assert verdict(replace(stuck, pairs=(pair,), wrong_stated=("policy",))) == ("not-determined", None)
    assert Remark.WRONG_STATED not in rule(replace(REFUND, wrong_stated=("policy",))).remarks


def test_a_memory_that_no_removal_undoes_is_left_open() -> None:
    stuck = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    assert Remark.MEMORY_OPEN not in rule(stuck).remarks, "nothing was sought"
    sought = replace(stuck, writers_sought=True)
    assert Remark.MEMORY_OPEN in rule(sought).remarks
    assert Remark.MEMORY_OPEN not in rule(replace(sought, writers=(replace(WRITER, unread=True),))).remarks
    told = rule(replace(sought, wrong_stated=("policy",))).remarks
    assert (Remark.MEMORY_OPEN in told, Remark.WRONG_STATED in told) == (False, True)
    assert Remark.WRONG_STATED not in rule(replace(sought, alone=ALONE, wrong_stated=("doc2",))).remarks


def test_a_fact_is_missing_only_where_its_words_without_the_answer_do_nothing() -> None:
    fact = Try("fact added", True, touches=frozenset({"fact"}), after=2.0, own=2.0, shams=ShamRun(0, 19))
    bare = Facts(right=False, delta=1e-5, own=True, own_ld=-2.0, legal=True, fact=fact)
    assert verdict(bare) == ("knowledge", "missing")
    turned = replace(bare, fact=replace(fact, shams=ShamRun(1, 19)))
    assert (verdict(turned)[0], lacks(rule(turned))) == ("not-determined", {Lack.SHAMS_FLIP})
    told = replace(bare, wrong_stated=("note",))
    assert (verdict(told)[0], lacks(rule(told))) == ("not-determined", {Lack.WRONG_STATED})


def test_a_fact_is_not_missing_where_the_answer_rests_on_another_sentence() -> None:
    fact = Try("fact added", True, touches=frozenset({"fact"}), after=2.0, own=2.0, shams=ShamRun(0, 19))
    told = Facts(right=False, delta=1e-5, own=True, own_ld=-2.0, legal=True, fact=fact, supplied_by=(("rules", 2),))
    assert (verdict(told)[0], lacks(rule(told))) == ("not-determined", {Lack.SUPPLIED})
    assert Remark.SUPPLIED in rule(told).remarks
    assert "Make sentence 2 of rules a part of its own, where it is none" in next_step(rule(told), told, "en")
    assert "把 rules 的第 2 句 单独成为一个部分" in next_step(rule(told), told, "zh")
    bare = replace(told, supplied_by=())
    assert next_step(rule(bare), bare, "en").startswith("Put the fact into the prompt")


def test_guessed_evidence_is_said_beside_every_verdict_and_proves_little() -> None:
    guessed = replace(REFUND, presumed=True)
    assert rule(guessed).remarks[0] == Remark.GUESSED
    assert verdict(guessed) == ("context-use", "not-looked-at")
    assert "doc2 was taken for it" in because(rule(guessed), guessed, "en")
    assert "以它充当证据" in because(rule(guessed), guessed, "zh")
    elsewhere = replace(guessed, off_question=True)
    assert (verdict(elsewhere)[0], lacks(rule(elsewhere))) == ("not-determined", {Lack.GUESSED})
    assert Remark.GUESSED in rule(replace(guessed, right=True)).remarks


def test_a_wrong_answer_that_another_part_states_of_what_is_asked_is_said() -> None:
    nearer = replace(REFUND, nearer=("doc1",))
    assert verdict(nearer) == verdict(REFUND)
    assert Remark.NEARER in rule(nearer).remarks
    assert "check whether the declared right answer" in because(rule(nearer), nearer, "en")


def test_a_right_value_in_another_form_is_not_beyond_the_model() -> None:
    stuck = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), closed_same_wrong=True, forced=None)
    formed = replace(stuck, alone_off_form=True, writers=(WRITER,))
    assert verdict(formed) == ("not-determined", None)
    assert Remark.ALONE_OFF_FORM in rule(formed).remarks


def test_no_format_is_named_of_an_answer_that_states_two_values() -> None:
    prefix = Try("prefix", True, touches=frozenset({"prefix"}), own=1.0)
    loop = replace(REFUND, alone=STUCK, boost=NO_BOOST, cuts=(), legal=False, contract=prefix, forced=None)
    assert verdict(loop) == ("format", None)
    assert verdict(replace(loop, several="right-later")) == ("not-determined", "several-answers")


def test_the_right_answer_outside_the_evidence_is_said() -> None:
    assert Remark.STATED_BESIDE in rule(replace(REFUND, stated_beside=("doc3",))).remarks
    assert rule(replace(REFUND, right=True, stated_beside=("doc3",))).remarks == (Remark.STATED_BESIDE,)


def test_a_p_at_the_border_and_a_form_left_aside_are_said() -> None:
    def said(flipped: int, n: int) -> bool:
        return Remark.BORDER in rule(replace(REFUND, boost=replace(BOOST, shams=ShamRun(flipped, n)))).remarks

    assert [said(0, 19), said(1, 39), said(1, 59), said(2, 59)] == [False, True, False, True]
    aside = replace(REFUND, off_form="Answer: ")
    assert Remark.OFF_FORM in rule(aside).remarks
    assert "“Answer: …”" in because(rule(aside), aside, "en")
    assert "“Answer: …”" in because(rule(aside), aside, "zh")
