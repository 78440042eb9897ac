"""`size`: from a name to the document of its sizes. Nothing is run, and no weight is read."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from whybox.errors import UsageError
from whybox.library import Progress
from whybox.report.document import (
    Activations,
    AttentionMemory,
    Fit,
    Flops,
    FormulaRow,
    Intensity,
    KvCache,
    Lang,
    MatrixRow,
    ModelInfo,
    PagedCache,
    Parameters,
    PassTime,
    Roofline,
    SizeDocument,
    SizeLoad,
    SizePoint,
    SizeSource,
    TypeRow,
    WeightBytes,
)
from whybox.size import cache, fit, held, parameters, roofline, work
from whybox.size.figure import Figure
from whybox.size.load import UNKNOWN, Load, Machine
from whybox.size.outline import Matrix, Outline
from whybox.size.source import Found, Wish, find
from whybox.size.units import DTYPES, Dtype, dtype_named

NOT_RUN = "not run"
USUAL_CONTEXT = 4096
FIRST_POINT, MOST_POINTS = 256, 16
NO_MACHINE = "give --bandwidth and --flops"
NO_MEMORY = "give --memory"
ALL_SHARED = "the requests share the whole context: another one needs no more"


@dataclass(frozen=True)
class SizeQuestion:
    """context: None for the trained one. dtype: None for what the file holds, or the configuration says."""

    wish: Wish
    machine: Machine = UNKNOWN
    context: int | None = None
    batch: int = 1
    shared: int = 0
    block: int = 16
    dtype: Dtype | None = None
    cache: Dtype = DTYPES["bf16"]
    lang: Lang = "en"


def size(question: SizeQuestion, progress: Progress | None = None) -> SizeDocument:
    """Raises what `whybox.size.source.find` raises; UsageError for a shared beginning longer than the context."""
    begun = time.perf_counter()
    found = find(question.wish, progress)
    load, notes = _load(question, found)
    reckoned = Reckoned(found, load, question.machine)
    document = reckoned.document(question.lang, (*found.outline.notes, *notes))
    return document.model_copy(update={"took_s": time.perf_counter() - begun})


def _load(question: SizeQuestion, found: Found) -> tuple[Load, tuple[str, ...]]:
    """What is asked, the defaults filled in, and said."""
    notes = []
    context, trained = question.context, found.outline.context
    if context is None and trained is None:
        notes.append(f"context: {USUAL_CONTEXT:,}, since the configuration states none; --context N for another")
    if context is not None and trained is not None and context > trained:
        notes.append(f"context {context:,} is beyond the {trained:,} that the model was trained for")
    context = context or trained or USUAL_CONTEXT
    if found.outline.positions and context > found.outline.positions:
        notes.append(f"the table of positions has {found.outline.positions:,} rows: a longer context has no positions")
    if question.shared > context:
        raise UsageError(
            f"--shared-prefix {question.shared:,} is longer than the context of {context:,}", "give fewer tokens"
        )
    dtype = question.dtype
    if dtype is None and not found.types:
        dtype = dtype_named(found.dtype, "dtype of the configuration") if found.dtype else DTYPES["bf16"]
        if not found.dtype:
            notes.append("weights: bf16, since the configuration names no type; --dtype for another")
    load = Load(context, question.batch, question.shared, dtype, question.cache, question.block)
    return load, tuple(notes)


@dataclass
class Reckoned:
    """All figures of one model under one load; each that is used is kept with its formula."""

    found: Found
    load: Load
    machine: Machine

    def __post_init__(self) -> None:
        self.kept: dict[str, Figure] = {}

    @property
    def of(self) -> Outline:
        return self.found.outline

    def document(self, lang: Lang, notes: tuple[str, ...]) -> SizeDocument:
        weights = self._weights()
        return SizeDocument(
            schema=SizeDocument.identity(),
            lang=lang,
            model=self._model(),
            seed=0,
            took_s=0.0,
            source=self._source(),
            load=self._asked(),
            parameters=self._parameters(),
            matrices=tuple(_matrix_rows(self.of)),
            weights=weights,
            kv_cache=self._cache(),
            flops=self._flops(),
            attention=self._attention(),
            activations=Activations(bytes=self._whole(held.activations(self.of, self.load))),
            intensity=self._intensity(weights.bytes),
            roofline=(times := self._roofline(weights.bytes)),
            roofline_reason=None if times else NO_MACHINE,
            fit=(fits := self._fit(weights.bytes)),
            fit_reason=None if fits else NO_MEMORY,
            curve=tuple(_curve(self.of, self.load, self.machine, weights.bytes)),
            formulas=tuple(_formula(figure) for figure in self.kept.values()),
            notes=notes,
        )

    def _whole(self, figure: Figure) -> int:
        self.kept[figure.path] = figure
        return int(figure.value)

    def _real(self, figure: Figure) -> float:
        self.kept[figure.path] = figure
        return float(figure.value)

    def _model(self) -> ModelInfo:
        return ModelInfo(
            name=self.found.name,
            family=self.of.family,
            digest=self.found.digest,
            engine=NOT_RUN,
            precision=NOT_RUN,
            kernel=NOT_RUN,
        )

    def _source(self) -> SizeSource:
        return SizeSource(
            kind=self.found.kind,
            family=self.of.family,
            attention=cache.kind(self.of),
            layers=len(self.of.blocks),
            width=self.of.width,
            vocabulary=self.of.vocab,
            trained_context=self.of.context,
            trained_context_reason=None if self.of.context else "not stated by the configuration",
        )

    def _asked(self) -> SizeLoad:
        load, machine = self.load, self.machine
        return SizeLoad(
            context=load.context,
            batch=load.batch,
            shared_prefix=load.shared,
            block_size=load.block,
            weights_type=load.weights.name if load.weights else "as stored",
            cache_type=load.cache.name,
            activation_bytes=load.activations,
            memory=machine.memory,
            memory_reason=None if machine.memory else NO_MEMORY,
            bandwidth=machine.bandwidth,
            bandwidth_reason=None if machine.bandwidth else "give --bandwidth",
            flops=machine.flops,
            flops_reason=None if machine.flops else "give --flops",
        )

    def _parameters(self) -> Parameters:
        return Parameters(
            total=self._whole(parameters.total(self.of)),
            embedding=self._whole(parameters.embedding(self.of)),
            active=self._whole(parameters.active(self.of)),
            without_embedding=self._whole(parameters.without_embedding(self.of)),
            used_twice=self._whole(parameters.used_twice(self.of)),
        )

    def _weights(self) -> WeightBytes:
        """Of the file, unless another type is asked for."""
        kind = self.load.weights
        nbytes, bits = parameters.in_type(self.of, kind) if kind else parameters.stored(self.of, self.found.nbytes)
        types = tuple(TypeRow(type=each.type, tensors=each.number, bytes=each.nbytes) for each in self.found.types)
        return WeightBytes(
            bytes=self._whole(nbytes),
            bits_per_parameter=self._real(bits),
            as_stored=kind is None,
            types=types,
            types_reason=None if types else "no weights were looked at",
        )

    def _cache(self) -> KvCache:
        of, load = self.of, self.load
        paged = PagedCache(
            block_size=load.block,
            blocks=self._whole(cache.blocks(of, load)),
            bytes=self._whole(cache.paged(of, load)),
            waste=self._whole(cache.waste(of, load)),
            most_waste=self._whole(cache.most_waste(of, load)),
        )
        return KvCache(
            kind=cache.kind(of),
            bytes_per_token=self._whole(cache.per_token(of, load)),
            bytes_per_token_as_mha=self._whole(cache.as_mha(of, load)),
            bytes_per_request=self._whole(cache.per_request(of, load)),
            bytes_reserved=self._whole(cache.reserved(of, load)),
            bytes=self._whole(cache.of_batch(of, load)),
            bytes_saved=self._whole(cache.saved(of, load)),
            rows_copied=self._whole(cache.rows_copied(load)),
            paged=paged,
        )

    def _flops(self) -> Flops:
        of, load = self.of, self.load
        return Flops(
            matrices=self._whole(work.matrices(of)),
            head=self._whole(work.head(of)),
            attention=self._whole(work.attention(of, load)),
            decode=self._whole(work.decode(of, load)),
            prefill=self._whole(work.prefill(of, load)),
            prefill_per_token=self._real(work.prefill_per_token(of, load)),
            prefill_all_logits=self._whole(work.prefill_all_logits(of, load)),
            without_cache=self._real(work.without_cache(of, load)),
        )

    def _attention(self) -> AttentionMemory:
        of, load = self.of, self.load
        return AttentionMemory(
            scores_per_head=self._whole(held.scores_of_head(load)),
            scores=self._whole(held.scores(of, load)),
            patterns=self._whole(held.patterns(of, load)),
            flash=self._whole(held.flash(of, load)),
        )

    def _intensity(self, weights: int) -> Intensity:
        of, load = self.of, self.load
        return Intensity(
            attention=self._real(roofline.of_attention(of, load)),
            decode=self._real(roofline.one_pass(of, load, weights, "decode").intensity),
            prefill=self._real(roofline.one_pass(of, load, weights, "prefill").intensity),
        )

    def _roofline(self, weights: int) -> Roofline | None:
        ridge = roofline.ridge(self.machine)
        decode, prefill = (self._pass_time(weights, phase) for phase in ("decode", "prefill"))
        if ridge is None or decode is None or prefill is None:
            return None
        return Roofline(ridge=self._real(ridge), decode=decode, prefill=prefill)

    def _pass_time(self, weights: int, phase: roofline.Phase) -> PassTime | None:
        found = roofline.time(roofline.one_pass(self.of, self.load, weights, phase), self.machine)
        if found is None:
            return None
        return PassTime(seconds=self._real(found.seconds), per_second=self._real(found.rate), limit=found.limit)

    def _fit(self, weights: int) -> Fit | None:
        if self.machine.memory is None:
            return None
        batch = fit.largest_batch(self.of, self.load, weights, self.machine.memory)
        longest = fit.longest_context(self.of, self.load, weights, self.machine.memory)
        return Fit(
            batch=self._whole(batch) if batch else None,
            batch_reason=None if batch else ALL_SHARED,
            context=self._whole(longest) if longest else None,
            context_reason=None if longest else "every layer has a window: a longer context needs no more",
        )


def _matrix_rows(of: Outline) -> Iterator[MatrixRow]:
    """Matrices of one name and shape together, in the order of the first layer that has them."""
    layers: dict[Matrix, int] = {}
    for block in of.blocks:
        for matrix in block.matrices:
            layers[matrix] = layers.get(matrix, 0) + 1
    for matrix, count in layers.items():
        yield MatrixRow(
            name=matrix.name,
            shape=(matrix.out, matrix.into),
            layers=count,
            copies=matrix.copies,
            used=matrix.used,
            parameters=count * matrix.parameters,
        )


def _curve(of: Outline, load: Load, machine: Machine, weights: int) -> Iterator[SizePoint]:
    for context in contexts(load.context, of.context):
        yield _point(of, replace(load, context=context, shared=min(load.shared, context)), machine, weights)


def contexts(asked: int, trained: int | None) -> tuple[int, ...]:
    """Powers of two up to the longer of both, the last so many of them, and both themselves."""
    most = max(asked, trained or 0)
    powers = [1 << power for power in range(most.bit_length()) if FIRST_POINT <= 1 << power <= most]
    return tuple(sorted({*powers[-MOST_POINTS:], asked, trained or asked}))


def _point(of: Outline, load: Load, machine: Machine, weights: int) -> SizePoint:
    decode = roofline.time(roofline.one_pass(of, load, weights, "decode"), machine)
    prefill = roofline.time(roofline.one_pass(of, load, weights, "prefill"), machine)
    batch = None if machine.memory is None else fit.largest_batch(of, load, weights, machine.memory)
    kept = int(cache.of_batch(of, load).value)
    return SizePoint(
        context=load.context,
        kv_bytes=kept,
        total_bytes=weights + kept,
        decode_flops=int(work.decode(of, load).value),
        prefill_flops=int(work.prefill(of, load).value),
        scores_bytes=int(held.scores(of, load).value),
        decode_s=float(decode.seconds.value) if decode else None,
        decode_s_reason=None if decode else NO_MACHINE,
        prefill_s=float(prefill.seconds.value) if prefill else None,
        prefill_s_reason=None if prefill else NO_MACHINE,
        batch=int(batch.value) if batch else None,
        batch_reason=None if batch else NO_MEMORY if machine.memory is None else ALL_SHARED,
    )


def _formula(figure: Figure) -> FormulaRow:
    return FormulaRow(
        path=figure.path, value=figure.value, unit=figure.unit, formula=figure.formula, numbers=figure.numbers
    )
