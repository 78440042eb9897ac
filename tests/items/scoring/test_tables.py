"""Every cell of every scorer's table is a test, and so is the precision and recall printed from it."""

import pytest

from whybox.items.scoring import Table, agreement, tables

MUST = [pytest.param(table, text, id=f"{table.name}: {text!r}") for table in tables() for text in table.must]
MUST_NOT = [pytest.param(table, text, id=f"{table.name}: {text!r}") for table in tables() for text in table.must_not]


@pytest.mark.parametrize(("table", "text"), MUST)
def test_must_match(table: Table, text: str) -> None:
    score = table.scorer.score(text)
    assert score.outcome == "right", score
    assert score.span is not None
    start, end = score.span
    assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(("table", "text"), MUST_NOT)
def test_must_not_match(table: Table, text: str) -> None:
    assert table.scorer.score(text).outcome != "right"


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_precision_and_recall_stand_side_by_side(table: Table) -> None:
    counted = agreement(table)
    assert (counted.precision, counted.recall) == (1.0, 1.0)
    assert len(counted.matched) == len(table.must)
