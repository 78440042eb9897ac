"""The smallest decoder against the documents' own code, and the steps that make it a Llama, against transformers."""

from functools import partial

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from whybox.parts.attention import as_heads, join_heads, mix, shaped_scores
from whybox.parts.block import Sublayer, block
from whybox.parts.cache import LayerCache, empty
from whybox.parts.decoder import Decoder, draw_decoder, forward
from whybox.parts.embedding import lookup
from whybox.parts.linear import linear
from whybox.parts.mask import visible
from whybox.parts.mlp import gated
from whybox.parts.norm import rms_norm
from whybox.parts.position import rope_angles, rotate, sinusoid
from whybox.parts.softmax import softmax
from whybox.spec import Activation, Attention, Layout, Pairing, PlainRope

IDS = np.array([10, 42, 7, 128, 200])


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return draw_decoder(np.random.RandomState(42))


def printed_forward(decoder: Decoder, ids: np.ndarray) -> np.ndarray:
    """The documents' listing, names and all, on the same weights."""

    def normed(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6)

    x = decoder.embedding[ids]
    n, d = x.shape
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    pe = np.zeros((n, d))
    pe[:, 0::2], pe[:, 1::2] = np.sin(angle), np.cos(angle)
    x = x + pe
    for b in decoder.blocks:
        h = normed(x)
        Q, K, V = ((h @ w.T).reshape(n, 4, 16).transpose(1, 0, 2) for w in (b.query, b.key, b.value))
        scores = np.where(np.triu(np.ones((n, n), bool), k=1), -1e9, Q @ K.transpose(0, 2, 1) / 4.0)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        x = x + ((e / e.sum(-1, keepdims=True)) @ V).transpose(1, 0, 2).reshape(n, d) @ b.out.T
        h = normed(x)
        z = h @ b.gate.T
        x = x + (z / (1 + np.exp(-z)) * (h @ b.up.T)) @ b.down.T
    return normed(x) @ decoder.embedding.T


class TestSmallestDecoder:
    def test_documents_run(self, decoder: Decoder) -> None:
        logits = forward(decoder, IDS)
        assert logits.shape == (5, 256)
        assert decoder.parameters == 82_112
        best = np.argsort(-logits[-1])[:5]
        assert best.tolist() == [13, 205, 45, 168, 222]
        np.testing.assert_allclose(logits[-1][best], [0.4434, 0.4135, 0.3450, 0.3428, 0.2977], rtol=0, atol=5e-5)

    def test_equals_the_listing(self, decoder: Decoder) -> None:
        np.testing.assert_allclose(forward(decoder, IDS), printed_forward(decoder, IDS), rtol=0, atol=1e-12)

    def test_it_predicts_the_position_and_not_the_prompt(self, decoder: Decoder) -> None:
        rng = np.random.default_rng(0)
        assert {int(forward(decoder, rng.integers(0, 256, 5))[-1].argmax()) for _ in range(300)} == {13}

    def test_the_position_code_drowns_the_token(self, decoder: Decoder) -> None:
        token, code = lookup(IDS, decoder.embedding), sinusoid(5, 64)
        assert np.sqrt(np.mean(code**2)) == pytest.approx(0.7071, abs=5e-5)
        assert np.sqrt(np.mean(code**2) / np.mean(token**2)) == pytest.approx(33, abs=3)

    def test_a_changed_token_leaves_earlier_rows_bit_equal(self, decoder: Decoder) -> None:
        changed = IDS.copy()
        changed[3] = 9
        before, after = forward(decoder, IDS), forward(decoder, changed)
        assert (before[:3] == after[:3]).all()
        assert (np.abs(before[3:] - after[3:]).max(axis=1) > 1e-6).all()


