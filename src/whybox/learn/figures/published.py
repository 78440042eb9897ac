"""Models whose configuration is published, as outlines: what claims about Llama, Gemma and GPT-2 are held against."""

from functools import cache

from whybox.learn.figures.figure import Toys, Value
from whybox.size.outline import Block, Grouped, Outline
from whybox.size.source import Wish, find

_LLAMA_2_70B: dict[str, object] = {
    "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
    "intermediate_size": 28672, "vocab_size": 32000, "max_position_embeddings": 4096, "tie_word_embeddings": False,
}  # fmt: skip
_LLAMA_3_8B: dict[str, object] = _LLAMA_2_70B | {
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 14336,
    "vocab_size": 128256, "max_position_embeddings": 8192,
}  # fmt: skip
_SMOLLM2: dict[str, object] = {
    "hidden_size": 576, "num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3,
    "intermediate_size": 1536, "vocab_size": 49152, "max_position_embeddings": 8192, "tie_word_embeddings": True,
}  # fmt: skip
_GEMMA_3_270M: dict[str, object] = {
    "hidden_size": 640, "num_hidden_layers": 18, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256,
    "intermediate_size": 2048, "vocab_size": 262144, "max_position_embeddings": 32768, "sliding_window": 512,
}  # fmt: skip
_CONFIGS: dict[str, tuple[str, dict[str, object]]] = {
    "Llama 2 7B": (
        "llama",
        _LLAMA_2_70B
        | {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32}
        | {"intermediate_size": 11008},
    ),
    "Llama 2 70B": ("llama", _LLAMA_2_70B),
    "Llama 2 70B, one key/value head a query head": ("llama", _LLAMA_2_70B | {"num_key_value_heads": 64}),
    "Llama 3 8B": ("llama", _LLAMA_3_8B),
    "Llama 3 70B": ("llama", _LLAMA_2_70B | {"vocab_size": 128256, "max_position_embeddings": 8192}),
    "Llama 3.1 405B": (
        "llama",
        _LLAMA_3_8B
        | {"hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128}
        | {"intermediate_size": 53248},
    ),
    "Llama 3.2 1B": (
        "llama",
        _LLAMA_3_8B
        | {"hidden_size": 2048, "num_hidden_layers": 16, "intermediate_size": 8192, "head_dim": 64}
        | {"tie_word_embeddings": True},
    ),
    "SmolLM2 135M": ("llama", _SMOLLM2),
    "Gemma 3 270M": ("gemma3_text", _GEMMA_3_270M),
    "GPT-2": ("gpt2", {"n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "vocab_size": 50257}),
}
SMOLLM2, LLAMA_2_70B, LLAMA_3_8B = "SmolLM2 135M", "Llama 2 70B", "Llama 3 8B"
UNGROUPED = "Llama 2 70B, one key/value head a query head"


@cache
def outline(name: str) -> Outline:
    """What the sizes of that model follow from."""
    family, numbers = _CONFIGS[name]
    return find(Wish(family, numbers)).outline


def heads_of(name: str) -> Grouped:
    """Its attention: the same in every layer of these models."""
    found = outline(name).blocks[0].attention
    assert isinstance(found, Grouped)
    return found


def _of_matrix(block: Block, name: str) -> int:
    return next(matrix.out for matrix in block.matrices if matrix.name == name)


def _query_heads(*names: str) -> Value:
    """Query heads for each key/value head."""
    return tuple(float(heads_of(name).heads / heads_of(name).kv_heads) for name in names)


def _gemma_widths() -> Value:
    """Heads times head width, and model width."""
    of, heads = outline("Gemma 3 270M"), heads_of("Gemma 3 270M")
    return float(heads.heads * heads.width), float(of.width)


def _widening(name: str) -> float:
    """MLP width over model width."""
    return _of_matrix(outline(name).blocks[0], "up") / outline(name).width


def _tied(*names: str) -> Value:
    """How many of these models use the embedding as head."""
    return float(sum(outline(name).tied for name in names))


def _saved_by_tying() -> Value:
    """Parameters, those of the whole model, percent."""
    of = outline(SMOLLM2)
    saved, whole = of.vocab * of.width, parameters(of)
    return float(saved), float(whole), 100 * saved / whole


def parameters(of: Outline) -> int:
    """All of them; a tied head counts once."""
    tables = of.vocab * of.width * (1 if of.tied else 2) + of.positions * of.width
    return tables + sum(block.parameters for block in of.blocks) + of.vectors


def _llama_3_sizes() -> Value:
    """Model width, query heads, key/value heads, head width, width of the keys."""
    heads = heads_of(LLAMA_3_8B)
    whole = float(outline(LLAMA_3_8B).width)
    return whole, float(heads.heads), float(heads.kv_heads), float(heads.width), float(heads.kv_heads * heads.width)


def _biases() -> Value:
    """Of Llama 3 8B's attention: parameters that biases would add to a layer, its own, percent."""
    matrices = [m for m in outline(LLAMA_3_8B).blocks[0].matrices if m.sublayer == "attention"]
    biases, weights = sum(m.out for m in matrices), sum(m.parameters for m in matrices)
    return float(biases), float(weights), 100 * biases / weights


TOYS: Toys = {
    "published.gemma_widths": _gemma_widths,
    "published.query_heads": lambda: _query_heads("Llama 2 7B", LLAMA_2_70B, LLAMA_3_8B, "Llama 3 70B"),
    "published.widening": lambda: (_widening("GPT-2"), _widening(SMOLLM2), _widening("Gemma 3 270M")),
    "published.layers": lambda: (float(len(outline(LLAMA_2_70B).blocks)), float(len(outline("Llama 3.1 405B").blocks))),
    "published.tied": lambda: _tied("GPT-2", "Llama 3.2 1B", SMOLLM2),
    "published.tied_llamas": lambda: _tied("Llama 2 7B", LLAMA_2_70B, LLAMA_3_8B, "Llama 3 70B"),
    "published.saved_by_tying": _saved_by_tying,
    "published.llama_3_8b": _llama_3_sizes,
    "published.biases": _biases,
}
