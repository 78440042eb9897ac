"""Every block type against `gguf.quants.dequantize`, bit for bit; the common ones also against plain scalar ones."""

import os
import struct

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Ggml

from whybox.errors import UnsupportedError
from whybox.formats import blocks
from whybox.formats.blocks import GGUF_TYPES, REFUSED_CODES, SAFETENSORS_TYPES, TensorType, decode, stored

BY_NAME = {kind.name: kind for kind in GGUF_TYPES.values()}
BLOCK_TYPES = [kind for kind in GGUF_TYPES.values() if kind.name not in blocks.PLAIN]
# Where the f16 numbers of a block lie: kept small and finite, all other bytes are drawn.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ3_XXS": [0], "IQ1_S": [0],
    "IQ4_NL": [0], "IQ3_S": [0], "IQ2_S": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "BF16": [0],
}  # fmt: skip


def random_blocks(kind: TensorType, count: int, seed: int = 7) -> np.ndarray:
    """Blocks with non-zero finite scales and every code different somewhere."""
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 256, (count, kind.size), dtype=np.uint8)
    for at in HALVES.get(kind.name, []):
        scale = rng.uniform(0.05, 2, count) * rng.choice([-1, 1], count)
        raw[:, at : at + 2] = scale.astype("<f2").view(np.uint8).reshape(count, 2)
    return raw


def golden(raw: np.ndarray, kind: TensorType) -> np.ndarray:
    return gguf.quants.dequantize(raw, Ggml(kind.code))


def bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint32)


def test_table_is_that_of_gguf() -> None:
    for code, kind in GGUF_TYPES.items():
        assert (kind.code, kind.name) == (code, Ggml(code).name)
        assert gguf.GGML_QUANT_SIZES[Ggml(code)] == (kind.values, kind.size)


def test_every_type_that_gguf_decodes_is_in_the_table() -> None:
    decodable = {kind.name for kind in gguf.quants._type_traits} | {"F32", "F16"}
    assert decodable == {kind.name for kind in GGUF_TYPES.values()} - {"F64", "I8", "I16", "I32", "I64"}
    known = {int(kind) for kind in Ggml}
    assert known <= set(GGUF_TYPES) | set(REFUSED_CODES)
    assert not set(GGUF_TYPES) & set(REFUSED_CODES)
    assert all(Ggml(code).name == name for code, name in REFUSED_CODES.items() if code in known)


@pytest.mark.parametrize("kind", BLOCK_TYPES, ids=lambda kind: kind.name)
@pytest.mark.parametrize("count", [1, 3, 17])
def test_bits_equal_gguf(kind: TensorType, count: int) -> None:
    raw = random_blocks(kind, count)
    expected = golden(raw, kind)
    assert np.count_nonzero(expected) > expected.size // 4
    found = decode(raw.reshape(-1), kind, (count, kind.values))
    assert found.dtype == np.float32
    assert np.array_equal(bits(found), bits(expected))


