"""The verdict tree. Every branch was run; the tree only reads what came out.

A leaf is named when its undoing change flips the failing prompt itself, its shams do not (p ≤ .05), the answer that it
gives rests on the evidence (where it speaks of that), and the flip holds in at least 8 of 10 failing variants (8 or 9
variants in all: one miss; fewer: the sentence speaks of this prompt only).
Anything less is a candidate that says what it lacks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from whybox.statistics.intervals import Rate
from whybox.verdict.facts import Facts, Try

ALPHA = 0.05
LIMIT = "limit"  # the stated decoding ends the answer too early
FEW = 8  # below this many failing variants a verdict speaks of the prompt alone


class Lack(StrEnum):
    """What kept a candidate from being named."""

    NO_FLIP = "no-flip"
    NO_SHAMS = "no-shams"
    FEW_SHAMS = "few-shams"
    SHAMS_FLIP = "shams-flip"
    VARIANTS = "variants"
    NO_EDGE = "no-edge"
    NOT_CONTAINED = "not-contained"
    FOLLOWS = "follows"
    UNREAD = "unread"
    SEVERAL = "several"
    WRONG_STATED = "wrong-stated"
    SUPPLIED = "supplied"
    GUESSED = "guessed"
    NO_LEAD = "no-lead"


class Remark(StrEnum):
    """What a report adds to its verdict."""

    GUESSED = "guessed"
    NEARER = "nearer"
    SUPPLIED = "supplied"
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
    STATED_UNNAMED = "stated-unnamed"
    EVIDENCE_SILENT = "evidence-silent"
    WRONG_STATED = "wrong-stated"
    STATED_BESIDE = "stated-beside"
    MEMORY_OPEN = "memory-open"
    CUT_SHORT = "cut-short"
    READERS_NOT_RUN = "readers-not-run"
    STATED_DECODING = "stated-decoding"
    BOOST_FLIPS = "boost-flips"
    RIGHT_WITHOUT = "right-without"
    NEEDS_NO_EVIDENCE = "needs-no-evidence"
    NOT_ON_EVIDENCE = "not-on-evidence"


@dataclass(frozen=True)
class Leaf:
    """A cause with the change that undoes it, or a candidate with what it lacks."""

    code: str
    detail: str | None
    undone_by: Try | None = None
    lacks: tuple[Lack, ...] = ()
    about: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ruling:
    """causes: the verdict first. candidates: what came close. variants: whether the verdict speaks of variants too."""

    causes: tuple[Leaf, ...]
    candidates: tuple[Leaf, ...]
    remarks: tuple[Remark, ...]
    variants: bool


def rule(facts: Facts) -> Ruling:
    """Read the tree, first line first."""
    if facts.right and facts.got_wrong:
        return _undetermined(facts, "not-reproduced-here", ())
    if facts.right:
        return Ruling((Leaf("none", None, about=facts.rests_on),), (), tuple(_warnings(facts)), variants=False)
    before = [*_computing(facts), *_decoding(facts)]
    if named := [leaf for leaf in before if not leaf.lacks]:
        return Ruling(tuple(named[:1]), (), tuple(_remarks(facts, named[:1])), _speaks_of_variants(named[0]))
    if _cut_short(facts):
        return _undetermined(facts, None, tuple(leaf for leaf in before if leaf.undone_by and leaf.undone_by.flips))
    leaves = [*before, *(_of_one_answer(leaf, facts) for leaf in (*_form(facts), *_read_leaves(facts)))]
    named = _contained([leaf for leaf in leaves if not leaf.lacks])
    candidates = tuple(leaf for leaf in leaves if leaf.lacks and leaf.undone_by and leaf.undone_by.flips)
    if not named:
        joint = [_of_one_answer(leaf, facts) for leaf in _joint(facts)]
        named = [leaf for leaf in joint if not leaf.lacks]
        candidates = (*candidates, *(leaf for leaf in joint if leaf.lacks))
    if named:
        return Ruling(tuple(named), candidates, tuple(_remarks(facts, named)), _speaks_of_variants(named[0]))
    return _undetermined(facts, _why_not(facts), candidates)


def _warnings(facts: Facts) -> Iterator[Remark]:
    """Of a right answer: where it does not rest on its evidence, or that was guessed."""
    if facts.presumed:
        yield Remark.GUESSED
    if facts.closed is not None and facts.closed.flips:
        yield Remark.NEEDS_NO_EVIDENCE
    elif facts.ignores_evidence and not set(facts.evidence) & set(facts.too_few_beside):
        yield Remark.NOT_ON_EVIDENCE
    if facts.stated_beside:
        yield Remark.STATED_BESIDE


def _undetermined(facts: Facts, detail: str | None, candidates: tuple[Leaf, ...]) -> Ruling:
    return Ruling((Leaf("not-determined", detail),), candidates, tuple(_remarks(facts, [])), variants=False)


def _computing(facts: Facts) -> Iterator[Leaf]:
    """Line 2: the same ids computed otherwise, or the ids that were meant, give the right answer. It comes before all
    else: what a faulty computation does with other prompts says nothing about the model.
    """
    if facts.switches:
        yield _leaf("implementation", None, facts.switches[0], lacking_variants(facts.switches[0]))
    if facts.pinned is not None:
        yield _leaf("template", None, facts.pinned, lacking_variants(facts.pinned))


def _of_one_answer(leaf: Leaf, facts: Facts) -> Leaf:
    """An answer that asserts the right one among others does not show that the evidence was overlooked or overruled."""
    return leaf if facts.several is None else replace(leaf, lacks=(*leaf.lacks, Lack.SEVERAL))


def _read_leaves(facts: Facts) -> Iterator[Leaf]:
    """The leaves below. Guessed evidence that shares no word with the question proves none of them."""
    guessed = (Lack.GUESSED,) if facts.presumed and facts.off_question else ()
    yield from (replace(leaf, lacks=(*leaf.lacks, *guessed)) for leaf in _leaves(facts))


def _leaves(facts: Facts) -> Iterator[Leaf]:
    """Every leaf of what was read and remembered, named or lacking."""
    if facts.fact is not None and not facts.evidence and not facts.stated:
        silent = facts.fact.shams is None or not facts.fact.shams.flipped
        shams = (*(() if silent else (Lack.SHAMS_FLIP,)), *((Lack.SUPPLIED,) if facts.supplied_by else ()))
        yield _leaf("knowledge", "missing", facts.fact, (*shams, *lacking_variants(facts.fact), *_wrong_stated(facts)))
    if facts.alone_right is None:
        return
    if facts.alone_right:
        yield from _order(facts) if any(order.flips for order in facts.orders) else _context_use(facts)
    elif facts.closed_same_wrong and not facts.alone_off_form:
        further = ((Lack.FOLLOWS,) if facts.follows_change else ()) + _wrong_stated(facts)
        yield from (_leaf("knowledge", "overruled", writer, (*lacking(writer), *further)) for writer in facts.writers)


def _wrong_stated(facts: Facts) -> tuple[Lack, ...]:
    """What the prompt itself holds need not have been remembered."""
    return (Lack.WRONG_STATED,) if facts.wrong_stated else ()


def _form(facts: Facts) -> Iterator[Leaf]:
    """Line 3: right under the lenient parse; or no legal answer, and the contract's prefix, a choice at the start
    between the two answers, or the writer of the form taken out gives the right one.
    """
    if facts.lenient is not None:
        yield _leaf("format", None, facts.lenient, lacking_variants(facts.lenient))
    elif not facts.legal:
        if facts.contract is not None and facts.contract.flips:
            yield _leaf("format", None, facts.contract, lacking_variants(facts.contract))
        elif facts.choice is not None and facts.choice.flips:
            yield _leaf("format", None, facts.choice, lacking_variants(facts.choice))
        else:
            yield from (_leaf("format", None, writer, lacking(writer)) for writer in facts.form_writers)


def _cut_short(facts: Facts) -> bool:
    """Cut by its limit before it asserted anything, an answer is neither wrong nor illegal: there is none yet."""
    return facts.longer is not None and facts.longer.asserts is True


def _decoding(facts: Facts) -> Iterator[Leaf]:
    """Line 3: the right answer led on the model's own path and the stated decoding did not write it.

    It comes before the lines below: a draw that went wrong goes right under any change that makes it anew, and where
    the right answer leads there is nothing else to explain.
    """
    if facts.greedy is not None:
        led = () if facts.own and facts.own_ld > facts.floor else (Lack.NO_LEAD,)
        both = () if facts.several is None else (Lack.SEVERAL,)
        yield _leaf("decoding", None, facts.greedy, (*led, *both, *lacking_variants(facts.greedy)))
    if facts.longer is not None and facts.longer.flips and facts.limit_stated:
        yield _leaf("decoding", LIMIT, facts.longer, lacking_variants(facts.longer))


def _order(facts: Facts) -> Iterator[Leaf]:
    """Line 5: moving a part flips; an edge shows the mechanism."""
    edges = [edge for edge in _edges(facts) if edge.flips]
    shown = next((edge for edge in edges if not lacking(edge)), None)
    for order in (order for order in facts.orders if order.flips):
        lacks = lacking_variants(order)
        if shown is None and not _holds_in_variants(order):
            lacks = (*lacks, Lack.NO_EDGE)
        yield Leaf("order", None, order, lacks, about=() if shown is None else shown.about)
        return


def _context_use(facts: Facts) -> Iterator[Leaf]:
    """Line 5, evidence alone right and no order: the boost tells not looked at from looked at and not used.

    The latter shows in readers patched from the run with the evidence alone, or in a suppressor taken out.
    """
    if facts.boost is not None and facts.boost.flips:
        yield _leaf("context-use", "not-looked-at", facts.boost, lacking(facts.boost))
    elif facts.boost is not None:
        found = [
            _leaf("context-use", "looked-at-not-used", change, lacking(change))
            for change in (*facts.suppressors, *(facts.readers or ()))
        ]
        yield from (replace(leaf, about=facts.evidence) for leaf in _best(found))


def _best(leaves: Sequence[Leaf]) -> list[Leaf]:
    """Several proofs of one cause are one cause: the first that lacks nothing, else all with what they lack."""
    return [leaf for leaf in leaves if not leaf.lacks][:1] or list(leaves)


def _edges(facts: Facts) -> tuple[Try, ...]:
    return (*facts.cuts, *(() if facts.boost is None else (facts.boost,)))


def _leaf(code: str, detail: str | None, change: Try, lacks: tuple[Lack, ...]) -> Leaf:
    missing = lacks if change.flips else (Lack.NO_FLIP, *(lack for lack in lacks if lack is not Lack.NO_FLIP))
    return Leaf(code, detail, change, missing, about=change.about)


def lacking(change: Try) -> tuple[Lack, ...]:
    """What an edge, ablation or patch lacks to be named: a flip, silent shams, evidence that the answer then rests on,
    variants that flip too.
    """
    lacks: list[Lack] = [] if change.flips else [Lack.NO_FLIP]
    if change.shams is None:
        lacks.append(Lack.NO_SHAMS)
    elif change.shams.p > ALPHA:
        lacks.append(Lack.SHAMS_FLIP if change.shams.flipped else Lack.FEW_SHAMS)
    if change.unread:
        lacks.append(Lack.UNREAD)
    return (*lacks, *lacking_variants(change))


def lacking_variants(change: Try) -> tuple[Lack, ...]:
    """Flips on enough of the failing variants; fewer than eight variants say nothing either way."""
    return () if change.repeats is None or holds(change.repeats) or change.repeats.n < FEW else (Lack.VARIANTS,)


def holds(repeats: Rate) -> bool:
    """At least 8 of 10; with 8 or 9 in all, one miss; fewer never generalise."""
    if repeats.n < FEW:
        return False
    if repeats.n < 10:
        return repeats.hits >= repeats.n - 1
    return repeats.hits >= 0.8 * repeats.n


def _holds_in_variants(change: Try) -> bool:
    return change.repeats is not None and holds(change.repeats)


def _speaks_of_variants(leaf: Leaf) -> bool:
    return leaf.undone_by is not None and _holds_in_variants(leaf.undone_by)


def _contained(named: Sequence[Leaf]) -> list[Leaf]:
    """Line 6: the leaf whose change is contained in all others first; the others stay listed behind it."""
    changes = {id(leaf): leaf.undone_by.touches for leaf in named if leaf.undone_by is not None}

    def inside_all(leaf: Leaf) -> bool:
        return all(changes[id(leaf)] <= changes[id(other)] for other in named)

    return sorted(named, key=lambda leaf: not inside_all(leaf))


def _joint(facts: Facts) -> list[Leaf]:
    """Only a pair flips: never one of its two."""
    return [
        Leaf(
            "joint",
            "+".join(pair.codes),
            pair.change,
            (*lacking(pair.change), *_wrong_stated(facts)),
            pair.change.about,
        )
        for pair in facts.pairs
        if pair.change.flips
    ]


def _why_not(facts: Facts) -> str | None:
    """The reason of a `not-determined`, where the tree has one."""
    if facts.several is not None:
        return "several-answers"
    near_tie = facts.own and abs(facts.own_ld) <= facts.floor
    forced_right = facts.forced is not None and facts.forced[1] > facts.floor
    third = facts.legal and not facts.own  # how two other values stand behind some words says nothing of it
    if forced_right and facts.evidence_states is not False and (near_tie or not facts.own) and not third:
        return "path-dependent"
    if facts.alone_right is not False or facts.evidence_states is False or facts.wrong_stated or facts.alone_off_form:
        return None
    return None if _may_be_more(facts) or any(one.flips for one in facts.tried) else "beyond-the-model"


def _may_be_more(facts: Facts) -> bool:
    """Under a stated decoding, or cut by a limit, a wrong answer to the evidence alone does not show what the model is
    able to do.
    """
    return facts.stated_decoding or (facts.alone is not None and facts.alone.cut)


def _readers_left_out(facts: Facts) -> bool:
    """They are patched where the evidence alone is right, and neither another order nor the boost is."""
    others = any(change is not None and change.flips for change in (facts.boost, *facts.orders))
    return facts.alone is not None and facts.alone.flips and facts.readers is None and not others


def _about_declaration(facts: Facts, named: Sequence[Leaf]) -> Iterator[Remark]:
    """What a reader must check in the case itself before the verdict is read."""
    if facts.presumed:
        yield Remark.GUESSED
    if facts.nearer and not facts.right:
        yield Remark.NEARER
    if facts.supplied_by and not named:
        yield Remark.SUPPLIED
    if facts.alone_off_form and not named:
        yield Remark.ALONE_OFF_FORM


def _about_memory(facts: Facts) -> Iterator[Remark]:
    """Where the evidence alone is not right: whether the wrong answer can have been remembered."""
    if facts.alone_right is True:
        return
    if facts.wrong_stated:
        yield Remark.WRONG_STATED
    elif facts.closed_same_wrong and facts.writers_sought and not any(writer.flips for writer in facts.writers):
        yield Remark.MEMORY_OPEN


def _remarks(facts: Facts, named: Sequence[Leaf]) -> Iterator[Remark]:
    yield from _about_declaration(facts, named)
    if facts.forced is not None and facts.forced[1] > facts.floor and facts.own and facts.own_ld < -facts.floor:
        yield Remark.PATH_DEPENDENT
    if facts.several is not None:
        yield Remark.RIGHT_FIRST if facts.several == "right-first" else Remark.RIGHT_LATER
    if not facts.evidence and not facts.right:
        yield Remark.STATED_UNNAMED if facts.stated else Remark.NO_EVIDENCE_NAMED
    if facts.evidence_states is False and not facts.right:
        yield Remark.EVIDENCE_SILENT
    if not named and not facts.right:
        yield from _about_memory(facts)
    if facts.stated_beside and not facts.right:
        yield Remark.STATED_BESIDE
    codes = [(leaf.code, leaf.detail) for leaf in named]
    if _cut_short(facts) and ("decoding", LIMIT) not in codes:
        yield Remark.CUT_SHORT
    if not named and facts.stated_decoding and facts.alone_right is False:
        yield Remark.STATED_DECODING
    if ("order", None) in codes and not any(edge.flips for edge in _edges(facts)):
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
    if not named and facts.boost is not None and facts.boost.flips and facts.alone_right is False:
        yield Remark.BOOST_FLIPS
    if ("context-use", "not-looked-at") in codes and facts.closed is not None and facts.closed.flips:
        yield Remark.RIGHT_WITHOUT
