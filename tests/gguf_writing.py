"""Writes GGUF files from saved Hugging Face folders, by the conventions of llama.cpp's converter.

Names come from gguf's own tensor map; what the converter does to the values is written out here: q and k of Llama in
pairs, Gemma's norms plus 1, GPT-2 transposed, experts stacked, rotary factors as tensors.
"""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch
from gguf import MODEL_ARCH_NAMES, GGMLQuantizationType, GGUFWriter, get_tensor_name_map
from gguf.quants import dequantize, quantize
from safetensors.numpy import load_file
from transformers import PreTrainedModel

Tensors = dict[str, np.ndarray]
Config = Mapping[str, object]

ARCHITECTURES = {
    "llama": "llama",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3",
    "gpt2": "gpt2",
    "phi3": "phi3",
}
BLOCK = 32


def unchanged(tensors: Tensors) -> Tensors:
    return tensors


def write_gguf(
    folder: Path,
    path: Path,
    kind: GGMLQuantizationType = GGMLQuantizationType.F32,
    change: Callable[[Tensors], Tensors] = unchanged,
) -> Path:
    """The model saved in `folder`, as one GGUF file; matrices whose rows divide by 32 in `kind`.

    change: what another converter would have written instead.
    """
    config = json.loads((folder / "config.json").read_text())
    architecture = ARCHITECTURES[config["model_type"]]
    writer = GGUFWriter(path, architecture)
    _METADATA.get(architecture, _llama_line)(writer, config)
    for name, array in change(_converted(load_file(folder / "model.safetensors"), config)).items():
        if array.ndim >= 2 and array.shape[-1] % BLOCK == 0:
            writer.add_tensor(name, quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def round_weights(model: PreTrainedModel, kind: GGMLQuantizationType) -> None:
    """Every matrix becomes what a file of type `kind` holds of it, so that the file can be compared exactly."""
    conv1d = model.config.model_type == "gpt2"
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            flipped = conv1d and ".h." in name
            array = parameter.numpy().T if flipped else parameter.numpy()
            if array.ndim >= 2 and array.shape[-1] % BLOCK == 0:
                array = dequantize(quantize(np.ascontiguousarray(array), kind), kind)
                parameter.copy_(torch.from_numpy(np.ascontiguousarray(array.T if flipped else array)))


def _converted(tensors: Tensors, config: Config) -> Tensors:
    architecture = ARCHITECTURES[str(config["model_type"])]
    number = next(key for key, name in MODEL_ARCH_NAMES.items() if name == architecture)
    layers = int(config.get("num_hidden_layers") or config["n_layer"])
    names = get_tensor_name_map(number, layers)
    out: Tensors = {}
    for name, array in _stacked(tensors).items():
        found = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert found is not None, name
        out[found] = np.ascontiguousarray(_value(name, array, config), np.float32)
    return out | _rope_tensors(config)


def _stacked(tensors: Tensors) -> Tensors:
    """Experts of Mixtral: one tensor for all of a layer."""
    out, experts = {}, {}
    for name, array in tensors.items():
        before, found, after = name.partition(".experts.")
        if not found:
            out[name] = array
            continue
        number, rest = after.split(".", 1)
        experts.setdefault(f"{before}.experts.{rest}", {})[int(number)] = array
    return out | {name: np.stack([each[i] for i in range(len(each))]) for name, each in experts.items()}


def _value(name: str, array: np.ndarray, config: Config) -> np.ndarray:
    kind = str(config["model_type"])
    if ARCHITECTURES[kind] == "llama" and ".q_proj." in name:
        return permuted(array, int(config["num_attention_heads"]))
    if ARCHITECTURES[kind] == "llama" and ".k_proj." in name:
        return permuted(array, int(config["num_key_value_heads"]))
    if kind.startswith("gemma") and name.endswith("norm.weight"):
        return array + 1
    if kind == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        return array.T
    return array


def permuted(array: np.ndarray, heads: int) -> np.ndarray:
    """LlamaModel.permute of the converter."""
    halves = array.reshape(heads, 2, array.shape[0] // heads // 2, *array.shape[1:])
    return halves.swapaxes(1, 2).reshape(array.shape)


def _rope_tensors(config: Config) -> Tensors:
    rope = config.get("rope_parameters") or {}
    kind = rope.get("rope_type")
    if kind == "longrope":
        return {f"rope_factors_{which}.weight": _f32(rope[f"{which}_factor"]) for which in ("long", "short")}
    if kind == "llama3":
        return {"rope_freqs.weight": _f32(_llama3_factors(config, rope))}
    return {}


def _llama3_factors(config: Config, rope: Mapping[str, float]) -> list[float]:
    """`rope_freqs` of the converter: 1, factor, or in between, by the wavelength."""
    width = _head_width(config)
    factor, low, high = rope["factor"], rope["low_freq_factor"], rope["high_freq_factor"]
    original = rope["original_max_position_embeddings"]
    factors = []
    for i in range(0, width, 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (i / width)
        if wavelength < original / high:
            factors.append(1.0)
        elif wavelength > original / low:
            factors.append(factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            factors.append(1 / ((1 - smooth) / factor + smooth))
    return factors


def _f32(values: list[float]) -> np.ndarray:
    return np.array(values, np.float32)


def _head_width(config: Config) -> int:
    return int(config.get("head_dim") or int(config["hidden_size"]) // int(config["num_attention_heads"]))


def _sizes(writer: GGUFWriter, config: Config) -> None:
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])


def _llama_line(writer: GGUFWriter, config: Config) -> None:
    """Llama, Mistral, Mixtral, Qwen2, Qwen3."""
    _sizes(writer, config)
    rope = config["rope_parameters"]
    writer.add_rope_freq_base(rope["rope_theta"])
    if config["model_type"] in ("llama", "mistral", "mixtral"):
        writer.add_vocab_size(config["vocab_size"])
        writer.add_rope_dimension_count(_head_width(config))
    if config.get("head_dim"):
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    if "num_local_experts" in config:
        writer.add_expert_count(config["num_local_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if rope["rope_type"] in ("linear", "yarn"):
        writer.add_string(f"{writer.arch}.rope.scaling.type", rope["rope_type"])
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def _gemma2(writer: GGUFWriter, config: Config) -> None:
    _sizes(writer, config)
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
    writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    writer.add_sliding_window(config["sliding_window"])


def _gemma3(writer: GGUFWriter, config: Config) -> None:
    _sizes(writer, config)
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    rope = config["rope_parameters"]["full_attention"]
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_sliding_window(config["sliding_window"])
    if rope["rope_type"] == "linear":
        writer.add_string("gemma3.rope.scaling.type", "linear")
        writer.add_rope_scaling_factor(rope["factor"])


def _gpt2(writer: GGUFWriter, config: Config) -> None:
    writer.add_block_count(config["n_layer"])
    writer.add_context_length(config["n_positions"])
    writer.add_embedding_length(config["n_embd"])
    writer.add_feed_forward_length(4 * config["n_embd"])
    writer.add_head_count(config["n_head"])
    writer.add_layer_norm_eps(config["layer_norm_epsilon"])


def _phi3(writer: GGUFWriter, config: Config) -> None:
    _sizes(writer, config)
    rope = config["rope_parameters"]
    original = config["original_max_position_embeddings"]
    writer.add_rope_scaling_orig_ctx_len(original)
    writer.add_rope_dimension_count(int(rope["partial_rotary_factor"] * _head_width(config)))
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_sliding_window(config["sliding_window"] or 0)
    if rope["rope_type"] == "longrope":
        factor = config["max_position_embeddings"] / original
        writer.add_string("phi3.rope.scaling.type", "longrope")
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(factor) / math.log(original)))


_METADATA: dict[str, Callable[[GGUFWriter, Config], None]] = {
    "gemma2": _gemma2,
    "gemma3": _gemma3,
    "gpt2": _gpt2,
    "phi3": _phi3,
}
