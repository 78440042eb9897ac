"""The attention budget by hand, and the lens against the logits."""

import numpy as np
import pytest

from tests.engine import random_models
from whybox.measure.budget import budget
from whybox.measure.lens import LensRow, decided_at, logit_lens

ROW = np.array([[0.5, 0.2, 0.3, 0.0], [0.1, 0.1, 0.2, 0.6]])
SEGMENTS = {"template": (0,), "doc": (1, 2), "answer": (3,)}


def test_shares_sum_to_one_and_the_lift_leaves_the_sink_out() -> None:
    found = budget([ROW], SEGMENTS, [np.arange(4)])
    assert found.shares[0].sum(axis=-1) == pytest.approx(np.ones(2))
    assert found.per_head("doc")[0].tolist() == pytest.approx([0.5, 0.3])
    # (.5 / (1 − .5)) ÷ (2/3), (.3 / (1 − .1)) ÷ (2/3)
    assert found.lift("doc")[0].tolist() == pytest.approx([1.5, 0.5])
    assert found.mean_lift("doc") == pytest.approx(0.5)
    assert found.mean() == pytest.approx({"template": 0.3, "doc": 0.4, "answer": 0.3})
    assert found.by_layer("doc") == pytest.approx([0.4])


def test_the_first_key_lifts_no_segment() -> None:
    """A text without BOS: its first token is the sink. Even weights on all others are a lift of 1 in every segment."""
    segments = {"doc1": (0, 1, 2), "doc2": (3, 4), "opener": ()}
    even = np.array([[0.2, 0.2, 0.2, 0.2, 0.2], [0.28, 0.18, 0.18, 0.18, 0.18]])
    found = budget([even], segments, [np.arange(5)])
    assert found.lift("doc1")[0].tolist() == pytest.approx([1.0, 1.0])
    assert found.lift("doc2")[0].tolist() == pytest.approx([1.0, 1.0])
    assert found.mean_lift("doc1") == pytest.approx(1.0)
    assert found.lift_by_layer("doc1") == pytest.approx([1.0])
    leaning = budget([np.array([[0.25, 0.15, 0.15, 0.3, 0.15]])], segments, [np.arange(5)])
    assert leaning.mean_lift("doc1") == pytest.approx((0.3 / 0.75) / (2 / 4))
    assert leaning.mean_lift("doc2") == pytest.approx((0.45 / 0.75) / (2 / 4))
    assert budget([ROW], SEGMENTS, [np.arange(4)]).mean_lift("template") is None, "only the sink is in it"


def test_a_window_counts_the_keys_that_it_shows() -> None:
    found = budget([ROW[:, 1:] / ROW[:, 1:].sum(1, keepdims=True)], SEGMENTS, [np.array([1, 2, 3])])
    assert found.drained[0].tolist() == [0.0, 0.0]
    assert found.visible == (3,)
    assert found.lift("doc")[0][0] == pytest.approx(1.0 / (2 / 2))


def test_learned_sinks_take_their_mass_out_of_the_sum() -> None:
    found = budget([ROW * 0.8], SEGMENTS, [np.arange(4)], [np.array([0.2, 0.2])])
    assert found.shares[0].sum(axis=-1) == pytest.approx(np.full(2, 0.8))
    assert found.lift("doc")[0].tolist() == pytest.approx([0.4 / 0.4 * 1.5, 0.24 / 0.72 * 1.5])


def test_a_head_that_only_sinks_has_lift_zero_and_no_mean() -> None:
    found = budget([np.array([[1.0, 0.0, 0.0, 0.0]])], SEGMENTS, [np.arange(4)])
    assert found.lift("doc")[0].tolist() == [0.0]
    assert found.mean_lift("doc") is None


def test_the_last_row_of_the_lens_is_the_run_s_logits_exactly() -> None:
    engine = random_models.engine(random_models.spec())
    trace = engine.run(random_models.IDS, see=["resid_post"], tail=1)
    rows = logit_lens(trace, engine, 3, 5)
    assert len(rows) == 3
    assert rows[-1].ld == float(trace.logits[-1][3] - trace.logits[-1][5])
    assert rows[-1].right == float(trace.log_probs()[3])


@pytest.mark.parametrize(
    ("lds", "layer"),
    [([-1.0, 2.0, -3.0, -4.0], 2), ([1.0, 2.0], 0), ([1.0, 0.05, 2.0], 2), ([-1.0, 0.05], None), ([], None)],
)
def test_decided_at_is_where_the_sign_stays(lds: list[float], layer: int | None) -> None:
    assert decided_at([LensRow(i, 0.0, 0.0, ld) for i, ld in enumerate(lds)], 0.1) == layer
