"""Tensor types: how many bytes a block of values takes, and how its bytes become float32.

A row of a tensor is a whole number of blocks. `values` numbers share `size` bytes; plain types are blocks of one value.
The six commonest quantised types are decoded here, chunk by chunk and in place, large tensors by several threads;
every other one by `gguf.quants.dequantize`. Both give the same bits.

Axes: n blocks of one tensor.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float32, Int8, Shaped, UInt8

from whybox.errors import UnsupportedError

Rows = slice | Shaped[np.ndarray, " n"]  # which entries of a tensor's first axis

CHUNK_VALUES = 1 << 18  # decoded at a time: 1 MiB of float32 stays in the second-level cache
MANY_VALUES = 1 << 21  # from here on several threads are quicker than one


@dataclass(frozen=True)
class TensorType:
    """A storage type: label, its number in GGUF (None: safetensors only), values and bytes of one block."""

    name: str
    code: int | None
    values: int
    size: int

    def nbytes(self, shape: tuple[int, ...]) -> int:
        """Bytes of a tensor of that shape; the last axis must be a whole number of blocks."""
        return math.prod(shape) // self.values * self.size


def _by_code(*rows: tuple[int, str, int, int]) -> Mapping[int, TensorType]:
    return MappingProxyType({code: TensorType(name, code, values, size) for code, name, values, size in rows})


GGUF_TYPES = _by_code(
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
)

REFUSED_CODES: Mapping[int, str] = MappingProxyType(
    {4: "Q4_2", 5: "Q4_3", 9: "Q8_1", 15: "Q8_K", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8"}
    | {36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8", 41: "Q1_0"}
)

# Types whose values numpy knows as they lie in the file (little endian).
PLAIN: Mapping[str, np.dtype[np.generic]] = MappingProxyType(
    {name: np.dtype(letters) for name, letters in {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "?"}.items()}
    | {f"{sign.upper()}{8 * size}": np.dtype(f"<{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8)}
)

SAFETENSORS_TYPES: Mapping[str, TensorType] = MappingProxyType(
    {name: TensorType(name, None, 1, dtype.itemsize) for name, dtype in PLAIN.items()}
    | {"BF16": TensorType("BF16", None, 1, 2)}
)


def decode(raw: UInt8[np.ndarray, "bytes"], kind: TensorType, shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
    """The values of a tensor, read-only: float32 for every floating or quantised type, the stored type for integers.

    F32 and integers are views of `raw` where the memory is aligned. shape is row-major.
    Raises UnsupportedError for a type that the installed gguf package cannot decode.
    """
    decoder = DECODERS.get(kind.name)
    if decoder is None and kind.name in PLAIN:
        return _frozen(_as_float32(stored(raw, kind, shape)))
    decoder = decoder or _through_gguf(kind)
    out = np.empty(math.prod(shape), np.float32)
    _in_chunks(raw.reshape(-1, kind.size), out.reshape(-1, kind.values), decoder)
    return _frozen(out.reshape(shape))


def decode_rows(
    raw: UInt8[np.ndarray, "bytes"], kind: TensorType, shape: tuple[int, ...], rows: Rows | None
) -> Shaped[np.ndarray, "..."]:
    """As `decode`, of some entries of the first axis alone (None: all); the others are not touched."""
    if rows is None:
        return decode(raw, kind, shape)
    chosen = raw.reshape(shape[0], -1)[rows]
    return decode(chosen.reshape(-1), kind, (len(chosen), *shape[1:]))


def stored(raw: UInt8[np.ndarray, "bytes"], kind: TensorType, shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
    """A plain tensor in the type that it has in the file (F64 stays float64): a read-only view where aligned."""
    if kind.name not in PLAIN:
        raise UnsupportedError(f"{kind.name} has no NumPy type of its own", "read() decodes it to float32")
    values = (raw != 0 if kind.name == "BOOL" else raw.view(PLAIN[kind.name])).reshape(shape)
    return _frozen(values if values.flags.aligned else values.copy())


def _as_float32(values: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore"):
        return values.astype(np.float32, copy=False)


def _frozen(values: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    values.flags.writeable = False
    return values


Blocks = UInt8[np.ndarray, "n bytes"]
Values = Float32[np.ndarray, "n values"]
Decoder = Callable[[np.ndarray, np.ndarray], None]


def _in_chunks(blocks: Blocks, out: Values, decoder: Decoder) -> None:
    """Each chunk is decoded into its own place; of a large tensor each thread takes one run of chunks."""
    step = max(1, CHUNK_VALUES // out.shape[1])
    starts = range(0, len(blocks), step)

    def run(first: int, last: int) -> None:
        with np.errstate(invalid="ignore", over="ignore"):  # an Inf scale is the file's own value, not our mistake
            for start in starts[first:last]:
                decoder(blocks[start : start + step], out[start : start + step])

    threads = threads_for(out.size)
    if threads == 1:
        run(0, len(starts))
    else:
        edges = [len(starts) * i // threads for i in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run, edges, edges[1:]))  # raises what a thread raised


def threads_for(values: int) -> int:
    """One for a small tensor; else those that the arithmetic may take (`OMP_NUM_THREADS`), or one a processor."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return 1 if values < MANY_VALUES else int(said) if said.isdigit() and int(said) else os.cpu_count() or 1


