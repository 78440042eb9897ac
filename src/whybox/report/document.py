"""The machine documents of the verbs: what `--json` prints, and the only thing that text and page may show.

Rules that hold in every document: fields are frozen and complete, unknown fields are refused, a number is finite, and a
number that was not obtained is null beside a sibling `<name>_reason` that says why.
"""

import json
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

import whybox

Lang = Literal["en", "zh"]
Interval = tuple[float, float]


class Part(BaseModel):
    """A frozen piece of a document. A field `x` is null (a list: empty) exactly when a sibling `x_reason` says why."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        values = dict(self)
        for reason in (name for name in values if name.endswith("_reason")):
            name = reason.removesuffix("_reason")
            if (values[name] in (None, ())) != bool(values[reason]):
                raise ValueError(f"{name} must be null or empty exactly when {reason} says why")
        return self


class SchemaId(Part):
    name: str
    version: int


class ModelInfo(Part):
    """Which weights computed the numbers, and how. `kernel` names the arithmetic that ran."""

    name: str
    family: str
    digest: str
    engine: str
    precision: str
    kernel: str


class Document(Part):
    """What every machine document carries. `lang` is the language of the sentences written into it."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    schema_: SchemaId = Field(alias="schema")
    whybox: str = whybox.__version__
    lang: Lang = "en"
    model: ModelInfo
    seed: int
    took_s: float = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _own_schema(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {"schema": {"name": cls.NAME, "version": cls.VERSION}} | data

    @model_validator(mode="after")
    def _is_this_schema(self) -> Self:
        found = (self.schema_.name, self.schema_.version)
        if found != (self.NAME, self.VERSION):
            raise ValueError(f"expected schema {self.NAME} version {self.VERSION}, found {found[0]} version {found[1]}")
        return self


class TokenRow(Part):
    """One token. `text` is the text of its character span; bytes (hex) and id are the truth.

    part, of: token `part` of the `of` tokens that share its first character (1 of 1: whole characters).
    span: characters [start, end) of the prompt's text.
    """

    id: int
    text: str
    bytes: str
    part: int = Field(1, ge=1)
    of: int = Field(1, ge=1)
    span: tuple[int, int]


class Candidate(Part):
    """A possible next token: probability, and log-probability in nats."""

    id: int
    text: str
    prob: float = Field(ge=0, le=1)
    logprob: float


class Generated(Part):
    ids: tuple[int, ...]
    text: str


class Stage(Part):
    """One station of the pipeline walk: the site, its shape in named axes, and a few numbers that summarise it."""

    name: str
    site: str
    shape: str
    numbers: dict[str, float] = Field(default_factory=dict)
    note: str = ""


class NextDocument(Document):
    """`whybox next`: tokens, the next-token distribution, the text written on, and the walk through the stages."""

    NAME: ClassVar[str] = "whybox.next"

    text: str
    tokens: tuple[TokenRow, ...]
    next: tuple[Candidate, ...]
    generated: Generated | None = None
    stages: tuple[Stage, ...] | None = None
    notes: tuple[str, ...] = ()


class CaseInfo(Part):
    id: str
    file: str = ""


class AnswerSide(Part):
    """An answer and its log-probability at the decision (nats)."""

    text: str
    logprob: float | None
    logprob_reason: str | None = None


class Prefix(Part):
    """What stands before the decision (METHODS E1): the model's own words, nothing, or words it was given."""

    kind: Literal["own", "start", "forced"]
    text: str
    flag: str = ""


class Answer(Part):
    right: AnswerSide
    wrong: AnswerSide | None
    got: str
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
    """Matched random draws: the band that holds 95 % of them, p = (1 + #{|e_r| ≥ |e|})/(draws + 1)."""

    low: float
    high: float
    p: float = Field(ge=0, le=1)
    draws: int = Field(ge=1)


class SegmentRow(Part):
    """One segment: share of the decision row's attention, and the four effects of METHODS E2 that were measured."""

    name: str
    share: float | None
    share_reason: str | None = None
    direct: float | None
    direct_reason: str | None = None
    direct_interval: Interval | None = None
    direct_n: int = Field(1, ge=1)
    total: float | None
    total_reason: str | None = None
    removed: float | None
    removed_reason: str | None = None
    noise: float = Field(ge=0)
    null: Null | None
    null_reason: str | None = None


class HeadRow(Part):
    """One head. `null_percentile`: share of matched random heads with a smaller |effect|."""

    layer: int
    head: int
    share: float | None
    share_reason: str | None = None
    effect: float | None
    effect_reason: str | None = None
    null_percentile: float | None
    null_percentile_reason: str | None = None


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
    """The same edit on places that the claim does not name. `after`: metric after each sham, as far as kept."""

    n: int = Field(ge=0)
    flipped: int = Field(ge=0)
    p: float = Field(ge=0, le=1)
    after: tuple[float, ...] = ()


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
    """A named cause (METHODS A9) and the edit that undoes it. `about` names the segments it speaks of."""

    code: Code
    detail: str | None = None
    about: tuple[str, ...] = ()
    undone_by: str | None = None
    effect: float | None
    effect_reason: str | None = None
    interval: Interval | None = None
    after: float | None = None
    flips: Count | None = None
    shams: Shams | None = None


class Verdict(Part):
    """What was found. `scope`: this prompt only, or also its variants. The first cause is the verdict."""

    causes: tuple[Cause, ...] = Field(min_length=1)
    because: str
    would_change_my_mind: str
    scope: Literal["this-prompt", "variants"]
    next_step: str = ""


class Tried(Part):
    """One experiment that was run: what was changed, what that did, and the answer it gave."""

    what: str
    effect: float | None
    effect_reason: str | None = None
    interval: Interval | None = None
    flips: bool | None
    flips_reason: str | None = None
    answer: str | None = None
    flags: tuple[str, ...] = ()


class Block(Part):
    """Tokens [start, end) that one row or column of a pooled map stands for."""

    start: int
    end: int
    label: str


class PatternMap(Part):
    """An attention map, mean-pooled in blocks. Rows are queries that predict the next token, columns are keys.

    layer and head null: the mean over all. values[row][column]: null where masked or not computed.
    """

    layer: int | None
    head: int | None
    rows: tuple[Block, ...]
    columns: tuple[Block, ...]
    values: tuple[tuple[float | None, ...], ...]

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
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
    """`whybox why`: one answer, explained by changing one thing at a time."""

    NAME: ClassVar[str] = "whybox.why"

    case: CaseInfo
    answer: Answer
    prompt: PromptView
    metric: Metric
    segments: tuple[SegmentRow, ...]
    heads: tuple[HeadRow, ...]
    heads_reason: str | None = None
    lens: tuple[LensRow, ...]
    lens_reason: str | None = None
    decided_at: int | None
    decided_at_reason: str | None = None
    verdict: Verdict
    tried: tuple[Tried, ...]
    pattern: PatternMap | None
    pattern_reason: str | None = None
    provenance: Provenance

    @model_validator(mode="after")
    def _segments_exist(self) -> Self:
        known = {segment.name for segment in self.prompt.segments}
        named = [row.name for row in self.segments] + list(self.prompt.evidence)
        if unknown := sorted(set(named) - known):
            raise ValueError(f"no such segment: {', '.join(unknown)}; the prompt has {', '.join(sorted(known))}")
        if any(token.segment >= len(self.prompt.segments) for token in self.prompt.tokens):
            raise ValueError(f"a token names a segment beyond the {len(self.prompt.segments)} of the prompt")
        return self


DOCUMENTS: tuple[type[Document], ...] = (NextDocument, WhyDocument)


def to_json(document: Document) -> str:
    """The document as JSON text: the same bytes for the same document, UTF-8 characters as they are, no NaN."""
    return json.dumps(document.model_dump(mode="json", by_alias=True), ensure_ascii=False, allow_nan=False, indent=1)


def schemas() -> dict[str, dict[str, Any]]:
    """JSON Schema of every document, by schema name."""
    return {kind.NAME: kind.model_json_schema(by_alias=True, mode="serialization") for kind in DOCUMENTS}
