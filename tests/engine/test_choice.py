"""Which engine a name stands for, where torch is hidden; and what a variant does not take."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measure.looked_at import model_of
from whybox.engine.wishes import truth
from whybox.errors import UsageError

HIDDEN = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    find_distributions = PathFinder.find_distributions
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] != "torch":
            return PathFinder.find_spec(name, path, target)
        if sys.argv[1] == "raises":
            raise ModuleNotFoundError(name)

sys.meta_path[:] = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]
from whybox.engine import choice
from whybox.errors import UsageError
print(choice.resolve("auto"))
try:
    choice.resolve("torch")
except UsageError as error:
    print(error.cause)
print("torch" in sys.modules)
"""


@pytest.mark.parametrize("how", ["finds nothing", "raises"])
def test_without_torch_auto_is_numpy(how: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    ended = subprocess.run(
        [sys.executable, "-c", HIDDEN, how], capture_output=True, text=True, check=False, env=environment
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines() == ["numpy", "engine 'torch' needs torch, which is not installed", "False"]


@pytest.mark.parametrize("given", ["no", 0, 1.0, None])
def test_a_cache_is_on_or_off(given: object) -> None:
    with pytest.raises(UsageError, match="cache: expected True or False, found"):
        truth("cache", given)
    assert not truth("cache", False)
    assert not model_of().variant(cache=False).cached
