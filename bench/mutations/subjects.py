"""The models that faults are planted in: the two real ones, and a tiny random one of every kind of family.

A tiny one is made by transformers, saved as a file and read back through the family's own rules, so that the same
weights can be run by transformers as well. `llama#3` is the llama that seed 3 draws.
"""

import atexit
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    MixtralConfig,
    OPTConfig,
    Qwen2Config,
    Qwen3Config,
)

from whybox import families, weights
from whybox.engine.choice import NUMPY
from whybox.engine.reference import ReferenceEngine
from whybox.formats import open_weights
from whybox.model import Model, open_model
from whybox.testing.vocabulary import tokenizer

REAL = ("smollm2", "gemma3-270m")
SMALL: dict[str, Any] = {
    "vocab_size": 61,
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
}
EVEN = {key: value for key, value in SMALL.items() if key != "num_key_value_heads"}
GEMMA = SMALL | {"head_dim": 10, "sliding_window": 5, "query_pre_attn_scalar": 19, "tie_word_embeddings": True}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
LINEAR = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}


@dataclass(frozen=True)
class Drawn:
    """A class of transformers' configs, and the settings of the sound model."""

    config: Any
    settings: dict[str, Any]

    def made(self, **changes: Any) -> Any:
        """The config, with some settings changed."""
        return self.config(**{**self.settings, **changes})


DRAWN: dict[str, Drawn] = {
    "llama": Drawn(LlamaConfig, SMALL | {"rope_parameters": PLAIN, "rms_norm_eps": 1e-5}),
    "llama-scaled": Drawn(LlamaConfig, SMALL | {"rope_parameters": LLAMA3}),
    "llama-yarn": Drawn(LlamaConfig, SMALL | {"rope_parameters": YARN}),
    "qwen2": Drawn(Qwen2Config, SMALL),
    "qwen3": Drawn(Qwen3Config, SMALL | {"head_dim": 8}),
    "gemma2": Drawn(Gemma2Config, GEMMA),
    "gemma3": Drawn(Gemma3TextConfig, GEMMA | {"num_hidden_layers": 7}),
    "mixtral": Drawn(MixtralConfig, SMALL | {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "gpt2": Drawn(GPT2Config, {"vocab_size": 61, "n_positions": 64, "n_embd": 48, "n_layer": 3, "n_head": 6}),
    "gpt-neox": Drawn(GPTNeoXConfig, EVEN | {"rotary_pct": 0.25}),
    "bloom": Drawn(BloomConfig, {"vocab_size": 61, "hidden_size": 48, "n_layer": 3, "n_head": 6}),
    "opt": Drawn(
        OPTConfig,
        {
            "vocab_size": 61,
            "hidden_size": 48,
            "ffn_dim": 80,
            "num_hidden_layers": 3,
            "num_attention_heads": 6,
            "word_embed_proj_dim": 48,
            "max_position_embeddings": 64,
        },
    ),
}
LENGTH = 40  # tokens: beyond the windows of the tiny models, and beyond the context that their scaling begins at


def split(name: str) -> tuple[str, int]:
    """`llama#3` → llama, 3."""
    family, _, seed = name.partition("#")
    return family, int(seed or 0)


@cache
def twin(name: str) -> Any:
    """The transformers model of a tiny subject: every parameter away from its neutral start."""
    family, seed = split(name)
    torch.manual_seed(seed)
    model = built(DRAWN[family].made())
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.15))
            if parameter.dim() == 1:  # so that Gemma's 1 + w is exact in float32
                parameter.copy_((parameter * 2**16).round() / 2**16)
            if "embed" in key and parameter.dim() == 2:
                parameter.add_(torch.randn_like(parameter))
    return model


def built(config: Any) -> Any:
    """A model of transformers with its plain attention."""
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager", experts_implementation="eager").eval()


@cache
def model_of(name: str) -> Model:
    """A subject as `diff` gets it, on the NumPy engine."""
    if split(name)[0] in REAL:
        return open_model(name, "numpy")
    folder = _folder() / name
    twin(name).save_pretrained(folder)
    file = open_weights(folder)
    spec, rules = families.describe(file)
    loaded = weights.load(file, spec, rules)
    return Model(name, file, loaded, tokenizer(), ReferenceEngine(spec, loaded), NUMPY)


@cache
def _folder() -> Path:
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    return Path(kept.name)


def ids_for(name: str, seed: int = 0) -> tuple[int, ...]:
    """Random tokens of a tiny vocabulary."""
    generator = np.random.default_rng(seed)
    return tuple(generator.integers(0, SMALL["vocab_size"], LENGTH).tolist())
