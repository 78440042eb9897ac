"""Python processes that begin where whybox and torch are loaded: forks of one that has loaded them and then waits.

A command loads for two seconds before it does anything, and hundreds of tests run one. Each is a process of its own all
the same: its arguments, environment, folder and streams, and the interpreter's own end. What a process loads and when,
who hears its signals and what it costs are asked of ordinary ones (cli/: test_main.py, test_threads.py, test_next.py).
"""

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
LENGTH = 8  # bytes in which the length of a message is told


def python(
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> "subprocess.CompletedProcess[str]":
    """`python -c CODE …` or `python -m MODULE …`, with what it wrote."""
    told = {"arguments": arguments, "env": dict(os.environ if env is None else env), "cwd": str(cwd or Path.cwd())}
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        streams = (given, out, err)
        given.seek(0)
        if hasattr(os, "fork"):
            code = _forked(told, [stream.fileno() for stream in streams], timeout)
        else:
            command = [sys.executable, *arguments]
            code = subprocess.run(
                command, stdin=given, stdout=out, stderr=err, env=told["env"], cwd=told["cwd"], timeout=timeout
            ).returncode
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read().decode(), err.read().decode())


def whybox(*arguments: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """`python -m whybox …`."""
    return python("-m", "whybox", *arguments, **more)


def _forked(told: dict[str, Any], streams: list[int], timeout: float) -> int:
    process, asking = _started()
    message = json.dumps(told).encode()
    asking.settimeout(timeout)
    try:
        socket.send_fds(asking, [len(message).to_bytes(LENGTH)], streams)
        asking.sendall(message)
        return int.from_bytes(asking.recv(LENGTH, socket.MSG_WAITALL), signed=True)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        _started.cache_clear()
        raise


@cache
def _started() -> "tuple[subprocess.Popen[bytes], socket.socket]":
    """The process that is forked; it ends when the other end of its socket does."""
    ours, theirs = socket.socketpair()
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.warm", str(theirs.fileno())],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        start_new_session=True,
    )
    theirs.close()
    atexit.register(_end, process, ours)
    return process, ours


def _end(process: "subprocess.Popen[bytes]", asking: socket.socket) -> None:
    asking.close()
    process.wait()


def _load() -> None:

    import whybox.cli.main
    import whybox.cli.opening
    import whybox.engine.fast
    import whybox.jobs.diff
    import whybox.jobs.look
    import whybox.jobs.next
    import whybox.jobs.size
    import whybox.jobs.why
    import whybox.report.text  # noqa: F401


def _serve(asked: socket.socket) -> dict[str, Any]:
    """Forks for every request and tells how it ended; returns, with what is to be done, in each fork alone."""
    while True:
        head, streams, _, _ = socket.recv_fds(asked, LENGTH, 3)
        if not head:
            sys.exit()
        told: dict[str, Any] = json.loads(asked.recv(int.from_bytes(head), socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            asked.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return told
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.sendall(code.to_bytes(LENGTH, signed=True))


def _run(arguments: list[str], env: dict[str, str], cwd: str) -> None:
    """What the interpreter does with its arguments."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:1] = ["", *env.get("PYTHONPATH", "").split(os.pathsep)]
    kind, what, *words = arguments
    sys.argv = [kind, *words]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
        return
    sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(what, "<string>", "exec"), vars(sys.modules["__main__"]))


if __name__ == "__main__":
    _load()
    _run(**_serve(socket.socket(fileno=int(sys.argv[1]))))