def _through_gguf(kind: TensorType) -> Decoder:
    from gguf import GGMLQuantizationType, quants  # 0.1 s to import, and seldom needed

    def decoder(blocks: Blocks, out: Values) -> None:
        # One long row: the package works through groups of 16 rows in a Python loop.
        out[:] = quants.dequantize(blocks.reshape(1, -1), GGMLQuantizationType(kind.code)).reshape(out.shape)

    try:
        decoder(np.zeros((1, kind.size), np.uint8), np.empty((1, kind.values), np.float32))
    except (NotImplementedError, ValueError) as error:
        raise UnsupportedError(
            f"tensor type {kind.name} is not decoded by the installed gguf package", "pip install -U gguf"
        ) from error
    return decoder


def _half(blocks: Blocks, at: int) -> Float32[np.ndarray, "n 1"]:
    return blocks[:, at : at + 2].view("<f2").astype(np.float32)


def _codes(blocks: Blocks, start: int, stop: int) -> UInt8[np.ndarray, "n part"]:
    """Bytes start … stop − 1 of every block, side by side. Moved as one element each: byte by byte takes ten times."""
    return blocks[:, start:stop].view(_word(stop - start)).copy().view(np.uint8)


def _nibbles(codes: UInt8[np.ndarray, "n half"], out: UInt8[np.ndarray, "n values"]) -> None:
    """Low nibbles of a row, then its high ones."""
    _spread([codes & 15, codes >> 4], out)


def _spread(parts: Sequence[UInt8[np.ndarray, "n part"]], out: UInt8[np.ndarray, "n values"]) -> None:
    """The rows of the parts one behind the other."""
    word = _word(parts[0].shape[1])
    places = out.view(word)
    for place, part in enumerate(parts):
        places[:, place] = part.view(word)[:, 0]


def _word(size: int) -> np.dtype[np.void]:
    return np.dtype((np.void, size))


def _less(codes: UInt8[np.ndarray, "n values"], middle: int) -> Int8[np.ndarray, "n values"]:
    """Codes around 0, in their own bytes: a fourth of the traffic of a subtraction in float32."""
    signed: Int8[np.ndarray, "n values"] = codes.view(np.int8)
    signed -= np.int8(middle)
    return signed


def f16(blocks: UInt8[np.ndarray, "n 2"], out: Float32[np.ndarray, "n 1"]) -> None:
    """IEEE half precision."""
    out[:] = blocks.view("<f2")


def bf16(blocks: UInt8[np.ndarray, "n 2"], out: Float32[np.ndarray, "n 1"]) -> None:
    """The upper half of a float32: bits << 16."""
    np.left_shift(blocks.view("<u2"), 16, out=out.view(np.uint32), dtype=np.uint32)


def q4_0(blocks: UInt8[np.ndarray, "n 18"], out: Float32[np.ndarray, "n 32"]) -> None:
    """d · (code − 8); f16 d, 16 bytes: low nibbles are values 0 … 15, high nibbles 16 … 31."""
    codes = np.empty(out.shape, np.uint8)
    _nibbles(_codes(blocks, 2, 18), codes)
    np.multiply(_less(codes, 8), _half(blocks, 0), out=out)


