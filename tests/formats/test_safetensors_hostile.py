"""Small safetensors that promise much, or lie: refused at once, and the message names the field."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from whybox.errors import FormatError, UnsupportedError, WhyboxError
from whybox.formats import open_weights
from whybox.formats.safetensors import INDEX, open_safetensors

from .limits import cost_of_refusal
from .raw_files import entry, safetensors, written

Promptly = Callable[[], AbstractContextManager[None]]

EIGHT = entry("F32", [2], 0, 8)
DEEP = b'{"a":' + b"[" * 100_000

PROMISES = {
    "empty": (b"", "an empty file"),
    "nine bytes": (bytes(9), "file size: expected at least 10 bytes, found 9"),
    "length of 2^63 − 1": (safetensors(b"{}", length=2**63 - 1), "header length: expected at most 2, found 9,223,372"),
    "length of 2^64 − 1": (safetensors(b"{}", length=2**64 - 1), "header length"),
    "length one too many": (safetensors(b"{}", length=3), "header length: expected at most 2, found 3"),
    "html": (b"<!DOCTYPE html><html></html>", "header length.*an HTML or XML page"),
    "zip": (b"PK\x03\x04" + bytes(16), "header length.*a zip archive"),
    "no json": (safetensors(b"{]"), "header: expected JSON"),
    "length 0": (safetensors(b"{}", length=0), "header: expected JSON"),
    "no utf-8": (safetensors(b'{"\xff": 1}'), "header: expected JSON text in UTF-8"),
    "a list": (safetensors(b"[1, 2]"), "header: expected a JSON object, found list"),
    "deep": (safetensors(DEEP), "header: expected JSON of a sane depth"),
    "long number": (safetensors(b'{"a": ' + b"9" * 5000 + b"}"), "header: expected JSON"),
    "key twice": (safetensors(b'{"a": 1, "a": 2}'), "header: expected the key 'a' once"),
    "field twice": (safetensors(b'{"a": {"dtype": "F32", "dtype": "F16"}}'), "header: expected the key 'dtype' once"),
    "entry is a list": (safetensors({"a": []}), "tensor 'a'.*found list"),
    "no shape": (safetensors({"a": {"dtype": "F32", "data_offsets": [0, 4]}}), "tensor 'a'"),
    "field more": (safetensors({"a": EIGHT | {"strides": [1]}}, bytes(8)), "tensor 'a'"),
    "unknown dtype": (safetensors({"a": entry("F33", [2], 0, 8)}, bytes(8)), "dtype of 'a'"),
    "dtype is a list": (safetensors({"a": EIGHT | {"dtype": ["F32"]}}, bytes(8)), "dtype of 'a'"),
    "shape is text": (safetensors({"a": EIGHT | {"shape": "2"}}, bytes(8)), "shape of 'a'"),
    "negative": (safetensors({"a": entry("F32", [-2], 0, 8)}, bytes(8)), "shape of 'a'"),
    "fraction": (safetensors({"a": EIGHT | {"shape": [2.0]}}, bytes(8)), "shape of 'a'"),
    "true": (safetensors({"a": EIGHT | {"shape": [True, 2]}}, bytes(8)), "shape of 'a'"),
    "2^64": (safetensors({"a": entry("F32", [2**64, 2], 0, 8)}, bytes(8)), "shape of 'a'"),
    "2^32 × 2^32": (safetensors({"a": entry("F32", [2**32, 2**32], 0, 8)}, bytes(8)), "data_offsets of 'a'.*42949"),
    "product wraps": (safetensors({"a": entry("U8", [2**62, 4, 2], 0, 0)}), "data_offsets of 'a'"),
    "1,000 axes": (safetensors({"a": entry("F32", [2] * 1000, 0, 8)}, bytes(8)), "shape of 'a'"),
    "backwards": (safetensors({"a": entry("F32", [2], 8, 0)}, bytes(8)), "data_offsets of 'a'"),
    "three offsets": (safetensors({"a": EIGHT | {"data_offsets": [0, 4, 8]}}, bytes(8)), "data_offsets of 'a'"),
    "one offset": (safetensors({"a": EIGHT | {"data_offsets": [8]}}, bytes(8)), "data_offsets of 'a'"),
    "span too long": (safetensors({"a": entry("F32", [2], 0, 12)}, bytes(12)), "data_offsets of 'a'"),
    "truncated": (safetensors({"a": EIGHT, "b": entry("I8", [5], 8, 13)}, bytes(11)), "1 tensor .*'b', 2 bytes short"),
    "overlap": (safetensors({"a": EIGHT, "b": entry("F32", [2], 4, 12)}, bytes(12)), "offset of tensor 'b'"),
    "hole": (safetensors({"a": EIGHT, "b": entry("I8", [1], 9, 10)}, bytes(10)), "data: .*1 bytes that belong"),
    "hidden at the end": (safetensors({"a": EIGHT}, bytes(10)), "data: .*2 bytes that belong"),
    "hidden at the start": (safetensors({"a": entry("I8", [1], 3, 4)}, bytes(4)), "data: .*3 bytes that belong"),
    "long name": (safetensors({"a" * 1025: EIGHT}, bytes(8)), "tensor name"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROMISES)
def test_promises_are_refused(tmp_path: Path, case: str, promptly: Promptly) -> None:
    content, message = PROMISES[case]
    path = written(tmp_path / "x.safetensors", content)
    for opener in (open_safetensors, open_weights):
        with promptly(), pytest.raises(FormatError, match=message) as caught:
            opener(path)
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("case", ["length of 2^63 − 1", "2^32 × 2^32", "deep"])
def test_refusals_are_quick_and_small(tmp_path: Path, case: str) -> None:
    seconds, mebibytes, error = cost_of_refusal(written(tmp_path / "x.safetensors", PROMISES[case][0]))
    assert seconds < 1
    assert mebibytes < 50
    assert error == "FormatError"


def test_a_dtype_without_decoder_is_refused_by_name(tmp_path: Path) -> None:
    content = safetensors({"a": EIGHT, "b": entry("F8_E4M3", [4], 8, 12)}, bytes(12))
    with pytest.raises(UnsupportedError, match="F8_E4M3 is not implemented; first used by 'b'"):
        open_safetensors(written(tmp_path / "x.safetensors", content))


@pytest.mark.parametrize("name", ["config.json", INDEX])
@pytest.mark.parametrize("content", [DEEP, b"{", b"[]", b'{"a": 1, "a": 1}', b"\xff", b""])
def test_json_beside_the_weights(tmp_path: Path, name: str, content: bytes) -> None:
    shard = "model-00001-of-00001.safetensors"
    written(tmp_path / shard, safetensors({"a": EIGHT}, bytes(8)))
    written(tmp_path / INDEX, b'{"weight_map": {"a": "model-00001-of-00001.safetensors"}}')
    assert list(open_safetensors(tmp_path).tensors) == ["a"]
    written(tmp_path / name, content)
    with pytest.raises(FormatError, match=name):
        open_safetensors(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("damage")
    save_file(
        {"a": torch.ones(3, 5), "b": torch.arange(7), "c": torch.ones(2).bfloat16()}, folder / "whole.safetensors"
    )
    return folder / "damaged" / "x.safetensors", (folder / "whole.safetensors").read_bytes()


def opened_or_refused(path: Path, content: bytes) -> bool:
    """Whether it opens, with every tensor inside the file and readable; any error of another kind goes up."""
    path.parent.mkdir(exist_ok=True)
    try:
        model = open_safetensors(written(path, content))
        for name, tensor in model.tensors.items():
            with np.errstate(all="ignore"):
                assert model.read(name).shape == tensor.shape
            assert 0 < tensor.offset <= tensor.end <= path.stat().st_size
    except WhyboxError:
        return False
    return True


def test_every_shorter_file_is_refused(whole: tuple[Path, bytes]) -> None:
    path, content = whole
    assert opened_or_refused(path, content)
    for size in range(len(content)):
        assert not opened_or_refused(path, content[:size]), size


@settings(max_examples=300, deadline=5000)
@given(st.lists(st.tuples(st.integers(0, 2**12), st.integers(0, 255)), min_size=1, max_size=6))
def test_flipped_bytes_open_or_are_refused(whole: tuple[Path, bytes], damage: list[tuple[int, int]]) -> None:
    """A file whose header is unharmed opens, whatever its numbers have become."""
    path, content = whole
    data = 8 + int.from_bytes(content[:8], "little")
    damaged = bytearray(content)
    for at, value in damage:
        damaged[at % len(damaged)] = value
    opened = opened_or_refused(path, bytes(damaged))
    assert opened or damaged[:data] != content[:data]
