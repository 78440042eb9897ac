"""Sides in turns: the order of work, medians, absence, and the protocol with a real process."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.contest import Absent, Contest, Measurement, Side, Taken
from bench.harness import ProcessWorker, Unavailable, hold

ROOT = Path(__file__).parents[2]


def quiet(_: str) -> None:
    pass


@dataclass
class FakeWorker:
    """Takes the given seconds, one a round, and writes down when it was asked."""

    name: str
    seconds: list[float]
    diary: list[str]
    closed: list[str] = field(default_factory=list)

    def measure(self) -> Measurement:
        self.diary.append(self.name)
        if not self.seconds:
            raise Unavailable("fell over")
        return Measurement(self.seconds.pop(0), 2, 1000 + len(self.diary), {"round": len(self.diary)})

    def close(self) -> None:
        self.closed.append(self.name)


def starter(times: dict[str, list[float]], diary: list[str]) -> Callable[[Side], FakeWorker]:
    def start(side: Side) -> FakeWorker:
        if side.task not in times:
            raise Unavailable("no compiler")
        return FakeWorker(side.task, times[side.task], diary)

    return start


def contest(*names: str, rounds: int = 3) -> Contest:
    return Contest("race", {name: Side("whybox", "m", name) for name in names}, rounds=rounds)


def test_sides_take_turns_and_the_median_of_a_unit_counts() -> None:
    diary: list[str] = []
    shown = hold(contest("a", "b"), 7, starter({"a": [5.0, 1.0, 3.0], "b": [8.0, 8.0, 2.0]}, diary), quiet)
    assert diary == ["a", "b"] * 3
    assert shown["a"] == Taken(1.5, 3.0, 1005, {"round": 5})
    assert shown["b"] == Taken(4.0, 8.0, 1006, {"round": 6})


def test_fewer_rounds_may_be_asked_for() -> None:
    diary: list[str] = []
    hold(contest("a"), 2, starter({"a": [1.0, 1.0, 1.0]}, diary), quiet)
    assert len(diary) == 2


def test_a_side_that_cannot_start_leaves_the_others() -> None:
    shown = hold(contest("a", "b"), 3, starter({"b": [1.0, 1.0, 1.0]}, []), quiet)
    assert shown["a"] == Absent("no compiler")
    assert isinstance(shown["b"], Taken)


def test_a_side_that_falls_over_is_not_asked_again() -> None:
    diary: list[str] = []
    shown = hold(contest("a", "b"), 3, starter({"a": [1.0], "b": [1.0, 1.0, 1.0]}, diary), quiet)
    assert shown["a"] == Absent("fell over")
    assert diary == ["a", "b", "a", "b", "b"]


WORKER = """
import time
from bench.peers.turns import NotOffered, serve

def count(start):
    done = [start]
    def work():
        print("noise on stdout")
        done.append(done[-1] + 1)
        time.sleep(0.3)
        return {"units": 4, "runs": done[-1]}
    return work

def lacking():
    raise NotOffered("no such work")

def broken():
    raise ValueError("bad weights")

def dying():
    import os
    os.write(2, b"no memory\\n")
    os._exit(7)

serve({"count": count, "lacking": lacking, "broken": broken, "dying": dying})
"""


def worker(tmp_path: Path, task: str, arguments: dict[str, object], limit_s: float = 20) -> ProcessWorker:
    script = tmp_path / "side.py"
    script.write_text(WORKER)
    command = [sys.executable, str(script), task, json.dumps(arguments)]
    return ProcessWorker(command, {"PYTHONPATH": str(ROOT)}, limit_s)


@pytest.mark.parametrize(("arguments", "runs"), [({"start": 0}, [3, 5]), ({"start": 0, "cold": True}, [2, 4])])
def test_a_process_is_warmed_once_and_repeats_quick_work_in_a_turn(
    tmp_path: Path, arguments: dict[str, object], runs: list[int]
) -> None:
    side = worker(tmp_path, "count", arguments)
    found = [side.measure(), side.measure()]
    side.close()
    assert [each.extra["runs"] for each in found] == runs
    assert [each.units for each in found] == [4.0, 4.0]
    assert all(0.3 <= each.seconds < 0.5 for each in found)
    assert 10**6 < found[0].peak_bytes < 10**9


@pytest.mark.parametrize(
    ("task", "reason"),
    [("lacking", "no such work"), ("broken", "ValueError: bad weights"), ("dying", "exit 7: no memory")],
)
def test_a_process_says_why_it_cannot(tmp_path: Path, task: str, reason: str) -> None:
    with pytest.raises(Unavailable) as problem:
        worker(tmp_path, task, {})
    assert str(problem.value) == reason


def test_a_process_that_never_answers_is_ended() -> None:
    with pytest.raises(Unavailable, match=r"no answer within 0 s"):
        ProcessWorker([sys.executable, "-c", "import time; time.sleep(60)"], {}, 0.3)
