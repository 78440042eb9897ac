"""The document of `whybox why`."""

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from whybox.report.document.base import Document, Interval, Lang, Part, TokenRow
from whybox.report.document.parts import Full, Parts, RunRow, RunText, StageRow


class CaseInfo(Part):
    id: str
    file: str = ""


class AnswerSide(Part):
    """An answer and its log-probability at the decision (nats). stand_in: the case names none, this one was written."""

    text: str
    logprob: float | None
    logprob_reason: str | None = None
    stand_in: bool = False


class Prefix(Part):
    """What stands before the decision: the model's own words, nothing, or words it was given."""

    kind: Literal["own", "start", "forced"]
    text: str
    flag: str = ""


class Answer(Part):
    """cut_at: the limit of tokens that ended the text; none where the model ended it itself."""

    right: AnswerSide
    wrong: AnswerSide | None
    got: str
    cut_at: int | None = None
    cut_at_reason: str | None = None
    prefix: Prefix
    position: int = Field(ge=0)


class PromptToken(TokenRow):
    """A token of the explained run: its segment, whether it is a control token, whether it only looks like one."""

    segment: int = Field(ge=0)
    control: bool = False
    control_like: bool = False


class SegmentInfo(Part):
    """A named run of tokens. `letter` stands beside its colour everywhere."""

    name: str
    kind: Literal["part", "template", "generated", "sink"]
    letter: str


class PromptView(Part):
    text: str
    tokens: tuple[PromptToken, ...]
    segments: tuple[SegmentInfo, ...]
    evidence: tuple[str, ...] = ()


class Metric(Part):
    """What effects are differences of. `base` is its value unedited; changes up to `noise` are the floor."""

    name: str
    definition: str
    unit: str
    base: float
    noise: float = Field(ge=0)


class Null(Part):
    """Matched random draws: the band that holds 95 % of them, p = (1 + #{|e_r| ≥ |e|})/(draws + 1). same_way: of those
    that are as large, how many go the effect's own way.
    """

    low: float
    high: float
    p: float = Field(ge=0, le=1)
    draws: int = Field(ge=1)
    same_way: int | None = Field(None, ge=0)
    same_way_reason: str | None = "it was not counted when this was saved"


class Sides(Part):
    """What an effect is made of: changes of log-probability of the first id of the right and of the wrong answer."""

    right: float
    wrong: float


class SegmentRow(Part):
    """One segment: share of the decision row's attention, and its effects, as far as they were measured."""

    name: str
    share: float | None
    share_reason: str | None = None
    direct: float | None
    direct_reason: str | None = None
    direct_interval: Interval | None = None
    direct_interval_reason: str | None = None
    direct_n: int = Field(1, ge=1)
    total: float | None
    total_reason: str | None = None
    removed: float | None
    removed_reason: str | None = None
    direct_sides: Sides | None = None
    total_sides: Sides | None = None
    removed_sides: Sides | None = None
    noise: float = Field(ge=0)
    null: Null | None
    null_reason: str | None = None


class HeadRow(Part):
    """One head: share of the evidence, and effect of cutting decision → evidence in this head alone.

    `null_percentile`: share (0 … 1) of the other heads of its layer with a smaller |effect|.
    """

    layer: int
    head: int
    share: float | None
    share_reason: str | None = None
    effect: float | None
    effect_reason: str | None = None
    null_percentile: float | None
    null_percentile_reason: str | None = None


class Agreement(Part):
    """Weights are not causes, shown: Spearman ρ over all heads between share and effect on one segment.

    signed: ρ(share, effect). absolute: ρ(share, |effect|). p by permutation. brightest: the head with the most share;
    strongest: the one with the largest |effect|.
    """

    segment: str
    n: int = Field(ge=3)
    signed: float = Field(ge=-1, le=1)
    signed_p: float = Field(ge=0, le=1)
    absolute: float = Field(ge=-1, le=1)
    absolute_p: float = Field(ge=0, le=1)
    brightest_layer: int
    brightest_head: int
    brightest_share: float
    brightest_effect: float
    strongest_layer: int
    strongest_head: int
    strongest_share: float
    strongest_effect: float


class LensRow(Part):
    """The logit lens after one layer: log-probabilities (nats) and their difference in logits."""

    layer: int
    right: float
    wrong: float | None
    wrong_reason: str | None = None
    ld: float | None
    ld_reason: str | None = None


class Count(Part):
    """`hits` of `n`."""

    hits: int = Field(ge=0)
    n: int = Field(ge=0)


class Shams(Part):
    """The same edit on places that the claim does not name. `after`: metric after each sham, as far as kept.

    `rivals`: of a boost, how many of them boost text that holds the wrong answer, or another value in the right one's
    unit.
    """

    n: int = Field(ge=0)
    flipped: int = Field(ge=0)
    p: float = Field(ge=0, le=1)
    after: tuple[float, ...] = ()
    rivals: int | None = Field(default=None, ge=0)
    rivals_reason: str | None = None


