"""The document of `whybox size`: what a model holds, computes and keeps, each number with its formula."""

from typing import ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Part

SourceKind = Literal["gguf", "safetensors", "config", "numbers"]
Limit = Literal["memory", "compute"]


class SizeSource(Part):
    """Where the sizes come from. `config`, `numbers`: no weights were looked at."""

    kind: SourceKind
    family: str
    attention: str
    layers: int
    width: int
    vocabulary: int
    trained_context: int | None
    trained_context_reason: str | None = None


class SizeLoad(Part):
    """What was asked. Types of numbers; tokens; bytes, bytes a second, operations a second."""

    context: int
    batch: int
    shared_prefix: int
    block_size: int
    weights_type: str
    cache_type: str
    activation_bytes: int
    memory: int | None
    memory_reason: str | None = None
    bandwidth: int | None
    bandwidth_reason: str | None = None
    flops: int | None
    flops_reason: str | None = None


class Parameters(Part):
    """Each stored array once. embedding: token and position tables and an untied head. active: used for one token.

    used_twice: what a count would say that takes a tied head for a second table.
    """

    total: int
    embedding: int
    active: int
    without_embedding: int
    used_twice: int


class MatrixRow(Part):
    """Matrices of one shape: in how many layers, how many in each, how many of these a token passes."""

    name: str
    shape: tuple[int, int]
    layers: int
    copies: int
    used: int
    parameters: int


class TypeRow(Part):
    """A type of numbers in the file: tensors and bytes."""

    type: str
    tensors: int
    bytes: int


class WeightBytes(Part):
    """as_stored: whether these are the bytes of a file, or those that --dtype would give."""

    bytes: int
    bits_per_parameter: float
    as_stored: bool
    types: tuple[TypeRow, ...]
    types_reason: str | None = None


class PagedCache(Part):
    """blocks: of one request in the layer that keeps most. waste: unfilled slots of the batch, in bytes.

    most_waste: of one request, whatever its length.
    """

    block_size: int
    blocks: int
    bytes: int
    waste: int
    most_waste: int


class KvCache(Part):
    """bytes: of the batch at the context, windows respected, a shared beginning kept once.

    bytes_reserved: of a request where an engine keeps all tokens in every layer. rows_copied: of a cache that grows by
    concatenation.
    """

    kind: str
    bytes_per_token: int
    bytes_per_token_as_mha: int
    bytes_per_request: int
    bytes_reserved: int
    bytes: int
    bytes_saved: int
    rows_copied: int
    paged: PagedCache


class Flops(Part):
    """2 a multiply-add. matrices, head: per token. attention, decode: of the token at the end of the context.

    prefill: the prompt of one request, logits of its last token. without_cache: how many times the work, if nothing
    were kept.
    """

    matrices: int
    head: int
    attention: int
    decode: int
    prefill: int
    prefill_per_token: float
    prefill_all_logits: int
    without_cache: float


class AttentionMemory(Part):
    """Bytes. scores: of one layer, where they are stored. patterns: of all layers. flash: of tiled attention."""

    scores_per_head: int
    scores: int
    patterns: int
    flash: int


class Activations(Part):
    bytes: int


class Intensity(Part):
    """FLOPs a byte of memory traffic: attention of a decoded token alone, a decode step, reading the prompts."""

    attention: float
    decode: float
    prefill: float


class PassTime(Part):
    """The least time that bandwidth and FLOP rate allow. per_second: tokens written, or requests read, by the batch."""

    seconds: float
    per_second: float
    limit: Limit


class Roofline(Part):
    ridge: float
    decode: PassTime
    prefill: PassTime


class Fit(Part):
    """Largest batch at the context, longest context of the batch: weights and paged cache within the memory."""

    batch: int | None
    batch_reason: str | None = None
    context: int | None
    context_reason: str | None = None


class SizePoint(Part):
    """One context. bytes: of the batch. decode: of one token; prefill: of one request."""

    context: int
    kv_bytes: int
    total_bytes: int
    decode_flops: int
    prefill_flops: int
    scores_bytes: int
    decode_s: float | None
    decode_s_reason: str | None = None
    prefill_s: float | None
    prefill_s_reason: str | None = None
    batch: int | None
    batch_reason: str | None = None


class FormulaRow(Part):
    """path: where the value stands in this document. numbers: the formula with its numbers."""

    path: str
    value: int | float
    unit: str
    formula: str
    numbers: str


class SizeDocument(Document):
    """`whybox size`. Nothing was run: engine, precision and kernel of `model` say so."""

    NAME: ClassVar[str] = "whybox.size"

    source: SizeSource
    load: SizeLoad
    parameters: Parameters
    matrices: tuple[MatrixRow, ...]
    weights: WeightBytes
    kv_cache: KvCache
    flops: Flops
    attention: AttentionMemory
    activations: Activations
    intensity: Intensity
    roofline: Roofline | None
    roofline_reason: str | None = None
    fit: Fit | None
    fit_reason: str | None = None
    curve: tuple[SizePoint, ...]
    formulas: tuple[FormulaRow, ...]
    notes: tuple[str, ...] = Field(default=())
