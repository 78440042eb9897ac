"""How a scorer does on texts whose reading is known."""

from dataclasses import dataclass

from whybox.items.scoring.score import Scorer


@dataclass(frozen=True)
class Table:
    """One scorer with texts that it must call right and texts that it must not."""

    name: str
    scorer: Scorer
    must: tuple[str, ...]
    must_not: tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """How a scorer did on its table. Precision and recall are None when their denominator is zero."""

    matched: tuple[str, ...]
    missed: tuple[str, ...]
    false_alarms: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        shown = len(self.matched) + len(self.false_alarms)
        return len(self.matched) / shown if shown else None

    @property
    def recall(self) -> float | None:
        wanted = len(self.matched) + len(self.missed)
        return len(self.matched) / wanted if wanted else None


def agreement(table: Table) -> Agreement:
    """Run a scorer over its table."""
    is_right = {text: table.scorer.score(text).right for text in (*table.must, *table.must_not)}
    return Agreement(
        tuple(text for text in table.must if is_right[text]),
        tuple(text for text in table.must if not is_right[text]),
        tuple(text for text in table.must_not if is_right[text]),
    )
