"""A recorded trace of a transformers Llama, taken with its own hooks: what another program would hand over."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from whybox.compare.observation import Observation
from whybox.engine.trace import Key

Array = np.ndarray


def recorded(model: PreTrainedModel, ids: Sequence[int]) -> Observation:
    """Every site that its modules show: RoPE and scores happen inside attention, and are not among them."""
    kept: dict[Key, Array] = {}
    hooks = [
        hook for index, layer in enumerate(model.model.layers) for hook in _layer(layer, index, model.config, kept)
    ]
    hooks += [_after(model.model.embed_tokens, ("embed", None), kept), _after(model.model.norm, ("final", None), kept)]
    with torch.no_grad():
        out = model(torch.tensor([list(ids)]), output_attentions=True)
    for hook in hooks:
        hook.remove()
    kept |= {("pattern", index): each[0].float().numpy() for index, each in enumerate(out.attentions)}
    return Observation(tuple(ids), {**kept, ("logits", None): out.logits[0].float().numpy()})


def _layer(layer: Any, index: int, config: Any, kept: dict[Key, Array]) -> list[Any]:
    attention, h, g = layer.self_attn, config.num_attention_heads, config.num_key_value_heads
    return [
        _after(layer.input_layernorm, ("attn_in", index), kept),
        _after(attention.q_proj, ("query", index), kept, h),
        _after(attention.k_proj, ("key", index), kept, g),
        _after(attention.v_proj, ("value", index), kept, g),
        _before(attention.o_proj, ("head_out", index), kept, h),
        _after(attention, ("attn_out", index), kept),
        _after(layer.post_attention_layernorm, ("mlp_in", index), kept),
        _before(layer.mlp.down_proj, ("mlp_hidden", index), kept),
        _after(layer.mlp, ("mlp_out", index), kept),
        _after(layer, ("resid_post", index), kept),
    ]


def _after(module: Any, key: Key, kept: dict[Key, Array], heads: int | None = None) -> Any:
    return module.register_forward_hook(lambda _, inputs, out: _keep(out, key, kept, heads))


def _before(module: Any, key: Key, kept: dict[Key, Array], heads: int | None = None) -> Any:
    return module.register_forward_pre_hook(lambda _, inputs: _keep(inputs, key, kept, heads))


def _keep(value: Any, key: Key, kept: dict[Key, Array], heads: int | None) -> None:
    rows = (value[0] if isinstance(value, tuple) else value).detach().float().numpy()[0].copy()
    kept[key] = rows if heads is None else rows.reshape(len(rows), heads, -1)
