"""A sample of the mutation benchmark: some of every source of faults here, all of it in `python -m bench.mutations`."""

import json
import os
import subprocess
import sys

import pytest

from bench.mutations import store, table
from bench.mutations.__main__ import broken
from bench.mutations.row import Judged
from bench.table import ROOT

KEPT = store.read()
SAMPLE = (
    ("llama · RoPE base 27000 · every site", "right"),
    ("qwen2 · query, key and value without bias · every site", "right"),
    ("gpt-neox · RoPE on 4 dimensions of a head · every site", "right"),
    ("gemma2 · windows +1 · every site", "right"),
    ("llama · repeat_kv tiles · ", "right"),
    ("gpt2 · scale_attn_weights False · ", "right"),
    ("llama · position_ids + 1 behind the cache · ", "right"),
    ("gemma2 · rows 16:48 of layers.2.up are noise · both files", "right"),
    ("gemma2 · rows 16:48 of layers.2.up are noise · every site", "not-determined"),
    ("mixtral · none: torch,int8 · ", "right"),
    ("opt · none: transformers · ", "right"),
)


@pytest.fixture(scope="module")
def judged() -> dict[str, str]:
    """From a process of its own: shape checks would make each row ten times as long."""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.bench.some_mutations", *(key for key, _ in SAMPLE)]
    done = subprocess.run(command, cwd=ROOT, env=paths, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(("key", "state"), SAMPLE)
def test_a_row_is_judged_as_it_was_when_the_table_was_written(judged: dict[str, str], key: str, state: str) -> None:
    (found,) = (name for name in judged if name.startswith(key))
    assert judged[found] == state
    assert KEPT[found].state == state


def test_the_bounds_of_the_whole_benchmark_hold() -> None:
    assert list(broken(list(KEPT.values()))) == []
    told = [row for row in KEPT.values() if row.state != "no effect"]
    assert len({row.what for row in told if row.kind == "single"}) >= 30
    assert sum(row.kind == "self" for row in told) >= 100
    assert sum(row.silent for row in told) >= 7


def test_the_page_shows_what_was_found() -> None:
    text = table.PAGE.read_text("utf-8")
    assert f"{table.BEGIN}\n\n{table.markdown(list(KEPT.values()))}\n{table.END}" in text


def test_every_bound_can_break() -> None:
    some = next(row for row in KEPT.values() if row.kind == "single" and row.state == "right")
    bad = Judged(**{**some.__dict__, "state": "wrong", "silent": True})
    said = " ".join(broken([bad]))
    assert "wrong: " in said
    assert "0 of 1 single faults named" in said
    assert "leaves the text unchanged" in said
