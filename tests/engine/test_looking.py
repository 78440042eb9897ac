"""What a look at the real models shows: patterns, single heads, the lens, and where the residual stream is largest."""

import numpy as np
import pytest

from tests.real import real
from whybox.engine.edit import zero
from whybox.engine.trace import Trace
from whybox.errors import SiteError
from whybox.measure.lens import logit_lens
from whybox.parts.norm import rms_norm
from whybox.sites import sites_of

CAPITAL = (504, 3575, 282, 4649, 314)  # The capital of France is
GEMMA_CAPITAL = (2, 818, 5279, 529, 7001, 563)
BOTH = pytest.mark.parametrize(
    ("name", "ids", "shape"),
    [
        pytest.param("smollm2", CAPITAL, (9, 5, 5), marks=pytest.mark.model),
        pytest.param("gemma3-270m", GEMMA_CAPITAL, (4, 6, 6), marks=pytest.mark.gemma),
    ],
)
smollm2 = pytest.mark.model


@BOTH
def test_looking_at_everything_changes_no_bit(name: str, ids: tuple[int, ...], shape: tuple[int, ...]) -> None:
    model = real(name)
    seen = model.engine.run(ids, see=[site.name for site in sites_of(model.spec)])
    plain = model.engine.run(ids)
    assert np.array_equal(seen.logits, plain.logits)
    assert seen.kernel == plain.kernel


@BOTH
def test_patterns_are_causal_distributions(name: str, ids: tuple[int, ...], shape: tuple[int, ...]) -> None:
    trace = real(name).engine.run(ids, see=["pattern"])
    future = ~np.tri(len(ids), dtype=bool)
    for layer in range(len(trace.spec.layers)):
        pattern = trace["pattern", layer]
        assert pattern.shape == shape
        assert np.all(pattern[:, future] == 0)
        assert np.all(pattern[:, ~future] >= 0)
        np.testing.assert_allclose(pattern.sum(axis=-1), 1, rtol=0, atol=1e-5)


# One head


@pytest.fixture(scope="module")
def base() -> Trace:
    return real("smollm2").engine.run(CAPITAL, see=["head_out"])


def _changed_heads(base: Trace, trace: Trace) -> list[int]:
    return [h for h in range(9) if not np.array_equal(trace["head_out", 0][:, h], base["head_out", 0][:, h])]


@smollm2
def test_query_head_4_is_its_own_slice(base: Trace) -> None:
    trace = real("smollm2").engine.run(CAPITAL, see=["head_out"], edits=[zero("head_out", 0, h=4)])
    assert _changed_heads(base, trace) == [4]
    assert not trace["head_out", 0][:, 4].any()
    assert trace.changed == (True,)


@smollm2
@pytest.mark.parametrize("site", ["value", "key"])
def test_kv_head_1_feeds_query_heads_3_4_and_5(base: Trace, site: str) -> None:
    trace = real("smollm2").engine.run(CAPITAL, see=["head_out"], edits=[zero(site, 0, g=1)])
    assert _changed_heads(base, trace) == [3, 4, 5]
    assert trace.changed == (True,)


@smollm2
def test_all_heads_of_a_layer_are_its_attention() -> None:
    engine = real("smollm2").engine
    heads = [zero("head_out", 5, h=h) for h in range(9)]
    np.testing.assert_array_equal(
        engine.run(CAPITAL, edits=heads).logits, engine.run(CAPITAL, edits=[zero("attn_out", 5)]).logits
    )


@smollm2
def test_an_edit_that_changes_nothing_says_so() -> None:
    engine = real("smollm2").engine
    twice = engine.run(CAPITAL, edits=[zero("head_out", 0, h=4), zero("head_out", 0, h=4)])
    assert twice.changed == (True, False)


@smollm2
@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (zero("head_ouput", 0, h=4), "did you mean 'head_out'"),
        (zero("head_out", 30, h=4), "layers 0 … 29"),
        (zero("head_out", 0, h=9), "9 entries"),
        (zero("value", 0, g=3), "3 entries"),
    ],
)
def test_what_is_misspelt_is_an_error(edit, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SiteError, match=says):
        real("smollm2").engine.run(CAPITAL, edits=[edit])


# The lens


@smollm2
@pytest.mark.parametrize("tail", [None, 1, 2])
def test_the_last_row_of_the_lens_is_the_logits_exactly(tail: int | None) -> None:
    engine = real("smollm2").engine
    trace = engine.run(CAPITAL, see=["resid_post"], tail=tail)
    np.testing.assert_array_equal(engine.unembed(trace["resid_post", 29][-len(trace.rows) :]), trace.logits)
    rows = logit_lens(trace, engine, 7042, 260)
    assert rows[-1].ld == float(trace.logits[-1][7042] - trace.logits[-1][260])
    assert rows[-1].right == float(trace.log_probs()[7042])


@smollm2
def test_each_layer_is_read_through_its_own_norm() -> None:
    engine, weights = real("smollm2").engine, real("smollm2").weights
    trace = engine.run(CAPITAL, see=["resid_post"], tail=1)
    rows = logit_lens(trace, engine, 7042, 260)
    for layer in (0, 13, 28):
        x = trace["resid_post", layer][-1].astype(np.float64)
        normed = x / np.sqrt((x**2).mean() + 1e-5) * weights["final_norm.gain"]
        right, wrong = weights["embed"][[7042, 260]].astype(np.float64) @ normed
        assert rows[layer].ld == pytest.approx(right - wrong, abs=1e-3)


@smollm2
def test_a_norm_twice_or_never_is_far_off() -> None:
    """What the exact row above would show: 62 for the norm twice, 3,778 for none."""
    engine, weights = real("smollm2").engine, real("smollm2").weights
    trace = engine.run(CAPITAL, see=["resid_post", "final"])
    twice = rms_norm(trace["final"], weights["final_norm.gain"], 1e-5) @ weights["embed"].T
    never = trace["resid_post", 29] @ weights["embed"].T
    assert np.abs(twice - trace.logits).max() == pytest.approx(62, abs=0.5)
    assert np.abs(never - trace.logits).max() == pytest.approx(3_778, abs=1)


# Where float16 would overflow


@pytest.mark.gemma
def test_the_residual_stream_of_gemma_leaves_the_range_of_float16_after_block_7() -> None:
    trace = real("gemma3-270m").engine.run(GEMMA_CAPITAL, see=["resid_post"])
    sizes = np.stack([np.abs(trace["resid_post", layer]).max(axis=-1) for layer in range(18)])
    largest = sizes.max(axis=1)
    assert (largest[0], largest[6], largest[7]) == tuple(pytest.approx(v, abs=1) for v in (2_984, 54_685, 68_398))
    assert largest.max() == pytest.approx(103_795, abs=1)
    assert int(np.argmax(largest > np.finfo(np.float16).max)) == 7
    assert (sizes.argmax(axis=1) == 0).all(), "not on BOS"
    assert sizes[9, :2].tolist() == [pytest.approx(88_093, abs=1), pytest.approx(6_900, rel=0.01)]


@smollm2
def test_the_residual_stream_of_smollm2_stays_within_float16() -> None:
    trace = real("smollm2").engine.run(CAPITAL, see=["resid_post"])
    largest = max(np.abs(trace["resid_post", layer]).max() for layer in range(30))
    assert largest == pytest.approx(22_500, rel=0.01)
