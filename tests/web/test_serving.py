"""`whybox serve` as a process: its first line, its health, its end."""

import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest
from typer.testing import CliRunner

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.models import model_path
from tests.real import real
from whybox.cli.main import app
from whybox.cli.options import Run
from whybox.cli.serve import _name, _second
from whybox.errors import UsageError


@pytest.mark.model
def test_it_prints_its_address_answers_and_ends_at_ctrl_c() -> None:
    command = [
        sys.executable,
        "-m",
        "whybox",
        "serve",
        "-m",
        str(model_path("smollm2")),
        "--no-open",
        "--quiet",
        "--engine",
        "numpy",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        bare, token = url.split("/?token=")
        assert len(token) >= 40
        with httpx.Client(base_url=bare) as client:
            until = time.monotonic() + 60
            while client.get("/api/health").json()["status"] == "opening":
                assert time.monotonic() < until
                time.sleep(0.1)
            assert client.get("/").status_code == 401
            assert client.get(f"/?token={token}", follow_redirects=True).status_code == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    finally:
        process.kill()


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(app, ["serve", "--no-open", "--port", str(taken.getsockname()[1])])
    assert result.exit_code == 3
    assert "cannot listen" in result.output


NAMED = {
    "gemma3-270m": "gemma3-270m",
    "@int8": "smollm2@int8",
    "/models/tiny.gguf@bf16": "tiny.gguf@bf16",
    "/models/tiny.gguf": "tiny.gguf",
}


@pytest.mark.parametrize("typed", NAMED)
def test_a_second_model_has_a_name_without_its_folder(typed: str) -> None:
    assert _name(typed, Run(model="/models/smollm2")) == NAMED[typed]


@pytest.mark.model
def test_what_stands_beside_is_a_model_that_can_be_run() -> None:
    first = real("smollm2", "torch")
    second = _second("@int8", first, Run())
    assert second.engine.precision == "int8"
    assert second.tokenizer is first.tokenizer
    for typed in ("@cache", "openai:some-model@http://127.0.0.1:9/v1"):
        with pytest.raises(UsageError, match="expected a model that can be run here"):
            _second(typed, first, Run())