@pytest.fixture(scope="module")
def llama() -> LlamaForCausalLM:
    """h·d ≠ c, three query heads to a kv head, untied head, two layers."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=67,
        hidden_size=42,
        intermediate_size=41,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=10,
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
        initializer_range=0.3,
        rope_parameters={"rope_type": "default", "rope_theta": 300.0},
        attn_implementation="eager",
    )
    return LlamaForCausalLM(config).eval()


SPEC = Attention(heads=6, kv_heads=2, head_width=10, scale=10**-0.5, rope=PlainRope(300.0, 10))


class Llama:
    """The six changes: RoPE for the sinusoid, grouped heads, a cache, ε 1e-5, its own head, its own widths."""

    def __init__(self, model: LlamaForCausalLM, spec: Attention = SPEC) -> None:
        self.weights = {name: tensor.detach().double().numpy() for name, tensor in model.state_dict().items()}
        self.spec = spec
        self.caches = [empty(2, 10, np.dtype(float)) for _ in range(2)]
        self.lost: int | None = None  # a position that queries from 3 on do not see

    def feed(self, ids: np.ndarray) -> np.ndarray:
        """Logits for more tokens; keys and values go into the caches."""
        start = self.caches[0].seen
        places = np.arange(start, start + len(ids))
        x = lookup(ids, self.weights["model.embed_tokens.weight"])
        for i in range(2):
            w = {k.removeprefix(f"model.layers.{i}."): v for k, v in self.weights.items()}
            attend = Sublayer(
                partial(self.attend, w=w, layer=i, places=places), partial(self.norm, w["input_layernorm.weight"])
            )
            gate, up, down = (w[f"mlp.{name}_proj.weight"] for name in ("gate", "up", "down"))
            think = Sublayer(
                partial(gated, gate=gate, up=up, down=down, activation=Activation.SILU),
                partial(self.norm, w["post_attention_layernorm.weight"]),
            )
            x = block(x, attend, think, Layout.PRE).resid_post
        return linear(self.norm(self.weights["model.norm.weight"], x), self.weights["lm_head.weight"])

    def norm(self, gain: np.ndarray, x: np.ndarray) -> np.ndarray:
        return rms_norm(x, gain, 1e-5)

    def attend(self, x: np.ndarray, w: dict[str, np.ndarray], layer: int, places: np.ndarray) -> np.ndarray:
        query, key, value = (
            as_heads(linear(x, w[f"self_attn.{name}_proj.weight"]), heads)
            for name, heads in (("q", 6), ("k", 2), ("v", 2))
        )
        assert self.spec.rope is not None
        angles = rope_angles(self.spec.rope, places, 1000)
        query, key = (rotate(part, *angles, Pairing.HALF) for part in (query, key))
        seen: LayerCache = self.caches[layer].append(key, value, places)
        self.caches[layer] = seen if self.spec.window is None else seen.roll(self.spec.window)
        where = visible(places, seen.positions, self.spec.window)
        if self.lost is not None:
            where &= ~((places[:, None] >= 3) & (seen.positions[None, :] == self.lost))
        pattern = softmax(shaped_scores(query, seen.key, places, seen.positions, self.spec), where)
        return linear(join_heads(mix(pattern, seen.value)), w["self_attn.o_proj.weight"])


TOKENS = np.random.default_rng(5).integers(0, 67, 19)


def test_llama_from_parts_equals_transformers(llama: LlamaForCausalLM) -> None:
    with torch.no_grad():
        theirs = llama.double()(torch.from_numpy(TOKENS)[None]).logits[0].numpy()
    ours = Llama(llama).feed(TOKENS)
    assert np.abs(theirs).max() > 1
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5)  # transformers takes angles and softmax in float32


@pytest.mark.parametrize("window", [None, 8])
@pytest.mark.parametrize("chunks", [[1] * 19, [7, 5, 7], [18, 1]])
def test_cached_equals_uncached(llama: LlamaForCausalLM, window: int | None, chunks: list[int]) -> None:
    """Token by token or in chunks; a chunk longer than the window too."""
    spec = Attention(heads=6, kv_heads=2, head_width=10, scale=10**-0.5, rope=SPEC.rope, window=window)
    whole = Llama(llama, spec).feed(TOKENS)
    model, parts = Llama(llama, spec), np.split(TOKENS, np.cumsum(chunks)[:-1])
    stepwise = np.concatenate([model.feed(part) for part in parts])
    np.testing.assert_allclose(stepwise, whole, rtol=0, atol=1e-12)
    assert len(model.caches[0]) == (19 if window is None else 8)


def test_positions_fed_survive_an_eviction(llama: LlamaForCausalLM) -> None:
    """Cache after 3, slot 1 evicted: the next tokens stand at 3 and 4, as in a full pass where they lose slot 1."""
    model, whole = Llama(llama), Llama(llama)
    model.feed(TOKENS[:3])
    model.caches = [cache.evict(np.array([1])) for cache in model.caches]
    stepwise = np.concatenate([model.feed(TOKENS[place : place + 1]) for place in (3, 4)])
    assert [cache.positions.tolist() for cache in model.caches] == [[0, 2, 3, 4]] * 2
    whole.lost = 1
    np.testing.assert_allclose(stepwise, whole.feed(TOKENS[:5])[3:], rtol=0, atol=1e-12)


def test_one_prefix_serves_two_questions(llama: LlamaForCausalLM) -> None:
    model = Llama(llama)
    model.feed(TOKENS[:14])
    prefix = list(model.caches)
    for question in (np.array([1, 2, 3, 4, 5]), np.array([9, 8, 7, 6, 5])):
        model.caches = list(prefix)
        fresh = Llama(llama).feed(np.concatenate([TOKENS[:14], question]))
        np.testing.assert_allclose(model.feed(question), fresh[14:], rtol=0, atol=1e-12)
        assert all(len(cache) == 14 for cache in prefix)


def test_taking_tokens_back_equals_a_fresh_run(llama: LlamaForCausalLM) -> None:
    model = Llama(llama)
    model.feed(TOKENS)
    model.caches = [cache.crop(11) for cache in model.caches]
    again = model.feed(TOKENS[11:])
    np.testing.assert_allclose(again, Llama(llama).feed(TOKENS)[11:], rtol=0, atol=1e-12)
