"""A small valid GGUF file by the format's own writer, and the limits that every refusal must keep."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gguf
import numpy as np
import pytest


@contextmanager
def _promptly() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < 1


@pytest.fixture
def promptly() -> object:
    """A context that fails when its body takes a second or more."""
    return _promptly


def write_small(path: Path, alignment: int | None = None, **options: int) -> dict[str, np.ndarray]:
    """Three tensors (F32, F16, Q8_0) and one metadata pair of each kind; returns the float32 values."""
    rng = np.random.default_rng(5)
    values = {
        "norm.weight": rng.standard_normal(7).astype(np.float32),
        "half.weight": rng.standard_normal((3, 5)).astype(np.float16),
        "block.weight": gguf.quants.quantize(
            rng.standard_normal((3, 64)).astype(np.float32), gguf.GGMLQuantizationType.Q8_0
        ),
    }
    writer = gguf.GGUFWriter(path, "llama", **options)
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    _add_metadata(writer)
    for name, value in values.items():
        quantised = gguf.GGMLQuantizationType.Q8_0 if value.dtype == np.uint8 else None
        writer.add_tensor(name, value, raw_dtype=quantised)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    values["block.weight"] = gguf.quants.dequantize(values["block.weight"], gguf.GGMLQuantizationType.Q8_0)
    return {name: value.astype(np.float32) for name, value in values.items()}


def _add_metadata(writer: gguf.GGUFWriter) -> None:
    writer.add_uint8("n.u8", 200)
    writer.add_int8("n.i8", -100)
    writer.add_uint16("n.u16", 60_000)
    writer.add_int16("n.i16", -30_000)
    writer.add_uint32("n.u32", 4_000_000_000)
    writer.add_int32("n.i32", -2_000_000_000)
    writer.add_uint64("n.u64", 2**63)
    writer.add_int64("n.i64", -(2**62))
    writer.add_float32("n.f32", 0.5)
    writer.add_float64("n.f64", 0.1)
    writer.add_bool("n.yes", True)
    writer.add_string("n.text", "größer 天氣 😊")
    writer.add_array("n.strings", ["", "a", "Ġthe", "天"])
    writer.add_array("n.ints", [3, -5, 7])
    writer.add_array("n.floats", [0.5, -1.25])
    writer.add_array("n.truths", [True, False, True])


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, dict[str, np.ndarray]]:
    """The path and the values of a small file."""
    path = tmp_path / "small.gguf"
    return path, write_small(path)
