"""What the scripts of the page of `look` read: axes, small maps, statistics, and exact rows as far as there is room."""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from whybox.report.document import (
    HeadLook,
    KeyRows,
    Lang,
    LookDocument,
    LookPayload,
    LookSegment,
    MapView,
    PatternRows,
    PromptToken,
    QueryRows,
)
from whybox.report.html.page import MOST_BYTES, MOST_DATA
from whybox.report.visible import one_line, shortened, visible
from whybox.report.words import say

MARKS = {
    "sink": "S", "previous": "P", "diagonal": "D", "local": "L", "induction": "I", "duplicate": "U",
    "global anchor": "A", "vertical stripe": "V", "flat": "F", "window-bound": "W", "mixed": "",
}  # fmt: skip
SCORES = {
    "sink": "sink", "previous": "previous", "diagonal": "self", "local": "local", "induction": "induction",
    "duplicate": "duplicate", "global anchor": "anchor", "vertical stripe": "stripe", "flat": "entropy_norm",
}  # fmt: skip
CORE = (
    "head", "classes", "sink", "previous", "self", "local", "distance", "entropy_norm", "effective_keys", "induction",
    "duplicate", "anchor", "stripe", "score_sd", "decision_sink", "value_sink",
)  # fmt: skip
NUMBERS = ("entropy", "entropy_norm", "effective_keys", "distance", "distance_part", "score_sd")
STATISTICS = (
    "sink", "previous", "self", "next", "local", "local16", "local64", "distance", "entropy_norm", "effective_keys",
    "induction", "duplicate", "anchor", "stripe", "score_sd", "decision_sink", "value_sink", "entropy", "sink_all",
    "sink_mass", "local_even", "local16_even", "local64_even", "distance_part", "induction_control", "induction_text",
    "duplicate_text", "anchor_tokens", "stripe_key",
)  # fmt: skip
TOLD = ("sink", "previous", "self", "induction")  # said of the chosen head under the grid
UNSEEN = 255
MOST_COLOURS = 8
MOST_LISTED = 12
MOST_NAME = 48

Value = float | str | list[str] | None


@dataclass(frozen=True)
class Column:
    """A statistic of the head table. kind says how it is written; core: on screen before all are asked for."""

    name: str
    label: str
    kind: Literal["index", "classes", "share", "number"]
    core: bool


@dataclass(frozen=True)
class HeadValues:
    """The head table: columns, and a row of values for each head in the document's order."""

    columns: list[Column]
    rows: list[list[Value]]


def head_values(document: LookDocument, lang: Lang) -> HeadValues:
    """Every statistic of every head; a statistic that no head has is left out, so are segments with small shares."""
    names = [name for name in STATISTICS if any(_value(head, name) is not None for head in document.heads)]
    listed = listed_segments(document)
    segments = [document.segments[i].name for i in listed]
    decided = any(head.decision_segments for head in document.heads)
    valued = any(head.value_segments for head in document.heads)
    columns = [
        Column("head", say("stat.head", lang), "index", True),
        Column("classes", say("stat.classes", lang), "classes", True),
        *(Column(name, say(f"stat.{name}", lang), _kind(name), name in CORE) for name in names),
        *(Column(f"decision {n}", say("stat.segment", lang, name=n), "share", False) for n in segments if decided),
        *(Column(f"value {n}", say("stat.value_segment", lang, name=n), "share", False) for n in segments if valued),
    ]
    rows = [_row(head, names, listed, decided, valued) for head in document.heads]
    return HeadValues(columns, rows)


def _row(head: HeadLook, names: list[str], listed: list[int], decided: bool, valued: bool) -> list[Value]:
    known = [_value(head, name) for name in names]
    shares = [_at(head.decision_segments, i) for i in listed] if decided else []
    by_value = [_at(head.value_segments, i) for i in listed] if valued else []
    return [f"{head.layer}.{head.head}", list(head.classes), *known, *shares, *by_value]


def _at(shares: Sequence[float], segment: int) -> float | None:
    """None for a segment that is no text: a learned sink."""
    return shares[segment] if segment < len(shares) else None


def listed_segments(document: LookDocument) -> list[int]:
    """Segments with bars and columns of their own: those with the largest shares, in prompt order."""
    ranked = sorted(range(len(document.segments)), key=lambda i: -document.segments[i].mean_share)
    return sorted(ranked[:MOST_LISTED])


def _value(head: HeadLook, name: str) -> float | None:
    value: float | None = dict(head)[name]
    return value


def _kind(name: str) -> Literal["index", "share", "number"]:
    return "index" if name == "stripe_key" else "number" if name in NUMBERS else "share"


def colour_of(segments: Sequence[LookSegment]) -> list[str]:
    """Colour class of each segment: eight for named parts, grey for the rest; the letter tells them apart anyway."""
    parts = [segment.name for segment in segments if segment.kind == "part"]
    place = {name: f"seg-{i}" if i < MOST_COLOURS else "seg-rest" for i, name in enumerate(parts)}
    grey = {"generated": "seg-generated", "sink": "seg-sink"}
    return [place.get(s.name) or grey.get(s.kind, "seg-template") for s in segments]


