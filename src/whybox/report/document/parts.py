"""What `why` found about parts of the model, sets of them, and the context: the pieces beside its verdict."""

from typing import Literal

from pydantic import Field

from whybox.report.document.base import Interval, Part

PartKind = Literal["head", "mlp"]
SetKind = Literal["removal", "boost", "cut"]
Chosen = Literal["largest", "random"]


class Effect(Part):
    """An effect with what stands beside it. value: mean over n runs (LD in nats); sd, interval: over those runs.

    percentile: share (0 … 1) of `draws` matched draws with a smaller size. smallest_p: what p is when no draw is as
    large. changed: whether the edit changed any number.
    """

    value: float
    changed: bool = True
    n: int = Field(1, ge=1)
    sd: float | None
    sd_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    draws: int = Field(0, ge=0)
    percentile: float | None = Field(ge=0, le=1)
    percentile_reason: str | None = None
    p: float | None = Field(ge=0, le=1)
    p_reason: str | None = None
    smallest_p: float | None = Field(ge=0, le=1)
    smallest_p_reason: str | None = None


class PartRow(Part):
    """A head or an MLP: what it wrote into LD, LD without it at the decision, and with values of other prompts."""

    name: str
    kind: PartKind
    layer: int
    head: int | None
    head_reason: str | None = None
    wrote: float | None
    wrote_reason: str | None = None
    zero: Effect
    resample: Effect | None
    resample_reason: str | None = None
    flags: tuple[str, ...] = ()


class Parts(Part):
    """The screen: every part, those with the largest effect first. references: where other values come from."""

    references: str
    rows: tuple[PartRow, ...]


class AblationRow(Part):
    """One part ablated in three ways. flags: `depends on the ablation` where signs are opposite."""

    name: str
    zero: Effect
    mean: Effect
    resample: Effect
    flags: tuple[str, ...] = ()


class RepairRow(Part):
    """A head taken out at the decision. direct: everything behind it frozen. total: plain ablation. conditional: with
    `given` out already. repaired: ρ = 1 − total/direct. everywhere: total effect of its removal at all positions.
    """

    name: str
    direct: Effect
    total: Effect
    repaired: float | None
    repaired_reason: str | None = None
    conditional: Effect
    given: tuple[str, ...]
    everywhere: float | None
    everywhere_reason: str | None = None
    flags: tuple[str, ...] = ()


class Joint(Part):
    """The three with the largest direct effect taken out together, against the sums of what each does alone."""

    parts: tuple[str, ...]
    joint: Effect
    sum_of_direct: float
    sum_of_total: float


class PairRow(Part):
    """Two parts together, flagged: they cancel, act only or do more together. alone: the total effect of each."""

    parts: tuple[str, str]
    alone: tuple[float, float]
    joint: Effect
    interaction: float
    flag: str


class SetRow(Part):
    """The smallest set found that turns the outcome. ld: with the set changed. turns: whether the answer turns as well.

    what: removal of parts, or a boost or cut of heads' edges to `about`. others: as many other minimal sets.
    """

    what: SetKind
    about: tuple[str, ...] = ()
    parts: tuple[str, ...]
    parts_reason: str | None = None
    ld: float | None
    ld_reason: str | None = None
    others: tuple[tuple[str, ...], ...] = ()
    tried: int = Field(0, ge=0)
    turns: bool | None
    turns_reason: str | None = None
    answer: str | None
    answer_reason: str | None = None


class SourceRow(Part):
    """score: what keeping the source adds to the log-odds of the answer. left_out: log P without it, less log P."""

    name: str
    score: float | None
    score_reason: str | None = None
    left_out: float | None
    left_out_reason: str | None = None


class DropRow(Part):
    """log P less log P without k sources, nats: the top k by score beside random k (mean, SD over `draws`)."""

    k: int = Field(ge=1)
    top: float
    random: float
    random_sd: float
    draws: int = Field(ge=1)


