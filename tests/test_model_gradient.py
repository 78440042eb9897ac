"""Gradients on the real model: a map that points where interventions have their effect."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import whybox
from tests.models import model_path
from tests.real import real
from whybox.engine.memory import spoken
from whybox.engine.read import log_prob_of, logit_difference
from whybox.errors import UsageError

pytestmark = pytest.mark.model
TEXT = "The capital of France is"


def test_a_small_step_along_the_gradient_moves_the_read_as_it_says() -> None:
    model = real("smollm2", "torch")
    paris, london = (model.tokenizer.encode(word)[0] for word in (" Paris", " London"))
    read = logit_difference(paris, london)
    trace = model.run(TEXT)
    found = model.gradient(trace, read, [("resid_post", 10), ("head_out", (20, 29))])
    assert found.value == pytest.approx(float(read(trace)), abs=1e-3)
    for (name, layer), grad in found.items():
        step = 0.05 * grad / np.square(grad).sum() ** 0.5
        up, down = (model.run(TEXT, edits=[whybox.add(name, sign * step, layer)]) for sign in (1, -1))
        expected = float(read(up) - read(down)) / 2
        assert float((grad * step).sum()) == pytest.approx(expected, rel=0.05), (name, layer)
        assert expected > 1e-3


def test_the_answer_of_several_tokens() -> None:
    model = real("smollm2", "torch")
    ids, start = model.join(model.prompt(TEXT), " Paris, France")
    trace = model.run(ids)
    found = model.gradient(trace, log_prob_of(ids[start:]), ["embed"])
    assert found.value == pytest.approx(model.score(TEXT, " Paris, France").log_prob, abs=1e-3)
    assert np.abs(found["embed"][start:-1]).max() > 0
    assert not found["embed"][-1].any()  # nobody reads behind the last id


@pytest.mark.parametrize("precision", ["bf16", "int8", "int4"])
def test_lower_precision_points_the_same_way(precision: str) -> None:
    model = real("smollm2", "torch")
    trace, read = model.run(TEXT), log_prob_of((model.tokenizer.encode(" Paris")[0],), start=5)
    exact = model.gradient(trace, read, [("resid_post", 15)])["resid_post", 15]
    other = model.variant(precision=precision)
    rounded = other.gradient(other.run(TEXT), read, [("resid_post", 15)])["resid_post", 15]
    cosine = (exact * rounded).sum() / np.sqrt(np.square(exact).sum() * np.square(rounded).sum())
    assert 0.9 < cosine < 0.99999


def test_what_gives_no_gradient_says_what_does() -> None:
    model = real("smollm2")
    with pytest.raises(UsageError, match="numpy engine computes no gradients"):
        model.gradient(model.run(TEXT), logit_difference(1, 2), ["embed"])


GROWTH = """
import json, sys
from whybox.engine import machine, memory, needs
from whybox.engine.read import logit_difference
from whybox.model import open_model
path, precision, tokens, sites, tail = json.loads(sys.argv[1])
model = open_model(path, "torch", precision)
read, ids = logit_difference(3, 8), [7 * i % 40_000 for i in range(tokens)]
model.run(ids[:3])
def status(row):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(row))
base = model.run(ids, tail=tail)
machine.give_back()
before = status("VmRSS")  # no gradient has been taken yet: what the first one makes and keeps is part of its need
open("/proc/self/clear_refs", "w").write("5")
model.gradient(base, read, sites)
run = memory.Run(tokens, see=tuple(sites), tail=tail)
wanted = model.engine.need_of(run, needs.need_of_gradient)
print(json.dumps([status("VmHWM") - before, wanted.total]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("precision", "tokens", "sites", "tail"),
    [
        ("fp32", 512, ["resid_post"], 1),
        ("fp32", 512, ["pattern"], 1),
        ("fp32", 512, ["embed"], None),
        ("fp32", 1500, ["embed"], 1),
        ("bf16", 512, ["embed"], 1),
    ],
)
def test_a_gradient_grows_as_predicted(precision: str, tokens: int, sites: list[str], tail: int | None) -> None:
    asked = json.dumps([str(model_path("smollm2")), precision, tokens, sites, tail])
    pages = {"MALLOC_MMAP_THRESHOLD_": "1000000"}  # large arrays on pages of their own: what is freed is given back
    environment = os.environ | pages | {"PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    ended = subprocess.run([sys.executable, "-c", GROWTH, asked], capture_output=True, check=True, env=environment)
    grew, predicted = json.loads(ended.stdout)
    assert 0.9 * grew <= predicted <= 1.6 * grew, f"grew by {spoken(grew)}, predicted {spoken(predicted)}"
