"""What a run holds after it was killed, refused or interrupted, and after it went on."""

import asyncio
import gc
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tests.suite import killed
from tests.suite.fake import FakeTarget, calls_of
from whybox.errors import EndpointError
from whybox.probes.design import Call
from whybox.suite.cache import AnswerCache
from whybox.suite.executor import LocalExecutor
from whybox.suite.progress import Progress
from whybox.suite.runner import Sitting
from whybox.suite.store import Store
from whybox.targets.target import Failure, Reply

ROOT = Path(__file__).parents[2]


def run(store: Store, target: FakeTarget, calls: list[Call], retry_errors: bool = False) -> int:
    """One sitting over a plan; how many calls it made."""
    before = len(target.asked)
    store.begin(calls)
    sitting = Sitting(store)
    left = store.unfinished(calls, retry_errors)
    sitting.plan(len(left))
    asyncio.run(sitting.make(left, LocalExecutor(target), "fake"))
    return len(target.asked) - before


@pytest.mark.skipif(os.name == "nt", reason="no fork, no SIGKILL")
@pytest.mark.parametrize(("ending", "times"), [("SIGKILL", 20), ("SIGINT", 8)])
def test_ended_at_random_moments_a_run_comes_out_as_one_that_was_left_alone(
    tmp_path: Path, ending: str, times: int
) -> None:
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    broken.mkdir()
    whole.mkdir()
    command = [sys.executable, "-m", "tests.suite.killed", str(broken), str(times), ending]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    finished = [int(line) for line in done.stdout.split()]
    assert len(finished) == times
    assert finished == sorted(finished), "a finished call was lost"
    assert sum(0 < count < len(killed.CALLS) for count in finished) >= times // 2, "the kills fell beside the run"
    killed.sit(broken, latency=0.0)
    killed.sit(whole, latency=0.0)
    with Store(broken / "run.sqlite") as one, Store(whole / "run.sqlite") as other:
        assert one.rows() == other.rows()
        assert one.counts() == other.counts()
        assert list(one.calls()) == list(other.calls()) == sorted(killed.CALLS, key=lambda call: call.cell)
    asked = len((broken / "asked.log").read_text().split())
    assert len(killed.CALLS) <= asked <= len(killed.CALLS) + times * 2 * killed.WIDTH, (
        "more than was under way is asked twice"
    )


def test_a_fault_in_ten_loses_and_doubles_nothing_in_flat_memory(tmp_path: Path) -> None:
    calls = calls_of(500)
    sizes: dict[int, int] = {}

    def watch(progress: Progress) -> None:
        if progress.done in (500, 1900):
            gc.collect()  # Python keeps freed tuples for later, up to 2000 of a size
            sizes[progress.done] = tracemalloc.get_traced_memory()[0]

    target = FakeTarget(width=64)
    with Store(tmp_path / "run.sqlite") as store:
        store.begin(calls)
        sitting = Sitting(store, tell=watch)
        sitting.plan(len(calls))
        tracemalloc.start()
        asyncio.run(sitting.make(calls, LocalExecutor(target), "fake"))
        tracemalloc.stop()
        counts = store.counts()
        assert (counts.planned, counts.finished) == (2000, 2000)
        assert 120 < counts.failed < 280
        assert sorted(target.asked) == sorted(call.request.digest for call in calls)
        assert sitting.progress.failed == counts.failed
        records = list(store.records(calls))
    assert [record.call for record in records] == calls
    assert all(
        isinstance(r.outcome, Failure) or r.outcome == Reply(f"answer {r.call.request.digest[:6]}", fingerprint="one")
        for r in records
    )
    assert sizes[1900] - sizes[500] < 300_000, "what is asked and answered stays in memory"


def test_a_second_resume_makes_no_call_and_errors_are_made_again_only_when_asked(tmp_path: Path) -> None:
    calls = calls_of(30)
    target = FakeTarget(faults=0.3)
    with Store(tmp_path / "run.sqlite") as store:
        assert run(store, target, calls) == len(calls)
        failed, rows = store.counts().failed, store.rows()
        assert failed > 10
        assert run(store, target, calls) == 0
        assert store.rows() == rows
        assert run(store, FakeTarget(faults=0.0), calls, retry_errors=True) == failed
        assert store.counts().failed == 0
        assert len(store.rows()) == len(calls)


def test_a_refused_key_ends_the_run_with_what_was_done(tmp_path: Path) -> None:
    calls = calls_of(20, runs=1)
    with Store(tmp_path / "run.sqlite") as store:
        with pytest.raises(EndpointError, match="the key is refused"):
            run(store, FakeTarget(width=1, faults=0.0, fatal_after=12), calls)
        assert store.counts().finished == 12
        assert run(store, FakeTarget(faults=0.0), calls) == 28
        assert store.counts().failed == 0


def test_another_run_reads_the_cache_and_going_on_with_one_does_not(tmp_path: Path) -> None:
    fresh = [replace(call, probe="floor", fresh=True) for call in calls_of(3)]
    calls = [*calls_of(10), *fresh]
    answers = []
    for number, target_key in enumerate(["one", "one", "other"]):
        target = FakeTarget(faults=0.2)
        with Store(tmp_path / f"{number}.sqlite") as store:
            with AnswerCache(tmp_path / "cache.sqlite", store.begin(calls)) as cache:
                sitting = Sitting(store, cache)
                sitting.plan(len(calls))
                asyncio.run(sitting.make(calls, LocalExecutor(target), target_key))
                assert cache.found(calls, target_key) == {} or number == 1
            answers.append([record.outcome for record in store.records(calls)])
            failed, cached = store.counts().failed, store.counts().cached
        expected = 0 if number != 1 else len(calls) - len(fresh) - sum(isinstance(a, Failure) for a in answers[0][:40])
        assert cached == expected, "failures and fresh calls are asked again, the others are not"
        assert len(target.asked) == len(calls) - cached
        assert failed > 0
    assert answers[0] == answers[1] == answers[2]
