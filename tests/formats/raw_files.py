"""Weight files written byte by byte, so that a test can promise whatever it likes in a header."""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)
_LETTERS = "BbHhIif?__Qqd"

Pair = tuple[str, int, bytes]
Tensor = tuple[str, Sequence[int], int, int]  # name, dimensions from the fastest axis, type, offset


def text(value: str | bytes) -> bytes:
    """A GGUF string."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def scalar(key: str, kind: int, value: float) -> Pair:
    """A pair with one number."""
    return key, kind, struct.pack("<" + _LETTERS[kind], value)


def array(element: int, count: int, payload: bytes = b"") -> bytes:
    """The value of an array pair: element type, promised length, then whatever comes."""
    return struct.pack("<IQ", element, count) + payload


def header(
    pairs: Sequence[Pair] = (),
    tensors: Sequence[Tensor] = (),
    *,
    version: int = 3,
    promised_pairs: int | None = None,
    promised_tensors: int | None = None,
) -> bytes:
    """A GGUF header; the promised counts may lie."""
    counts = (
        len(tensors) if promised_tensors is None else promised_tensors,
        len(pairs) if promised_pairs is None else promised_pairs,
    )
    body = b"".join(text(key) + struct.pack("<I", kind) + payload for key, kind, payload in pairs)
    for name, dims, code, offset in tensors:
        body += text(name) + struct.pack(f"<I{len(dims)}Q", len(dims), *dims) + struct.pack("<IQ", code, offset)
    return b"GGUF" + struct.pack("<IQQ", version, *counts) + body


def gguf(head: bytes, data: bytes = b"", alignment: int = 32) -> bytes:
    """A header, its padding, and the data."""
    return head + bytes(-len(head) % alignment) + data


def safetensors(entries: Mapping[str, object] | bytes, data: bytes = b"", length: int | None = None) -> bytes:
    """A safetensors file; the header may be any bytes, and its promised length may lie."""
    raw = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(raw) if length is None else length) + raw + data


def entry(dtype: str, shape: Sequence[int], start: int, end: int) -> dict[str, object]:
    """One tensor of a safetensors header."""
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}


def written(path: Path, content: bytes) -> Path:
    """The path, after writing the content."""
    path.write_bytes(content)
    return path
