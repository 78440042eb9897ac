"""Small files that promise much, or lie: each is refused at once, and the message names the field."""

import struct
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whybox.errors import FormatError, WhyboxError
from whybox.formats import open_weights
from whybox.formats.gguf import open_gguf

from .conftest import write_small
from .limits import cost_of_refusal
from .raw_files import ARRAY, BOOL, F32, TEXT, U8, U32, U64, array, gguf, header, scalar, text, written

Promptly = Callable[[], AbstractContextManager[None]]


def deep(levels: int) -> bytes:
    """An array in an array in an array …"""
    return array(ARRAY, 1) * levels + array(U8, 0)


def one(name: str = "w", dims: tuple[int, ...] = (32,), code: int = 0, offset: int = 0, pairs: tuple = ()) -> bytes:
    """A file with one tensor and 128 bytes of data."""
    return gguf(header(pairs, [(name, dims, code, offset)]), bytes(128))


def two(second: int, size: int = 256) -> bytes:
    return gguf(header(tensors=[("a", (32,), 0, 0), ("b", (32,), 0, second)]), bytes(size))


PROMISES = {
    "array of 2^63": (header([("k", ARRAY, array(U8, 2**63))]), r"length of k: .* found 9223372036854775808"),
    "strings 2^63": (header([("k", ARRAY, array(TEXT, 2**63))]), "length of k"),
    "numbers that wrap": (header([("k", ARRAY, array(U64, 2**61))]), "length of k"),
    "one number too many": (header([("k", ARRAY, array(U32, 3, bytes(11)))]), "length of k"),
    "string of 2^63": (header([("k", TEXT, struct.pack("<Q", 2**63))]), "length of k"),
    "string in an array": (header([("k", ARRAY, array(TEXT, 2, text("a") + struct.pack("<Q", 2**64 - 1)))]), r"k\[1\]"),
    "string array cut": (header([("k", ARRAY, array(TEXT, 2, text("abcdefgh")))]), r"length of k\[1\]"),
    "key of 2^62": (header(promised_pairs=1) + struct.pack("<QQ", 2**62, 0), "length of metadata key 0"),
    "arrays 10,000 deep": (header([("k", ARRAY, deep(10_000))]), "nested at most 4"),
    "arrays 5 deep": (header([("k", ARRAY, deep(4))]), "nested at most 4"),
    "2^40 arrays": (header([("k", ARRAY, array(ARRAY, 2**40))]), "length of k"),
    "pairs": (header(promised_pairs=2**63), "metadata count"),
    "tensors": (header(promised_tensors=2**63), "tensor count"),
    "pairs that are not there": (header(promised_pairs=1) + bytes(8), "metadata count"),
    "key twice": (header([scalar("k", U8, 1), scalar("k", U8, 2)]), "metadata key 'k'"),
    "unknown metadata type": (header([("k", 13, bytes(8))]), "type of k"),
    "unknown element type": (header([("k", ARRAY, array(77, 1, bytes(8)))]), "type of k"),
    "truth 2": (header([("k", BOOL, b"\x02")]), "k: expected a truth value"),
    "truth 2 in an array": (header([("k", ARRAY, array(BOOL, 2, b"\x01\x02"))]), "k: expected a truth value"),
    "text that is no UTF-8": (header([("k", TEXT, text(b"\xff\xfe"))]), "k: expected UTF-8"),
    "array text that is no UTF-8": (
        header([("k", ARRAY, array(TEXT, 2, text("a") + text(b"\xe5\xa4")))]),
        r"k\[1\]: expected UTF-8 text, found byte 0xe5 at 0",
    ),
    "alignment 3": (one(pairs=(scalar("general.alignment", U32, 3),)), r"general\.alignment: expected a power of two"),
    "alignment 0": (one(pairs=(scalar("general.alignment", U32, 0),)), r"general\.alignment"),
    "alignment 2^30": (one(pairs=(scalar("general.alignment", U32, 2**30),)), r"general\.alignment"),
    "alignment as text": (one(pairs=(("general.alignment", TEXT, text("32")),)), r"general\.alignment"),
    "alignment as fraction": (one(pairs=(scalar("general.alignment", F32, 32),)), r"general\.alignment"),
    "2^32 × 2^32": (one(dims=(2**32, 2**32)), "dimensions of tensor 'w'.*4294967296 × 4294967296"),
    "product wraps to 16": (one(dims=(2**62 + 4, 4)), "dimensions of tensor 'w'"),
    "2^40 values": (one(dims=(2**40,)), "file size: expected 4,398,046,511,1.. bytes"),
    "no width": (one(dims=(0, 32)), "dimensions of tensor 'w'"),
    "5 dimensions": (one(dims=(2,) * 5), "dimension count of tensor 'w'"),
    "2^32 − 1 dimensions": (header(promised_tensors=1) + text("w") + b"\xff" * 4 + bytes(40), "dimension count"),
    "long name": (one(name="w" * 257), "length of name of tensor 0"),
    "row of 33": (one(dims=(33,), code=3), "row length of tensor 'w': .* 32, the block of Q4_1, found 33"),
    "row of 640": (one(dims=(640, 2), code=12), "row length of tensor 'w': expected a multiple of 256"),
    "offset 8": (one(offset=8), "offset of tensor 'w': expected a multiple of the alignment 32, found 8"),
    "offset 2^63": (one(offset=2**63), "truncated"),
    "offset wraps": (one(offset=2**64 - 32), "truncated"),
    "overlap": (two(64), "offset of tensor 'b'"),
    "the same bytes": (two(0), "offset of tensor 'b'"),
    "name twice": (gguf(header(tensors=[("a", (8,), 0, 0), ("a", (8,), 0, 32)]), bytes(64)), "tensor 'a'"),
    "cut by one byte": (two(128)[:-1], "truncated, 1 tensor ends past the file, the first is 'b', 1 bytes short"),
    "parts without end": (header([scalar("split.count", U32, 2**32 - 1)]), "file name"),
    "count of parts as text": (header([("split.count", TEXT, text("2"))]), r"split\.count"),
    "magic alone": (b"GGUF", "version"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROMISES)
def test_promises_are_refused(tmp_path: Path, case: str, promptly: Promptly) -> None:
    content, message = PROMISES[case]
    path = written(tmp_path / "x.gguf", content)
    with promptly(), pytest.raises(FormatError, match=message) as caught:
        open_gguf(path)
    assert caught.value.field
    assert caught.value.expected
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("case", ["array of 2^63", "arrays 10,000 deep", "2^32 × 2^32", "alignment 2^30", "tensors"])
def test_refusals_are_quick_and_small(tmp_path: Path, case: str) -> None:
    path = written(tmp_path / "x.gguf", PROMISES[case][0])
    seconds, mebibytes, error = cost_of_refusal(path)
    assert seconds < 1
    assert mebibytes < 50
    assert error == "FormatError"


OTHER_FILES = {
    "html": (b"<!DOCTYPE html><html><body>404</body></html>", "an HTML or XML page"),
    "html with space": (b"\n  <html></html>", "an HTML or XML page"),
    "zip": (b"PK\x03\x04" + bytes(100), "a zip archive"),
    "pickle": (b"\x80\x02}q\x00.", "a Python pickle"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "a Git LFS pointer"),
    "reversed": (b"FUGG" + bytes(20), "a GGUF file with its magic reversed"),
    "older": (b"tjgg" + bytes(20), "a GGML file older than GGUF"),
    "noise": (b"\x01\x02\x03\x04\x05\x06\x07\x09\x09", "bytes 01 02 03 04 05 06 07 09"),
    "three bytes": (b"GGU", "bytes 47 47 55"),
}


@pytest.mark.parametrize("case", OTHER_FILES)
def test_other_files_are_called_what_they_are(tmp_path: Path, case: str) -> None:
    content, name = OTHER_FILES[case]
    path = written(tmp_path / "x.gguf", content)
    for opener in (open_gguf, open_weights):
        with pytest.raises(FormatError, match="expected .*GGUF.*, found " + name):
            opener(path)


def test_empty_file(tmp_path: Path) -> None:
    path = written(tmp_path / "x.gguf", b"")
    for opener in (open_gguf, open_weights):
        with pytest.raises(FormatError, match="an empty file"):
            opener(path)


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected a regular file, found a folder"):
        open_gguf(tmp_path)


# Any damage at all


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("damage")
    write_small(folder / "small.gguf")
    return folder / "damaged.gguf", (folder / "small.gguf").read_bytes()


def opened_or_refused(path: Path) -> bool:
    """Whether it opens, with every tensor inside the file and readable; any error of another kind goes up."""
    try:
        model = open_gguf(path)
        for name, tensor in model.tensors.items():
            with np.errstate(all="ignore"):
                assert model.read(name).shape == tensor.shape
            assert 0 < tensor.offset <= tensor.end <= path.stat().st_size
    except WhyboxError:
        return False
    return True


def test_every_shorter_file_is_refused(whole: tuple[Path, bytes]) -> None:
    path, content = whole
    assert opened_or_refused(written(path, content))
    end = max(tensor.end for tensor in open_gguf(path).tensors.values())
    for size in range(0, end, 7):
        assert not opened_or_refused(written(path, content[:size])), size


damage = st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255)), min_size=1, max_size=6)


@settings(max_examples=400, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damage)
def test_flipped_bytes_open_or_are_refused(whole: tuple[Path, bytes], damage: list[tuple[int, int]]) -> None:
    path, content = whole
    damaged = bytearray(content)
    for at, value in damage:
        damaged[at % len(damaged)] = value
    opened_or_refused(written(path, bytes(damaged)))


@settings(max_examples=200, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**16), st.integers(0, 64), st.binary(max_size=16))
def test_bytes_cut_out_or_put_in(whole: tuple[Path, bytes], at: int, gone: int, put: bytes) -> None:
    path, content = whole
    start = at % len(content)
    opened_or_refused(written(path, content[:start] + put + content[start + gone :]))
