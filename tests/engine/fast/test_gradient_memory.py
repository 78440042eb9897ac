"""The memory of a gradient grows by one residual stream a layer, not by a layer's activations."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ACTIVATIONS = 512 * 4 * 4096 * 4 >> 20  # MiB that autograd keeps of one layer's MLP alone: gate, up, act(gate), product
SCRIPT = """
import resource, sys
from dataclasses import replace

import numpy as np
import torch

from tests.engine.random_models import drawn, spec
from whybox.engine.fast import FastEngine, Precision, pack
from whybox.engine.read import logit_difference

torch.set_num_threads(1)
of = spec(layers=int(sys.argv[1]))
of = replace(of, context=512, layers=tuple(replace(layer, mlp=replace(layer.mlp, width=4096)) for layer in of.layers))
engine = FastEngine(pack(of, drawn(of, 0, np.float32), Precision.FP32, torch.device("cpu")))
ids = [int(i) for i in np.random.default_rng(0).integers(0, of.vocab, 512)]
base = engine.run(ids, tail=1)
found = engine.gradient(base, logit_difference(3, 8), ["resid_pre", "mlp_out"])
assert all(np.abs(grad).max() > 0 for grad in found.values())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10))
"""


def peak(layers: int) -> int:
    """MiB of a process of its own."""
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(layers)], cwd=ROOT, env=found, capture_output=True, encoding="utf-8"
    )
    assert ended.returncode == 0, ended.stderr
    return int(ended.stdout)


def test_thirty_layers_need_little_more_than_two() -> None:
    """Of 28 more layers: weights 30 MiB, streams and what was asked for 3 MiB; their activations would be 900 MiB."""
    pytest.importorskip("resource", reason="peak memory is read from getrusage, which Windows lacks")
    few, many = peak(2), peak(30)
    assert many - few < 3 * ACTIVATIONS, f"{few} MiB for 2 layers, {many} MiB for 30"
