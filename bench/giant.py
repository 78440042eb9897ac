"""A GGUF of Llama 3 8B's shape in Q4_0 with random weights, written tensor by tensor: 4.5 GB that nobody downloads."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter

BLOCK, BLOCK_BYTES = 32, 18
SCALE = 0.0043  # nibbles −8 … 7 spread by 4.6, so weights spread by 0.02


@dataclass(frozen=True)
class Shape:
    """The sizes of a Llama. Matrices are Q4_0, norms float32."""

    layers: int = 32
    width: int = 4096
    hidden: int = 14336
    heads: int = 32
    kv_heads: int = 8
    vocab: int = 128256
    context: int = 8192


def write(path: Path, shape: Shape | None = None) -> None:
    """The file appears whole or not at all; no more than one tensor is held at a time."""
    shape = shape or Shape()
    part = path.with_suffix(".part")
    writer = GGUFWriter(part, "llama")
    _metadata(writer, shape)
    for name, rows, columns in matrices(shape):
        stored = (rows, columns // BLOCK * BLOCK_BYTES)
        writer.add_tensor_info(name, stored, np.dtype(np.uint8), stored[0] * stored[1], GGMLQuantizationType.Q4_0)
    for name in norms(shape):
        writer.add_tensor_info(name, (shape.width,), np.dtype(np.float32), shape.width * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    generator = np.random.default_rng(0)
    for _, rows, columns in matrices(shape):
        writer.write_tensor_data(blocks(generator, rows, columns))
    for _ in norms(shape):
        writer.write_tensor_data(np.ones(shape.width, np.float32))
    writer.close()
    part.rename(path)


def blocks(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Q4_0 of a random matrix: per 32 weights one float16 scale and 16 bytes of nibbles."""
    out = np.empty((rows, columns // BLOCK, BLOCK_BYTES), np.uint8)
    out[:, :, :2] = np.frombuffer(np.float16(SCALE).tobytes(), np.uint8)
    out[:, :, 2:] = generator.integers(0, 256, (rows, columns // BLOCK, BLOCK_BYTES - 2), np.uint8)
    return out.reshape(rows, -1)


def matrices(shape: Shape) -> Iterator[tuple[str, int, int]]:
    """Name, rows (out) and columns (in)."""
    kv_width = shape.width // shape.heads * shape.kv_heads
    yield "token_embd.weight", shape.vocab, shape.width
    for layer in range(shape.layers):
        yield f"blk.{layer}.attn_q.weight", shape.width, shape.width
        yield f"blk.{layer}.attn_k.weight", kv_width, shape.width
        yield f"blk.{layer}.attn_v.weight", kv_width, shape.width
        yield f"blk.{layer}.attn_output.weight", shape.width, shape.width
        yield f"blk.{layer}.ffn_gate.weight", shape.hidden, shape.width
        yield f"blk.{layer}.ffn_up.weight", shape.hidden, shape.width
        yield f"blk.{layer}.ffn_down.weight", shape.width, shape.hidden
    yield "output.weight", shape.vocab, shape.width


def norms(shape: Shape) -> Iterator[str]:
    for layer in range(shape.layers):
        yield f"blk.{layer}.attn_norm.weight"
        yield f"blk.{layer}.ffn_norm.weight"
    yield "output_norm.weight"


def _metadata(writer: GGUFWriter, shape: Shape) -> None:
    writer.add_name("random weights")
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(500000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.vocab)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    tokens = byte_characters()
    writer.add_token_list([*tokens, "<|begin_of_text|>"])
    writer.add_token_types([1] * len(tokens) + [3])
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(len(tokens))


def byte_characters() -> list[str]:
    """The 256 characters under which byte-level BPE spells bytes, and one merge, `th`."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    spelt = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return [*(spelt[byte] for byte in range(256)), "th"]
