"""The two real models: opened once a session, and rebuilt in transformers from the weights that whybox decoded."""

from functools import cache

import numpy as np
import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig, LlamaConfig, LlamaForCausalLM, PreTrainedModel

from tests.models import model_path
from whybox import families, weights
from whybox.engine.reference import ReferenceEngine
from whybox.formats import open_weights
from whybox.text.tokenizer import Tokenizer

_ANIMALS = "fox hen ox owl eel".split()


@cache
def real_engine(name: str) -> ReferenceEngine:
    """`smollm2` or `gemma3-270m` in float32."""
    file = open_weights(model_path(name))
    spec, rules = families.describe(file)
    return ReferenceEngine(spec, weights.load(file, spec, rules))


@cache
def market_ids(name: str, lines: int, count: int) -> tuple[int, ...]:
    """The first ids of a text that anyone can rebuild: animals sell apples in towns."""
    text = " ".join(
        f"Line {i}: the {_ANIMALS[i % 5]} sold {i * i % 89} apples to the {_ANIMALS[(i + 2) % 5]} in town {i % 7}."
        for i in range(1, lines + 1)
    )
    tokenizer = Tokenizer.from_gguf(open_weights(model_path(name)).metadata)
    start = (2,) if name == "gemma3-270m" else ()
    return (*start, *tokenizer.encode(text))[:count]


def llama_in_transformers(engine: ReferenceEngine) -> PreTrainedModel:
    """SmolLM2's weights in a LlamaForCausalLM, float32, eager attention."""
    spec, attention = engine.spec, engine.spec.layers[0].attention
    config = LlamaConfig(
        vocab_size=spec.vocab,
        hidden_size=spec.width,
        intermediate_size=spec.layers[0].mlp.width,
        num_hidden_layers=len(spec.layers),
        num_attention_heads=attention.heads,
        num_key_value_heads=attention.kv_heads,
        max_position_embeddings=spec.context,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5},
        tie_word_embeddings=True,
    )
    norms = {"input_layernorm": "attn_norm", "post_attention_layernorm": "mlp_norm"}
    return _filled(LlamaForCausalLM(config), engine, norms, shift=0)


def gemma_in_transformers(engine: ReferenceEngine) -> PreTrainedModel:
    """Gemma 3 270M's weights in a Gemma3ForCausalLM; transformers holds gain − 1."""
    spec, attention = engine.spec, engine.spec.layers[0].attention
    config = Gemma3TextConfig(
        vocab_size=spec.vocab,
        hidden_size=spec.width,
        intermediate_size=spec.layers[0].mlp.width,
        num_hidden_layers=len(spec.layers),
        num_attention_heads=attention.heads,
        num_key_value_heads=attention.kv_heads,
        head_dim=attention.head_width,
        max_position_embeddings=spec.context,
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
    return _filled(Gemma3ForCausalLM(config), engine, norms, shift=1)


def _filled(
    model: PreTrainedModel, engine: ReferenceEngine, norms: dict[str, str], shift: int
) -> PreTrainedModel:
    model.set_attn_implementation("eager")
    state = {"model.embed_tokens.weight": engine.weights["embed"]}
    state["model.norm.weight"] = engine.weights["final_norm.gain"] - np.float32(shift)
    for layer in range(len(engine.spec.layers)):
        ours, theirs = f"layers.{layer}.", f"model.layers.{layer}."
        for name, role in norms.items():
            state[f"{theirs}{name}.weight"] = engine.weights[f"{ours}{role}.gain"] - np.float32(shift)
        for letter, role in zip("qkv", ("query", "key", "value"), strict=True):
            array = engine.weights[ours + role]
            state[f"{theirs}self_attn.{letter}_proj.weight"] = array.reshape(-1, array.shape[-1])
        out = engine.weights[ours + "out"]
        state[theirs + "self_attn.o_proj.weight"] = out.reshape(len(out), -1)
        for role in ("gate", "up", "down"):
            state[f"{theirs}mlp.{role}_proj.weight"] = engine.weights[ours + role]
    missing, unexpected = model.load_state_dict({k: torch.tensor(v) for k, v in state.items()}, strict=False)
    assert set(missing) <= {"lm_head.weight"}
    assert not unexpected
    model.tie_weights()
    return model.eval()
