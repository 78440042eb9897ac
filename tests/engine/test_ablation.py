"""Ablation by other runs' values: the right slice at the right rows, by hand and by what a whole swap must give."""

import numpy as np
import pytest

from tests.engine.random_models import IDS, engine, spec
from whybox.engine.ablation import DRAWS, REFERENCES, Donor, draw, mean, resample
from whybox.engine.trace import Trace
from whybox.errors import SiteError, UsageError

MODEL = engine(spec())
SEE = ("head_out", "mlp_out", "resid_mid", "resid_post", "value", "embed", "pattern")


def run(ids: tuple[int, ...]) -> Trace:
    return MODEL.run(ids, SEE)


BASE, OTHER = run(IDS), run(IDS[::-1])
REFERENCE_RUNS = [Donor(run(tuple((token + shift) % 19 for token in IDS))) for shift in range(REFERENCES)]


def test_a_resampled_head_writes_what_it_wrote_elsewhere_and_no_other_head_does() -> None:
    trace = MODEL.run(IDS, SEE, resample(BASE, Donor(OTHER), "head_out", 0, h=4))
    assert np.array_equal(trace["head_out", 0][:, 4], OTHER["head_out", 0][:, 4])
    others = [0, 1, 2, 3, 5]
    assert np.array_equal(trace["head_out", 0][:, others], BASE["head_out", 0][:, others])


def test_several_heads_at_several_rows() -> None:
    edits = resample(BASE, Donor(OTHER), "head_out", (0, 1), q=slice(7, None), h=(5, 1))
    trace = MODEL.run(IDS, SEE, edits)
    for layer in (0, 1):
        assert np.array_equal(trace["head_out", layer][7:, [1, 5]], OTHER["head_out", layer][7:, [1, 5]])
    assert np.array_equal(trace["head_out", 0][:7], BASE["head_out", 0][:7])
    assert np.array_equal(trace["head_out", 0][:, 0], BASE["head_out", 0][:, 0])


def test_a_mean_is_the_mean_over_runs_at_the_same_rows() -> None:
    (edit,) = mean(BASE, REFERENCE_RUNS, "mlp_out", 2, q=(9, 3))
    trace = MODEL.run(IDS, SEE, [edit])
    expected = np.mean([donor.trace["mlp_out", 2][[3, 9]] for donor in REFERENCE_RUNS], axis=0)
    np.testing.assert_allclose(trace["mlp_out", 2][[3, 9]], expected, atol=1e-14)
    assert np.array_equal(trace["mlp_out", 2][4:9], BASE["mlp_out", 2][4:9])
    assert len(mean(BASE, REFERENCE_RUNS, "mlp_out")) == 3


def test_rows_of_a_text_of_another_length_are_named() -> None:
    longer = run((0, *IDS, 4))
    trace = MODEL.run(IDS, SEE, resample(BASE, Donor(longer, rows=(10, 13)), "resid_mid", 1, q=(9, 11)))
    assert np.array_equal(trace["resid_mid", 1][[9, 11]], longer["resid_mid", 1][[10, 13]])


def test_a_position_is_ablated_in_the_residual_stream() -> None:
    trace = MODEL.run(IDS, SEE, resample(BASE, Donor(OTHER), "embed", q=5))
    whole = MODEL.run((*IDS[:5], OTHER.ids[5], *IDS[6:]), SEE)
    np.testing.assert_allclose(trace.logits, whole.logits, atol=1e-13)


def test_swapping_all_of_a_layer_gives_the_other_runs_logits_and_swapping_ones_own_nothing() -> None:
    swapped = MODEL.run(IDS, SEE, resample(BASE, Donor(OTHER), "resid_post", 1))
    np.testing.assert_allclose(swapped.logits, OTHER.logits, atol=1e-12)
    own = MODEL.run(IDS, SEE, resample(BASE, Donor(BASE), "value"))
    assert own.changed == (False, False, False)


def test_draws_repeat_nobody_while_there_are_enough_and_follow_the_generator() -> None:
    drawn = draw(REFERENCE_RUNS, np.random.default_rng(3))
    assert len(set(map(id, drawn))) == DRAWS
    assert drawn == draw(REFERENCE_RUNS, np.random.default_rng(3))
    assert drawn != draw(REFERENCE_RUNS, np.random.default_rng(4))
    assert len(draw(REFERENCE_RUNS[:3], np.random.default_rng(0))) == DRAWS


def test_what_cannot_be_ablated_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 32 reference runs, found 2"):
        mean(BASE, REFERENCE_RUNS[:2], "mlp_out", 1)
    with pytest.raises(SiteError, match="pattern joins two positions"):
        resample(BASE, Donor(OTHER), "pattern", 1)
    with pytest.raises(SiteError, match="rows 0 … 6; 11 has no counterpart"):
        resample(BASE, Donor(run(IDS[:7])), "mlp_out", 1)
    with pytest.raises(SiteError, match="has 2 rows, 1 were named"):
        resample(BASE, Donor(OTHER, (3,)), "mlp_out", 1, q=(3, 4))
    with pytest.raises(SiteError, match="attn_out was not kept"):
        resample(BASE, Donor(OTHER), "attn_out", 1)
    with pytest.raises(SiteError, match="6 entries"):
        resample(BASE, Donor(OTHER), "head_out", 1, h=6)
    with pytest.raises(SiteError, match="no axis 'h'"):
        resample(BASE, Donor(OTHER), "mlp_out", 1, h=0)
    with pytest.raises(UsageError, match="no other run"):
        draw([], np.random.default_rng(0))
