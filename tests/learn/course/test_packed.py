"""Arrays as bytes: what goes in comes out, and what is no such bytes is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.learn.course.cell.packed import pack, unpack


def test_what_goes_in_comes_out_where_it_lies() -> None:
    rng = np.random.default_rng(0)
    arrays = {
        "a": rng.normal(size=(5, 7)), "ids": np.arange(11), "mask": rng.random((3, 0)) < 1, "one": np.array(2.5),
        "f": rng.normal(size=(7, 3)).astype(np.float32).T, "text": np.array(["字", "b"]), "c": np.array([1j]),
    }  # fmt: skip
    data = b"".join(pack(arrays))
    back = unpack(data)
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(back[name], array)
        assert back[name].ctypes.data % array.dtype.itemsize == 0


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="x: expected an array of numbers"):
        b"".join(pack({"x": np.array([object()])}))


def _told(entries: object, data: bytes = b"") -> bytes:
    header = json.dumps(entries).encode()
    return len(header).to_bytes(8, "little") + header + data


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff" * 8, b"\xff" * 99, _told({}), _told([["x", "O", [1]]]), _told([["x", "<f8", [1 << 60]]]),
        _told([["x", "<f8", [-1]]]), _told([["x", "<f8", [2]]], b"0" * 8), _told([["x", "<f8", [1]]], b"0" * 99),
        _told([["x", "<U0", [9]]]), _told([["x", "i4,i4", [1]]], b"0" * 64), _told(["x"]), _told([["x", "?", ["1"]]]),
        b"\x04\0\0\0\0\0\0\0" + b"[" * 4,
    ],
)  # fmt: skip
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpack(data)


VALID = b"".join(pack({"a": np.arange(7.0), "b": np.array([[True, False, True]])}))
DAMAGED = st.builds(lambda at, put: VALID[:at] + put + VALID[at + len(put) :], st.integers(0, len(VALID)), st.binary())


@given(st.binary(max_size=200) | DAMAGED)
def test_any_bytes_end_in_arrays_or_one_error(data: bytes) -> None:
    """Never in another error, and never in more than came."""
    try:
        arrays = unpack(data)
    except ValueError:
        arrays = {}
    assert sum(array.nbytes for array in arrays.values()) <= len(data)
