"""The document of `whybox look`: what every head does on one prompt, as data.

Shares are of one query's attention, 0 … 1. `decision`: the last query, which predicts the next token. A mean over
queries is over the judged ones (from the ninth on; below 16 tokens from the second on).
"""

from collections import Counter
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from whybox.report.document.base import Document, Part
from whybox.report.document.next import Candidate
from whybox.report.document.why import Block, PromptToken

HeadClass = Literal[
    "sink",
    "previous",
    "diagonal",
    "local",
    "induction",
    "duplicate",
    "global anchor",
    "vertical stripe",
    "flat",
    "window-bound",
    "mixed",
]
MOST_BLOCKS = 32  # a side of the map of a head


class LookSegment(Part):
    """Tokens [start, end) under one name; `sink` (no tokens) is what learned sinks take.

    share, mean_share: at the decision, and over the judged queries; by layer: mean over its heads.
    lift: share without the sink, over what the segment's length would give it, at the decision; heads that give the
    sink more than .3 there are left out, and a layer without others is null.
    """

    name: str
    kind: Literal["part", "template", "bos", "generated", "sink"]
    role: str | None = None
    letter: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    share: float
    share_by_layer: tuple[float, ...]
    mean_share: float
    mean_share_by_layer: tuple[float, ...]
    lift: float | None
    lift_reason: str | None = None
    lift_by_layer: tuple[float | None, ...]
    value_share: float | None
    value_share_reason: str | None = None


class SecondarySink(Part):
    """A key behind the first that gets more than .3 of the attention of the queries that see it, on average."""

    key: int = Field(ge=1)
    share: float


class HeadLook(Part):
    """Every statistic of one head; means over judged queries unless said.

    entropy: nats; entropy_norm: over ln(visible keys); effective_keys: mean of e^entropy.
    sink: share of the first key, queries from the second on; sink_all: the first query included. sink_mass: what a
    learned sink takes.
    next: weight on the token behind the query (only arrays that look both ways have any). local, local16, local64:
    weight within 4, 16, 64 tokens before the query; the `_even` ones: what even weights would put there.
    distance: tokens; distance_part: over the query's position. induction, duplicate: on a probe of random ids that are
    repeated, induction_control on one of ids that are not; induction_text, duplicate_text: on this prompt.
    anchor: weight on delimiters, line ends and control tokens, the first key apart; anchor_tokens: their share of keys.
    stripe: share of the queries from 8 tokens later on that make `stripe_key` loud. score_sd: of the visible scores.
    decision_*: at the last query. value_*: there, by weight · ‖value · W_O‖ in place of the weight.
    """

    layer: int = Field(ge=0)
    head: int = Field(ge=0)
    classes: tuple[HeadClass, ...] = Field(min_length=1)
    entropy: float
    entropy_norm: float | None
    entropy_norm_reason: str | None = None
    effective_keys: float
    sink: float
    sink_all: float
    sink_mass: float
    secondary_sinks: tuple[SecondarySink, ...] = ()
    previous: float | None
    previous_reason: str | None = None
    self: float | None
    self_reason: str | None = None
    next: float | None
    next_reason: str | None = None
    local: float | None
    local_reason: str | None = None
    local16: float | None
    local16_reason: str | None = None
    local64: float | None
    local64_reason: str | None = None
    local_even: float | None
    local_even_reason: str | None = None
    local16_even: float | None
    local16_even_reason: str | None = None
    local64_even: float | None
    local64_even_reason: str | None = None
    distance: float | None
    distance_reason: str | None = None
    distance_part: float | None
    distance_part_reason: str | None = None
    induction: float | None
    induction_reason: str | None = None
    induction_control: float | None
    induction_control_reason: str | None = None
    duplicate: float | None
    duplicate_reason: str | None = None
    induction_text: float | None
    induction_text_reason: str | None = None
    duplicate_text: float | None
    duplicate_text_reason: str | None = None
    anchor: float
    anchor_tokens: float
    stripe: float | None
    stripe_reason: str | None = None
    stripe_key: int | None
    stripe_key_reason: str | None = None
    score_sd: float | None
    score_sd_reason: str | None = None
    decision_sink: float | None
    decision_sink_reason: str | None = None
    decision_segments: tuple[float, ...]
    decision_segments_reason: str | None = None
    value_sink: float | None
    value_sink_reason: str | None = None
    value_segments: tuple[float, ...]
    value_segments_reason: str | None = None


