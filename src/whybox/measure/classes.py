"""Classes of heads: what each mostly looks at. A head may have several; without any it is mixed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from whybox.measure import thresholds as t

Row = Mapping[str, float | None]


@dataclass(frozen=True)
class HeadClass:
    """A class, and its rule in symbols."""

    name: str
    rule: str


CLASSES = (
    HeadClass("sink", f"sink > {t.SINK}"),
    HeadClass("previous", f"previous > {t.PREVIOUS}"),
    HeadClass("diagonal", f"self > {t.DIAGONAL}"),
    HeadClass("local", f"local > {t.LOCAL}"),
    HeadClass("induction", f"induction > {t.INDUCTION}, ≥ {t.INDUCTION_OVER_CONTROL:g} × induction_control"),
    HeadClass("duplicate", f"duplicate > {t.DUPLICATE}"),
    HeadClass("global anchor", f"anchor > {t.ANCHOR}, > {t.ANCHOR_OVER_TOKENS:g} × anchor_tokens"),
    HeadClass("vertical stripe", f"stripe > {t.STRIPE}"),
    HeadClass("flat", f"entropy_norm > {t.FLAT}"),
    HeadClass("window-bound", "visible keys limited by the window"),
    HeadClass("mixed", "none of these"),
)


def classes_of(row: Row, window_bound: bool = False) -> tuple[str, ...]:
    """Classes of one head from its row of the table; a statistic that is missing gives none."""
    return tuple(_found(row, window_bound)) or ("mixed",)


def _found(row: Row, window_bound: bool) -> Iterator[str]:
    for name, column, least in _SIMPLE:
        if _over(row, column, least):
            yield name
    control, tokens = row.get("induction_control") or 0.0, row.get("anchor_tokens") or 0.0
    if _over(row, "induction", t.INDUCTION) and (row["induction"] or 0.0) >= t.INDUCTION_OVER_CONTROL * control:
        yield "induction"
    if _over(row, "anchor", max(t.ANCHOR, t.ANCHOR_OVER_TOKENS * tokens)):
        yield "global anchor"
    if window_bound:
        yield "window-bound"


_SIMPLE = (
    ("sink", "sink", t.SINK),
    ("previous", "previous", t.PREVIOUS),
    ("diagonal", "self", t.DIAGONAL),
    ("local", "local", t.LOCAL),
    ("duplicate", "duplicate", t.DUPLICATE),
    ("vertical stripe", "stripe", t.STRIPE),
    ("flat", "entropy_norm", t.FLAT),
)


def _over(row: Row, column: str, least: float) -> bool:
    value = row.get(column)
    return value is not None and value > least
