"""Out of memory is predicted before it happens: never lower than what a process grows by, nor far above."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.needs import WORKS
from tests.models import model_path

ROOT = Path(__file__).parents[2]
NAMES = [name for name, _, _ in WORKS]


@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("work", "precision"),
    [("run, 500 tokens, see resid_post, mlp_hidden", "fp32"), ("16 streams of 300 + 32 tokens", "bf16")],
)
def test_a_process_grows_as_predicted(work: str, precision: str) -> None:
    asked = [str(model_path("smollm2")), "--one", str(NAMES.index(work)), "--precision", precision]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "bench.needs", *asked]
    ended = subprocess.run(command, capture_output=True, check=True, env=environment)
    grew, predicted = json.loads(ended.stdout)
    assert grew <= predicted <= 1.6 * grew, f"grew by {grew:,} bytes, predicted {predicted:,}"