@pytest.mark.parametrize("kind", BLOCK_TYPES, ids=lambda kind: kind.name)
def test_chunks_join_without_a_seam(kind: TensorType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "CHUNK_VALUES", 5 * kind.values)
    raw = random_blocks(kind, 13)
    found = decode(raw.reshape(-1), kind, (13 * kind.values,))
    assert np.array_equal(bits(found), bits(golden(raw, kind)))


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("kind", BLOCK_TYPES, ids=lambda kind: kind.name)
def test_several_threads_give_the_same_bits(kind: TensorType, threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MANY_VALUES", 1)
    monkeypatch.setattr(blocks, "CHUNK_VALUES", 2 * kind.values)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    raw = random_blocks(kind, 13)
    assert np.array_equal(bits(decode(raw.reshape(-1), kind, (13 * kind.values,))), bits(golden(raw, kind)))


def test_threads_are_those_of_the_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert (blocks.threads_for(blocks.MANY_VALUES), blocks.threads_for(blocks.MANY_VALUES - 1)) == (3, 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "4,2")
    assert blocks.threads_for(blocks.MANY_VALUES) == os.cpu_count()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q8_0", "Q4_K", "Q6_K", "BF16", "F16"])
def test_any_bytes_at_all(name: str) -> None:
    kind = BY_NAME[name]
    raw = np.random.default_rng(3).integers(0, 256, (4099, kind.size), dtype=np.uint8)
    found = decode(raw.reshape(-1), kind, (4099, kind.values))
    assert not np.isfinite(found).all()
    assert np.array_equal(bits(found), bits(golden(raw, kind)))


# Scalar decoders, one value at a time, from the layouts of ggml-quants.c.


def half(block: bytes, at: int) -> np.float32:
    return np.float32(struct.unpack_from("<e", block, at)[0])


def nibble(codes: bytes, i: int, run: int) -> int:
    """Value i of runs whose first half lies in the low nibbles, the second in the high ones."""
    byte = codes[i // (2 * run) * run + i % run]
    return byte & 15 if i % (2 * run) < run else byte >> 4


def plain_q4_0(block: bytes, i: int) -> np.float32:
    return half(block, 0) * np.float32(nibble(block[2:], i, 16) - 8)


def plain_q4_1(block: bytes, i: int) -> np.float32:
    return half(block, 0) * np.float32(nibble(block[4:], i, 16)) + half(block, 2)


def plain_q5_0(block: bytes, i: int) -> np.float32:
    fifth = int.from_bytes(block[2:6], "little") >> i & 1
    return half(block, 0) * np.float32(nibble(block[6:], i, 16) + 16 * fifth - 16)


def plain_q8_0(block: bytes, i: int) -> np.float32:
    return half(block, 0) * np.float32(struct.unpack_from("<b", block, 2 + i)[0])


def plain_q4_k(block: bytes, i: int) -> np.float32:
    packed, run = block[4:16], i // 32
    if run < 4:
        scale, least = packed[run] & 63, packed[run + 4] & 63
    else:
        scale = (packed[run + 4] & 15) | (packed[run - 4] >> 6 << 4)
        least = (packed[run + 4] >> 4) | (packed[run] >> 6 << 4)
    code = np.float32(nibble(block[16:], i, 32))
    return half(block, 0) * np.float32(scale) * code - half(block, 2) * np.float32(least)


def plain_q6_k(block: bytes, i: int) -> np.float32:
    side, j = divmod(i, 128)
    upper = block[128 + 32 * side + j % 32] >> (2 * (j // 32)) & 3
    code = np.float32((nibble(block[64 * side :], j, 64) | upper << 4) - 32)
    scale = np.float32(struct.unpack_from("<b", block, 192 + i // 16)[0])
    return half(block, 208) * scale * code


PLAIN_DECODERS = {
    "Q4_0": plain_q4_0, "Q4_1": plain_q4_1, "Q5_0": plain_q5_0, "Q8_0": plain_q8_0, "Q4_K": plain_q4_k,
    "Q6_K": plain_q6_k,
}  # fmt: skip


@pytest.mark.parametrize("name", PLAIN_DECODERS)
def test_one_value_at_a_time(name: str) -> None:
    kind, plain = BY_NAME[name], PLAIN_DECODERS[name]
    raw = random_blocks(kind, 5, seed=11)
    found = decode(raw.reshape(-1), kind, (5, kind.values))
    for block, row in zip(raw, found, strict=True):
        expected = np.array([plain(block.tobytes(), i) for i in range(kind.values)], np.float32)
        assert np.array_equal(bits(row), bits(expected))


def test_q4_1_block_worked_by_hand() -> None:
    """d = 1, m = −3, bytes 0x10 0x21 … 0x0f: low nibble of byte i is i, high nibble i + 1."""
    codes = bytes((i + 1) % 16 << 4 | i for i in range(16))
    assert codes[:3] == b"\x10\x21\x32"
    assert codes[-1] == 0x0F
    raw = np.frombuffer(struct.pack("<ee", 1, -3) + codes, np.uint8)
    values = decode(raw, BY_NAME["Q4_1"], (32,))
    assert values[[0, 1, 15, 16, 31]].tolist() == [-3, -2, 12, -2, -3]


def test_q5_0_block_worked_by_hand() -> None:
    """d = 0.5, the fifth bit of the odd values set, nibbles 1 (low) and 2 (high): codes 1, 17 and 2, 18, less 16."""
    raw = np.frombuffer(struct.pack("<eI", 0.5, 0xAAAAAAAA) + b"\x21" * 16, np.uint8)
    values = decode(raw, BY_NAME["Q5_0"], (32,))
    assert values[[0, 1, 15, 16, 17, 31]].tolist() == [-7.5, 0.5, 0.5, -7.0, 1.0, 1.0]


def test_row_major_shape_and_read_only() -> None:
    kind = BY_NAME["Q8_0"]
    raw = random_blocks(kind, 15)
    values = decode(raw.reshape(-1), kind, (5, 96))
    assert np.array_equal(values, golden(raw.reshape(5, -1), kind))
    assert not values.flags.writeable


# Plain types


@pytest.mark.parametrize("name", ["F32", "F16", "F64"])
def test_floats_become_float32(name: str) -> None:
    source = np.array([[1.5, -2.25, 3e-3], [0.1, 7, -0.0]]).astype(blocks.PLAIN[name])
    found = decode(source.view(np.uint8).reshape(-1), SAFETENSORS_TYPES[name], (2, 3))
    assert found.dtype == np.float32
    assert np.array_equal(bits(found), bits(source.astype(np.float32)))


@pytest.mark.parametrize("name", ["I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"])
def test_integers_stay_what_they_are(name: str) -> None:
    source = np.array([0, 1, 113], blocks.PLAIN[name])
    found = decode(source.view(np.uint8), SAFETENSORS_TYPES[name], (3,))
    assert found.dtype == source.dtype
    assert found.tolist() == [0, 1, 113]


def test_truth_values() -> None:
    found = decode(np.array([0, 1, 2], np.uint8), SAFETENSORS_TYPES["BOOL"], (3,))
    assert found.tolist() == [False, True, True]


def test_float32_is_a_view_where_aligned_and_a_copy_elsewhere() -> None:
    memory = np.zeros(20, np.uint8)
    aligned = memory[(-memory.ctypes.data) % 4 :][:8]
    assert np.shares_memory(decode(aligned, BY_NAME["F32"], (2,)), memory)
    shifted = memory[(1 - memory.ctypes.data) % 4 :][:8]
    copied = decode(shifted, BY_NAME["F32"], (2,))
    assert copied.flags.aligned
    assert not np.shares_memory(copied, memory)


def test_float64_is_kept_on_request() -> None:
    source = np.array([0.1, 1e300])
    assert stored(source.view(np.uint8), SAFETENSORS_TYPES["F64"], (2,)).tolist() == [0.1, 1e300]
    assert decode(source.view(np.uint8), SAFETENSORS_TYPES["F64"], (2,)).tolist() == [np.float32(0.1), np.inf]


def test_stored_refuses_what_numpy_lacks() -> None:
    with pytest.raises(UnsupportedError, match="BF16"):
        stored(np.zeros(4, np.uint8), SAFETENSORS_TYPES["BF16"], (2,))


def test_an_old_gguf_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(gguf.quants, "dequantize", refuse)
    kind = BY_NAME["NVFP4"]
    with pytest.raises(UnsupportedError, match="NVFP4 is not decoded by the installed gguf"):
        decode(np.zeros(kind.size, np.uint8), kind, (kind.values,))
