"""Whole files or none: the pieces of a safe write, one by one."""

import hashlib
from pathlib import Path

import pytest

from tests.library.fakes import Listener
from whybox.errors import DownloadError, StorageError
from whybox.library.progress import size_text, usual_progress
from whybox.library.store import MARGIN, Pin, locked, publish, require_space, sweep, workbench, write_pinned

DATA = b"seventeen bytes.."


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    (tmp_path / "bench").mkdir()
    return tmp_path / "bench"


def write(part: Path, data: bytes, sha256: str = hashlib.sha256(DATA).hexdigest()) -> list[int]:
    done: list[int] = []
    write_pinned([data[:5], data[5:]], part, Pin(len(DATA), sha256), "the test", done.append)
    return done


def test_the_pinned_bytes_are_written_and_counted(bench: Path) -> None:
    assert write(bench / "part", DATA) == [5, 17]
    assert (bench / "part").read_bytes() == DATA


def test_bytes_beyond_the_pin_are_not_read_further(bench: Path) -> None:
    with pytest.raises(DownloadError, match="the test: more than the expected 17 bytes"):
        write(bench / "part", DATA + b"and more")
    assert (bench / "part").read_bytes() == DATA[:5]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_really_full_is_a_storage_error() -> None:
    with pytest.raises(StorageError, match="the disk of /dev is full: 17 bytes"):
        write(Path("/dev/full"), DATA)


def test_space_is_asked_for_with_a_margin(bench: Path) -> None:
    require_space(bench, 0)
    with pytest.raises(StorageError, match=f"{10**18 + MARGIN} bytes"):
        require_space(bench, 10**18)


def test_the_final_name_appears_in_one_step_and_replaces(bench: Path) -> None:
    (bench / "final").write_bytes(b"old")
    (bench / "part").write_bytes(DATA)
    publish(bench / "part", bench / "final")
    assert (bench / "final").read_bytes() == DATA
    assert not (bench / "part").exists()


def test_a_workbench_goes_away_with_its_error(bench: Path) -> None:
    with pytest.raises(IsADirectoryError), workbench(bench, "tiny") as work:
        work.open()
    assert list(bench.iterdir()) == []


def test_sweeping_takes_only_what_killed_pulls_of_this_name_left(bench: Path) -> None:
    for name in (".tiny.pull-a", ".tiny.pull-b", ".tiny2.pull-c", "tiny"):
        (bench / name).mkdir()
    sweep(bench, "tiny")
    assert sorted(path.name for path in bench.iterdir()) == [".tiny2.pull-c", "tiny"]


def test_a_lock_is_held_and_released(bench: Path) -> None:
    listener = Listener()
    for _ in range(2):
        with locked(bench, "tiny", listener) as held:
            assert held
    assert listener.lines == []


def test_a_file_system_without_locks_does_not_stop_a_pull(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(handle: int, wait: bool) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr("whybox.library.store.lock_file", unsupported)
    listener = Listener()
    with locked(bench, "tiny", listener) as held:
        assert not held
    assert listener.lines == []


def test_the_terminal_is_told_unless_quiet_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with usual_progress().bar("downloading tiny", 98_362_432) as done:
        done(17)
    assert capsys.readouterr() == ("", "downloading tiny (98.4 MB)\n")
    monkeypatch.setenv("WHYBOX_QUIET", "1")
    usual_progress().say("nothing")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (98_362_432, "98.4 MB"), (253_113_024, "253 MB"),
     (999_600, "1 MB"), (10**10, "10 GB"), (5 * 10**15, "5e+03 TB")],
)  # fmt: skip
def test_sizes_for_people(size: int, text: str) -> None:
    assert size_text(size) == text