class ContextView(Part):
    """Which sources log P of an answer rests on. exact: Shapley values over all masks; else a sparse surrogate.

    lds: Spearman between surrogate and truth on unseen masks. fit: how far exact scores simply add up.
    """

    answer: str
    right: bool
    method: str
    exact: bool
    masks: int
    noise: float = Field(ge=0)
    lds: float | None = Field(ge=-1, le=1)
    lds_reason: str | None = None
    fit: float | None = Field(ge=-1, le=1)
    fit_reason: str | None = None
    sources: tuple[SourceRow, ...]
    drops: tuple[DropRow, ...]
    drops_reason: str | None = None


class GradientRow(Part):
    """A gradient estimate that was intervened on. estimate: a map, no effect. effect: what the intervention did."""

    name: str
    chosen: Chosen
    estimate: float
    effect: Effect
    low_confidence: bool
    flags: tuple[str, ...] = ()


class AlongRow(Part):
    """A site that one gradient does not see: estimate is what it sums to, joint what replacing all of the site does.

    shared: the sum of integrated gradients, which miss joint by the fraction `missed`. largest: the component with the
    largest share, and its own effect, measured.
    """

    place: str
    estimate: float
    joint: float
    shared: float
    missed: float | None = Field(ge=0)
    missed_reason: str | None = None
    midpoints: int = Field(gt=0)
    largest: str
    share: float
    effect: Effect
    flags: tuple[str, ...] = ()


class GradientMap(Part):
    """Estimates by one gradient, verified. rank: Spearman of estimates and effects over the rows.

    signs: how many agree of `clear` effects. flagged: of `estimated` parts, those with low confidence. worst: the part
    whose effect exceeds its estimate most in size.
    """

    estimated: int = Field(ge=0)
    flagged: int = Field(ge=0)
    rank: float | None = Field(ge=-1, le=1)
    rank_reason: str | None = None
    rank_p: float | None = Field(ge=0, le=1)
    rank_p_reason: str | None = None
    signs: int = Field(ge=0)
    clear: int = Field(ge=0)
    worst: str
    rows: tuple[GradientRow, ...]
    along: tuple[AlongRow, ...] = ()


class KnockoutRow(Part):
    """One segment. between: cut from all positions between it and the decision; by: from each later segment alone.

    interaction: total − direct − between. muted: what its weights bring is dropped, and the row does not renormalise.
    """

    name: str
    direct: Effect | None
    direct_reason: str | None = None
    total: Effect | None
    total_reason: str | None = None
    between: Effect | None
    between_reason: str | None = None
    muted: Effect | None
    muted_reason: str | None = None
    interaction: float | None
    interaction_reason: str | None = None
    by: dict[str, float] = Field(default_factory=dict)


class Full(Part):
    """What full effort adds. where: the positions at which parts were changed."""

    where: str
    ablations: tuple[AblationRow, ...]
    ablations_reason: str | None = None
    repairs: tuple[RepairRow, ...]
    repairs_reason: str | None = None
    joint: Joint | None
    joint_reason: str | None = None
    pairs: tuple[PairRow, ...]
    pairs_reason: str | None = None
    pairs_tried: int = Field(0, ge=0)
    sets: tuple[SetRow, ...]
    sets_reason: str | None = None
    context: ContextView | None
    context_reason: str | None = None
    gradients: GradientMap | None
    gradients_reason: str | None = None
    segments: tuple[KnockoutRow, ...]
    segments_reason: str | None = None


class RunRow(Part):
    """One run. text: which of `texts`. read: what `value` is (LD or log P, nats), where one number was read."""

    stage: str
    kind: Literal["read", "write", "gradient"]
    text: int = Field(ge=1)
    what: str
    read: str = ""
    value: float | None
    value_reason: str | None = None
    answer: str | None = None


class RunText(Part):
    """A text that was run: tokens, and its characters up to a limit."""

    tokens: int = Field(ge=1)
    text: str
    left_out: int = Field(0, ge=0)


class StageRow(Part):
    """A stage of the plan: runs that were announced at most, and that were made."""

    name: str
    announced: int = Field(ge=0)
    made: int = Field(ge=0)
