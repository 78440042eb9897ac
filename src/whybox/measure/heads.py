"""The table of heads of one prompt, complete: its statistics, the probe, the decision row, and the classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.measure import thresholds
from whybox.measure.anchors import anchors
from whybox.measure.budget import Budget, budget, budget_of
from whybox.measure.classes import classes_of
from whybox.measure.looking import DecisionRow, Looked
from whybox.measure.probe import Probed
from whybox.statistics.head_table import HeadTable
from whybox.statistics.rows import AttentionRows


@dataclass(frozen=True, eq=False)
class Heads:
    """table: one row a head. classes: of each row. secondary: (position, mean weight) of its sinks behind the first."""

    table: HeadTable
    classes: tuple[tuple[str, ...], ...]
    secondary: tuple[tuple[tuple[int, float], ...], ...]


def heads_of(looked: Looked, probed: Probed | str) -> Heads:
    """The heads of every layer, in order; without a probe its columns are None."""
    bare = HeadTable.of(enumerate(looked.attention))
    tokens = len(anchors(looked.prompt)) / len(looked.prompt)
    more: dict[str, Sequence[float | None]] = {
        **_probe(probed, len(bare["layer"])),
        "anchor_tokens": [tokens] * len(bare["layer"]),
        "decision_sink": _flat([_drained(row) for row in looked.decision]),
        "value_sink": _flat([_first(row, row.value_shares) for row in looked.decision]),
    }
    table = HeadTable({**bare, **more})
    bound = [
        layer.attention.window is not None and layer.attention.window < len(looked.prompt)
        for layer in looked.spec.layers
    ]
    classes = tuple(classes_of(row, bound[int(row["layer"] or 0)]) for row in table.rows())
    return Heads(table, classes, tuple(found for rows in looked.attention for found in secondary_sinks(rows)))


def secondary_sinks(rows: AttentionRows) -> list[tuple[tuple[int, float], ...]]:
    """Of each head the keys behind the first with a column mean above .3, over at least 8 rows that see them."""
    means = np.ma.filled(rows.column_mean.astype(np.float64), 0.0)
    means[:, (rows.key_pos == 0) | (rows.askers < thresholds.SECONDARY_SINK_ROWS)] = 0.0
    loud = means > thresholds.SECONDARY_SINK
    return [
        tuple((int(rows.key_pos[key]), float(row[key])) for key in np.flatnonzero(chosen))
        for row, chosen in zip(means, loud, strict=True)
    ]


def decision_budget(looked: Looked) -> Budget:
    """Shares of the prompt's segments in the row of the last query."""
    return budget_of(looked.decision, looked.prompt.segments)


def value_budget(looked: Looked) -> Budget:
    """The same of weight · ‖value · W_O‖: how much of what each head writes comes from each segment."""
    return budget(
        [row.value_shares for row in looked.decision],
        {segment.name: range(segment.start, segment.end) for segment in looked.prompt.segments},
        [row.places for row in looked.decision],
    )


def _probe(probed: Probed | str, heads: int) -> dict[str, Sequence[float | None]]:
    if isinstance(probed, str):
        return dict.fromkeys(("induction", "induction_control", "duplicate"), [None] * heads)
    return {
        "induction": _flat(probed.induction),
        "induction_control": _flat(probed.control),
        "duplicate": _flat(probed.duplicate),
    }


def _drained(row: DecisionRow) -> Float[np.ndarray, "h"]:
    return _first(row, row.pattern) + row.sink_mass


def _first(row: DecisionRow, shares: Float[np.ndarray, "h k"]) -> Float[np.ndarray, "h"]:
    return np.asarray(shares[:, row.places == 0].sum(axis=1))


def _flat(layers: Sequence[Float[np.ndarray, "_"]]) -> list[float]:
    return [float(value) for layer in layers for value in layer]
