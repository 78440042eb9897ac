"""The document of `whybox diff`: are the two runs alike, where do they part, why, and does it matter."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Interval, Part

DiffVerdict = Literal["identical", "rounding", "named", "part-named", "not-determined", "unlike"]


class RungRow(Part):
    """One thing that must be alike before numbers are compared."""

    check: str
    state: Literal["same", "different", "unknown"]
    detail: str = ""


class SideRow(Part):
    """One of the two sides. kernel, engine: null for a recording."""

    name: str
    precision: str
    engine: str | None = None
    kernel: str | None = None


class PartingRow(Part):
    """The first place that rounding does not explain; error and allowed as shares of the size of our value there."""

    site: str
    layer: int | None
    position: int
    error: float | None = Field(ge=0)
    allowed: float | None = Field(ge=0)
    text: str = ""
    heads: tuple[int, ...] | None = None
    channels: tuple[int, int] | None = None


class ProfileRow(Part):
    """The shape of the difference over positions and layers, of the text where it is largest."""

    shape: str
    first: int | None
    site: str
    by_position: tuple[float | None, ...]
    by_layer: tuple[float | None, ...]


class SuspectRow(Part):
    """A fault that was imposed. undone_error: what was left where it parted, in multiples of the floor."""

    name: str
    what: str
    piece: str
    undone_error: float | None
    named: bool


class NamedRow(Part):
    """A cause: imposed on ours, it gives what the other side did. layers: null is everywhere."""

    name: str
    what: str
    layers: tuple[int, ...] | None = None


class OverflowRow(Part):
    """Where NaN or Inf begins on the other side, and our largest magnitude there."""

    site: str
    layer: int | None
    position: int
    value: float | None


class UndoneRow(Part):
    """With all causes imposed on ours: the largest error of the logits that is left, and what rounding allows."""

    error: float | None
    allowed: float | None
    at_floor: bool


class LeftRow(Part):
    """A piece of the model that nothing explained."""

    piece: str
    site: str
    layer: int | None
    position: int


class HarmRow(Part):
    """Whether it matters, over all positions compared. kl in nats; null where one side has NaN."""

    positions: int
    kl_mean: float | None
    kl_p999: float | None
    same_top: float
    same_top_interval: Interval | None
    ties: int
    moved: float | None
    first_divergent_token: int | None
    flips: int | None = None
    prompts: int | None = None
    flips_interval: Interval | None = None


class DiffDocument(Document):
    """`whybox diff`: two runs of one model, compared down to the cause."""

    NAME: ClassVar[str] = "whybox.diff"

    sides: tuple[SideRow, SideRow]
    verdict: DiffVerdict
    same_experiment: bool
    reason: str | None = None
    ladder: tuple[RungRow, ...]
    texts: tuple[str, ...]
    floor: float | None
    floor_reason: str | None = None
    first: PartingRow | None
    profile: ProfileRow | None
    suspects: tuple[SuspectRow, ...] = ()
    named: tuple[NamedRow, ...] = ()
    overflow: OverflowRow | None = None
    undone: UndoneRow | None = None
    left: tuple[LeftRow, ...] = ()
    harm: HarmRow | None
    harm_reason: str | None = None
    missing_sites: tuple[str, ...] = ()
    windows_not_reached: tuple[int, ...] = ()


class SelfRow(Part):
    """One way to run the model, against the plainest."""

    way: str
    verdict: DiffVerdict
    kl_mean: float | None
    same_top: float | None
    moved: float | None
    named: tuple[str, ...] = ()


class SelfDocument(Document):
    """`whybox diff MODEL --self`: one model run in every way, each against the plainest."""

    NAME: ClassVar[str] = "whybox.diff-self"

    rows: tuple[SelfRow, ...]
    passed: bool
    not_run: tuple[str, ...] = ()
