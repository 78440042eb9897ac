"""Laws that hold for attention as such: order, budgets, neighbours, padding, scale; and what breaks when misplaced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.parts import attention as att
from whybox.parts import mask
from whybox.parts.flash import flash_attention, tiles
from whybox.parts.linear import linear
from whybox.parts.mlp import activate, gated
from whybox.parts.norm import layer_norm, rms_norm
from whybox.parts.position import alibi_slopes
from whybox.parts.softmax import sink_mass, softmax
from whybox.spec import Activation, Attention

SEEDS = st.integers(0, 2**32 - 1)
N, C, H, G, D, DV = 7, 13, 6, 2, 3, 5


def entropy(pattern: np.ndarray) -> np.ndarray:
    return -np.sum(np.where(pattern > 0, pattern * np.log(np.where(pattern > 0, pattern, 1)), 0), axis=-1)


class Layer:
    """Self-attention with an output projection, prime sizes, value width of its own."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.query, self.key, self.value = (rng.normal(size=(n, C)) for n in (H * D, G * D, G * DV))
        self.out = rng.normal(size=(C, H, DV))

    def __call__(self, x: np.ndarray, seen: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        query, key, value = (
            att.as_heads(linear(x, w), n) for w, n in ((self.query, H), (self.key, G), (self.value, G))
        )
        pattern = softmax(att.scores(query, key, D**-0.5), seen)
        return att.project_out(att.mix(pattern, value), self.out), pattern


class TestOrder:
    @given(SEEDS)
    def test_without_a_mask_attention_is_equivariant(self, seed: int) -> None:
        """A(PX) = P A Pᵀ and out(PX) = P out(X)."""
        rng, layer = np.random.default_rng(seed), Layer(seed)
        x, order = rng.normal(size=(N, C)), rng.permutation(N)
        out, pattern = layer(x, None)
        out_p, pattern_p = layer(x[order], None)
        np.testing.assert_allclose(out_p, out[order], rtol=0, atol=1e-11)
        np.testing.assert_allclose(pattern_p, pattern[:, order][:, :, order], rtol=0, atol=1e-12)

    @pytest.mark.parametrize(("layers", "low", "high"), [(1, 0.0, 1e-12), (2, 1e-2, np.inf)])
    def test_the_causal_mask_alone_carries_order_from_two_layers_on(self, layers: int, low: float, high: float) -> None:
        x = np.random.default_rng(0).normal(size=(N, C))
        swapped = x[[2, 1, 0, *range(3, N)]]
        seen = mask.visible(np.arange(N), np.arange(N))
        for layer in (Layer(i) for i in range(layers)):
            x, swapped = (a + layer(a, seen)[0] for a in (x, swapped))
        assert low <= np.abs(x[-1] - swapped[-1]).max() <= high


class TestBudget:
    @given(SEEDS)
    def test_rows_sum_to_one_and_outputs_lie_in_the_hull(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        query, key, value = (rng.normal(size=s) * 3 for s in ((N, H, D), (N, G, D), (N, G, DV)))
        seen = mask.visible(np.arange(N), np.arange(N))
        pattern = softmax(att.scores(query, key, 1.0), seen)
        np.testing.assert_allclose(pattern.sum(-1), 1, rtol=0, atol=1e-12)
        assert (pattern[:, ~seen] == 0).all()
        out = att.mix(pattern, value)
        for i in range(N):
            held = np.repeat(value[: i + 1], H // G, axis=1)
            assert (out[i] <= held.max(axis=0) + 1e-12).all()
            assert (out[i] >= held.min(axis=0) - 1e-12).all()

    def test_evidence_share_thins_with_the_context(self) -> None:
        """.1 among 100 keys needs a lead of ln 11; the same lead among 10,000 leaves .0011."""
        for n, share in ((100, 0.1), (10_000, 0.0010989)):
            scores = np.zeros(n)
            scores[0] = np.log(11)
            assert softmax(scores)[0] == pytest.approx(share, rel=1e-4)

    @pytest.mark.parametrize(("n", "share"), [(2, 0.99995), (1_000, 0.957), (10_000, 0.688), (100_000, 0.181)])
    def test_a_lead_of_ten_saturates_only_among_few(self, n: int, share: float) -> None:
        assert softmax(np.concatenate([[10.0], np.zeros(n - 1)]))[0] == pytest.approx(share, abs=5e-4)

    def test_sharper_and_sharper_becomes_a_dictionary(self) -> None:
        scores, value = np.array([0.3, 1.0, 0.9]), np.array([[1.0], [5.0], [9.0]])
        assert (softmax(scores * 1e4) @ value)[0] == 5.0
        nudged = softmax(scores + np.array([0, 0, 1e-4])) @ value - softmax(scores) @ value
        assert nudged[0] > 1e-5


class TestNeighbours:
    @given(SEEDS)
    def test_hidden_content_cannot_matter_to_the_bit(self, seed: int) -> None:
        rng, layer = np.random.default_rng(seed), Layer(0)
        x = rng.normal(size=(N, C))
        other = x.copy()
        other[4:] = rng.normal(size=(N - 4, C)) * 1e3
        rows, places = np.array([0, 0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 3, 0, 1, 2])
        seen = mask.visible(places, places) & mask.same_row(rows, rows)
        assert (layer(x, seen)[0][:4] == layer(other, seen)[0][:4]).all()

    @pytest.mark.parametrize("length", [3, 5, 7])
    @pytest.mark.parametrize("left", [False, True])
    def test_padded_equals_alone(self, length: int, left: bool) -> None:
        """Lengths 3, 5, 7 in rows of 7; padding holds rubbish; position counts valid tokens."""
        rng, layer = np.random.default_rng(length), Layer(1)
        x = rng.normal(size=(length, C))
        alone, _ = layer(x, mask.visible(np.arange(length), np.arange(length)))
        held = slice(N - length, N) if left else slice(0, length)
        padded, valid = rng.normal(size=(N, C)) * 50, np.zeros(N, bool)
        padded[held], valid[held] = x, True
        places = np.cumsum(valid) - 1
        seen = mask.visible(places, places, query_valid=valid, key_valid=valid)
        out, pattern = layer(padded, seen)
        np.testing.assert_allclose(out[held], alone, rtol=0, atol=1e-12)
        assert not pattern[:, ~valid].any()
        assert np.isfinite(out).all()

    @given(SEEDS, st.integers(1, N - 1))
    def test_a_later_token_leaves_earlier_rows_alone(self, seed: int, changed: int) -> None:
        rng, layer = np.random.default_rng(seed), Layer(2)
        x, seen = rng.normal(size=(N, C)), mask.visible(np.arange(N), np.arange(N))
        other = x.copy()
        other[changed] += 1
        before, after = layer(x, seen)[0], layer(other, seen)[0]
        assert (before[:changed] == after[:changed]).all()
        assert (before[changed] != after[changed]).any()

    def test_appending_changes_old_rows_only_without_the_mask(self) -> None:
        x, layer = np.random.default_rng(3).normal(size=(N, C)), Layer(3)
        seen = mask.visible(np.arange(N), np.arange(N))
        short, whole = layer(x[:-1], seen[:-1, :-1])[0], layer(x, seen)[0]
        np.testing.assert_allclose(whole[:-1], short, rtol=0, atol=1e-12)
        assert np.abs(layer(x, None)[0][:-1] - layer(x[:-1], None)[0]).max() > 0.1


class TestWindow:
    def test_first_difference_names_the_fault(self) -> None:
        """Against W = 5: W + 1 differs first at row 5, W − 1 at row 4; before, bit-equal."""
        x, layer, places = np.random.default_rng(4).normal(size=(11, C)), Layer(4), np.arange(11)
        right, wide, narrow = (layer(x, mask.visible(places, places, w))[0] for w in (5, 6, 4))
        for wrong, first in ((wide, 5), (narrow, 4)):
            differs = (right != wrong).any(axis=1)
            assert differs.argmax() == first
            assert not differs[:first].any()

    def test_a_window_is_a_restricted_candidate_set(self) -> None:
        x, layer = np.random.default_rng(5).normal(size=(N, C)), Layer(5)
        places = np.arange(N)
        windowed, _ = layer(x, mask.visible(places, places, 3))
        for i in range(N):
            held = slice(max(0, i - 2), i + 1)
            last = layer(x[held], None)[0][-1]
            np.testing.assert_allclose(windowed[i], last, rtol=0, atol=1e-12)


class TestHeads:
    def test_heads_of_a_merged_projection(self) -> None:
        x = np.arange(24.0).reshape(1, 3, 8)
        split = att.split_heads(x, 2)
        assert split.shape == (1, 2, 3, 4)
        assert (split[0, 1] == x[0, :, 4:]).all()
        assert not (x.reshape(1, 2, 3, 4) == split).all()
        assert (att.as_heads(x[0], 2).transpose(1, 0, 2) == split[0]).all()

    def test_separate_matrices_equal_the_merged_one(self) -> None:
        rng = np.random.default_rng(0)
        x, separate = rng.normal(size=(N, C)), rng.normal(size=(H, D, C))
        merged = att.as_heads(linear(x, separate.reshape(H * D, C)), H)
        for h in range(H):
            np.testing.assert_allclose(merged[:, h], x @ separate[h].T, rtol=0, atol=1e-13)

    def test_output_projection_is_a_sum_over_heads(self) -> None:
        rng = np.random.default_rng(1)
        head_out, weight = rng.normal(size=(N, H, D)), rng.normal(size=(C, H, D))
        loop = sum(head_out[:, h] @ weight[:, h].T for h in range(H))
        np.testing.assert_allclose(att.project_out(head_out, weight), loop, rtol=0, atol=1e-12)
        assert (att.join_heads(head_out)[:, :D] == head_out[:, 0]).all()

    def test_many_heads_equal_calls_of_one_head(self) -> None:
        rng = np.random.default_rng(2)
        query, key, value = rng.normal(size=(N, H, D)), rng.normal(size=(N, G, D)), rng.normal(size=(N, G, DV))
        places = np.arange(N)
        spec = Attention(heads=H, kv_heads=G, head_width=D, scale=D**-0.5)
        got = att.attention(query, key, value, places, places, spec)
        for h in range(H):
            kv = h // (H // G)
            out, pattern = att.one_head(query[:, h], key[:, kv], value[:, kv], mask.visible(places, places))
            np.testing.assert_allclose(got.head_out[:, h], out, rtol=0, atol=1e-12)
            np.testing.assert_allclose(got.pattern[h], pattern, rtol=0, atol=1e-12)


class TestSettings:
    """Every setting of a layer reaches the one path."""

    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(N, H, D)), rng.normal(size=(N, G, D)), rng.normal(size=(N, G, DV))

    def run(self, sinks: np.ndarray | None = None, **settings: object) -> att.Attended:
        spec = Attention(**{"heads": H, "kv_heads": G, "head_width": D, "scale": 1.0, **settings})  # type: ignore[arg-type]
        return att.attention(self.query, self.key, self.value, np.arange(N), np.arange(N), spec, sinks)

    def test_order_is_scale_cap_bias_mask(self) -> None:
        slopes = alibi_slopes(H)
        got = self.run(scale=2.0, cap=1.5, alibi=tuple(slopes), window=3)
        raw = np.einsum("qhd,khd->hqk", self.query, np.repeat(self.key, H // G, axis=1))
        distance = np.abs(np.arange(N)[:, None] - np.arange(N))
        expected = 1.5 * np.tanh(2.0 * raw / 1.5) - slopes[:, None, None] * distance
        np.testing.assert_allclose(got.scores, expected, rtol=0, atol=1e-12)
        hidden = (distance >= 3) | np.triu(np.ones((N, N), bool), k=1)
        assert (got.pattern[:, hidden] == 0).all()
        assert (got.pattern[:, ~hidden] > 0).all()

    def test_the_scale_does_not_touch_the_mask(self) -> None:
        """Scaled masks once let hidden keys through: a tiny scale must leave their weight exactly 0."""
        assert (self.run(scale=1e-12).pattern[:, np.triu(np.ones((N, N), bool), k=1)] == 0).all()

    def test_sinks_take_their_share(self) -> None:
        plain, sunk = self.run(), self.run(np.full(H, 2.0))
        share = 1 - sunk.pattern.sum(-1)
        assert (share > 0.01).all()
        np.testing.assert_allclose(sunk.pattern, plain.pattern * (1 - share)[..., None], rtol=0, atol=1e-12)

    def test_masks_as_booleans_and_as_numbers_agree(self) -> None:
        seen = mask.visible(np.arange(N), np.arange(N))
        scores = self.run().scores
        lowest = np.finfo(scores.dtype).min
        with np.errstate(over="ignore"):
            twice = scores + np.where(seen, 0, lowest) + np.where(seen, 0, lowest)
        for additive in (scores + np.where(seen, 0, lowest), twice, np.where(seen, scores, -np.inf)):
            np.testing.assert_allclose(softmax(additive), softmax(scores, seen), rtol=0, atol=1e-15)


class TestMisplacedMask:
    """A mask after the softmax: the hidden key stays in the denominator, and its gradient with it."""

    scores = np.array([[2**-0.5, 2**-0.5, 0], [2**-0.5, 2**0.5, 2**0.5], [2**-0.5, 3 * 2**-0.5, 4 * 2**-0.5]])
    seen = np.tril(np.ones((3, 3), bool))

    def after(self, scores: np.ndarray) -> np.ndarray:
        return softmax(scores) * self.seen

    def test_rows_no_longer_sum_to_one(self) -> None:
        np.testing.assert_allclose(self.after(self.scores).sum(-1), [0.401, 0.599, 1], rtol=0, atol=5e-4)

    def test_renormalised_it_is_the_right_one(self) -> None:
        late = self.after(self.scores)
        np.testing.assert_allclose(
            late / late.sum(-1, keepdims=True), softmax(self.scores, self.seen), rtol=0, atol=1e-12
        )

    @pytest.mark.parametrize(("hidden", "leak"), [(1, -0.0322), (2, -0.0159)])
    def test_it_leaks_a_gradient_into_the_hidden_score(self, hidden: int, leak: float) -> None:
        """Of the first row's first output, whose only visible value is 0.2."""
        step = np.zeros((3, 3))
        step[0, hidden] = 1e-6
        late, right = (
            0.2 * (weigh(self.scores + step) - weigh(self.scores - step))[0, 0] / 2e-6
            for weigh in (self.after, lambda s: softmax(s, self.seen))
        )
        assert late == pytest.approx(leak, abs=5e-5)
        assert right == 0


class TestScale:
    def test_standard_deviation_of_a_product(self) -> None:
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=(20_000, 64)), rng.normal(size=(20_000, 64))
        dot = (query * key).sum(-1)
        assert dot.std() == pytest.approx(8.0365, abs=5e-5)
        assert (dot / 8).std() == pytest.approx(1.0046, abs=5e-5)

    @pytest.mark.parametrize(("width", "seeded"), [(2, 2.025), (16, 16.34), (64, 65.29), (256, 253.98), (512, 517.26)])
    def test_variance_is_the_width_and_one_when_scaled(self, width: int, seeded: float) -> None:
        rng = np.random.default_rng(0)
        product = (rng.normal(size=(10_000, width)) * rng.normal(size=(10_000, width))).sum(axis=1)
        relative = np.sqrt((2 + 6 / width) / 10_000)  # of a sample variance; kurtosis of a sum of products is 3 + 6/d
        assert product.var() == pytest.approx(seeded, abs=0.0051)
        assert product.mean() == pytest.approx(0, abs=3 * (width / 10_000) ** 0.5)
        assert product.var() == pytest.approx(width, rel=3 * relative)
        assert (product / width**0.5).var() == pytest.approx(1, rel=3 * relative)

    @pytest.mark.parametrize(("width", "unscaled"), [(2, 4.68), (64, 0.80), (512, 0.22)])
    def test_scaled_entropy_does_not_depend_on_the_width(self, width: int, unscaled: float) -> None:
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=(400, 1, width)), rng.normal(size=(256, 1, width))
        scaled = entropy(softmax(att.scores(query, key, width**-0.5))).mean()
        assert scaled == pytest.approx(5.06, abs=0.1)
        assert entropy(softmax(att.scores(query, key, 1.0))).mean() == pytest.approx(unscaled, abs=0.15)


@settings(max_examples=25)
@given(SEEDS, st.sampled_from([(6, 2), (5, 5), (7, 1)]))
def test_keys_and_values_are_never_repeated(seed: int, heads: tuple[int, int]) -> None:
    """Equal to attention on repeated keys and values, which is what the groups stand for."""
    h, g = heads
    rng = np.random.default_rng(seed)
    query, key, value = rng.normal(size=(3, h, D)), rng.normal(size=(N, g, D)), rng.normal(size=(N, g, DV))
    grouped = att.mix(softmax(att.scores(query, key, 0.5)), value)
    key, value = (np.repeat(a, h // g, axis=1) for a in (key, value))
    np.testing.assert_allclose(grouped, att.mix(softmax(att.scores(query, key, 0.5)), value), rtol=0, atol=1e-12)


def test_no_function_writes_into_what_it_was_given() -> None:
    """Weights are read-only views of a file: every part must run on arrays that refuse to be written."""
    rng = np.random.default_rng(0)

    def fixed(*shape: int) -> np.ndarray:
        array = rng.normal(size=shape)
        array.flags.writeable = False
        return array

    query, key, value, x, gain = fixed(N, H, D), fixed(N, G, D), fixed(N, G, DV), fixed(N, C), fixed(C)
    spec = Attention(heads=H, kv_heads=G, head_width=D, scale=0.5, cap=3.0, alibi=tuple(alibi_slopes(H)), window=3)
    places = np.arange(N)
    out = att.attention(query, key, value, places, places, spec, fixed(H))
    out.scores.flags.writeable = False
    softmax(out.scores, mask.visible(places, places), fixed(H))
    sink_mass(out.scores, None, fixed(H))
    att.soft_cap(out.scores, 2.0)
    rms_norm(x, gain, 1e-5), layer_norm(x, gain, gain, 1e-5), linear(x, fixed(5, C), fixed(5))
    for activation in Activation:
        activate(x, activation)
        gated(x, fixed(5, C), fixed(5, C), fixed(C, 5), activation)
    flash = flash_attention(query, places, tiles(key, value, places, 3), spec, fixed(H))
    assert np.isfinite(flash).all()
