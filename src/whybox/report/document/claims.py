"""The document of `whybox learn --claims`: what the documents say, what is right, whether the record still holds."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Interval, Part

ClaimStatus = Literal["right", "imprecise", "wrong"]


class ClaimNumber(Part):
    """A number on which a claim rests, or several side by side.

    value: as computed now; empty where it was measured once, and value_reason says why. shown: as the sentence has it.
    expected: between which each must lie. stated: what the document prints in its place; agrees: whether that is right.
    fits: whether what was computed is what was recorded.
    """

    name: str
    figure: str | None = None
    value: tuple[float, ...]
    value_reason: str | None = None
    shown: tuple[str, ...]
    expected: tuple[Interval, ...]
    stated: tuple[str, ...] = ()
    agrees: bool | None = None
    fits: bool | None = None


class ClaimRow(Part):
    """One claim. where: sections of the documents. erratum: an error that was known before it was recomputed.

    basis: what decides: numbers computed now, numbers measured once, or reading alone. holds: whether the numbers are
    as recorded and the status follows from them.
    """

    id: str
    where: tuple[str, ...]
    status: ClaimStatus
    erratum: bool
    stated: str
    right: str
    why: str
    basis: Literal["computed", "once", "reading"]
    holds: bool
    numbers: tuple[ClaimNumber, ...] = ()


class ClaimTotals(Part):
    right: int = Field(ge=0)
    imprecise: int = Field(ge=0)
    wrong: int = Field(ge=0)


class ClaimsDocument(Document):
    """`whybox learn --claims`. computed: numbers that were computed now, of all. broken: claims that hold no longer."""

    NAME: ClassVar[str] = "whybox.claims"

    claims: tuple[ClaimRow, ...]
    totals: ClaimTotals
    computed: int = Field(ge=0)
    numbers: int = Field(ge=0)
    runs: int = Field(ge=0)
    broken: tuple[str, ...] = ()