class LayerLook(Part):
    """One layer, on this input. window: keys that a query sees at most, null without a window.

    score_sd_*: over its heads. dead_units: of `units` MLP units, those that stay silent at every token.
    """

    layer: int = Field(ge=0)
    heads: int = Field(ge=1)
    window: int | None = None
    score_sd_least: float | None
    score_sd_least_reason: str | None = None
    score_sd_median: float | None
    score_sd_median_reason: str | None = None
    score_sd_most: float | None
    score_sd_most_reason: str | None = None
    units: int | None
    units_reason: str | None = None
    dead_units: int | None
    dead_units_reason: str | None = None


class ClassCount(Part):
    """How many heads have a class, and from which value of which statistic on they do."""

    name: HeadClass
    rule: str
    count: int = Field(ge=0)


class Probe(Part):
    """Random ids twice in a row (and, as the control, once): what induction and duplicate are measured on."""

    tokens: int = Field(ge=1)
    draws: int = Field(ge=1)
    seed: int


class Where(Part):
    """What a diagnosis speaks of; what is null is not singled out."""

    layers: tuple[int, ...] = ()
    heads: tuple[tuple[int, int], ...] = ()
    tokens: tuple[int, ...] = ()
    segments: tuple[str, ...] = ()


class BaseRate(Part):
    """How often a code fires on ordinary prompts with right answers. own: measured for this very model file."""

    model: str
    hits: int = Field(ge=0)
    n: int = Field(ge=1)
    own: bool


class Diagnosis(Part):
    """A pattern, its likely meaning and a test: never a verdict.

    evidence: the numbers that triggered it. common: it fires on more than 10 % of ordinary prompts; then it only
    describes, and names no action.
    """

    code: str
    where: Where
    evidence: dict[str, float]
    base_rate: BaseRate | None
    base_rate_reason: str | None = None
    common: bool
    meaning: str
    action: str | None
    action_reason: str | None = None
    note: str = ""


class NotSaid(Part):
    """A code that could not be decided here, and what is missing."""

    code: str
    reason: str


class Decision(Part):
    """The query that decides: the last one of a run. position: null where none does (queries look both ways); what
    stands for it then is the mean of all queries.

    by_token: share of each token, mean over all heads; value_by_token: weighted by the values.
    """

    position: int | None = Field(ge=0)
    position_reason: str | None = None
    next: tuple[Candidate, ...]
    by_token: tuple[float, ...]
    value_by_token: tuple[float, ...]
    value_by_token_reason: str | None = None


class DilutionPoint(Part):
    """One length of the prompt. share, lift: of the segment at the decision. brightest: the head with most of it."""

    tokens: int = Field(ge=1)
    share: float
    lift: float | None
    lift_reason: str | None = None
    brightest_layer: int
    brightest_head: int
    brightest_share: float
    beyond_training: bool


class Dilution(Part):
    """Share of one segment (or token, by its number) as filler behind it makes the prompt longer.

    The first point is the prompt as it is. trained: tokens of the trained context.
    """

    segment: str
    points: tuple[DilutionPoint, ...] = Field(min_length=1)
    trained: int = Field(ge=1)


class MapView(Part):
    """Blocks of tokens along both sides of every small map."""

    rows: tuple[Block, ...] = Field(min_length=1, max_length=MOST_BLOCKS)
    columns: tuple[Block, ...] = Field(min_length=1, max_length=MOST_BLOCKS)
    heads: tuple["HeadMap", ...]


