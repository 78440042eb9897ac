"""The statistics table of a trace."""

import numpy as np
import pytest

from tests.engine import random_models
from tests.real import real
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


@pytest.mark.model
@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_statistics_give_the_table_that_patterns_give(engine: str) -> None:
    """270 heads, equal to 1e-5; shares over the prompt's segments sum to 1."""
    model = real("smollm2", engine)
    prompt = model.prompt([{"role": "user", "content": "The quick brown fox jumps over the lazy dog. " * 12}])
    from_patterns = model.run(prompt, see=["pattern"]).heads()
    trace = model.run(prompt, statistics=True, tail=1)
    found = trace.heads()
    assert len(found["entropy"]) == 270
    for column, values in from_patterns.items():
        np.testing.assert_allclose(np.array(found[column], float), np.array(values, float), rtol=1e-5, atol=1e-5)
    for rows in trace.attention:
        assert [segment.name for segment in rows.wish.segments] == [segment.name for segment in prompt.segments]
        np.testing.assert_allclose(rows.shares.sum(axis=-1), 1, rtol=0, atol=1e-5)


@pytest.mark.gemma
def test_windows_of_a_real_model_are_kept() -> None:
    """Local layers see 512 tokens: the record counts them, and knows the keys that left."""
    model = real("gemma3-270m", "torch")
    ids = model.tokenizer.encode("Every word of this text is read by each layer, near or far. " * 60)[:700]
    one, two = (model.variant(chunk=chunk).run(ids, statistics=True, tail=1) for chunk in (4096, 256))
    for whole, chunked in zip(one.attention, two.attention, strict=True):
        assert whole.seen.max() in (512, 700)
        np.testing.assert_allclose(whole.entropy, chunked.entropy, rtol=0, atol=1e-3)
        np.testing.assert_allclose(whole.received, chunked.received, rtol=1e-3, atol=1e-2)
    window = next(layer for layer, rows in enumerate(one.attention) if rows.seen.max() == 512)
    kept = model.run(ids, see=[("pattern", window)], tail=1)["pattern", window]
    np.testing.assert_allclose(model.pattern(one, window, 2), kept[2], rtol=0, atol=1e-5)
    np.testing.assert_allclose(one.attention[window].sink, kept[..., 0], rtol=0, atol=1e-5)
