"""The document of `whybox diff`: are the two runs alike, where do they part, why, and does it matter."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Interval, Part

DiffVerdict = Literal[
    "identical", "rounding", "within-repeats", "same-text", "named", "part-named", "not-determined", "unlike"
]


class RungRow(Part):
    """One thing that must be alike before numbers are compared."""

    check: str
    state: Literal["same", "different", "unknown"]
    detail: str = ""


class SideRow(Part):
    """One of the two sides. kernel, engine: null for a recording and an endpoint. precision: may be `not told`."""

    name: str
    precision: str
    engine: str | None = None
    kernel: str | None = None


class PartingRow(Part):
    """The first place that rounding does not explain; error and allowed as shares of the size of our value there.

    Of an endpoint: the largest change of a log-probability that is listed, in nats.
    """

    site: str
    layer: int | None
    position: int
    error: float | None = Field(ge=0)
    error_reason: str | None = None
    allowed: float | None = Field(ge=0)
    allowed_reason: str | None = None
    text: str = ""
    heads: tuple[int, ...] | None = None
    channels: tuple[int, int] | None = None


class ProfileRow(Part):
    """The shape of the difference over positions and layers, of the text where it is largest."""

    shape: str
    first: int | None
    first_reason: str | None = None
    site: str
    by_position: tuple[float | None, ...]
    by_layer: tuple[float | None, ...]


class SuspectRow(Part):
    """A fault that was imposed. undone_error: what was left where it parted, in multiples of the floor."""

    name: str
    what: str
    piece: str
    undone_error: float | None
    undone_error_reason: str | None = None
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
    value_reason: str | None = None


class UndoneRow(Part):
    """With all causes imposed on ours: the largest error of the logits that is left, and what rounding allows."""

    error: float | None
    error_reason: str | None = None
    allowed: float | None
    allowed_reason: str | None = None
    at_floor: bool


class LeftRow(Part):
    """A piece of the model that nothing explained."""

    piece: str
    site: str
    layer: int | None
    position: int


class HarmRow(Part):
    """Whether it matters, over all positions compared. kl in nats; null where one side has NaN.

    kl_is: of an endpoint only the most probable tokens are known, so that KL is at least that. variation: the least and
    the most that ½ Σ |p − q| can be on average there. widest_turned: the largest gap between our two best tokens where
    another token is chosen, in multiples of what rounding moves.
    """

    positions: int
    kl_mean: float | None
    kl_mean_reason: str | None = None
    kl_p999: float | None
    kl_p999_reason: str | None = None
    kl_is: Literal["exact", "at least"] = "exact"
    variation: Interval | None
    variation_reason: str | None = None
    same_top: float | None
    same_top_reason: str | None = None
    same_top_interval: Interval | None
    same_top_interval_reason: str | None = None
    ties: int
    widest_turned: float | None
    widest_turned_reason: str | None = None
    moved: float | None
    moved_reason: str | None = None
    first_divergent_token: int | None
    first_divergent_token_reason: str | None = None
    flips: int | None
    flips_reason: str | None = None
    prompts: int | None
    prompts_reason: str | None = None
    flips_interval: Interval | None
    flips_interval_reason: str | None = None


class HeldRow(Part):
    """How far a precision moves the weights of the layers' matrices by holding them, as a share of their size."""

    precision: str
    error: float = Field(ge=0)


class UnsaidRow(Part):
    """What could not be compared, and why."""

    what: str
    why: str


class RepeatsRow(Part):
    """Equal calls of an endpoint among themselves. moved: largest change of a log-probability, nats."""

    moved: float
    texts_differ: int
    calls: int
    below: float


class DiffDocument(Document):
    """`whybox diff`: two runs of one model, compared down to the cause.

    held: what 8 and what 4 bits do to the weights, where one side holds the other's so. repeats: of an endpoint.
    explained_by: the precision whose rounding was allowed for it. rivals: faults that give its numbers equally well,
    so that none is named.
    """

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
    held: tuple[HeldRow, ...] = ()
    missing_sites: tuple[str, ...] = ()
    windows_not_reached: tuple[int, ...] = ()
    unsaid: tuple[UnsaidRow, ...] = ()
    repeats: RepeatsRow | None = None
    explained_by: str | None = None
    rivals: tuple[str, ...] = ()


class SelfRow(Part):
    """One way to run the model, against the plainest."""

    way: str
    verdict: DiffVerdict
    kl_mean: float | None
    kl_mean_reason: str | None = None
    same_top: float | None
    same_top_reason: str | None = None
    moved: float | None
    moved_reason: str | None = None
    named: tuple[str, ...] = ()


class SelfDocument(Document):
    """`whybox diff MODEL --self`: one model run in every way, each against the plainest."""

    NAME: ClassVar[str] = "whybox.diff-self"

    rows: tuple[SelfRow, ...]
    passed: bool
    not_run: tuple[str, ...] = ()


class RestoredRow(Part):
    """Something given back in full while all else stays quantised. kl: what is left, nats; gain: what it takes away.

    kind: part (embedding, a layer, the head), role (one kind of matrix in all layers), tensor, and sets of parts or
    tensors. bytes_more: kept in 16 bits each. interval: 95 %, over blocks of 16 positions.
    """

    kind: Literal["part", "role", "tensor", "parts", "tensors"]
    name: str
    parameters: int
    bytes_more: int | None
    bytes_more_reason: str | None = None
    kl: float
    gain: float
    interval: Interval | None
    interval_reason: str | None = None


class SensitivityDocument(Document):
    """`whybox diff A B --sensitivity`: what a quantisation costs, and which parts to keep in higher precision.

    kl: KL(full ‖ quantised weights) in nats, both in float32; as_run: the same with the side's own arithmetic. floor:
    what float32 alone moves it by. keep: the cheapest of all that takes away half of it.
    """

    NAME: ClassVar[str] = "whybox.diff-sensitivity"

    sides: tuple[SideRow, SideRow]
    texts: tuple[str, ...]
    positions: int
    blocks: int
    kl: float
    interval: Interval | None
    interval_reason: str | None = None
    as_run: float
    floor: float
    bytes_held: int | None
    bytes_held_reason: str | None = None
    units: tuple[RestoredRow, ...]
    sets: tuple[RestoredRow, ...]
    keep: RestoredRow | None
    keep_reason: str | None = None
    runs: int
