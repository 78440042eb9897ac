"""From a study to the facts that the tree reads: trials become tries, and nothing is added."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whybox.cause.answers import STEPS
from whybox.cause.asked_about import is_off_question, nearer_parts
from whybox.cause.claims import Kind
from whybox.cause.decision import Reading
from whybox.cause.effects import SegmentEffects, Unknown
from whybox.cause.parts import crosses_roles, movable_parts, same_value, speaks_of, states
from whybox.cause.study import Study, closed_same_wrong
from whybox.cause.trials import Shams, Trial
from whybox.compare.divergence import Divergence
from whybox.compare.switches import Compared, Switched
from whybox.items.lenient import unwrapped
from whybox.items.scoring.scorers import NO_WORDS, YES_WORDS
from whybox.statistics.intervals import Rate
from whybox.statistics.ranks import NullBand, share_p
from whybox.verdict.facts import Demand, Doubt, Facts, Pair, Parting, Several, ShamRun, Try, Unsettled
from whybox.verdict.tree import ALPHA


def facts_of(
    study: Study,
    got_wrong: bool | None,
    lift: float | None,
    otherwise: Compared | None = None,
    repeats: tuple[bool, ...] | None = None,
) -> Facts:
    """Everything that a study knows. got_wrong: how the output observed elsewhere is scored, None without one.

    otherwise: the same prompt on the reference engine, None where it was not asked. repeats: whether the first switch
    that flips here flips each variant that fails alike.
    """
    facts = replace(_of_answer(study), got_wrong=got_wrong, lift=lift)
    if otherwise is not None:
        facts = _computed_otherwise(facts, study, otherwise, repeats)
    return _of_segments(_of_components(_of_prompts(facts, study), study), study)


def _of_answer(study: Study) -> Facts:
    """The answer as it is, and what the prompt states of it."""
    own, setting = study.answered, study.decided
    return Facts(
        right=own.score.right and not study.asked.case.breaks_contract(own.text),
        delta=setting.delta,
        own=own.decision.kind == "own",
        own_ld=own.reading.ld,
        legal=own.score.outcome not in ("invalid", "error") or study.asked.case.may_answer(own.text),
        stated_in=_stating(study, [part.name for part in study.asked.case.parts]),
        evidence_states=bool(_stating(study, study.roles.evidence)) if study.roles.evidence else None,
        stated_beside=_stated_beside(study),
        wrong_stated=_wrong_stated(study),
        limit_stated=study.asked.case.decoding.max_tokens is not None,
        stated_decoding=not study.asked.settings.greedy,
        lenient=_lenient(study),
        several=_several(study),
        beside=bool(study.roles.others),
        kept=_kept(study),
        forced=None if study.forced is None else (study.forced[0], study.forced[1].ld),
        evidence=study.roles.evidence,
        presumed=study.roles.presumed,
        off_question=is_off_question(study.asked.case, study.roles),
        nearer=_nearer(study),
    )


def _computed_otherwise(facts: Facts, study: Study, otherwise: Compared, repeats: tuple[bool, ...] | None) -> Facts:
    """With what other ways of computing the same ids gave."""
    return replace(
        facts,
        reference=as_switch(otherwise.reference, study.decided.base.reading.ld),
        switches=tuple(_switches(study, otherwise, repeats)),
        divergence=None if otherwise.first is None else _parting(otherwise.first),
    )


def _of_prompts(facts: Facts, study: Study) -> Facts:
    """With what other decoding and other prompts gave: a contract, one fact more, fewer parts, another order."""
    alone = _try(study, "alone")
    return replace(
        facts,
        contract=_try(study, "contract"),
        choice=_try(study, "choice"),
        greedy=_try(study, "greedy"),
        fact=_try(study, "fact"),
        asked_alone=_try(study, "asked alone"),
        supplied_by=study.supplied_by,
        alone=alone,
        demands=tuple(_demands(study, alone)),
        alone_off_form=_alone_off_form(study),
        orders=tuple(as_try(study.trials[name], study.asked.right) for name in study.orders),
        orders_left=_orders_left(study),
        across_roles=crosses_roles(study.asked.case, study.roles),
        closed=_try(study, "closed"),
        closed_same_wrong=closed_same_wrong(study) if "closed" in study.trials else None,
        follows_change=_follows(study),
    )


def _demands(study: Study, alone: Try | None) -> Iterator[Demand]:
    """Where nothing else stands beside the evidence, the prompt without the part is the evidence alone."""
    for name in study.demanding:
        yield Demand(name, alone if study.roles.others == (name,) else _try(study, f"without {name}"))


def _follows(study: Study) -> bool | None:
    """Whether the answer moved to another value in the evidence, as far as an answer was given."""
    told = [one.follows for one in study.changed if one.follows is not None]
    return any(told) if told else None


def _of_components(facts: Facts, study: Study) -> Facts:
    """With what edges, heads and MLPs gave, cut, boosted, patched or taken out."""
    return replace(
        facts,
        boost=_try(study, "boost"),
        cuts=tuple(as_try(study.trials[name], study.asked.right) for name in study.cuts),
        suppressors=_claimed(study, Kind.SUPPRESSOR) or (),
        readers=_claimed(study, Kind.READER),
        writers=_claimed(study, Kind.WRITER) or (),
        writers_sought=Kind.WRITER in study.claims,
        form_writers=_claimed(study, Kind.FORM) or (),
        pairs=tuple(Pair(("order", "knowledge"), change) for change in _claimed(study, Kind.PAIR) or ()),
    )


def _of_segments(facts: Facts, study: Study) -> Facts:
    """With what hiding the parts of the prompt did, one by one."""
    setting = study.decided
    return replace(
        facts,
        total_in_null=_total_in_null(study),
        rests_on=tuple(found.name for found in study.segments if is_support(found, setting.delta)),
        unsettled=tuple(_unsettled(study)),
        ignores_evidence=_ignores_evidence(study),
    )


def _orders_left(study: Study) -> int:
    """Other orders of the parts than those that were tried. None is left where none can be made."""
    units = movable_parts(study.roles) & {part.name for part in study.asked.case.parts}
    return math.factorial(len(units)) - 1 - len(study.orders) if study.orders else 0


def as_try(trial: Trial, right: str) -> Try:
    """A trial without its runs."""
    return Try(
        what=trial.what,
        flips=trial.flips,
        about=trial.about,
        touches=trial.touches,
        effect=trial.effect,
        after=None if trial.outcome.old is None else trial.outcome.old.ld,
        own=trial.outcome.own.ld,
        earlier_fork=trial.outcome.earlier_fork,
        shams=None if trial.shams is None else _shams(trial.shams),
        repeats=None if trial.repeats is None else Rate(sum(trial.repeats.flips), len(trial.repeats.flips)),
        effects=() if trial.repeats is None else trial.repeats.effects,
        unread=trial.unread,
        several=right in trial.outcome.score.several,
        cut=trial.outcome.cut,
        undecided=0 if trial.repeats is None else trial.repeats.cut,
    )


def _shams(shams: Shams) -> ShamRun:
    return ShamRun(shams.flipped, len(shams.after), shams.after, shams.rivals, shams.copied, shams.cut)


def _several(study: Study) -> Several | None:
    """As the scorer reads it; where it finds no answer for its form, as its values are read without that form."""
    lenient = study.trials.get("lenient")
    read = () if lenient is None else lenient.outcome.score.several
    for right, found in ((study.asked.right, study.answered.score.several), (unwrapped(study.asked.right), read)):
        if right in found:
            return "right-first" if found[0] == right else "right-later"
    return None


def _alone_off_form(study: Study) -> bool:
    """With the evidence alone the value is right, and nothing else is said; only its form is another one."""
    alone, case = study.trials.get("alone"), study.asked.case
    if alone is None or alone.outcome.score.right or study.asked.case.match is not None:
        return False
    return case.form_scorer().score(alone.outcome.answer).right


def _nearer(study: Study) -> tuple[str, ...]:
    asked = study.asked
    if asked.stand_in or not study.wrong_here or not speaks_of(asked.case, study.answered.text, asked.wrong):
        return ()
    return nearer_parts(asked.case, study.roles, asked.wrong)


def _claimed(study: Study, kind: Kind) -> tuple[Try, ...] | None:
    """What was found of a kind; None where it was not searched."""
    claims = study.claims.get(kind)
    return None if claims is None else tuple(as_try(study.trials[claim.name], study.asked.right) for claim in claims)


def _total_in_null(study: Study) -> bool | None:
    """Whether hiding the evidence from all later positions does no more than hiding any other span of its length."""
    found = study.hidden
    if found is None:
        return None
    if abs(found.effect) <= STEPS * study.decided.delta:
        return True
    return None if found.null is None else found.null.p > ALPHA


def _switches(study: Study, otherwise: Compared, repeats: tuple[bool, ...] | None) -> Iterator[Try]:
    for number, switch in enumerate(otherwise.flipping):
        found = as_switch(switch, study.decided.base.reading.ld)
        yield found if number or repeats is None else replace(found, repeats=Rate(1 + sum(repeats), 1 + len(repeats)))


def as_switch(switch: Switched, base: float) -> Try:
    """The same ids computed otherwise, as a change."""
    return Try(
        what=switch.name,
        flips=switch.flips,
        touches=frozenset({switch.name}),
        effect=switch.after - base,
        after=switch.after,
        own=switch.own,
        asserts=switch.asserts,
        answer=switch.answer,
        cut=switch.cut,
    )


def _parting(first: Divergence) -> Parting:
    return Parting(first.site, first.layer, first.position, first.error)


def is_support(found: SegmentEffects, delta: float) -> bool:
    """Whether cutting a part lowers the metric beyond the floor and beyond its null."""
    direct, null = found.direct, found.null
    if not isinstance(direct, Reading) or not isinstance(null, NullBand):
        return False
    return direct.ld < -5 * delta and null.p <= ALPHA


def _unsettled(study: Study) -> Iterator[Unsettled]:
    """Parts of the case alone: what it does not write is compared with no other spans."""
    parts = {part.name for part in study.asked.case.parts}
    for found in study.segments:
        if found.name in parts and (why := doubt(found, study.decided.delta)) is not None:
            yield Unsettled(found.name, why)


def doubt(found: SegmentEffects, delta: float) -> Doubt | None:
    """Why the null cannot settle a cut that lowers the metric beyond the floor; None where it can."""
    direct, null = found.direct, found.null
    if not isinstance(direct, Reading) or direct.ld >= -STEPS * delta:
        return None
    if not isinstance(null, NullBand):
        return "none"
    if null.p <= ALPHA:
        return None
    if null.smallest_p > ALPHA and null.p <= null.smallest_p:
        return "few"
    return "other-way" if share_p(null.same_way, null.draws) <= ALPHA else None


def _try(study: Study, name: str) -> Try | None:
    return as_try(study.trials[name], study.asked.right) if name in study.trials else None


def _lenient(study: Study) -> Try | None:
    """The free answer is right once the contract's form is set aside: reading it so is the change that undoes it."""
    answered, read = study.answered, _try(study, "lenient")
    whole = answered.score.outcome == "invalid" or study.asked.case.breaks_contract(answered.text)
    return read if read is not None and read.flips and whole else None


