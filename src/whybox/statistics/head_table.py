"""The table of heads: one row a head, one column a statistic; `summary` says what each is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from jaxtyping import Bool, Float, Shaped

from whybox.statistics.rows import WINDOWS, AttentionRows, AttentionWish, rows_of

Column = Sequence[float | None]
MOST_SHOWN = 60  # rows that a notebook shows


@dataclass(frozen=True)
class HeadTable(Mapping[str, Column]):
    """Columns of equal length, one entry per head; `pandas.DataFrame(table)` takes it as it is. Undefined is None."""

    columns: Mapping[str, Column]

    @classmethod
    def of(cls, layers: Iterable[tuple[int, AttentionRows]]) -> "HeadTable":
        """The table of some layers from the record of each."""
        columns: dict[str, list[float | None]] = {}
        for layer, rows in layers:
            found = summary(rows)
            heads = len(rows.entropy)
            table: dict[str, Column] = {"layer": [layer] * heads, "head": list(range(heads)), **found}
            for name, values in table.items():
                columns.setdefault(name, []).extend(values)
        return cls(columns)

    @classmethod
    def of_patterns(
        cls,
        layers: Iterable[tuple[int, Float[np.ndarray, "_ _ _"], Bool[np.ndarray, "_ _"]]],
    ) -> "HeadTable":
        """The same from patterns [h q k], each with the keys that its queries can see [q k]; they hold no sink mass."""
        table = cls.of((layer, _recorded(pattern, seen)) for layer, pattern, seen in layers)
        return cls({name: column for name, column in table.items() if name != "sink_mass"})

    def __getitem__(self, column: str) -> Column:
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def _repr_html_(self) -> str:
        """In a notebook: a table of the first rows, three digits a number, a dash for what is undefined."""
        names = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        shown = self.rows()[:MOST_SHOWN]
        lines = "".join(
            "<tr>" + "".join(f"<td>{_shown(value)}</td>" for value in row.values()) + "</tr>" for row in shown
        )
        left_out = len(self.rows()) - len(shown)
        foot = f"<p>{left_out} more rows: <code>.rows()</code> has them all</p>" if left_out else ""
        return f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table>{foot}"

    def rows(self) -> list[dict[str, float | None]]:
        """One mapping per head."""
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]

    def sorted(self, column: str, descending: bool = True) -> "HeadTable":
        """Its rows by one column; what is undefined comes last."""
        values = self.columns[column]
        sign = -1 if descending else 1
        order = sorted(range(len(values)), key=lambda i: (values[i] is None, sign * (values[i] or 0)))
        return HeadTable({name: [column[i] for i in order] for name, column in self.columns.items()})


def _shown(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}".replace("-", "−")


def summary(rows: AttentionRows) -> Mapping[str, Column]:
    """Per head, over judged rows:

    entropy, entropy_norm, effective_keys: means, nats. sink: mean weight on the first key, from the 2nd row on;
    sink_all with the 1st. sink_mass: of the learned sink. previous, self, local, local16, local64: mean weight one
    token back, on itself, within 4, 16, 64 tokens back; `…_even`: what even weights would put there. distance: tokens,
    and distance_part: over the row's position. stripe: best key behind the first, by the share of rows that make it
    loud, and stripe_key: its position. Then every mark of the wish under its name, and score_sd where it was kept.
    """
    judged = rows.judged
    after_first = rows.defined & (rows.query_pos >= 1)
    by_row = {
        "entropy": rows.entropy,
        "entropy_norm": rows.entropy_norm,
        "effective_keys": rows.effective_keys,
        "previous": rows.previous,
        "self": rows.own,
        **dict(zip(_LOCAL, np.moveaxis(rows.local, -1, 0), strict=True)),
        **{f"{name}_even": _even(rows, width) for name, width in zip(_LOCAL, WINDOWS, strict=True)},
        "distance": rows.distance,
        "distance_part": rows.distance / np.maximum(rows.query_pos, 1),
        "sink_mass": rows.sink_mass,
        **{name: rows.marked[..., number] for number, (name, _) in enumerate(rows.wish.marks)},
    }
    stripe, key = _stripe(rows)
    sd = rows.score_sd
    return {
        "sink": _means(rows.sink, after_first),
        "sink_all": _means(rows.sink, rows.defined),
        **{name: _means(values, judged) for name, values in by_row.items()},
        "stripe": stripe,
        "stripe_key": key,
        **({} if sd is None else {"score_sd": [float(value) for value in sd]}),
    }


_LOCAL = ("local", "local16", "local64")


def _recorded(pattern: Float[np.ndarray, "h q k"], seen: Bool[np.ndarray, "q k"]) -> AttentionRows:
    return rows_of(pattern, seen, AttentionWish(top=1), np.arange(seen.shape[0]), np.arange(seen.shape[1]))


def _even(rows: AttentionRows, width: int) -> Float[np.ndarray, "h q"]:
    """(w + 1) / seen, or all of it."""
    part = np.minimum((width + 1) / np.maximum(rows.seen, 1), 1.0)
    return np.broadcast_to(part, rows.entropy.shape)


def _stripe(rows: AttentionRows) -> tuple[list[float | None], list[float | None]]:
    """Of each head the largest stripe share behind the first key, and that key's position."""
    share = np.ma.filled(rows.stripe_share.astype(np.float64), -1.0)
    share[:, rows.key_pos == 0] = -1.0
    best = share.argmax(axis=1)
    found = [(float(row[place]), float(rows.key_pos[place])) for row, place in zip(share, best, strict=True)]
    return [None if s < 0 else s for s, _ in found], [None if s < 0 else k for s, k in found]


def _means(values: Shaped[np.ndarray, "h q"], kept: Bool[np.ndarray, "q"]) -> list[float | None]:
    hidden = np.ma.getmaskarray(values) | ~kept
    means = np.ma.masked_array(np.ma.getdata(values), hidden, dtype=np.float64).mean(axis=-1)
    means = np.ma.atleast_1d(means)
    gone = np.ma.getmaskarray(means)
    return [None if lost else float(mean) for mean, lost in zip(means.data, gone, strict=True)]
