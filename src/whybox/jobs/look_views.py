"""What documents of a run and of brought arrays have alike: maps, letters, means, counts of classes, heads to open."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any, SupportsFloat

import numpy as np
from jaxtyping import Float

from whybox.measure.budget import Budget
from whybox.measure.classes import CLASSES
from whybox.report import document as d
from whybox.statistics.head_table import HeadTable
from whybox.statistics.rows import AttentionRows
from whybox.text.prompt import Segment, SegmentKind

# The statistic by which the clearest head of a class is found, in the order in which classes are shown.
TELLING = {
    "induction": "induction",
    "previous": "previous",
    "duplicate": "duplicate",
    "vertical stripe": "stripe",
    "global anchor": "anchor",
    "local": "local",
    "diagonal": "self",
    "sink": "sink",
    "flat": "entropy_norm",
    "mixed": "effective_keys",
}


def counted(classes: Sequence[tuple[str, ...]]) -> Iterator[d.ClassCount]:
    """How many heads have each class, with its rule."""
    count = Counter(name for names in classes for name in names)
    for each in CLASSES:
        yield d.ClassCount.model_validate({"name": each.name, "rule": each.rule, "count": count[each.name]})


def clearest(table: HeadTable, classes: Sequence[tuple[str, ...]]) -> dict[tuple[int, int], str]:
    """Of each class the head with most of its statistic → the class."""
    rows = list(zip(table.rows(), classes, strict=True))
    found: dict[tuple[int, int], str] = {}
    for name, column in TELLING.items():
        of_class = [row for row, names in rows if name in names]
        if of_class:
            best = max(of_class, key=lambda row: row[column] or 0.0)
            found.setdefault((int(best["layer"] or 0), int(best["head"] or 0)), name)
    return found


def maps(
    attention: Sequence[AttentionRows],
    labels: tuple[Sequence[str], Sequence[str]],
    causal: bool,
    windows: Mapping[int, int] = {},
) -> d.MapView:
    """Every head's map in blocks. labels: of queries and keys. windows: layer → keys that a query sees at most."""
    size = attention[0].wish.block
    rows, columns = (tuple(_blocks(names, size)) for names in labels)
    heads = [
        d.HeadMap(
            layer=layer,
            head=head,
            values=tuple(_rows(found, (rows, columns), causal, windows.get(layer))),
        )
        for layer, record in enumerate(attention)
        for head, found in enumerate(record.map)
    ]
    return d.MapView(rows=rows, columns=columns, heads=tuple(heads))


def _blocks(labels: Sequence[str], size: int) -> Iterator[d.Block]:
    for start in range(0, len(labels), size):
        end = min(start + size, len(labels))
        yield d.Block(start=start, end=end, label=labels[start] if size == 1 else f"{start}–{end - 1}")


def _rows(
    values: Float[np.ndarray, "Q K"],
    blocks: tuple[Sequence[d.Block], Sequence[d.Block]],
    causal: bool,
    window: int | None,
) -> Iterator[tuple[float | None, ...]]:
    """Of each row the blocks that it sees: up to its own where causal; those behind the window are null."""
    for number, (row, queries) in enumerate(zip(values, blocks[0], strict=True)):
        oldest = 0 if window is None else queries.start - window + 1
        last = number + 1 if causal else len(blocks[1])
        yield tuple(
            None if keys.end <= oldest else short(value)
            for keys, value in zip(blocks[1][:last], row[:last], strict=True)
        )


def short(value: SupportsFloat) -> float:
    """Four digits: enough for a picture, a fraction of the bytes."""
    return float(f"{float(value):.4g}")


def letters(segments: Sequence[Segment]) -> Iterator[str]:
    """T: template and BOS; G: generated text; the others in order."""
    free = iter(letter for letter in (*ascii_uppercase, *map(str, range(1, 1000))) if letter not in "GTS")
    for segment in segments:
        match segment.kind:
            case SegmentKind.GENERATED:
                yield "G"
            case SegmentKind.PART:
                yield next(free)
            case _:
                yield next(free) if segment.name.startswith("not typed") else "T"


def shared_fields(
    segments: Sequence[Segment], budget: Budget, attention: Sequence[AttentionRows]
) -> Iterator[tuple[Segment, dict[str, Any]]]:
    """Each segment, and of its row in the document what needs no model: name, place, shares."""
    shares = budget.mean()
    for number, (segment, letter) in enumerate(zip(segments, letters(segments), strict=True)):
        mean = [judged_mean(rows, rows.shares[..., number]) for rows in attention]
        yield (
            segment,
            {
                "name": segment.name,
                "kind": segment.kind.value,
                "role": segment.role,
                "letter": letter,
                "start": segment.start,
                "end": segment.end,
                "share": shares[segment.name],
                "share_by_layer": tuple(budget.by_layer(segment.name)),
                "mean_share": over_heads(mean),
                "mean_share_by_layer": tuple(float(layer.mean()) for layer in mean),
            },
        )


def judged_mean(rows: AttentionRows, values: Float[np.ndarray, "h q"]) -> Float[np.ndarray, "h"]:
    """Mean over the queries by which a head is judged."""
    return np.asarray(values[:, rows.judged].mean(axis=1))


def over_heads(layers: Sequence[Float[np.ndarray, "_"]]) -> float:
    """Mean over the heads of all layers."""
    return float(np.concatenate(layers).mean())
