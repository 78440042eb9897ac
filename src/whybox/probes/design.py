"""The seam between a probe and the runner: what a probe plans, what comes back, what it makes of it.

A probe is a frozen design: its fields are what `whybox.yaml` may say. `plan` turns it into calls, `read` turns their
outcomes into a finding. It never calls a target, opens a file or knows a gate; the runner knows no call's meaning.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from jaxtyping import Float
from pydantic import Field

from whybox.items.generate import Encoded, Item, Language
from whybox.items.instance import CaseInstance
from whybox.items.schema import Strict
from whybox.items.scoring import Score
from whybox.statistics.gates import Seen
from whybox.statistics.intervals import Interval, Rate
from whybox.statistics.paired import Pairs
from whybox.statistics.unknown import Unknown
from whybox.targets.target import (
    Abilities,
    AnswerRequest,
    AnswerScore,
    Failure,
    Outcome,
    Reply,
    Request,
    Sampling,
)

AnyRequest = Request | AnswerRequest
AnyOutcome = Outcome | AnswerScore
AbilityName = Literal["chat", "raw", "logprobs", "scores", "seed", "ids", "usage", "shared_prefixes"]
Kind = Literal["rate", "pairs", "effects"]
Cell = tuple[str, str, str, str, int]

NO_REPEATS, NO_NULL = Unknown("no repeats"), Unknown("no null for a rate")


@dataclass(frozen=True)
class Call:
    """One request of a design. target, probe, item, arm and run tell it from every other call of a run.

    fresh: an answer kept from another run will not do, since the call asks whether the target repeats itself.
    facts: what was realised for this call (a place, a depth), for the report.
    """

    target: str
    probe: str
    item: str
    arm: str
    run: int
    request: AnyRequest
    fresh: bool = False
    facts: tuple[tuple[str, str], ...] = ()

    @property
    def cell(self) -> Cell:
        """Its place in the run."""
        return self.target, self.probe, self.item, self.arm, self.run


@dataclass(frozen=True)
class Record:
    """A call with how it ended."""

    call: Call
    outcome: AnyOutcome


@dataclass(frozen=True)
class Plan:
    """All calls of one probe on one target. items: what they were made from, with their scorers.

    finds: the smallest effect that so many items show with 80 % power, on the scale of the first measure.
    asked: what an arm asks of an item, by item and arm, where its prompt has another right answer than the item.
    broken: why it cannot be asked of this target; then it has no calls.
    """

    calls: tuple[Call, ...]
    items: tuple[Item, ...]
    finds: float | Unknown
    asked: Mapping[tuple[str, str], Item] = field(default_factory=dict)
    broken: str = ""


@dataclass(frozen=True)
class Measure:
    """A statistic that a gate may speak of. kind: what its gates are judged on. says: in English and Chinese."""

    kind: Kind
    says: tuple[str, str]

    @property
    def unit(self) -> Literal["share", "difference"]:
        """A rate is a share, read in %; pairs and effects are differences of two rates, read in points."""
        return "share" if self.kind == "rate" else "difference"


@dataclass(frozen=True)
class Seen2:
    """What a gate is judged on: the calls that came back, and all of them with every lost one counted against it."""

    complete: Seen
    worst: Rate | Pairs | Float[np.ndarray, "all"]


@dataclass(frozen=True)
class Estimate:
    """One number with all that must stand beside it. floor, null_95: on its scale. p: before any adjustment.

    net: whether the floor is taken off value, interval and null already.
    unit: a share is a rate, read in %; a difference is one of two rates, read in points.
    primary: one of those over which p is adjusted; what stands beside them is not, and decides nothing.
    """

    statistic: str
    value: float | Unknown
    interval: Interval | None
    items: int
    floor: float | Unknown = NO_REPEATS
    null_95: float | Unknown = NO_NULL
    p: float | None = None
    unit: Literal["share", "difference", "nats", "turns", "tokens", "number"] = "share"
    primary: bool = True
    net: bool = False


@dataclass(frozen=True)
class Curve:
    """A rate along an axis: labels, and how many of how many at each."""

    name: str
    axis: str
    points: tuple[tuple[str, Rate], ...]


@dataclass(frozen=True)
class Grid:
    """Counts of two names each: right source × named source, cited × right place."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Deciding:
    """An item that decided the finding: what was asked and answered in two arms, and the case for `whybox why`.

    seen: what else is known of it (the fork of two texts, a transcript).
    """

    item: str
    arms: tuple[str, ...]
    answers: tuple[str, ...]
    case: CaseInstance
    seen: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a probe found. measured: by statistic, the parts that its gates read (places, orders, doses, or one).

    words: what is said in a word (shape: flat). broken: why the design did not hold; then nothing else counts.
    """

    estimates: tuple[Estimate, ...]
    measured: Mapping[str, tuple[tuple[str, Seen2], ...]]
    lost: Rate
    curves: tuple[Curve, ...] = ()
    deciding: tuple[Deciding, ...] = ()
    notes: tuple[str, ...] = ()
    broken: str = ""
    words: tuple[tuple[str, str], ...] = ()
    grids: tuple[Grid, ...] = ()


@dataclass(frozen=True)
class Ground:
    """What a plan is made on: a target's name, what it can do and how it counts; seed; the user's own items.

    count: tokens of a text as the target counts them (characters where it does not say). counted: whether it says.
    encode: the ids really sent for a case, with those of each part; None for a target that does not reveal them.
    others: the other targets of the suite, which a call may name as well. ways: how this one can be run besides its own
    way, under the names of `probes.ways`. cut: tokens from which on it silently loses an end of a prompt; None where
    that was not seen.
    """

    target: str
    abilities: Abilities
    seed: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    count: Callable[[str], int] = len
    counted: bool = False
    data: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    encode: Callable[[CaseInstance], Encoded] | None = None
    ways: tuple[str, ...] = ()
    cut: int | None = None

    def length(self, case: CaseInstance) -> int:
        """Tokens of a prompt in the ids really sent; of its parts where they are not revealed."""
        if self.encode is not None:
            return len(self.encode(case).ids)
        return sum(self.count(part.text) for part in case.parts)


class Design(Strict):
    """The fields that all probes share, with the designed sizes as defaults; a probe adds its own, `plan` and `read`.

    ABOUT: one line for the suite that `whybox init` writes. GATES: those of the design, as that file says them.

    items: per language, as designed for the probe. runs: of every call. data: the name of a set of `data`, in place of
    generated items.
    """

    NAME: ClassVar[str]
    NEEDS: ClassVar[tuple[AbilityName, ...]] = ()
    MEASURES: ClassVar[Mapping[str, Measure]]
    ABOUT: ClassVar[str]
    GATES: ClassVar[tuple[str, ...]] = ()

    items: Annotated[int, Field(ge=1, le=10_000)]
    runs: Annotated[int, Field(ge=1, le=100)]
    language: Language = "en"
    data: str | None = None
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64

    @property
    def sets(self) -> tuple[tuple[str, str], ...]:
        """The sets of `data` that it names, each with the field that does."""
        return () if self.data is None else (("data", self.data),)

    def plan(self, name: str, ground: Ground) -> Plan:
        """All calls on one target. name: of this probe in the suite. UsageError where items do not fit."""
        raise NotImplementedError

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        """What is asked because of what came back: a conflict with a measured prior, the next turn of a live dialogue.

        Asked again after every round, until it names no call that is new. The same records give the same calls.
        """
        return ()

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """The finding. records: of the calls of the plan; a call that failed is among them as a Failure."""
        raise NotImplementedError


def scored(item: Item, outcome: AnyOutcome) -> Score:
    """What a reply answers. A failure, and a reply cut by the limit before it answered, is an error."""
    match outcome:
        case Reply(text=text, finish=finish):
            return item.scorer.score(text, finish)
        case Failure() | AnswerScore():
            return Score("error")


def answer_code(score: Score) -> str | None:
    """Equal codes are equal answers: the candidate, else what kind of answer it was; None for an error."""
    match score.outcome:
        case "error":
            return None
        case "right" | "wrong":
            return f"={score.candidate}"
        case other:
            return other


def said(outcome: AnyOutcome) -> str:
    """What came back, in one text."""
    match outcome:
        case Reply(text=text):
            return text
        case Failure(cause=cause):
            return cause
        case AnswerScore(logprob=logprob):
            return f"{logprob:.3f} nats"


def missing(needs: Sequence[AbilityName], abilities: Abilities) -> str | None:
    """Why a target cannot be asked what a probe needs; None where nothing is known to be missing."""
    known = {
        "chat": abilities.chat,
        "raw": abilities.raw,
        "logprobs": abilities.logprobs,
        "scores": abilities.scores,
        "seed": abilities.seed,
        "ids": abilities.ids,
        "usage": abilities.usage,
        "shared_prefixes": abilities.shared_prefixes,
    }
    return next((f"needs {name}: {known[name].why}" for name in needs if known[name].has is False), None)
