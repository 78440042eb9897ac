"""`whybox diff` as it is typed: verdicts, exit codes, recordings, and one message for what cannot be."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.models import model_path
from whybox.compare.recorded import write_recorded
from whybox.compare.sides import Live
from whybox.model import open_model
from whybox.testing import faults

pytestmark = pytest.mark.model

TEXT = "The capital of France is Paris, and the capital of Germany is"


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return warm.whybox("diff", *arguments, "--quiet", env=os.environ | {"LANG": "C.UTF-8"})


@pytest.fixture(scope="module")
def model() -> str:
    return str(model_path("smollm2"))


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("prompts") / "one.txt"
    path.write_text(TEXT + "\n")
    return str(path)


@pytest.fixture(scope="module")
def recording(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with another base of RoPE, as some other program would hand it over."""
    opened = open_model(model, "numpy")
    path = tmp_path_factory.mktemp("recorded") / "theirs.npz"
    seen = Live("theirs", faults.theta(1e4).of(opened)).observe(opened.prompt(TEXT).ids, 64)
    write_recorded(path, [(TEXT, seen)], "fp32", "theirs")
    return path


def test_a_recording_with_another_rope_base_ends_with_one_and_its_name(model: str, recording: Path) -> None:
    ended = run(f"{model}@numpy", str(recording), "--json")
    assert ended.returncode == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert document["verdict"] == "named"
    assert [each["name"] for each in document["named"]] == ["rope-base"]
    assert document["named"][0]["what"] == "RoPE base 10000"
    assert document["undone"]["at_floor"]
    assert (document["first"]["site"], document["first"]["layer"], document["first"]["position"]) == ("query_pos", 0, 1)
    assert document["profile"]["shape"] == "positions"
    assert document["harm"]["same_top"] < 1 or document["harm"]["kl_mean"] > 0


def test_two_engines_differ_by_rounding_and_end_with_nothing(model: str, prompts: str) -> None:
    ended = run(f"{model}@torch", "@numpy", "--prompts", prompts, "--tokens", "4")
    assert ended.returncode == 0, ended.stderr
    assert "Rounding" in ended.stdout


def test_a_report_in_chinese(model: str, recording: Path) -> None:
    told = run(f"{model}@numpy", str(recording), "--lang", "zh").stdout
    assert "已确定原因" in told
    assert "位置类故障" in told


def test_what_is_recorded_here_is_the_same_elsewhere(model: str, prompts: str, tmp_path: Path) -> None:
    path = tmp_path / "ours.npz"
    assert run(f"{model}@numpy", "--record", str(path), "--prompts", prompts).returncode == 0
    ended = run(f"{model}@numpy", str(path), "--json")
    assert ended.returncode == 0, ended.stdout
    assert json.loads(ended.stdout)["verdict"] == "identical"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "expected one of: a second side, --self, --record FILE"),
        (("@bf17",), "'bf17' is no way to run a model"),
        (("@numpy", "-o", "x.docx"), "cannot write .docx"),
        (("@numpy", "--sensitivity"), "is not quantised"),
        (("--sensitivity", "--self"), "--sensitivity needs a quantised second side"),
        (("@numpy", "--prompts", "nowhere"), "cannot read nowhere"),
    ],
)
def test_what_cannot_be_is_one_message(model: str, arguments: tuple[str, ...], message: str) -> None:
    ended = run(f"{model}@numpy", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_dead_endpoint_is_one_message_and_three(model: str) -> None:
    ended = run(f"{model}@numpy", "openai:m@http://127.0.0.1:9/v1")
    assert ended.returncode == 3
    assert "cannot be reached" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_two_bots_without_any_model(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    assert run("bot:honest", "bot:honest").returncode == 0
    ended = run("bot:logit_noise(sigma=0)", "bot:logit_noise(sigma=1)", "-o", str(path))
    assert ended.returncode == 1, ended.stderr
    assert "not determined" in path.read_text("utf-8")
