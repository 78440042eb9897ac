"""The document of `whybox doctor`: what a target can really do, and how far equal calls differ."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Interval, Part

Number = int | float | str
CheckState = Literal["yes", "no", "note", "fault", "unknown", "skipped"]
Condition = Literal["cold", "warm", "concurrent"]


class TargetInfo(Part):
    """Which target was asked: its kind, the model's name there, and where or how it runs. Nothing secret."""

    kind: str
    model: str
    details: dict[str, str] = Field(default_factory=dict)


class DoctorCheck(Part):
    """One thing that was looked at. finding: a stable code; numbers: what it rests on.

    yes: it is there and real · no: it is not there · note: worth knowing · fault: it would spoil numbers ·
    unknown: could not be told · skipped: needs what is missing.
    """

    check: str
    state: CheckState
    finding: str
    numbers: dict[str, Number] = Field(default_factory=dict)
    quote: str | None = None


class FloorRow(Part):
    """How often an equal call was answered otherwise. differing: of `calls`, each beside one that it is compared with.

    bound: below which the true rate lies with 95 % confidence. logprob_max: largest |Δ logprob| of the first token.
    """

    condition: Condition
    items: int
    calls: int
    differing: int
    rate: float
    interval: Interval
    bound: float
    answers_differing: int
    logprob_max: float | None
    logprob_max_reason: str | None = None


class DoctorDocument(Document):
    """`whybox doctor`. verdict: usable | faults | undetermined."""

    NAME: ClassVar[str] = "whybox.doctor"

    target: TargetInfo
    checks: tuple[DoctorCheck, ...]
    floor: tuple[FloorRow, ...]
    calls: int
    failed: int
    failures: tuple[str, ...] = ()
    verdict: Literal["usable", "faults", "undetermined"]
