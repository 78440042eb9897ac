"""What a report adds to its verdict: read from the facts, as the verdict is."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from whybox.verdict.facts import Facts
from whybox.verdict.leaf import LIMIT, Leaf


class Remark(StrEnum):
    """What a report adds to its verdict."""

    GUESSED = "guessed"
    NEARER = "nearer"
    SUPPLIED = "supplied"
    DEMANDED = "demanded"
    DEMANDED_TOO = "demanded-too"
    ALONE_OFF_FORM = "alone-off-form"
    PATH_DEPENDENT = "path-dependent"
    RIGHT_FIRST = "right-first"
    RIGHT_LATER = "right-later"
    ORDER_BOTH = "order-both"
    ROLES_TOO = "roles-too"
    BOOST_COPIES = "boost-copies"
    MECHANISM_NOT_SHOWN = "mechanism-not-shown"
    LIFT_NOT_LOW = "lift-not-low"
    LIFT_LOW = "lift-low"
    TOTAL_NOT_NULL = "total-not-null"
    ZERO_ONLY = "zero-only"
    NO_EVIDENCE_NAMED = "no-evidence-named"
    NO_EVIDENCE_BUT_FACT = "no-evidence-but-fact"
    STATED_UNNAMED = "stated-unnamed"
    EVIDENCE_SILENT = "evidence-silent"
    WRONG_STATED = "wrong-stated"
    STATED_BESIDE = "stated-beside"
    STATED_ELSEWHERE = "stated-elsewhere"
    MEMORY_OPEN = "memory-open"
    CUT_SHORT = "cut-short"
    CUT_BY_CASE = "cut-by-case"
    READERS_NOT_RUN = "readers-not-run"
    STATED_DECODING = "stated-decoding"
    STATED_DECODING_ONE = "stated-decoding-one"
    BOOST_FLIPS = "boost-flips"
    RIGHT_WITHOUT = "right-without"
    NEEDS_NO_EVIDENCE = "needs-no-evidence"
    NOT_ON_EVIDENCE = "not-on-evidence"


def warnings(facts: Facts) -> Iterator[Remark]:
    """Of a right answer: where it does not rest on its evidence, or that was guessed."""
    if facts.presumed:
        yield Remark.GUESSED
    if facts.closed is not None and facts.closed.flips:
        yield Remark.NEEDS_NO_EVIDENCE
    elif facts.ignores_evidence and not set(facts.evidence) & {one.name for one in facts.unsettled}:
        yield Remark.NOT_ON_EVIDENCE
    yield from _about_beside(facts)


def _readers_left_out(facts: Facts) -> bool:
    """They are patched where the evidence alone is right, and neither another order nor the boost is."""
    others = any(change is not None and change.flips for change in (facts.boost, *facts.orders))
    return facts.alone is not None and facts.alone.flips and facts.readers is None and not others


def _boost_is_open(facts: Facts) -> bool:
    """The evidence alone is not right, or gave no answer. Under a stated decoding one draw more shows nothing."""
    unknown = facts.alone is not None and facts.alone.cut
    return (facts.alone_right is False or unknown) and not facts.stated_decoding


def _about_declaration(facts: Facts, named: Sequence[Leaf]) -> Iterator[Remark]:
    """What a reader must check in the case itself before the verdict is read."""
    if facts.presumed:
        yield Remark.GUESSED
    if facts.nearer and not facts.right:
        yield Remark.NEARER
    if facts.demands and not facts.right:
        yield Remark.DEMANDED if facts.obeyed else Remark.DEMANDED_TOO
    if facts.supplied_by and not named:
        yield Remark.SUPPLIED
    if facts.alone_off_form and not named:
        yield Remark.ALONE_OFF_FORM


def _about_beside(facts: Facts) -> Iterator[Remark]:
    """Where parts that are not named as evidence state the right answer: as well, or in its place."""
    if facts.stated_beside:
        yield Remark.STATED_ELSEWHERE if facts.evidence_states is False else Remark.STATED_BESIDE


def _about_memory(facts: Facts) -> Iterator[Remark]:
    """Where the evidence alone is not right: whether the wrong answer can have been remembered."""
    if facts.alone_right is True:
        return
    if facts.wrong_stated:
        yield Remark.WRONG_STATED
    elif facts.closed_same_wrong and facts.writers_sought and not any(writer.flips for writer in facts.writers):
        yield Remark.MEMORY_OPEN


def remarks(facts: Facts, named: Sequence[Leaf]) -> Iterator[Remark]:
    """What is said beside a wrong answer's verdict. named: the causes that were."""
    yield from _about_declaration(facts, named)
    if facts.forced is not None and facts.forced[1] > facts.floor and facts.own and facts.own_ld < -facts.floor:
        yield Remark.PATH_DEPENDENT
    if facts.several is not None:
        yield Remark.RIGHT_FIRST if facts.several == "right-first" else Remark.RIGHT_LATER
    if not facts.evidence and not facts.right:
        given = Remark.NO_EVIDENCE_NAMED if facts.fact is None else Remark.NO_EVIDENCE_BUT_FACT
        yield Remark.STATED_UNNAMED if facts.stated_in else given
    if facts.evidence_states is False and not facts.right:
        yield Remark.EVIDENCE_SILENT
    if not named and not facts.right:
        yield from _about_memory(facts)
    if not facts.right:
        yield from _about_beside(facts)
    codes = [(leaf.code, leaf.detail) for leaf in named]
    if facts.cut_short and ("decoding", LIMIT) not in codes:
        yield Remark.CUT_BY_CASE if facts.limit_stated else Remark.CUT_SHORT
    if not named and facts.stated_decoding and facts.alone_right is False:
        yield Remark.STATED_DECODING if facts.beside or facts.greedy is None else Remark.STATED_DECODING_ONE
    if ("order", None) in codes and not any(edge.flips for edge in facts.edges):
        yield Remark.MECHANISM_NOT_SHOWN
    if ("order", None) in codes and facts.across_roles:
        yield Remark.ROLES_TOO
    if ("context-use", "not-looked-at") in codes and facts.lift is not None and facts.lift >= 1:
        yield Remark.LIFT_NOT_LOW
    if any(code == "context-use" for code, _ in codes) and any(order.several for order in facts.orders):
        yield Remark.ORDER_BOTH
    if facts.boost is not None and facts.boost.shams is not None and facts.boost.shams.copied:
        yield Remark.BOOST_COPIES
    if ("context-use", "looked-at-not-used") in codes:
        if facts.lift is not None and facts.lift < 1:
            yield Remark.LIFT_LOW
        if facts.total_in_null is False:
            yield Remark.TOTAL_NOT_NULL
    if any(" set to zero" in leaf.undone_by.what for leaf in named if leaf.undone_by is not None):
        yield Remark.ZERO_ONLY
    if not named and _readers_left_out(facts):
        yield Remark.READERS_NOT_RUN
    if not named and facts.boost is not None and facts.boost.flips and _boost_is_open(facts):
        yield Remark.BOOST_FLIPS
    if ("context-use", "not-looked-at") in codes and facts.closed is not None and facts.closed.flips:
        yield Remark.RIGHT_WITHOUT
