"""Old answers: found by everything that could change them, by two processes at once, and never for a failure."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.suite.fake import calls_of
from whybox.suite.cache import AnswerCache
from whybox.suite.records import cache_key
from whybox.suite.runner import target_key
from whybox.targets.target import Failure, Identity, Reply, Request, Sampling

WRITER = """
import sys
from pathlib import Path
from tests.suite.fake import calls_of
from whybox.suite.cache import AnswerCache
from whybox.targets.target import Reply
with AnswerCache(Path(sys.argv[1]), sys.argv[2]) as cache:
    for call in calls_of(100):
        cache.put(call, "t", Reply(call.item))
"""


def test_whatever_could_change_the_answer_changes_the_key() -> None:
    call = calls_of(1)[0]
    request = call.request
    assert isinstance(request, Request)
    others = [
        replace(call, request=replace(request, sampling=Sampling(0.7, max_tokens=8))),
        replace(call, request=replace(request, sampling=Sampling(max_tokens=8, seed=1))),
        replace(call, request=replace(request, logprobs=1)),
        replace(call, request=replace(request, repeat=1)),
        calls_of(2)[-1],
    ]
    keys = {cache_key(each, "t") for each in [call, *others]} | {cache_key(call, "u")}
    assert len(keys) == len(others) + 2
    assert cache_key(replace(call, item="elsewhere", arm="b", probe="edit"), "t") == cache_key(call, "t")
    assert target_key(Identity("bot", "a"), "fp1") != target_key(Identity("bot", "a"), "fp2")


def test_failures_and_fresh_calls_are_not_kept(tmp_path: Path) -> None:
    call, other = calls_of(1, runs=1)
    with AnswerCache(tmp_path / "answers.sqlite", "one") as cache:
        cache.put(call, "t", Failure("http", "no"))
        cache.put(replace(other, fresh=True), "t", Reply("yes"))
    with AnswerCache(tmp_path / "answers.sqlite", "two") as cache:
        assert cache.found([call, other], "t") == {}
        cache.put(call, "t", Reply("yes"))
        assert cache.found([call], "t") == {}, "a run does not read what it wrote itself"
    with AnswerCache(tmp_path / "answers.sqlite", "three") as cache:
        assert cache.found([other, call], "t") == {1: Reply("yes")}
        assert cache.found([replace(call, fresh=True)], "t") == {}


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    path = tmp_path / "answers.sqlite"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    commands = [[sys.executable, "-c", WRITER, str(path), name] for name in ("one", "two")]
    writers = [subprocess.Popen(command, cwd=root, env=environment, stderr=subprocess.PIPE) for command in commands]
    assert [writer.communicate(timeout=60)[1] for writer in writers] == [b"", b""]
    assert [writer.returncode for writer in writers] == [0, 0]
    calls = calls_of(100)
    with AnswerCache(path, "three") as cache:
        assert cache.found(calls, "t") == {i: Reply(call.item) for i, call in enumerate(calls)}
