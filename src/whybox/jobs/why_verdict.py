"""The verdict of a study, its causes with their proof, and everything that was tried, as pieces of the document."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np

from whybox.cause.claims import Changed, Screened
from whybox.cause.decision import NOT_OWN
from whybox.cause.study import Study
from whybox.cause.trials import PARSE, WRITTEN_ON, Trial
from whybox.items.case import Case
from whybox.jobs.observed import checks
from whybox.report import document as d
from whybox.statistics.intervals import mean_interval
from whybox.verdict.facts import Facts, Try
from whybox.verdict.leaf import Leaf
from whybox.verdict.tree import Ruling
from whybox.verdict.words import because, next_step, would_change

_NOT_WRITTEN = "not written anew"
_NO_PATH = "the metric's place does not exist in this run"
_NO_SHAMS = "this change has no other place to be made"
_NO_BOOST = "none of these changes boosts other text"
READ_SO = "the same answer, read otherwise: nothing is run anew"
_NOTHING = "no answer was written"
_CUT = "its limit ended the answer before it gave a whole value"
ONE_PROMPT = "one prompt; no generalisation"


@dataclass(frozen=True)
class Told:
    """What the caller knows and the report repeats. broken_off: the stage at which Ctrl-C came.

    announced: runs of each stage at most.
    """

    case: Case
    command: str
    file: str
    effort: str
    lang: d.Lang
    broken_off: str | None
    announced: Mapping[str, int]


def verdict_of(study: Study, ruling: Ruling, facts: Facts, told: Told) -> d.Verdict:
    """What was found, what it rests on, and what would change it."""
    said = {lang: _said(ruling, facts, lang) for lang in get_args(d.Lang)}
    own = said.pop(told.lang)
    return d.Verdict(
        causes=tuple(_cause(leaf) for leaf in ruling.causes),
        because=own.because,
        would_change_my_mind=own.would_change_my_mind,
        scope="variants" if ruling.variants else "this-prompt",
        next_step=own.next_step,
        checked=tuple(checks(study, told.case)),
        lift=facts.lift,
        lift_reason=None if facts.lift is not None else "no evidence is named, or no head is without a sink",
        translated=said,
    )


def _said(ruling: Ruling, facts: Facts, lang: d.Lang) -> d.Said:
    return d.Said(
        because=because(ruling, facts, lang),
        would_change_my_mind=would_change(ruling, lang),
        next_step=next_step(ruling, facts, lang),
    )


def _cause(leaf: Leaf) -> d.Cause:
    change = leaf.undone_by
    if change is None:
        reason = "the answer is right" if leaf.code == "none" else "no change that undoes it was confirmed"
        return _uncaused(leaf.code, reason, detail=leaf.detail, about=leaf.about)
    bounds = mean_interval(change.effects)
    parsed = PARSE in change.touches
    no_path = READ_SO if parsed else _NO_PATH
    after = None if parsed else change.own if change.after is None or change.earlier_fork else change.after
    shams = _shams(change)
    return d.Cause(
        code=_uncaused(leaf.code, "-").code,
        detail=leaf.detail,
        about=leaf.about,
        undone_by=change.what,
        effect=change.effect,
        effect_reason=None if change.effect is not None else no_path,
        mean=float(np.mean(change.effects)) if bounds else None,
        mean_reason=None if bounds else _no_interval(change),
        interval=bounds,
        interval_reason=None if bounds else _no_interval(change),
        after=after,
        after_reason=None if after is not None else no_path,
        flips=_flips(change),
        shams=shams,
        shams_reason=None if shams is not None else _NO_SHAMS,
    )


def _uncaused(code: str, reason: str, **fields: object) -> d.Cause:
    """A cause without a change that undoes it."""
    names = ("effect", "mean", "interval", "after", "flips", "shams")
    missing = dict.fromkeys(names) | {f"{name}_reason": reason for name in names}
    return d.Cause.model_validate({"code": code, **fields, **missing})


def _no_interval(change: Try) -> str:
    """Why an effect has no interval."""
    if change.repeats is None or change.repeats.n < 2:
        return ONE_PROMPT
    return "all variants have the same effect" if len(change.effects) > 1 else _NO_PATH


def _flips(change: Try) -> d.Count:
    """On the failing variants where they were run, else on this prompt alone."""
    if change.repeats is None:
        return d.Count(hits=int(change.flips), n=1)
    return d.Count(hits=change.repeats.hits, n=change.repeats.n)


def _shams(change: Try) -> d.Shams | None:
    shams = change.shams
    if shams is None:
        return None
    reason = None if shams.rivals is not None else _NO_BOOST
    return d.Shams(
        n=shams.n, flipped=shams.flipped, p=shams.p, after=shams.after, rivals=shams.rivals, rivals_reason=reason
    )


def tried_rows(study: Study, facts: Facts) -> Iterator[d.Tried]:
    """Every trial, every other way of computing, the metric behind words that are not the model's own, what was
    screened, and what the answer was to other evidence.
    """
    yield from (_tried_row(trial, not facts.right) for trial in study.trials.values())
    known = {switch.what for switch in facts.switches}
    computed = [facts.reference] if facts.reference is not None and facts.reference.what not in known else []
    longer = [] if facts.longer is None else [facts.longer]
    for switch in (*longer, *computed, *facts.switches):
        yield d.Tried(
            what=switch.what,
            effect=switch.effect,
            effect_reason=None if switch.effect is not None else _NO_PATH,
            interval=None,
            interval_reason=ONE_PROMPT,
            flips=None if switch.cut else switch.flips,
            flips_reason=_CUT if switch.cut else None,
            answer=switch.answer,
            answer_reason=None if switch.answer is not None else "not kept",
            cut=switch.cut,
        )
    base = study.decided.base.reading.ld
    forced = [("the start of the answer", study.start)] if study.start is not None else []
    if study.forced is not None:
        forced.append((f"behind the prefix “{study.forced[0]}”", study.forced[1]))
    for what, reading in forced:
        yield d.Tried(
            what=what,
            effect=reading.ld - base,
            interval=None,
            interval_reason=ONE_PROMPT,
            flips=None,
            flips_reason=_NOT_WRITTEN,
            answer=None,
            answer_reason=_NOT_WRITTEN,
            flags=(NOT_OWN,),
        )
    yield from (_screened_row(screen, base) for screen in study.screens)
    yield from (_changed_row(changed) for changed in study.changed)


def _screened_row(screen: Screened, base: float) -> d.Tried:
    """Many runs in one row, the one that did most by name; what looked promising has a row of its own."""
    return d.Tried(
        what=f"{screen.what}: {screen.runs} runs, most by {screen.best}",
        effect=screen.value - base if screen.of_ld else None,
        effect_reason=None if screen.of_ld else f"another metric: {screen.value:+.3g} nats",
        interval=None,
        interval_reason=ONE_PROMPT,
        flips=None,
        flips_reason=_NOT_WRITTEN,
        answer=None,
        answer_reason=_NOT_WRITTEN,
    )


def _changed_row(changed: Changed) -> d.Tried:
    return d.Tried(
        what=f"the evidence says {changed.value}",
        effect=None,
        effect_reason=_NO_PATH,
        interval=None,
        interval_reason=ONE_PROMPT,
        flips=None,
        flips_reason="another answer would be right here",
        answer=changed.answer,
        cut=changed.follows is None,
        flags=_followed(changed.follows),
    )


def _followed(follows: bool | None) -> tuple[str, ...]:
    if follows is None:
        return ()
    return ("the answer follows" if follows else "the answer does not follow",)


def _tried_row(trial: Trial, wrong: bool) -> d.Tried:
    """A wrong answer flips where it becomes right, a right one where it is right no longer. Where nothing was written,
    no answer was given.
    """
    bounds = None if trial.repeats is None else mean_interval(trial.repeats.effects)
    parsed, cut = PARSE in trial.touches, trial.outcome.cut
    flips = trial.flips if wrong else not trial.outcome.score.right
    unread = READ_SO if parsed else _CUT if cut else None if trial.outcome.answer.strip() else _NOTHING
    return d.Tried(
        what=trial.what,
        effect=trial.effect,
        effect_reason=None if trial.effect is not None else READ_SO if parsed else _NO_PATH,
        interval=bounds,
        interval_reason=None
        if bounds
        else ONE_PROMPT
        if trial.repeats is None
        else "all variants have the same effect",
        flips=flips if unread is None else None,
        flips_reason=unread,
        answer=trial.outcome.answer,
        cut=cut,
        flags=tuple(_flags(trial)),
    )


def _flags(trial: Trial) -> Iterator[str]:
    if PARSE in trial.touches and not trial.outcome.cut:
        yield "its value is right" if trial.flips else "its value is not right either"
    if trial.outcome.earlier_fork:
        yield "earlier fork"
    if trial.shams is not None:
        yield f"{trial.shams.flipped} of {len(trial.shams.after)} shams flip"
        if trial.shams.cut:
            yield f"{trial.shams.cut} of the shams gave no whole value in {WRITTEN_ON} times the limit either"
    if trial.unread is not None:
        yield f"with the evidence hidden: {'flips as well' if trial.unread else 'does not flip'}"
    if trial.repeats is not None:
        yield f"flips {sum(trial.repeats.flips)} of {len(trial.repeats.flips)} failing variants"
        if trial.repeats.cut:
            yield f"on {trial.repeats.cut} more no whole value before the limit"
