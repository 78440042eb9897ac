"""The complete table of heads, and the sinks behind the first key."""

import numpy as np
import pytest

from tests.measure.looked_at import model_of, random_prompt
from whybox.measure.heads import decision_budget, heads_of, secondary_sinks
from whybox.measure.looking import look_at
from whybox.statistics.rows import AttentionWish, from_pattern
from whybox.testing import context_rows


def test_the_table_is_complete_and_sorts() -> None:
    heads = heads_of(look_at(model_of(), random_prompt()), "none")
    assert len(heads.classes) == len(heads.table["layer"]) == 18
    by_sink = heads.table.sorted("sink")["sink"]
    assert by_sink == sorted(by_sink, reverse=True)
    assert heads.table["induction"] == [None] * 18
    assert heads.table.sorted("induction")["layer"] == heads.table["layer"]


def test_a_secondary_sink_is_a_key_behind_the_first() -> None:
    pattern = np.zeros((2, 20, 20))
    pattern[:, :, 0] = 1
    pattern[1, 4:, 0], pattern[1, 4:, 3] = 0.6, 0.4
    seen = np.tril(np.ones((20, 20), bool))
    found = secondary_sinks(from_pattern(pattern, seen, AttentionWish(top=1)))
    assert found == [(), ((3, pytest.approx(0.4 * 16 / 17)),)]


def test_a_planted_lean_is_seen_in_the_budget() -> None:
    """The later document is preferred by .25 a position, over four positions: the first keeps 1 / (1 + e)."""
    planted = context_rows.recency_biased()
    looked = look_at(planted.model, planted.model.prompt(planted.case))
    layer, head = planted.heads["copier"]
    found = decision_budget(looked)
    assert found.per_head("doc1")[layer][head] == pytest.approx(1 / (1 + np.e), abs=0.005)
    assert found.per_head("doc2")[layer][head] == pytest.approx(1 - 1 / (1 + np.e), abs=0.005)
    row = heads_of(looked, "").table.rows()[planted.heads["previous"][1]]
    assert row["previous"] == pytest.approx(1, abs=1e-3)
