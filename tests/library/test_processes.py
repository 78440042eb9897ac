"""Pulls that are killed, interrupted, or run twice at once: real processes, one hub that stalls on demand."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.library.fakes import Hub, Listener, content_of, fake_alias, serving
from whybox.library.obtain import pull_alias

CONTENT = content_of(3_000_017)  # larger than a chunk, so that a stalled pull has written something

SCRIPT = """
import sys
from tests.library.fakes import content_of, fake_alias
from whybox.library.fetch import from_hub
from whybox.library.progress import Terminal
from whybox.library import obtain
obtain.WAYS = (("hub", from_hub),)
print(obtain.pull_alias(fake_alias(content_of({size})), None, Terminal()))
"""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(Hub({"tiny.gguf": CONTENT}, stall_after=2_500_000)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub


def start() -> "subprocess.Popen[str]":
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(size=len(CONTENT))],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def half_written(models: Path) -> Path:
    """Waits until the pull has bytes on disk."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for file in models.glob(".tiny.pull-*/*/tiny.gguf"):
            if file.stat().st_size > 0:
                return file
        time.sleep(0.02)
    raise AssertionError("the pull never began to write")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_kill_9_leaves_nothing_under_the_final_name_and_the_next_pull_sweeps(models: Path, hub: Hub) -> None:
    process = start()
    half_written(models)
    process.kill()
    process.communicate()
    assert not (models / "tiny.gguf").exists()
    assert len(list(models.glob(".tiny.pull-*"))) == 1
    hub.stall_after = None
    path = pull_alias(fake_alias(CONTENT), None, Listener())
    assert path.read_bytes() == CONTENT
    assert list(models.glob(".tiny.pull-*")) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers Ctrl-C to the whole console")
def test_an_interrupt_cleans_up_after_itself(models: Path, hub: Hub) -> None:
    process = start()
    half_written(models)
    process.send_signal(signal.SIGINT)
    hub.go_on.set()
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert [path.name for path in models.iterdir()] == [".tiny.lock"]


def test_two_pulls_at_once_download_once(models: Path, hub: Hub) -> None:
    first = start()
    half_written(models)
    second = start()
    assert second.stderr is not None
    assert "another process is pulling tiny" in second.stderr.readline()
    hub.go_on.set()
    for process in (first, second):
        said, problems = process.communicate(timeout=30)
        assert process.returncode == 0, problems
        assert Path(said.strip()) == models / "tiny.gguf"
    assert hub.gets == ["tiny.gguf"]
    assert (models / "tiny.gguf").read_bytes() == CONTENT
