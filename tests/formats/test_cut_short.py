"""A weight file that loses bytes while it is open is refused where it is read, and nothing that is held needs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import LlamaConfig

from tests.oracle import tiny
from whybox.errors import FormatError
from whybox.formats import SafetensorsFile, open_weights

from .conftest import write_small
from .raw_files import entry, safetensors, written

TWO = safetensors({"a": entry("F32", [2], 0, 8), "b": entry("F16", [3], 8, 14)}, bytes(range(14)))


@pytest.mark.parametrize("replaced", [False, True], ids=["cut", "replaced in place"])
@pytest.mark.parametrize("form", ["gguf", "safetensors"])
def test_what_is_gone_is_not_read(form: str, replaced: bool, tmp_path: Path) -> None:
    path = tmp_path / f"model.{form}"
    write_small(path) if form == "gguf" else written(path, TWO)
    file = open_weights(path)
    last = max(file.tensors.values(), key=lambda tensor: tensor.offset)
    first = min(file.tensors.values(), key=lambda tensor: tensor.offset)
    kept = path.read_bytes()[: last.end - 1]
    if replaced:
        path.write_bytes(kept)
    else:
        os.truncate(path, len(kept))
    expected = (
        rf"to read tensor '{last.name}': expected at least {last.end:,} bytes, found {last.end - 1:,}: it was cut"
    )
    with pytest.raises(FormatError, match=expected) as caught:
        file.read(last.name)
    assert caught.value.path == path
    assert "open it again" in caught.value.remedy
    if isinstance(file, SafetensorsFile):
        with pytest.raises(FormatError, match="cut short"):
            file.stored(last.name)
    assert file.read(first.name).shape == first.shape


def test_a_file_replaced_by_a_rename_goes_on(tmp_path: Path) -> None:
    values = write_small(tmp_path / "x.gguf")
    file = open_weights(tmp_path / "x.gguf")
    (tmp_path / "new").write_bytes(b"GGUF")
    (tmp_path / "new").replace(tmp_path / "x.gguf")
    assert (file.read("half.weight") == values["half.weight"]).all()


CUT = """
import os, sys
import numpy as np
from whybox import families, weights
from whybox.engine.reference import ReferenceEngine
from whybox.errors import FormatError
from whybox.formats import open_weights
folder = sys.argv[1]
file = open_weights(folder)
spec, rules = families.describe(file)
held, streamed = weights.load(file, spec, rules), weights.stream(file, spec, rules)
own = streamed["layers.1.down"]
before = ReferenceEngine(spec, held).run([3, 5, 2]).logits
os.truncate(f"{folder}/model.safetensors", 0)
assert np.array_equal(ReferenceEngine(spec, held).run([3, 5, 2]).logits, before)
assert np.array_equal(own, held["layers.1.down"])
assert np.array_equal(streamed["final_norm.gain"], held["final_norm.gain"])
try:
    ReferenceEngine(spec, streamed).run([3, 5, 2])
except FormatError as error:
    print(error.cause)
"""


def test_what_is_held_needs_no_file(tmp_path: Path) -> None:
    """In float32 a tensor is what its bytes are: a view of the map would be the end of the process."""
    sizes = {"vocab_size": 31, "hidden_size": 42, "intermediate_size": 37, "num_hidden_layers": 2}
    tiny(LlamaConfig(**sizes, num_attention_heads=6, head_dim=10)).save_pretrained(tmp_path)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-c", CUT, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert "found 0: it was cut short" in ended.stdout
