"""The verdict tree. Every branch was run; the tree only reads what came out.

A leaf is named when its undoing change flips the failing prompt itself, its shams do not (p ≤ .05), the answer that it
gives rests on the evidence (where it speaks of that), and the flip holds in at least 8 of 10 failing variants (8 or 9
variants in all: one miss; fewer: the sentence speaks of this prompt only).
Anything less is a candidate that says what it lacks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whybox.statistics.intervals import Rate
from whybox.verdict.facts import ALPHA, Facts, Try
from whybox.verdict.leaf import DEMANDED, LIMIT, Lack, Leaf
from whybox.verdict.remarks import Remark, remarks, warnings

FEW = 8  # below this many failing variants a verdict speaks of the prompt alone


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
        return Ruling((Leaf("none", None, about=facts.rests_on),), (), tuple(warnings(facts)), variants=False)
    before = [*_computing(facts), *_decoding(facts)]
    if named := [leaf for leaf in before if not leaf.lacks]:
        return Ruling(tuple(named[:1]), (), tuple(remarks(facts, named[:1])), _speaks_of_variants(named[0]))
    if facts.cut_short:
        flipping = tuple(leaf for leaf in before if leaf.undone_by and leaf.undone_by.flips)
        return _undetermined(facts, "cut-short", flipping)
    leaves = [*before, *(_of_one_answer(leaf, facts) for leaf in (*_form(facts), *_read_leaves(facts)))]
    named = _contained([leaf for leaf in leaves if not leaf.lacks])
    candidates = tuple(leaf for leaf in leaves if leaf.lacks and leaf.undone_by and leaf.undone_by.flips)
    if not named:
        joint = [_of_one_answer(leaf, facts) for leaf in _joint(facts)]
        named = [leaf for leaf in joint if not leaf.lacks]
        candidates = (*candidates, *(leaf for leaf in joint if leaf.lacks))
    if named:
        return Ruling(tuple(named), candidates, tuple(remarks(facts, named)), _speaks_of_variants(named[0]))
    return _undetermined(facts, _why_not(facts), candidates)


def _undetermined(facts: Facts, detail: str | None, candidates: tuple[Leaf, ...]) -> Ruling:
    about = facts.obeyed if detail == DEMANDED else ()
    return Ruling((Leaf("not-determined", detail, about=about),), candidates, tuple(remarks(facts, [])), variants=False)


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
    """The leaves below. Guessed evidence that shares no word with the question proves none of them; a wrong answer that
    the prompt orders, and that goes with the order, shows no fault of reading.
    """
    guessed = (Lack.GUESSED,) if facts.presumed and facts.off_question else ()
    yield from (replace(leaf, lacks=(*leaf.lacks, *guessed, *_obeyed(facts))) for leaf in _leaves(facts))


def _obeyed(facts: Facts) -> tuple[Lack, ...]:
    return (Lack.DEMANDED,) if facts.obeyed else ()


def _leaves(facts: Facts) -> Iterator[Leaf]:
    """Every leaf of what was read and remembered, named or lacking."""
    if facts.fact is not None and not facts.evidence and not facts.stated_in:
        silent = facts.fact.shams is None or not facts.fact.shams.flipped
        shams = (*(() if silent else (Lack.SHAMS_FLIP,)), *((Lack.SUPPLIED,) if facts.supplied_by else ()))
        stated = (*_known(facts), *_wrong_stated(facts))
        yield _leaf("knowledge", "missing", facts.fact, (*shams, *lacking_variants(facts.fact), *stated))
    if facts.alone_right is None:
        return
    if facts.alone_right:
        yield from _order(facts) if any(order.flips for order in facts.orders) else _context_use(facts)
    elif facts.closed_same_wrong and not facts.alone_off_form:
        further = ((Lack.FOLLOWS,) if facts.follows_change else ()) + _wrong_stated(facts)
        yield from (_leaf("knowledge", "overruled", writer, (*lacking(writer), *further)) for writer in facts.writers)


def _known(facts: Facts) -> tuple[Lack, ...]:
    """What the question alone shows: it is answered right, or the right answer leads the wrong one there."""
    alone = facts.asked_alone
    if alone is None:
        return ()
    if alone.flips:
        return (Lack.KNOWN,)
    return (Lack.LEADS_ALONE,) if alone.after is not None and alone.after > facts.floor else ()


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


def _decoding(facts: Facts) -> Iterator[Leaf]:
    """Line 3: the right answer led on the model's own path and the stated decoding did not write it.

    It comes before the lines below: a draw that went wrong goes right under any change that makes it anew, and where
    the right answer leads there is nothing else to explain.
    """
    if facts.greedy is not None:
        both = () if facts.several is None else (Lack.SEVERAL,)
        yield _leaf("decoding", None, facts.greedy, (*_unled(facts), *both, *lacking_variants(facts.greedy)))
    if facts.longer is not None and facts.longer.flips and facts.limit_stated:
        yield _leaf("decoding", LIMIT, facts.longer, lacking_variants(facts.longer))


def _unled(facts: Facts) -> tuple[Lack, ...]:
    """Why it is not shown that the right answer led on the model's own path."""
    if not facts.own:
        return (Lack.NO_OWN,)
    return () if facts.own_ld > facts.floor else (Lack.NO_LEAD,)


