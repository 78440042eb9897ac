"""A Llama-3-8B-shaped model of random Q4_0 weights (4.5 GB): opened and asked for one token in a fresh process.

    python -m bench.big_model [--folder DIR] [--keep]

Prints seconds and peak resident memory; the file is removed afterwards unless --keep.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gguf import GGMLQuantizationType as Ggml
from gguf import GGUFWriter, TokenType

BLOCK, BLOCK_BYTES = 32, 18
PIECE_BLOCKS = 1 << 18


@dataclass(frozen=True)
class Shape:
    """The sizes of Llama 3 8B."""

    width: int = 4096
    layers: int = 32
    heads: int = 32
    kv_heads: int = 8
    mlp: int = 14336
    vocab: int = 128_256
    context: int = 8192

    def tensors(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Names and shapes [out in]."""
        c, kv = self.width, self.width // self.heads * self.kv_heads
        yield "token_embd.weight", (self.vocab, c)
        for i in range(self.layers):
            yield f"blk.{i}.attn_norm.weight", (c,)
            yield f"blk.{i}.attn_q.weight", (c, c)
            yield f"blk.{i}.attn_k.weight", (kv, c)
            yield f"blk.{i}.attn_v.weight", (kv, c)
            yield f"blk.{i}.attn_output.weight", (c, c)
            yield f"blk.{i}.ffn_norm.weight", (c,)
            yield f"blk.{i}.ffn_gate.weight", (self.mlp, c)
            yield f"blk.{i}.ffn_up.weight", (self.mlp, c)
            yield f"blk.{i}.ffn_down.weight", (c, self.mlp)
        yield "output_norm.weight", (c,)
        yield "output.weight", (self.vocab, c)


LLAMA_3_8B = Shape()


def write_big(path: Path, shape: Shape = LLAMA_3_8B, seed: int = 0) -> Path:
    """The file, written piece by piece: never more than a few MB of it in memory."""
    writer = GGUFWriter(path, "llama")
    _metadata(writer, shape)
    for name, size in shape.tensors():
        plain = len(size) == 1
        kind = Ggml.F32 if plain else Ggml.Q4_0
        stored = size if plain else (*size[:-1], size[-1] // BLOCK * BLOCK_BYTES)
        dtype = np.dtype(np.float32 if plain else np.uint8)
        nbytes = 4 * size[0] if plain else int(np.prod(stored))
        writer.add_tensor_info(name, stored, dtype, nbytes, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    with path.open("ab") as out:
        out.write(b"\0" * (-out.tell() % writer.data_alignment))
        generator = np.random.default_rng(seed)
        for _, size in shape.tensors():
            _values(out, size, generator)
            out.write(b"\0" * (-out.tell() % writer.data_alignment))
    return path


def _values(out: BinaryIO, size: tuple[int, ...], generator: np.random.Generator) -> None:
    """Gains of 1; blocks of random codes whose scale keeps every product's variance near 1."""
    if len(size) == 1:
        out.write(np.ones(size, np.float32).tobytes())
        return
    left = int(np.prod(size)) // BLOCK
    scale = np.array([size[-1] ** -0.5 / 4.6], "<f2").view(np.uint8)  # codes −8 … 7 deviate by 4.6
    while left:
        count = min(left, PIECE_BLOCKS)
        blocks = generator.integers(0, 256, (count, BLOCK_BYTES), np.uint8)
        blocks[:, :2] = scale
        out.write(blocks.tobytes())
        left -= count


def _metadata(writer: GGUFWriter, shape: Shape) -> None:
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.mlp)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500_000.0)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_vocab_size(shape.vocab)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(_tokens(shape.vocab))
    writer.add_token_types([TokenType.NORMAL] * shape.vocab)
    writer.add_token_merges(["t h", "Ġ t"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_add_bos_token(False)


def _tokens(count: int) -> list[str]:
    """The bytes as GPT-2 spells them, two joined pieces, and names that nobody types."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    first = [*bytes_to_unicode().values(), "th", "Ġt"]
    return first + [f"<unused {i}>" for i in range(count - len(first))]


CHILD = """
import resource, sys, time
begun = time.perf_counter()
import whybox
model = whybox.open(sys.argv[1], weights=sys.argv[2])
opened = time.perf_counter() - begun
top = model.run("the", tail=1).next_ids(1)
took = time.perf_counter() - begun
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(f"{model.engine.name}: open {opened:.1f} s, with one next token {took:.1f} s, peak {peak / 1e9:.2f} GB")
"""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--folder", type=Path, default=Path("."))
    asked.add_argument("--weights", default="streamed")
    asked.add_argument("--keep", action="store_true")
    options = asked.parse_args()
    path = options.folder / "llama-3-8b-shaped-q4_0.gguf"
    begun = time.perf_counter()
    write_big(path)
    print(f"written: {path.stat().st_size:,} bytes in {time.perf_counter() - begun:.0f} s")
    try:
        for _ in range(2):
            subprocess.run([sys.executable, "-c", CHILD, str(path), options.weights], check=True, env=os.environ)
    finally:
        if not options.keep:
            path.unlink()


if __name__ == "__main__":
    main()
