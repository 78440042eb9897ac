"""A Llama of ours saved as a Hugging Face folder, so that peers run the very weights that we decoded."""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from whybox.model import Model
from whybox.spec import Mlp, PlainRope

Tensors = dict[str, np.ndarray]
NORMS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "mlp_norm"}
PROJECTIONS = {"q_proj": "query", "k_proj": "key", "v_proj": "value"}


def save(model: Model, folder: Path) -> None:
    """config.json and model.safetensors in float32; the folder appears whole or not at all."""
    part = folder.with_name(folder.name + ".part")
    part.mkdir(parents=True, exist_ok=True)
    (part / "config.json").write_text(json.dumps(config(model), indent=1))
    save_file(tensors(model), part / "model.safetensors", {"format": "pt"})
    part.rename(folder)


def config(model: Model) -> dict[str, object]:
    """The config of a LlamaForCausalLM. TypeError for a model of another shape."""
    spec, layer = model.spec, model.spec.layers[0]
    rope = layer.attention.rope
    if not isinstance(layer.mlp, Mlp) or not isinstance(rope, PlainRope):
        raise TypeError(f"{spec.family} is not a plain Llama")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": spec.vocab,
        "hidden_size": spec.width,
        "intermediate_size": layer.mlp.width,
        "num_hidden_layers": len(spec.layers),
        "num_attention_heads": layer.attention.heads,
        "num_key_value_heads": layer.attention.kv_heads,
        "head_dim": layer.attention.head_width,
        "hidden_act": "silu",
        "max_position_embeddings": spec.context,
        "rms_norm_eps": round(spec.final_norm.eps, 12),
        "rope_parameters": {"rope_type": "default", "rope_theta": rope.base},
        "tie_word_embeddings": spec.tied,
        "dtype": "float32",
    }


def tensors(model: Model) -> Tensors:
    """Our roles under their names, matrices [out in]."""
    weights = model.weights
    out = {"model.embed_tokens.weight": weights["embed"], "model.norm.weight": weights["final_norm.gain"]}
    if not model.spec.tied:
        out["lm_head.weight"] = weights["head"]
    for layer in range(len(model.spec.layers)):
        ours, theirs = f"layers.{layer}.", f"model.layers.{layer}."
        for name, role in NORMS.items():
            out[f"{theirs}{name}.weight"] = weights[f"{ours}{role}.gain"]
        for name, role in PROJECTIONS.items():
            out[f"{theirs}self_attn.{name}.weight"] = weights[ours + role].reshape(-1, model.spec.width)
        out[theirs + "self_attn.o_proj.weight"] = weights[ours + "out"].reshape(model.spec.width, -1)
        for role in ("gate", "up", "down"):
            out[f"{theirs}mlp.{role}_proj.weight"] = weights[ours + role]
    return out
