"""What a run will need: numbers worked by hand, published sizes, and the growth of a real process."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.random_models import IDS, engine, spec
from tests.models import model_path
from tests.real import real
from whybox.engine import machine
from whybox.engine.memory import (
    Run,
    cache_bytes_per_token,
    held,
    require_room,
    spoken,
    weights_bytes,
)
from whybox.engine.needs import need, site_bytes
from whybox.engine.reference import ReferenceEngine
from whybox.errors import CapacityError, SiteError
from whybox.sites import sites_of
from whybox.spec import Spec

ALL = tuple(site.name for site in sites_of(spec()))


def llama_2_70b() -> Spec:
    """80 layers, 64 heads on 8 kv heads of width 128."""
    small = spec(layers=80, heads=64, kv_heads=8, head_width=128)
    return replace(small, width=8192, vocab=32000)


# The model alone


@pytest.mark.model
def test_weights_and_cache_of_smollm2() -> None:
    of = real("smollm2").spec
    assert cache_bytes_per_token(of) == 23_040
    assert cache_bytes_per_token(of, 4) == 46_080
    assert weights_bytes(of, 32) == 538_060_032


def test_weights_in_any_number_of_bits() -> None:
    of = spec()
    total = sum(array.size for array in engine(of).weights.values())
    assert weights_bytes(of, 32) == 4 * total
    assert weights_bytes(of, 4.5) == -(-total * 9 // 16)


# A run


def test_kept_sites_are_as_large_as_they_are() -> None:
    of = spec(window=5)
    trace = engine(of).run(IDS, see=ALL, tail=3)
    run = Run(len(IDS), tail=3, see=ALL, bytes_each=8)
    for key, value in trace.sites.items():
        assert site_bytes(of, key, run) == value.nbytes, key
    assert site_bytes(of, ("pattern", 1), replace(run, batch=5)) == 5 * trace["pattern", 1].nbytes


def test_a_windowed_cache_bounds_the_keys() -> None:
    of = spec(window=5)
    first = engine(of).run(IDS)
    trace = engine(of).run((1, 2, 3), see=["pattern"], cache=first.cache)
    assert site_bytes(of, ("pattern", 2), Run(3, past=12, bytes_each=8)) == trace["pattern", 2].nbytes == 6 * 3 * 8 * 8
    found = {item.name: item.nbytes for item in need(of, Run(3, past=12)).items}
    assert found["keys and values"] == 3 * 5 * 2 * 2 * 4 * 4


def test_worked_by_hand() -> None:
    """3 layers; 12 tokens, 2 rows of logits, float32, two arrays of scores."""
    wanted = need(spec(), Run(12, tail=2, scores=2, see=(("pattern", (0, 2)), "resid_pre")))
    assert {item.name: item.nbytes for item in wanted.items} == {
        "keys and values": 3 * 12 * 2 * 2 * 4 * 4,
        "kept embed": 12 * 13 * 4,
        "kept pattern": 2 * 6 * 12 * 12 * 4,
        "kept resid_post": 2 * 12 * 13 * 4,
        "residual stream": 12 * (4 + 2) * 13 * 4,
        "query, key, value": 12 * ((6 + 2) * (1 + 4) + 2) * 4 * 4,
        "scores of one layer": 12 * 12 * (2 * 6 * 4 + 1),
    }
    assert wanted.total == sum(item.nbytes for item in wanted.items)
    assert wanted.largest.name == "query, key, value"
    assert "kept pattern: b · h · q · k · bytes = 2 × (1 · 6 · 12 · 12 · 4) = 6,912 bytes" in str(wanted).splitlines()
    assert str(wanted).endswith(f"in all: {spoken(wanted.total)}")


def test_smaller_chunks_and_tiled_kernels_need_less() -> None:
    of = llama_2_70b()
    plain = need(of, Run(4096, tail=1, scores=2))
    chunked = need(of, Run(4096, tail=1, scores=2, chunk=256))
    tiled = need(of, Run(4096, tail=1, scores=0))
    assert plain.total > chunked.total > 4096 * cache_bytes_per_token(of, 4)
    assert tiled.total < plain.total - 2 * 64 * 4096 * 4096 * 4
    scores = next(item for item in chunked.items if item.name == "scores of one layer")
    assert scores.nbytes == 256 * 4096 * (2 * 64 * 4 + 1)


def test_statistics_and_weights_are_counted() -> None:
    bare, more = need(spec(), Run(12)), need(spec(), Run(12, statistics=7, weights=1000))
    assert more.total - bare.total == 3 * 6 * 12 * 7 * 4 + 1000


def test_a_misspelt_site_is_an_error_here_too() -> None:
    with pytest.raises(SiteError, match="did you mean 'pattern'"):
        need(spec(), Run(3, see=("patern",)))


@pytest.mark.parametrize(
    ("nbytes", "shown"),
    [
        (23_040, "23,040 bytes"),
        (98_362_432, "98.4 MB"),
        (1_342_177_280, "1.34 GB"),
        (2_000_000_000_000, "2,000 GB"),
    ],
)
def test_sizes_are_spoken(nbytes: int, shown: str) -> None:
    assert spoken(nbytes) == shown


# Refused before it happens


def test_room_is_required_only_where_it_is_known() -> None:
    wanted = held("weights", 1000, "use fewer")
    require_room(wanted, None)
    require_room(wanted, 1000)
    with pytest.raises(
        CapacityError, match="this model needs 1,000 bytes of memory, 999 bytes are available"
    ) as caught:
        require_room(wanted, 999, "this model")
    assert caught.value.remedy == "use fewer"
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("see", "tail", "largest", "way_out"),
    [
        (["pattern"], 1, r"kept pattern: b · h · q · k · bytes = 3 × \(1 · 6 · 400 · 400 · 4\)", "keep fewer sites"),
        ([], 1, r"scores of one layer", "shorten the prompt"),
    ],
)
def test_what_cannot_fit_is_refused_at_once(
    see: list[str], tail: int, largest: str, way_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = engine(spec(), dtype="float32")
    monkeypatch.setattr(machine, "available", lambda: 5_000_000)
    monkeypatch.setattr(ReferenceEngine, "_pass", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(CapacityError, match=largest) as caught:
        tiny.run([1] * 400, see=see, tail=tail)
    assert way_out in caught.value.remedy


def test_nothing_is_refused_when_the_room_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: None)
    assert engine(spec()).run([1] * 64, see=["pattern"])["pattern", 0].shape == (6, 64, 64)


# Against a real process

GROWTH = """
import json, sys
from whybox.engine import memory, needs
from whybox.model import open_model
path, tokens, see, tail = json.loads(sys.argv[1])
model = open_model(path, "numpy")
model.run([1, 2, 3])
def status(row):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(row))
ids = [7 * i % 40_000 for i in range(tokens)]
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
model.run(ids, see=see, tail=tail)
wanted = needs.need(model.spec, memory.Run(tokens, see=tuple(see), tail=tail, scores=2))
print(json.dumps([status("VmHWM") - before, wanted.total]))
"""


@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("tokens", "see", "tail"), [(512, [], None), (512, ["pattern"], 1), (2000, [], 1), (2000, [["pattern", [3, 4]]], 1)]
)
def test_a_real_run_grows_as_predicted(tokens: int, see: list[object], tail: int | None) -> None:
    asked = json.dumps([str(model_path("smollm2")), tokens, see, tail])
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    ended = subprocess.run([sys.executable, "-c", GROWTH, asked], capture_output=True, check=True, env=environment)
    grew, predicted = json.loads(ended.stdout)
    assert 0.9 * grew <= predicted <= 1.4 * grew, f"grew by {spoken(grew)}, predicted {spoken(predicted)}"