def _order(facts: Facts) -> Iterator[Leaf]:
    """Line 5: moving a part flips; an edge shows the mechanism."""
    edges = [edge for edge in facts.edges if edge.flips]
    shown = next((edge for edge in edges if not lacking(edge)), None)
    for order in (order for order in facts.orders if order.flips):
        lacks = lacking_variants(order)
        open_ = shown is None and not _holds_in_variants(order)
        if open_:
            lacks = (*lacks, Lack.EDGE_UNPROVEN if edges else _no_edge(facts))
        about, unproven = () if shown is None else shown.about, edges[0] if open_ and edges else None
        yield Leaf("order", None, order, lacks, about, unproven)
        return


def _no_edge(facts: Facts) -> Lack:
    """No edge flips; one whose answer was cut tells nothing."""
    return Lack.EDGE_CUT if any(edge.cut for edge in facts.edges) else Lack.NO_EDGE


def _context_use(facts: Facts) -> Iterator[Leaf]:
    """Line 5, evidence alone right and no order: the boost tells not looked at from looked at and not used.

    The latter shows in readers patched from the run with the evidence alone, or in a suppressor taken out.
    """
    if facts.boost is not None and facts.boost.flips:
        yield _leaf("context-use", "not-looked-at", facts.boost, lacking(facts.boost))
    elif facts.boost is not None and not facts.boost.cut:
        found = [
            _leaf("context-use", "looked-at-not-used", change, lacking(change))
            for change in (*facts.suppressors, *(facts.readers or ()))
        ]
        yield from (replace(leaf, about=facts.evidence) for leaf in _best(found))


def _best(leaves: Sequence[Leaf]) -> list[Leaf]:
    """Several proofs of one cause are one cause: the first that lacks nothing, else all with what they lack."""
    return [leaf for leaf in leaves if not leaf.lacks][:1] or list(leaves)


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
            (*lacking(pair.change), *_wrong_stated(facts), *_obeyed(facts)),
            pair.change.about,
        )
        for pair in facts.pairs
        if pair.change.flips
    ]


def _why_not(facts: Facts) -> str | None:
    """The reason of a `not-determined`, where the tree has one."""
    if facts.several is not None:
        return "several-answers"
    if facts.obeyed:
        return DEMANDED
    near_tie = facts.own and abs(facts.own_ld) <= facts.floor
    forced_right = facts.forced is not None and facts.forced[1] > facts.floor
    third = facts.legal and not facts.own  # how two other values stand behind some words says nothing of it
    if forced_right and facts.evidence_states is not False and (near_tie or not facts.own) and not third:
        return "path-dependent"
    if facts.alone_right is not False or facts.evidence_states is False or facts.wrong_stated or facts.alone_off_form:
        return None
    if facts.stated_decoding:  # a wrong answer under it does not show what the model is able to do
        return None
    return None if any(one.flips for one in facts.tried) else "beyond-the-model"