class HeadMap(Part):
    """values[row][column]: mean weight that the queries of a block of rows give to a block of columns, all its keys
    together, so that a row sums to 1 − sink mass. Three digits. What no query of the block sees is null, or left out
    at the end of a row.
    """

    layer: int
    head: int
    values: tuple[tuple[float | None, ...], ...]


class Opened(Part):
    """A head whose whole pattern the page can show, and why it was chosen."""

    layer: int
    head: int
    why: str


class LookDocument(Document):
    """`whybox look`: the heads, layers, segments and diagnoses of one run.

    key_tokens: labels of the keys where they are not those of the queries (direction `cross`).
    """

    NAME: ClassVar[str] = "whybox.look"

    title: str = ""
    text: str
    tokens: tuple[PromptToken, ...] = Field(min_length=1)
    key_tokens: tuple[PromptToken, ...] = ()
    direction: Literal["causal", "both", "cross"]
    short_text: bool
    beyond_training: bool
    segments: tuple[LookSegment, ...]
    evidence: tuple[str, ...] = ()
    decision: Decision
    heads: tuple[HeadLook, ...]
    layers: tuple[LayerLook, ...]
    classes: tuple[ClassCount, ...]
    probe: Probe | None
    probe_reason: str | None = None
    diagnoses: tuple[Diagnosis, ...]
    not_said: tuple[NotSaid, ...] = ()
    dilution: Dilution | None
    dilution_reason: str | None = None
    maps: MapView
    opened: tuple[Opened, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def not_said_by_reason(self) -> dict[str, list[str]]:
        """Codes that could not be decided, those with one reason together."""
        found: dict[str, list[str]] = {}
        for each in self.not_said:
            found.setdefault(each.reason, []).append(each.code)
        return found

    @model_validator(mode="after")
    def _fits_together(self) -> "LookDocument":
        twice = [name for name, count in Counter(segment.name for segment in self.segments).items() if count > 1]
        if twice:
            raise ValueError(f"two segments named {twice[0]}")
        if unknown := sorted(set(self.evidence) - {segment.name for segment in self.segments}):
            raise ValueError(f"no such segment: {', '.join(unknown)}")
        if any(token.segment >= len(self.segments) for token in (*self.tokens, *self.key_tokens)):
            raise ValueError(f"a token names a segment beyond the {len(self.segments)} of the prompt")
        return self


class LayerRule(Part):
    """How one layer turns query · key into weights: softmax over visible keys of cap · tanh(scale · s / cap) − slope ·
    distance (no cap: scale · s). A query sees the keys up to itself; with a window, the last `window` of them.

    slopes: one a head (ALiBi). sinks: logits of the learned sinks, one a head, which join the softmax and are no key.
    """

    layer: int
    scale: float
    cap: float | None = None
    window: int | None = None
    slopes: tuple[float, ...] | None = None
    sinks: tuple[float, ...] | None = None


class Packed(Part):
    """Numbers as base64: little-endian, row after row. shape: rows, columns."""

    dtype: Literal["float32", "float16"]
    shape: tuple[int, int]
    data: str


class QueryRows(Part):
    """Queries [q d] of one head after position; group: the key/value head that it reads."""

    layer: int
    head: int
    group: int
    rows: Packed


class KeyRows(Part):
    """Keys [k d] of one key/value head after position."""

    layer: int
    group: int
    rows: Packed


class PatternRows(Part):
    """A whole pattern [q k], where queries and keys are not at hand."""

    layer: int
    head: int
    rows: Packed


class LookPayload(Part):
    """What the page needs to compute the exact rows of the opened heads; no part of the JSON document."""

    rules: tuple[LayerRule, ...] = ()
    query_rows: tuple[QueryRows, ...] = ()
    key_rows: tuple[KeyRows, ...] = ()
    patterns: tuple[PatternRows, ...] = ()
