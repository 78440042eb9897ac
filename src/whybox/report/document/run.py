"""The document of `whybox run`: what every probe found on every target, and whether its gates hold."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Interval, Lang, Part
from whybox.report.document.doctor import DoctorCheck, TargetInfo

StateName = Literal["pass", "fail", "inconclusive", "error", "skipped"]


class CallCounts(Part):
    """Calls of the run: planned, chosen by --filter and --limit, finished, failed, answered from the cache."""

    planned: int
    chosen: int
    finished: int
    failed: int
    cached: int


class AbilityRow(Part):
    """What a target could do when it was asked: `shown` of the `asked` calls that needed it, and why the others not."""

    ability: str
    shown: int
    asked: int
    why: str = ""


class SuiteTarget(TargetInfo):
    """A target with the name that it has in the suite. abilities: what it can do, each with why: as it was found before
    the first item, else as it says.

    checks: of that short examination; none where nobody was asked. observed: what it could do in the calls of this run.
    """

    name: str
    abilities: dict[str, str] = Field(default_factory=dict)
    checks: tuple[DoctorCheck, ...] = ()
    observed: tuple[AbilityRow, ...] = ()


class AaRow(Part):
    """The A/A floor of one target under one condition: equal requests whose text differed from the first of their item.

    bound: below which the true rate lies with 95 % confidence.
    """

    target: str
    condition: Literal["cold", "warm", "concurrent"]
    items: int
    calls: int
    differing: int
    lost: int
    bound: float | None
    bound_reason: str | None = None


class EstimateRow(Part):
    """A statistic beside all that it must stand beside. estimate, interval, floor, null_95: in the unit.

    unit: share and difference are parts of 1: a rate, read in %, and a difference of two rates, read in points.

    net: whether estimate, interval and null_95 have the floor taken off.
    """

    statistic: str
    estimate: float | None
    estimate_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    unit: Literal["share", "difference", "nats", "turns", "tokens", "number"]
    n: int
    floor: float | None
    floor_reason: str | None = None
    net: bool = False
    null_95: float | None
    null_95_reason: str | None = None
    p: float | None
    p_reason: str | None = None
    p_adjusted: float | None
    p_adjusted_reason: str | None = None


class CurvePoint(Part):
    """`hits` of `n` at a label, with the Wilson interval."""

    label: str
    hits: int
    n: int
    interval: Interval | None
    interval_reason: str | None = None


class CurveRow(Part):
    """A rate along an axis."""

    name: str
    axis: str
    points: tuple[CurvePoint, ...]


class GridRow(Part):
    """Counts of two names each: right source × credited source, right place × cited place."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class ArmAnswer(Part):
    """What came back in one arm."""

    arm: str
    answer: str


class Mechanism(Part):
    """What `why` found for a failed item with the weights: a cause code, a sentence, and what undid the answer.

    code: None where the item could not be explained, with the reason. effect, interval: of the change on LD, in nats.
    scope: of what the sentence speaks. others: further causes that were named.
    """

    code: str | None
    code_reason: str | None = None
    detail: str | None = None
    sentence: str
    undone_by: str | None = None
    effect: float | None
    effect_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    scope: Literal["this-prompt", "variants"] | None = None
    others: tuple[str, ...] = ()


class DecidingRow(Part):
    """An item that decided the finding. prompt: of the case that goes on to `why`. right: the expected answer.

    seen: what else is known of it, such as the token at which two texts part. mechanism: None where nobody asked why.
    """

    item: str
    prompt: str
    right: str
    answers: tuple[ArmAnswer, ...]
    seen: dict[str, str] = Field(default_factory=dict)
    mechanism: Mechanism | None = None


class ProbeRow(Part):
    """One probe on one target. verdict: the worst of its gates. estimate to p_adjusted: of its first statistic.

    words: what is said in a word, such as the shape of a curve.
    calls: of this probe. errors: those that failed, and answers cut by the limit of tokens before they gave a whole
    value (cut).
    seconds: of the run; calls that are under way together share it. needs_n: about how many more items would settle it.
    """

    probe: str
    kind: str
    target: str
    verdict: StateName | None
    verdict_reason: str | None = None
    statistic: str
    estimate: float | None
    estimate_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    n: int
    floor: float | None
    floor_reason: str | None = None
    p: float | None
    p_reason: str | None = None
    p_adjusted: float | None
    p_adjusted_reason: str | None = None
    needs_n: int | None
    needs_n_reason: str | None = None
    calls: int
    errors: int
    cut: int = 0
    seconds: float
    not_measured: str = ""
    estimates: tuple[EstimateRow, ...] = ()
    curves: tuple[CurveRow, ...] = ()
    deciding: tuple[DecidingRow, ...] = ()
    notes: tuple[str, ...] = ()
    words: dict[str, str] = Field(default_factory=dict)
    grids: tuple[GridRow, ...] = ()


class GateRow(Part):
    """A gate on one target. demand: as the suite says it. says: the sentence, in the language of the document.

    sentences: the same in every language. because: a code of what decided.
    """

    gate: str
    probe: str
    target: str
    demand: str
    says: str
    sentences: dict[Lang, str] = Field(default_factory=dict)
    verdict: StateName
    because: str
    detail: str = ""
    p_holds: float | None
    p_holds_reason: str | None = None
    p_broken: float | None
    p_broken_reason: str | None = None
    needs_n: int | None
    needs_n_reason: str | None = None


class RunDocument(Document):
    """`whybox run`. verdict: of all gates. exit_code: what the command ended with."""

    NAME: ClassVar[str] = "whybox.run"

    suite: str
    suite_digest: str
    targets: tuple[SuiteTarget, ...]
    calls: CallCounts
    floor: tuple[AaRow, ...]
    probes: tuple[ProbeRow, ...]
    gates: tuple[GateRow, ...]
    verdict: StateName | None
    verdict_reason: str | None = None
    exit_code: int = Field(ge=0, le=5)

    def told_in(self, lang: Lang) -> "RunDocument":
        """The same document in another language: its sentences, not what was found."""
        gates = tuple(gate.model_copy(update={"says": gate.sentences.get(lang, gate.says)}) for gate in self.gates)
        return self.model_copy(update={"lang": lang, "gates": gates})


class CallRow(Part):
    """One finished call, as a page shows it. outcome: None where nothing was to be scored.

    prompt, setting: their places in the payload. candidate: what the scorer read in the answer. ended: how the
    text ended, or what failed. left_out: characters of the answer that the page does not hold.
    """

    target: str
    probe: str
    item: str
    arm: str
    run: int
    prompt: int
    setting: int
    answer: str
    left_out: int = 0
    outcome: str | None
    candidate: str | None
    right: str
    flags: str = ""
    ended: str
    source: str
    seconds: float
    facts: tuple[tuple[str, str], ...] = ()


class CallsPayload(Part):
    """Every call of a run, for its page. prompts: each one once, as (role, text); a raw text has the role "".
    settings: how answers were to be written, each one once.

    bare: calls whose prompts and answers were left out for the size of the page.
    """

    prompts: tuple[tuple[tuple[str, str], ...], ...] = ()
    settings: tuple[str, ...] = ()
    calls: tuple[CallRow, ...] = ()
    bare: int = 0
