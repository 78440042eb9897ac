"""Every site against transformers' own modules, in the two families whose scores a fast path would bend wrongly.

GPT-2 divides the scores of layer l by l + 1, Gemma 2 bends them by cap · tanh(s / cap). Hooks read float64 throughout.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import Gemma2Config, GPT2Config, PreTrainedModel

from tests.oracle import LONG, TrulyDouble, doubled, opened, tiny
from whybox.engine.trace import Trace
from whybox.sites import sites_of

GPT2 = {"vocab_size": 31, "n_positions": 41, "n_embd": 21, "n_layer": 2, "n_head": 3}
GEMMA2 = {
    "vocab_size": 31, "hidden_size": 42, "intermediate_size": 37, "num_hidden_layers": 3, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 10, "max_position_embeddings": 64, "sliding_window": 5,
}  # fmt: skip
CAP = 50.0


class Watched:
    """What went into and came out of every module of one run, and the attention that transformers reports."""

    def __init__(self, model: PreTrainedModel, ids: tuple[int, ...]) -> None:
        self.read: dict[str, np.ndarray] = {}
        self.written: dict[str, np.ndarray] = {}
        with TrulyDouble(), torch.no_grad():
            twin = doubled(model)
            for name, module in twin.named_modules():
                module.register_forward_hook(self._keep(name), with_kwargs=True)
            out = twin(torch.tensor([ids]), output_attentions=True, use_cache=False)
        self.patterns = [pattern[0].numpy() for pattern in out.attentions]
        self.logits = out.logits[0].numpy()

    def _keep(self, name: str):  # type: ignore[no-untyped-def]
        def hook(module, args, kwargs, out) -> None:  # type: ignore[no-untyped-def]
            came = args[0] if args else kwargs.get("hidden_states")
            for kept, value in ((self.read, came), (self.written, out[0] if isinstance(out, tuple) else out)):
                if isinstance(value, torch.Tensor):
                    kept[name] = value[0].numpy()

        return hook


def _heads(flat: np.ndarray, heads: int) -> np.ndarray:
    return flat.reshape(len(flat), heads, -1)


def _hidden_keys(trace: Trace, layer: int) -> np.ndarray:
    return ~trace.visible(layer)


def _softmax(scores: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    e = np.exp(np.where(hidden, -np.inf, scores))
    return e / e.sum(axis=-1, keepdims=True)


def _assert_sites(trace: Trace, layer: int, expected: Mapping[str, np.ndarray]) -> None:
    named = {site.name for site in sites_of(trace.spec) if site.per_layer}
    assert set(expected) == named, "a site without an oracle"
    for site, value in expected.items():
        scale = max(1.0, float(np.abs(value).max()))
        np.testing.assert_allclose(trace[site, layer], value, rtol=0, atol=1e-9 * scale, err_msg=f"{site} {layer}")


def _seen(path: Path, ids: tuple[int, ...]) -> Trace:
    engine = opened(path).engine64
    return engine.run(ids, see=[site.name for site in sites_of(engine.spec)])


@pytest.mark.parametrize("by_layer", [True, False])
def test_gpt2_with_scores_scaled_by_layer(by_layer: bool, tmp_path: Path) -> None:
    model = tiny(GPT2Config(**GPT2, scale_attn_by_inverse_layer_idx=by_layer))
    model.save_pretrained(tmp_path)
    trace, watched = _seen(tmp_path, LONG), Watched(model, LONG)
    for layer in range(2):
        at = f"transformer.h.{layer}"
        query, key, value = (_heads(part, 3) for part in np.split(watched.written[f"{at}.attn.c_attn"], 3, axis=1))
        scores = np.einsum("qhd,khd->hqk", query, key) / np.sqrt(7) / (layer + 1 if by_layer else 1)
        np.testing.assert_allclose(watched.patterns[layer], _softmax(scores, _hidden_keys(trace, layer)), atol=1e-12)
        _assert_sites(
            trace,
            layer,
            {
                "resid_pre": watched.read[at],
                "attn_in": watched.written[f"{at}.ln_1"],
                "query": query,
                "key": key,
                "value": value,
                "scores": scores,
                "pattern": watched.patterns[layer],
                "head_out": _heads(watched.read[f"{at}.attn.c_proj"], 3),
                "attn_out": watched.written[f"{at}.attn"],
                "resid_mid": watched.read[f"{at}.ln_2"],
                "mlp_in": watched.written[f"{at}.ln_2"],
                "mlp_hidden": watched.read[f"{at}.mlp.c_proj"],
                "mlp_out": watched.written[f"{at}.mlp"],
                "resid_post": watched.read["transformer.ln_f" if layer == 1 else "transformer.h.1"],
            },
        )
    np.testing.assert_allclose(trace["embed"], watched.read["transformer.h.0"], atol=1e-9)
    np.testing.assert_allclose(trace["final"], watched.written["transformer.ln_f"], atol=1e-9)
    np.testing.assert_allclose(trace["logits"], watched.logits, atol=1e-9)


@pytest.mark.parametrize("cap", [CAP, None])
def test_gemma2_with_capped_scores_near_100(cap: float | None, tmp_path: Path) -> None:
    """The scale is query_pre_attn_scalar^−½ = 1/√19 where it is given, not 1/√10; the cap comes before the mask."""
    model = tiny(Gemma2Config(**GEMMA2, attn_logit_softcapping=cap, query_pre_attn_scalar=19))
    for block in model.model.layers:
        block.self_attn.q_proj.weight.data *= 30
    model.save_pretrained(tmp_path)
    trace, watched = _seen(tmp_path, LONG), Watched(model, LONG)
    largest = 0.0
    for layer in range(3):
        at = f"model.layers.{layer}"
        query, key, value = (
            _heads(watched.written[f"{at}.self_attn.{letter}_proj"], heads)
            for letter, heads in (("q", 6), ("k", 2), ("v", 2))
        )
        query_pos, key_pos = _rotated(query), _rotated(key)
        raw = np.einsum("qgrd,kgd->grqk", query_pos.reshape(-1, 2, 3, 10), key_pos).reshape(6, *[len(LONG)] * 2)
        raw /= np.sqrt(19)
        largest = max(largest, float(np.abs(raw).max()))
        scores = raw if cap is None else cap * np.tanh(raw / cap)
        np.testing.assert_allclose(watched.patterns[layer], _softmax(scores, _hidden_keys(trace, layer)), atol=1e-9)
        _assert_sites(
            trace,
            layer,
            {
                "resid_pre": watched.read[f"{at}.input_layernorm"],
                "attn_in": watched.written[f"{at}.input_layernorm"],
                "query": query,
                "key": key,
                "value": value,
                "query_pos": query_pos,
                "key_pos": key_pos,
                "scores": scores,
                "pattern": watched.patterns[layer],
                "head_out": _heads(watched.read[f"{at}.self_attn.o_proj"], 6),
                "attn_out": watched.written[f"{at}.post_attention_layernorm"],
                "resid_mid": watched.read[f"{at}.pre_feedforward_layernorm"],
                "mlp_in": watched.written[f"{at}.pre_feedforward_layernorm"],
                "mlp_hidden": watched.read[f"{at}.mlp.down_proj"],
                "mlp_out": watched.written[f"{at}.post_feedforward_layernorm"],
                "resid_post": watched.written[at],
            },
        )
    assert largest > 100
    np.testing.assert_allclose(trace["final"], watched.written["model.norm"], atol=1e-9)
    np.testing.assert_allclose(trace["logits"], watched.logits, atol=1e-9)


def _rotated(heads: np.ndarray) -> np.ndarray:
    """Pair i with i + 5, turned by position · 10000^(−i/5)."""
    angles = np.arange(len(heads))[:, None, None] * 1e4 ** (-np.arange(5) / 5)
    turned = (heads[..., :5] + 1j * heads[..., 5:]) * np.exp(1j * angles)
    return np.concatenate([turned.real, turned.imag], axis=-1)