def script_data(document: LookDocument, payload: LookPayload, table: HeadValues, lang: Lang) -> dict[str, Any]:
    """The data block: everything but the exact rows, then the exact rows of as many opened heads as fit."""
    colours = colour_of(document.segments)
    look = {
        "axes": {"rows": axis(document.tokens), "columns": axis(document.key_tokens) if document.key_tokens else None},
        "segments": [_segment(*pair) for pair in zip(document.segments, colours, strict=True)],
        "marks": MARKS,
        "heads": [{"layer": h.layer, "head": h.head, "classes": h.classes} for h in document.heads],
        "grid": grid(document.maps, document.direction == "causal"),
        "columns": [vars(column) for column in table.columns],
        "rows": table.rows,
        "told": [i for i, column in enumerate(table.columns) if column.name in TOLD],
        "first": first_head(document),
    }
    data = {"words": _words(lang), "look": look, "document": document.model_dump(mode="json", by_alias=True)}
    room = int(MOST_BYTES * MOST_DATA) - len(json.dumps(data, ensure_ascii=False).encode())
    return data | {"look": look | exact_rows(document, payload, room)}


def exact_rows(document: LookDocument, payload: LookPayload, room: int) -> dict[str, Any]:
    """Rules, queries, keys and patterns of the opened heads, in their order, within so many bytes."""
    held: dict[str, list[Any]] = {"rules": [], "queries": [], "keys": [], "patterns": []}
    for opened in document.opened:
        place = (opened.layer, opened.head)
        patterns = [p for p in payload.patterns if (p.layer, p.head) == place]
        queries = [q for q in payload.query_rows if (q.layer, q.head) == place]
        keys = [k for k in payload.key_rows if queries and (k.layer, k.group) == (opened.layer, queries[0].group)]
        keys = [k for k in keys if k.model_dump() not in held["keys"]]
        added: dict[str, Sequence[QueryRows | KeyRows | PatternRows]]
        added = {"queries": queries, "keys": keys, "patterns": patterns}
        room -= sum(len(part.rows.data) + 200 for parts in added.values() for part in parts)
        if room < 0:
            break
        for name, parts in added.items():
            held[name] += [part.model_dump() for part in parts]
    layers = {query["layer"] for query in held["queries"]}
    return held | {"rules": [rule.model_dump() for rule in payload.rules if rule.layer in layers]}


def name_of(document: LookDocument) -> str:
    """The title, else how the text begins."""
    return document.title or shortened(one_line(document.text), MOST_NAME) or document.model.name


def first_head(document: LookDocument) -> int:
    """The head that is open when the page opens: the first whose exact rows are there, else the first of all."""
    places = [(head.layer, head.head) for head in document.heads]
    wanted = [(opened.layer, opened.head) for opened in document.opened[:1]]
    return places.index(wanted[0]) if wanted and wanted[0] in places else 0


def axis(tokens: Sequence[PromptToken]) -> dict[str, list[Any]]:
    """Label, part of a cut character (k/n) and segment of each token."""
    return {
        "labels": [visible(token.text) or f"#{token.id}" for token in tokens],
        "parts": [f"{token.part}/{token.of}" if token.of > 1 else "" for token in tokens],
        "segments": [token.segment for token in tokens],
    }


def grid(maps: MapView, causal: bool) -> dict[str, Any]:
    """All small maps as one block of bytes: √share in 254 steps, 255 where nothing is seen."""
    rows, columns = len(maps.rows), len(maps.columns)
    packed = b"".join(_bytes(line, columns) for head in maps.heads for line in head.values)
    blocks = {"rows": maps.rows[0].end - maps.rows[0].start, "columns": maps.columns[0].end - maps.columns[0].start}
    text = base64.b64encode(packed).decode()
    return {"rows": rows, "columns": columns, "blocks": blocks, "causal": causal, "bytes": text}


def _bytes(line: Sequence[float | None], columns: int) -> bytes:
    steps = [UNSEEN if value is None else round(254 * math.sqrt(min(max(value, 0.0), 1.0))) for value in line]
    return bytes(steps + [UNSEEN] * (columns - len(steps)))


def _segment(segment: LookSegment, colour: str) -> dict[str, str]:
    named = colour if colour[4:].isdigit() else "seg-none"
    return {"name": segment.name, "letter": segment.letter, "class": colour, "colour": named}


def _words(lang: Lang) -> dict[str, str]:
    plain = ["page.copied", "map.masked", *(f"look.class.{name}" for name in MARKS)]
    blanks = {"look.head.name": ("layer", "head"), "look.row.name": ("row",), "look.step": ("n",)}
    filled = {key: say(key, lang, **{name: f"{{{name}}}" for name in names}) for key, names in blanks.items()}
    return {key: say(key, lang) for key in plain} | filled
