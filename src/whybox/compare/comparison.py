"""Two runs of one model, compared down to the cause: alike? where? why? does it matter?

Ours is a model that can be run; theirs a model too, or what another program recorded. Faults are imposed on our
description until what is left is rounding; the whole model with all of them must then give what the other side gave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from whybox.compare.described import gaps, settings, tensors
from whybox.compare.effort import Effort
from whybox.compare.floor import allowed
from whybox.compare.ground import Ground
from whybox.compare.harm import Forced, Harm, forced, harm
from whybox.compare.ladder import Rung, ladder, mask, unlike
from whybox.compare.layouts import layouts
from whybox.compare.naming import Named, Parting, Tried, Walker, imposed
from whybox.compare.observation import Observation, axes_of, errors
from whybox.compare.overflow import Overflow, overflow
from whybox.compare.pieces import MOST_LOGITS, Described, whole
from whybox.compare.profile import Profile, channels_apart, parts_apart, profile
from whybox.compare.prompts import Text, default_texts, windows_not_reached
from whybox.compare.readings import contradicted, read
from whybox.compare.recorded import Recorded, fitting
from whybox.compare.sides import Computed, Live
from whybox.compare.suspects import Suspect
from whybox.compare.unlike import as_far
from whybox.engine.rounded import SITES_IN
from whybox.engine.trace import Key
from whybox.errors import NonFiniteError
from whybox.parts.rounding import UNIT
from whybox.sites import sites_of
from whybox.testing.faults import NO_FAULT, Fault

Array = np.ndarray
COARSENESS = ("fp64", "fp32", "fp16", "bf16", "int8", "int4")
Verdict = Literal["identical", "rounding", "named", "part-named", "not-determined", "unlike"]
WRITTEN = 16
"""Tokens that both sides write on behind every text."""


@dataclass(frozen=True)
class Asked:
    """texts: None for the default ones. written: tokens to write on. effort: told how far the comparison is."""

    texts: tuple[Text, ...] | None = None
    written: int = WRITTEN
    effort: Effort = field(default_factory=Effort)


@dataclass(frozen=True)
class Undone:
    """All that was named, imposed on ours: the largest error of the logits that is left, and what rounding allows."""

    error: float
    allowed: float

    @property
    def at_floor(self) -> bool:
        return self.error <= self.allowed


@dataclass(frozen=True, eq=False)
class Comparison:
    """verdict: identical | rounding | named | part-named | not-determined | unlike. reason: why unlike.

    floor: error of the logits that rounding to the pair's precision makes, measured. heads, channels: those that differ
    where the runs first part. unsaid: (what could not be compared, why). exchanged: the second side takes the first's
    place, which has NaN or Inf.
    """

    verdict: Verdict
    rungs: tuple[Rung, ...]
    reason: str | None
    precision: str
    texts: tuple[Text, ...]
    floor: float | None = None
    first: Parting | None = None
    first_text: str | None = None
    profile: Profile | None = None
    heads: tuple[int, ...] | None = None
    channels: tuple[int, int] | None = None
    named: tuple[Named, ...] = ()
    overflow: Overflow | None = None
    undone: Undone | None = None
    tried: tuple[Tried, ...] = ()
    left: tuple[tuple[str, Parting], ...] = ()
    harm: Harm | None = None
    missing: tuple[str, ...] = ()
    unreached: tuple[int, ...] = ()
    unsaid: tuple[tuple[str, str], ...] = ()
    exchanged: bool = False


def compare(ours: Live, theirs: Computed, asked: Asked, ground: Ground | None = None) -> Comparison:
    """The whole of it. ground: of ours, where it is compared with many. UsageError for weights that have nothing to do
    with each other, NonFiniteError where neither side is free of NaN and Inf.
    """
    try:
        return _compared(ours, theirs, asked, ground)
    except NonFiniteError:
        if not isinstance(theirs, Live):
            raise
    return replace(_compared(theirs, ours, asked), exchanged=True)


def _compared(ours: Live, theirs: Computed, asked: Asked, ground: Ground | None = None) -> Comparison:
    texts = _texts(ours, theirs, asked)
    rungs = ladder(ours, theirs, texts)
    reason = unlike(rungs)
    precision = max((ours.precision, theirs.precision), key=COARSENESS.index)
    if isinstance(theirs, Live) and any(rung.check == "shape" and rung.state == "different" for rung in rungs):
        far = as_far(ours, theirs, texts, asked.written, precision)
        return Comparison(
            "unlike", rungs, reason, precision, texts, first=far.first, first_text=far.first_text,
            profile=far.profile, harm=far.harm, unsaid=far.unsaid,
        )  # fmt: skip
    study = _Study(ours, theirs, precision, asked, ground or Ground(ours, asked.effort))
    effort, pairs = asked.effort, iter(study.observed(texts))
    for number, text in enumerate(texts):
        effort.remains((len(texts) - number) * work_of(ours))
        effort.begin(text.name)
        study.look(*next(pairs))
    effort.remains(0)
    return study.result(rungs, reason, texts)


def work_of(ours: Live) -> int:
    """Layers that are run on one text where nothing is to be explained: both sides, pieces, their floors, the whole."""
    return 8 * len(ours.model.spec.layers)


def _texts(ours: Live, theirs: Computed, asked: Asked) -> tuple[Text, ...]:
    if isinstance(theirs, Recorded):
        return tuple(Text(f"recorded {i}", each.seen.ids, each.text) for i, each in enumerate(theirs.prompts))
    return asked.texts or tuple(default_texts(ours.model))


@dataclass
class _Study:
    """What was found so far, text after text."""

    ours: Live
    theirs: Computed
    precision: str
    asked: Asked
    ground: Ground
    named: list[Named] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    left: dict[str, tuple[tuple[str, Parting], ...]] = field(default_factory=dict)
    first: tuple[Parting, str] | None = None
    forced: list[Forced] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    overflow: Overflow | None = None
    heads: tuple[int, ...] | None = None
    channels: tuple[int, int] | None = None
    allowed: list[float] = field(default_factory=list)
    moved: list[float] = field(default_factory=list)
    exact: bool = True
    unfit: tuple[str, ...] = ()
    made: set[Key] = field(default_factory=set)
    masks: list[Rung] = field(default_factory=list)
    last: Observation | None = None
    moved_to: str | None = None

    def __post_init__(self) -> None:
        self.model: Described = self.ground.model
        self.theirs_held = self.ground.held(self.theirs.precision)
        self.own = self._described()

    def _described(self) -> tuple[Suspect, ...]:
        """What the two descriptions themselves say."""
        misread = tuple(layouts(self.ours.model))
        if isinstance(self.theirs, Recorded):
            return misread
        other = self.theirs.model
        found = settings(self.model[0], other.spec)
        same = self.ours.model.engine.origin.is_of(other.engine.origin)
        weights = () if same else tensors(gaps(self.model[1], other.weights), other.weights)
        return (*found, *misread, *weights)

    def observed(self, texts: Sequence[Text]) -> Iterable[tuple[Text, Observation]]:
        if isinstance(self.theirs, Recorded):
            pairs = [fitting(each.seen, self.model[0]) for each in self.theirs.prompts]
            self.unfit = tuple(dict.fromkeys(name for _, others in pairs for name in others))
            return [(text, seen) for text, (seen, _) in zip(texts, pairs, strict=True)]
        rows = self.rows
        return ((text, self.theirs.observe(text.ids, rows)) for text in texts)

    @property
    def rows(self) -> int:
        return max(1, MOST_LOGITS // self.model[0].vocab)

    def look(self, text: Text, seen: Observation) -> None:
        """One text: whether, where and why the runs part on it, and what it does to the next token."""
        mine = self.ours.observe(text.ids, self.rows)
        if mine.broken is not None:
            raise NonFiniteError(*mine.broken, "not told", "check the file's digest")
        self.made |= set(mine.sites)
        self.overflow = self.overflow or overflow(self.model, seen)
        if not seen.sites:
            return
        if self.overflow is None:
            seen = self._walk(text, seen)
        found = errors(mine, seen, self.model[0])
        self.masks.append(mask(mine, seen))
        self.exact &= all(not np.nanmax(rows, initial=0.0) for rows in found.values())
        if mine.logits is not None and seen.logits is not None:
            self.forced.append(forced(mine.logits, seen.logits, len(text.ids)))
        self.last = seen
        key: Key | None = None if self.first is None else (self.first[0].site, self.first[0].layer)
        self.profiles.append(profile(found, self._limits(seen, found), self.model[0], key))
        if key is not None and self.heads is None and self.channels is None:
            self.heads = parts_apart(mine, seen, key, axes_of(key, self.model[0]))
            self.channels = channels_apart(mine, seen, key)

    def _walk(self, text: Text, seen: Observation) -> Observation:
        """What was seen, under the names of the places where it was taken."""
        if isinstance(self.theirs, Recorded):
            found = read(seen, self._walker, self.named)
            seen, walked, self.moved_to = found.seen, found.walk, self.moved_to or found.moved
        else:
            walked = self._walker(seen).walk(self.named)
        if self.first is None and walked.parted is not None:
            self.first = (walked.parted, text.name)
        self.named += walked.named
        self.tried += walked.tried
        if walked.left:
            self.left[text.name] = walked.left
        return seen

    def _walker(self, seen: Observation) -> Walker:
        kind = self.theirs.precision
        return Walker(self.theirs_held, seen, SITES_IN[kind], self.own, ground=self.ground, kind=kind)

    def _limits(self, seen: Observation, found: dict[Key, Array]) -> dict[Key, Array]:
        """What rounding explains of a whole run, on these ids."""
        rounding = self.ground.rounding(seen, self.precision)
        if rounding.moved is not None:
            self.allowed.append(float(np.nanmax(rounding.errors["logits", None])))
            self.moved.append(rounding.moved)
        sites = SITES_IN[self.precision]
        return {key: allowed(rows, sites) for key, rows in rounding.errors.items() if key in found}

    def undone(self, fault: Fault) -> Undone | None:
        """All that was named, imposed on the whole model, against the other side; on the last text."""
        seen = self.last
        if seen is None or seen.logits is None:
            return None
        sites = SITES_IN[self.theirs.precision]
        exact = whole(self.theirs_held, seen, fault, "fp64")
        coarse = whole(self.theirs_held, seen, fault, sites)
        key: Key = ("logits", None)
        if exact.logits is None or coarse.logits is None:
            return Undone(np.inf, 0.0)
        left = errors(coarse, seen, self.model[0])[key]
        limits = allowed(errors(exact, coarse, self.model[0])[key], sites)
        limits = limits if fault.rounds is None else np.fmax(limits, UNIT[fault.rounds])
        worst = int(np.nanargmax(left / limits))
        return Undone(float(left[worst]), float(limits[worst]))

    def result(self, rungs: tuple[Rung, ...], reason: str | None, texts: tuple[Text, ...]) -> Comparison:
        undone = self._proof()
        taken = self._taken()
        reason = reason or (
            f"sites: {taken.detail}" if taken is not None and (self.unfit or not self.moved_to) else None
        )
        worst = max(
            self.profiles, key=lambda each: float(np.nan_to_num(np.nanmax(each.by_position), posinf=1e30)), default=None
        )
        return Comparison(
            verdict="unlike" if reason else self._verdict(undone),
            rungs=(*rungs, self._mask(), *(() if taken is None else (taken,))),
            reason=reason,
            precision=self.precision,
            texts=texts,
            floor=max(self.allowed, default=None),
            first=None if self.first is None else self.first[0],
            first_text=None if self.first is None else self.first[1],
            profile=worst,
            heads=self.heads,
            channels=self.channels,
            named=tuple(self.named),
            overflow=self.overflow,
            undone=undone,
            tried=tuple(self.tried),
            left=tuple(each for rows in self.left.values() for each in rows),
            harm=self._harm(texts),
            missing=self._missing(),
            unreached=() if isinstance(self.theirs, Recorded) else tuple(windows_not_reached(self.ours.model)),
            unsaid=self._unsaid(rungs),
        )

    def _proof(self) -> Undone | None:
        """All that was named, imposed on the whole. What does not bring the logits to their floor is named no more,
        nor what would explain logits that agree, while other places stay unexplained.
        """
        if not self.named:
            return None
        undone = self.undone(imposed(self.named))
        if undone is None or (undone.at_floor and not (self.left and self._logits_agree)):
            return undone
        self.named = []
        self.tried = [replace(each, named=False) for each in self.tried]
        return None

    @cached_property
    def _base(self) -> Undone | None:
        return self.undone(NO_FAULT)

    @property
    def _logits_agree(self) -> bool:
        return self._base is not None and self._base.at_floor

    def _taken(self) -> Rung | None:
        """Where a recording was taken, if not where its names say; what it holds that is not of this model's shape."""
        if self.unfit:
            return Rung("sites", "different", f"{', '.join(self.unfit)}: not a shape that this model makes")
        if self.moved_to is not None:
            return Rung("sites", "different", self.moved_to)
        if not isinstance(self.theirs, Recorded) or self.first is None or self.named or self.last is None:
            return None
        key: Key = (self.first[0].site, self.first[0].layer)
        sites = SITES_IN[self.theirs.precision]
        if not self._logits_agree or self._base is None:
            return None
        if not contradicted(self.theirs_held, self.last, key, sites, self._base.allowed):
            return None
        name = key[0] if key[1] is None else f"{key[0]}.{key[1]}"
        return Rung("sites", "different", f"the logits agree, and {name} is no part of the run that gives them")

    def _mask(self) -> Rung:
        """The first text's that says most."""
        order = ("different", "same", "unknown")
        return min(self.masks, key=lambda rung: order.index(rung.state), default=Rung("mask", "unknown"))

    def _unsaid(self, rungs: Sequence[Rung]) -> tuple[tuple[str, str], ...]:
        found = [("the second side's own ids", "both sides were fed the first side's ids")] if unlike(rungs) else []
        if self.overflow is not None:
            found.append(("behind NaN or Inf", "every later value is lost with it"))
        return tuple(found)

    def _verdict(self, undone: Undone | None) -> Verdict:
        if self.overflow is not None:
            return "named" if self.overflow.explained else "not-determined"
        if self.first is None:
            return "identical" if self.exact else "rounding"
        if not self.named:
            return "not-determined"
        done = not self.left and (undone is None or undone.at_floor)
        return "named" if done else "part-named"

    def _harm(self, texts: tuple[Text, ...]) -> Harm | None:
        if not self.forced:
            return None
        return harm(self.forced, max(self.moved, default=0.0), self._written(texts))

    def _written(self, texts: tuple[Text, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Greedy ids of both sides behind every text; recordings, and a side that breaks off, write nothing."""
        if isinstance(self.theirs, Recorded) or not self.asked.written or self.overflow is not None:
            return []
        count, other = self.asked.written, self.theirs.model
        ids = [text.ids for text in texts if self.ours.model.room(len(text.ids)) > 0]
        return [(self.ground.written(each, count), other.generate(list(each), count).ids) for each in ids]

    def _missing(self) -> tuple[str, ...]:
        """Sites that the other side did not record, by name, and by layer where it recorded others."""
        if not isinstance(self.theirs, Recorded):
            return ()
        recorded = {key for each in self.theirs.prompts for key in each.seen.sites}
        names = {site for site, _ in recorded}
        partly = sorted((key for key in self.made - recorded if key[0] in names), key=lambda key: (key[0], key[1] or 0))
        never = (site.name for site in sites_of(self.model[0]) if site.name not in names)
        return (*never, *(f"{site}.{layer}" for site, layer in partly if layer is not None))
