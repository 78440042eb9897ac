"""The statistics table of a trace."""

import numpy as np
import pytest

from tests.engine import random_models
from whybox.errors import SiteError


def test_one_row_per_head_with_the_shares_of_the_pattern() -> None:
    trace = random_models.engine(random_models.spec()).run(random_models.IDS, see=["pattern"])
    table = trace.heads()
    rows = table.rows()
    assert [(row["layer"], row["head"]) for row in rows] == [(layer, head) for layer in range(3) for head in range(6)]
    pattern = trace["pattern", 1][4]
    picked = next(row for row in rows if (row["layer"], row["head"]) == (1, 4))
    assert picked["sink"] == pytest.approx(pattern[1:, 0].mean())
    assert picked["self"] == pytest.approx(np.diag(pattern)[1:].mean())
    assert picked["previous"] == pytest.approx(np.diag(pattern, -1).mean())
    assert {len(column) for column in table.values()} == {18}


def test_a_window_counts_only_visible_keys() -> None:
    trace = random_models.engine(random_models.spec(window=3)).run(random_models.IDS, see=["pattern"])
    assert all(0 < (row["effective_keys"] or 0) <= 3 for row in trace.heads().rows())
    assert all(row["entropy_norm"] is not None and row["entropy_norm"] <= 1 for row in trace.heads().rows())


def test_layers_that_were_kept_and_no_others() -> None:
    trace = random_models.engine(random_models.spec()).run(random_models.IDS, see=[("pattern", 2)])
    assert set(trace.heads()["layer"]) == {2}


def test_a_run_without_patterns_or_behind_a_cache_says_what_to_do() -> None:
    engine = random_models.engine(random_models.spec())
    whole = engine.run(random_models.IDS)
    with pytest.raises(SiteError, match="not kept"):
        whole.heads()
    with pytest.raises(SiteError, match="began at position 12"):
        engine.run([3], see=["pattern"], cache=whole.cache).heads()
