"""The two real models put into transformers, from the weights that whybox decoded; the configs are by hand."""

import numpy as np
import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    PretrainedConfig,
    PreTrainedModel,
)
from transformers.initialization import no_init_weights

from whybox.model import Model


def llama_in_transformers(model: Model) -> PreTrainedModel:
    """SmolLM2's weights in a LlamaForCausalLM, float32, eager attention."""
    config = LlamaConfig(
        **_shape(model),
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
        tie_word_embeddings=True,
    )
    norms = {"input_layernorm": "attn_norm", "post_attention_layernorm": "mlp_norm"}
    return _filled(LlamaForCausalLM, config, model, norms)


def gemma_in_transformers(model: Model) -> PreTrainedModel:
    """Gemma 3 270M's weights in a Gemma3ForCausalLM; transformers holds gain − 1."""
    config = Gemma3TextConfig(
        **_shape(model),
        head_dim=model.spec.layers[0].attention.head_width,
        sliding_window=512,
        query_pre_attn_scalar=256,
    )
    norms = {
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "attn_post_norm",
        "pre_feedforward_layernorm": "mlp_norm",
        "post_feedforward_layernorm": "mlp_post_norm",
        "self_attn.q_norm": "query_norm",
        "self_attn.k_norm": "key_norm",
    }
    return _filled(Gemma3ForCausalLM, config, model, norms, shift=1)


def _shape(model: Model) -> dict[str, int]:
    """What every config says under the same names."""
    spec, attention = model.spec, model.spec.layers[0].attention
    return {
        "vocab_size": spec.vocab,
        "hidden_size": spec.width,
        "intermediate_size": spec.layers[0].mlp.width,
        "num_hidden_layers": len(spec.layers),
        "num_attention_heads": attention.heads,
        "num_key_value_heads": attention.kv_heads,
        "max_position_embeddings": spec.context,
    }


def _filled(
    kind: type[PreTrainedModel], config: PretrainedConfig, model: Model, norms: dict[str, str], shift: int = 0
) -> PreTrainedModel:
    with no_init_weights():
        twin = kind(config)
    twin.set_attn_implementation("eager")
    state = {"model.embed_tokens.weight": model.weights["embed"]}
    state["model.norm.weight"] = model.weights["final_norm.gain"] - np.float32(shift)
    for layer in range(len(model.spec.layers)):
        ours, theirs = f"layers.{layer}.", f"model.layers.{layer}."
        for name, role in norms.items():
            state[f"{theirs}{name}.weight"] = model.weights[f"{ours}{role}.gain"] - np.float32(shift)
        for letter, role in zip("qkv", ("query", "key", "value"), strict=True):
            array = model.weights[ours + role]
            state[f"{theirs}self_attn.{letter}_proj.weight"] = array.reshape(-1, array.shape[-1])
        out = model.weights[ours + "out"]
        state[theirs + "self_attn.o_proj.weight"] = out.reshape(len(out), -1)
        for role in ("gate", "up", "down"):
            state[f"{theirs}mlp.{role}_proj.weight"] = model.weights[ours + role]
    missing, unexpected = twin.load_state_dict({k: torch.tensor(v) for k, v in state.items()}, strict=False)
    assert set(missing) <= {"lm_head.weight"}
    assert not unexpected
    twin.tie_weights()
    return twin.eval()
