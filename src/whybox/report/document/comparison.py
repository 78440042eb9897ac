"""The document of two runs compared: paired differences by probe and arm, what else differs, items that changed."""

from typing import ClassVar, Literal

from whybox.report.document.base import Document, Interval, Part

Shown = Literal["worse", "better", "same", "alike", "open"]
"""alike: no text differs and no call was lost. same: shown to lie within the margin, on these items and on others."""


class SideInfo(Part):
    """One of the two runs: where it lies, its suite, and what answered."""

    run: str
    suite: str
    target: str
    calls: int


class DifferenceRow(Part):
    """Right answers in one arm, items paired by the prompt that was sent, first runs. difference: second − first.

    arm: empty for all arms of a probe together, each item by its mean over them.
    worse, better: items right in the first run only, in the second only; of all arms together, items with fewer and
    with more right answers. lost: pairs with a call that failed; items without a whole pair.
    p: exact McNemar; of all arms together a sign flip of the items. p_adjusted: Holm over the rows of probes and arms.
    p_same: that both lie within the margin, Holm as well.
    """

    probe: str
    arm: str
    n: int
    worse: int
    better: int
    lost: int
    texts_changed: int
    difference: float | None
    difference_reason: str | None = None
    interval: Interval | None
    interval_reason: str | None = None
    p: float
    p_adjusted: float
    p_same: float | None
    p_same_reason: str | None = None
    shown: Shown


class SettingRow(Part):
    """What the two runs do not share."""

    name: str
    first: str
    second: str


class ChangedRow(Part):
    """An item whose answer is right in one run only, or lost in one."""

    probe: str
    item: str
    arm: str
    prompt: str
    right: str
    first: str
    second: str
    first_outcome: str
    second_outcome: str


class ComparisonDocument(Document):
    """`whybox report RUN --compare EARLIER`. model, seed: of the second run. shown: of all rows.

    margin: within which both count as the same; None where that was not asked. probes, rows: all arms of a probe
    together, and each arm by itself.
    only_first, only_second: calls whose prompt the other run does not have.
    same_run: both are one run, so there is nothing to compare, and no row.
    """

    NAME: ClassVar[str] = "whybox.run-comparison"

    first: SideInfo
    second: SideInfo
    margin: float | None
    margin_reason: str | None = None
    matched: int
    only_first: int
    only_second: int
    probes: tuple[DifferenceRow, ...] = ()
    rows: tuple[DifferenceRow, ...]
    settings: tuple[SettingRow, ...]
    changed: tuple[ChangedRow, ...]
    changed_more: int
    shown: Shown
    same_run: bool = False