def _stating(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    """Which of the parts state the right answer, as the scorer reads it. A choice's letter, or yes and no, need
    stand in none.
    """
    case = study.asked.case
    if case.kind == "choice" or case.right.strip().casefold() in YES_WORDS | NO_WORDS:
        return study.roles.evidence
    return tuple(name for name in names if states(case, case.part(name).text))


def _stated_beside(study: Study) -> tuple[str, ...]:
    """Parts outside the evidence that state the right answer; a question that offers both answers states neither."""
    if not study.roles.evidence or study.asked.case.kind == "choice":
        return ()
    case = study.asked.case
    told = [p for p in case.parts if p.name not in study.roles.evidence and states(case, p.text)]
    return tuple(
        p.name for p in told if p.name != study.roles.question or not speaks_of(case, p.text, study.asked.wrong)
    )


def _kept(study: Study) -> tuple[str, ...]:
    roles = study.roles
    taken = {*roles.evidence, *roles.others, roles.question}
    return tuple(part.name for part in study.asked.case.parts if part.name not in taken)


def _wrong_stated(study: Study) -> tuple[str, ...]:
    """Parts that hold the wrong answer, another value than the right one, and are no `others`."""
    case, wrong = study.asked.case, study.asked.wrong
    if study.asked.stand_in or same_value(case, wrong):
        return ()
    kept = [part for part in case.parts if part.name not in study.roles.others]
    return tuple(part.name for part in kept if speaks_of(case, part.text, wrong))


def _ignores_evidence(study: Study) -> bool | None:
    """In a right answer: it stays right without the context, or no named part of the evidence supports it, nor all of
    them together.
    """
    if not study.roles.evidence or not study.segments:
        return None
    closed = study.trials.get("closed")
    if closed is not None and closed.outcome.score.right:
        return True
    if study.hidden is not None and study.hidden.effect < -STEPS * study.decided.delta:
        return False
    held = [found for found in study.segments if found.name in study.roles.evidence]
    return not any(is_support(found, study.decided.delta) or _totals(found, study.decided.delta) for found in held)


def _totals(found: SegmentEffects, delta: float) -> bool:
    """The total effect takes the answer's lead away: hidden from all later positions, the metric falls below zero."""
    return not isinstance(found.total, Unknown) and found.total.ld < -5 * delta