def q4_1(blocks: UInt8[np.ndarray, "n 20"], out: Float32[np.ndarray, "n 32"]) -> None:
    """d · code + m; f16 d, f16 m, 16 bytes: low nibbles are values 0 … 15, high nibbles 16 … 31."""
    codes = np.empty(out.shape, np.uint8)
    _nibbles(_codes(blocks, 4, 20), codes)
    np.multiply(codes, _half(blocks, 0), out=out)
    out += _half(blocks, 2)


def q5_0(blocks: UInt8[np.ndarray, "n 22"], out: Float32[np.ndarray, "n 32"]) -> None:
    """d · (code − 16); f16 d, 32 fifth bits (bit i belongs to value i), 16 bytes of nibbles as in Q4_0."""
    codes = np.empty(out.shape, np.uint8)
    _nibbles(_codes(blocks, 6, 22), codes)
    codes |= np.unpackbits(blocks[:, 2:6], axis=1, bitorder="little") << 4
    np.multiply(_less(codes, 16), _half(blocks, 0), out=out)


def q8_0(blocks: UInt8[np.ndarray, "n 34"], out: Float32[np.ndarray, "n 32"]) -> None:
    """d · code; f16 d, 32 signed bytes."""
    np.multiply(_codes(blocks, 2, 34).view(np.int8), _half(blocks, 0), out=out)


def q4_k(blocks: UInt8[np.ndarray, "n 144"], out: Float32[np.ndarray, "n 256"]) -> None:
    """(d · scale) · code − (dmin · min) in 8 runs of 32; f16 d, f16 dmin, 12 bytes of six-bit pairs, 128 of nibbles.

    Byte j of 32·i … 32·i + 31 holds value j of run 2i in its low nibble, of run 2i + 1 in its high nibble.
    """
    scale, least = _six_bit_pairs(blocks[:, 4:16])
    codes = np.empty((4 * len(blocks), 64), np.uint8)
    _nibbles(_codes(blocks, 16, 144).reshape(-1, 32), codes)
    runs = out.reshape(-1, 8, 32)
    np.multiply(codes.reshape(runs.shape), (_half(blocks, 0) * scale)[:, :, None], out=runs)
    runs -= (_half(blocks, 2) * least)[:, :, None]


def _six_bit_pairs(packed: UInt8[np.ndarray, "n 12"]) -> tuple[Float32[np.ndarray, "n 8"], Float32[np.ndarray, "n 8"]]:
    """Scales and minima 0 … 3 are the low six bits of bytes 0 … 3 and 4 … 7.

    Those of 4 … 7 take four bits from a nibble of bytes 8 … 11 and two from the top of the same bytes.
    """
    first, second, third = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scale = np.hstack([first & 63, (third & 15) | ((first >> 2) & 48)])
    least = np.hstack([second & 63, (third >> 4) | ((second >> 2) & 48)])
    return scale.astype(np.float32), least.astype(np.float32)


def q6_k(blocks: UInt8[np.ndarray, "n 210"], out: Float32[np.ndarray, "n 256"]) -> None:
    """(d · scale) · (code − 32) in 16 runs of 16; 128 bytes of nibbles, 64 of upper bit pairs, 16 signed scales, f16 d.

    Each half of 128 values: 64 bytes of nibbles (low: values 0 … 63, high: 64 … 127), and 32 bytes whose bit pair j
    completes values 32·j … 32·j + 31.
    """
    codes = np.empty((2 * len(blocks), 128), np.uint8)
    _nibbles(_codes(blocks, 0, 128).reshape(-1, 64), codes)
    upper, pairs = _codes(blocks, 128, 192).reshape(-1, 32), np.empty_like(codes)
    _spread([((upper >> (2 * pair)) & 3) << 4 for pair in range(4)], pairs)
    codes |= pairs
    scale = _half(blocks, 208) * blocks[:, 192:208].view(np.int8).astype(np.float32)
    runs = out.reshape(-1, 16, 16)
    np.multiply(_less(codes, 32).reshape(runs.shape), scale[:, :, None], out=runs)


DECODERS: Mapping[str, Decoder] = MappingProxyType(
    {"F16": f16, "BF16": bf16, "Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q8_0": q8_0, "Q4_K": q4_k, "Q6_K": q6_k}
)
