"""Sizes as terminal, page and picture say them alike: amounts with units, the sections, the headline."""

from whybox.report.document import FormulaRow, Lang, SizeDocument, SizePoint
from whybox.report.numbers import number
from whybox.report.size_words import SIZES
from whybox.report.visible import one_line
from whybox.report.words import say

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("parameters", ("parameters.", "weights.")),
    ("cache", ("kv_cache.",)),
    ("flops", ("flops.",)),
    ("held", ("attention.", "activations.")),
    ("roofline", ("intensity.", "roofline.")),
    ("fit", ("fit.",)),
)
"""Each with the paths that it holds."""

_NAMED = "size.is."
_ORDER = tuple(key.removeprefix(_NAMED) for key in SIZES if key.startswith(_NAMED))
_UNITS = (("E", 10**18), ("P", 10**15), ("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3))


def scaled(value: float, unit: str) -> str:
    """Three digits and a power of ten: 189 MB, 269 MFLOP, 1.34 GB."""
    size = abs(value)
    letter, factor = next(((letter, factor) for letter, factor in _UNITS if size >= factor * 0.9995), ("", 1))
    shown = f"{value:,}" if factor == 1 and isinstance(value, int) else number(value / factor)
    return f"{shown} {letter}{unit}".rstrip()


def seconds(value: float) -> str:
    """5.30 ms, 1.20 s, 3.10 µs."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            return f"{number(value / factor)} {unit}"
    return f"{number(value / 1e-9)} ns"


def amount(value: float, unit: str, lang: Lang) -> str:
    """A figure in its unit; whole numbers whole, with what they come to."""
    match unit:
        case "bytes":
            return f"{int(value):,} {say('size.unit.bytes', lang)}" if value < 10_000_000 else scaled(value, "B")
        case "FLOP":
            return f"{scaled(value, 'FLOP')}"
        case "s":
            return seconds(value)
        case "parameters":
            return f"{int(value):,}"
        case "rows" | "tokens" | "requests":
            return f"{int(value):,} {say(f'size.unit.{unit}', lang)}"
        case "tokens/s" | "requests/s":
            return f"{number(value)} {say('size.unit.per_second', lang)}"
        case "×":
            return f"{value:,}" if isinstance(value, int) else f"{number(value)} ×"
        case "bits":
            return number(value)
        case _:
            return f"{number(value)} {unit}"


def rows_of(document: SizeDocument, section: str, lang: Lang) -> list[tuple[str, str, FormulaRow]]:
    """Name, value, formula of every figure of a section; what says the same as the row before it is left out."""
    paths = dict(SECTIONS)[section]
    known = {row.path: row for row in document.formulas if row.path.startswith(paths)}
    shown = [known[path] for path in _ORDER if path in known and not _idle(known[path], document)]
    return [(say(f"size.is.{row.path}", lang), amount(row.value, row.unit, lang), row) for row in shown]


def _idle(row: FormulaRow, document: SizeDocument) -> bool:
    """Figures that say nothing here: nothing shared, no window, no mixture, nothing tied, a batch of one."""
    cache, counted = document.kv_cache, document.parameters
    match row.path:
        case "kv_cache.bytes_saved":
            return row.value == 0
        case "kv_cache.bytes_reserved":
            return cache.bytes_reserved == cache.bytes_per_request
        case "kv_cache.bytes":
            return document.load.batch == 1
        case "kv_cache.bytes_per_token_as_mha":
            return cache.bytes_per_token_as_mha == cache.bytes_per_token
        case "parameters.active":
            return counted.active == counted.total
        case "parameters.used_twice":
            return counted.used_twice == counted.total
        case _:
            return False


def headline(document: SizeDocument, lang: Lang) -> str:
    """What a ticket wants: parameters, weights, one request's cache."""
    return say(
        "size.head",
        lang,
        name=one_line(document.model.name),
        parameters=scaled(document.parameters.total, "").replace("G", "B"),
        weights=scaled(document.weights.bytes, "B"),
        context=f"{document.load.context:,}",
        cache=scaled(document.kv_cache.bytes_per_request, "B"),
    )


def verdict(document: SizeDocument, lang: Lang) -> str | None:
    """Whether it fits, where a memory was given."""
    memory, fit = document.load.memory, document.fit
    if memory is None or fit is None:
        return None
    values = {
        "memory": scaled(memory, "B"),
        "batch": "∞" if fit.batch is None else f"{fit.batch:,}",
        "context": f"{document.load.context:,}",
        "weights": scaled(document.weights.bytes, "B"),
        "asked": f"{document.load.batch:,}",
    }
    if fit.batch and fit.batch < document.load.batch:
        return say("size.head.fit_less", lang, **values)
    if fit.batch != 0:
        return say("size.head.fit", lang, **values)
    return say("size.head.fit_none" if document.weights.bytes <= memory else "size.head.fit_weights", lang, **values)


def made_of(document: SizeDocument, lang: Lang) -> str:
    source = document.source
    values = {"family": one_line(source.family), "attention": source.attention, "layers": f"{source.layers:,}"}
    return say("size.made_of", lang, **values, width=f"{source.width:,}", vocabulary=f"{source.vocabulary:,}")


def asked(document: SizeDocument, lang: Lang) -> str:
    load = document.load
    weights = say("size.stored", lang) if document.weights.as_stored else load.weights_type
    values = {"weights": weights, "cache": load.cache_type, "batch": f"{load.batch:,}"}
    line = say("size.asked", lang, context=f"{load.context:,}", **values)
    return line + (say("size.asked.shared", lang, shared=f"{load.shared_prefix:,}") if load.shared_prefix else "")


CURVE = ("context", "kv", "total", "decode", "prefill", "scores", "decode_s", "prefill_s", "batch")


def columns(document: SizeDocument) -> tuple[str, ...]:
    """Of the table over the context: times and batch only where they were reckoned."""
    known = {
        "decode_s": document.roofline is not None,
        "prefill_s": document.roofline is not None,
        "batch": document.fit is not None,
    }
    return tuple(name for name in CURVE if known.get(name, True))


def cell(point: SizePoint, column: str) -> str:
    match column:
        case "context":
            return f"{point.context:,}"
        case "kv":
            return scaled(point.kv_bytes, "B")
        case "total":
            return scaled(point.total_bytes, "B")
        case "decode":
            return scaled(point.decode_flops, "")
        case "prefill":
            return scaled(point.prefill_flops, "")
        case "scores":
            return scaled(point.scores_bytes, "B")
        case "decode_s":
            return "" if point.decode_s is None else seconds(point.decode_s)
        case "prefill_s":
            return "" if point.prefill_s is None else seconds(point.prefill_s)
        case _:
            return "" if point.batch is None else f"{point.batch:,}"