Code = Literal[
    "order",
    "context-use",
    "knowledge",
    "decoding",
    "format",
    "implementation",
    "template",
    "joint",
    "none",
    "not-determined",
]


class Cause(Part):
    """A named cause and the edit that undoes it. `about` names the segments it speaks of.

    effect: on this prompt. mean, interval: of the effect over the failing variants, this prompt among them (95 %).
    """

    code: Code
    detail: str | None = None
    about: tuple[str, ...] = ()
    undone_by: str | None = None
    effect: float | None
    effect_reason: str | None = None
    mean: float | None
    mean_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    after: float | None
    after_reason: str | None = None
    flips: Count | None
    flips_reason: str | None = None
    shams: Shams | None
    shams_reason: str | None = None


class Check(Part):
    """A condition of the observed run beside the run here: may be the reason why they differ, none is named."""

    what: str
    state: Literal["same", "differs", "unknown"]


class Said(Part):
    """The sentences of a verdict in one language."""

    because: str
    would_change_my_mind: str
    next_step: str = ""


class Verdict(Part):
    """What was found. `scope`: this prompt only, or also its variants. The first cause is the verdict.

    `lift`: attention of the evidence over what its length would give it, in heads without a sink. `translated`: its
    sentences in the language that the document is not in.
    """

    causes: tuple[Cause, ...] = Field(min_length=1)
    because: str
    would_change_my_mind: str
    scope: Literal["this-prompt", "variants"]
    next_step: str = ""
    checked: tuple[Check, ...] = ()
    lift: float | None = None
    lift_reason: str | None = "no evidence is named, or no head is without a sink"
    translated: dict[Lang, Said] = Field(default_factory=dict)

    def said(self, lang: Lang) -> "Said | Verdict":
        """Its sentences in a language; as they are, where the document holds no others."""
        return self.translated.get(lang, self)


class Tried(Part):
    """One experiment that was run: what was changed, what that did, and the answer it gave. cut: its limit ended the
    answer before it gave a whole value, so that it neither flips nor does not.
    """

    what: str
    effect: float | None
    effect_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    flips: bool | None
    flips_reason: str | None = None
    answer: str | None
    answer_reason: str | None = None
    cut: bool = False
    flags: tuple[str, ...] = ()


class Block(Part):
    """Tokens [start, end) that one row or column of a pooled map stands for."""

    start: int
    end: int
    label: str


class PatternMap(Part):
    """An attention map, mean-pooled in blocks to at most 512 × 512.

    Rows are queries that predict the next token, columns are keys.
    layer and head null: the mean over all. values[row][column]: null where masked or not computed.
    """

    layer: int | None
    head: int | None
    rows: tuple[Block, ...] = Field(min_length=1, max_length=512)
    columns: tuple[Block, ...] = Field(min_length=1, max_length=512)
    values: tuple[tuple[float | None, ...], ...]

    @model_validator(mode="after")
    def _rectangular(self) -> "PatternMap":
        if len(self.values) != len(self.rows) or any(len(row) != len(self.columns) for row in self.values):
            raise ValueError(f"expected {len(self.rows)} rows of {len(self.columns)} values")
        return self


class Provenance(Part):
    command: str
    effort: str
    runs: int = Field(ge=0)
    versions: dict[str, str] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class WhyDocument(Document):
    """`whybox why`: one answer, explained by changing one thing at a time.

    broken_off: the stage at which Ctrl-C came; empty where the work came to its end.
    """

    NAME: ClassVar[str] = "whybox.why"

    case: CaseInfo
    answer: Answer
    prompt: PromptView
    metric: Metric
    segments: tuple[SegmentRow, ...]
    heads: tuple[HeadRow, ...]
    heads_reason: str | None = None
    agreement: Agreement | None
    agreement_reason: str | None = None
    lens: tuple[LensRow, ...]
    lens_reason: str | None = None
    decided_at: int | None
    decided_at_reason: str | None = None
    verdict: Verdict
    regression_test: str | None
    regression_test_reason: str | None = None
    regression_suite: str = ""
    parts: Parts | None
    parts_reason: str | None = None
    full: Full | None
    full_reason: str | None = None
    tried: tuple[Tried, ...]
    broken_off: str = ""
    stages: tuple[StageRow, ...]
    texts: tuple[RunText, ...]
    runs: tuple[RunRow, ...]
    pattern: PatternMap | None
    pattern_reason: str | None = None
    provenance: Provenance

    @model_validator(mode="after")
    def _segments_exist(self) -> "WhyDocument":
        known = {segment.name for segment in self.prompt.segments}
        named = [row.name for row in self.segments] + list(self.prompt.evidence)
        if unknown := sorted(set(named) - known):
            raise ValueError(f"no such segment: {', '.join(unknown)}; the prompt has {', '.join(sorted(known))}")
        if any(token.segment >= len(self.prompt.segments) for token in self.prompt.tokens):
            raise ValueError(f"a token names a segment beyond the {len(self.prompt.segments)} of the prompt")
        return self
