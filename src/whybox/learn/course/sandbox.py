"""Runs a learner's code in a child process that can read nothing, start nothing and outlive nothing.

The child gets a folder of its own, an empty environment, a time limit and arrays; what comes back is arrays, or how it
ended. What protects on which system: docs/learn.md.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import whybox
from whybox.errors import InfrastructureError, UsageError
from whybox.learn.course.cell.packed import pack, unpack
from whybox.learn.course.cell.running import ANSWER, DRIVE, INPUTS, ORDER, PLACES, PRINTED, TOLD
from whybox.learn.course.folders import held, overfull, own_folder

State = Literal["done", "raised", "missing", "slow", "died", "full", "garbled"]
START = "import sys; sys.path[:0] = sys.argv[1:]; from whybox.learn.course.cell.running import main; main()"
STARTS_WITHIN = 60.0
MOST_SOURCE = 100_000
MOST_ANSWER = 16 << 20
"""Bytes of an answer beyond those of the inputs."""
MOST_TOLD = 200_000
"""Bytes of what is told before the arrays: what is printed, what was raised and where."""
MOST_MISSING = 100
LOOKS = 0.05
ERRORS = "errors.txt"
OUT_OF_TIME = () if sys.platform == "win32" else (signal.SIGXCPU,)


@dataclass(frozen=True)
class Limits:
    """seconds: of the clock and of the processor, from where the learner's code begins. memory: bytes in all."""

    seconds: float = 10.0
    memory: int = 2 << 30


@dataclass(frozen=True)
class Line:
    """A line of the learner's own file through which an error came."""

    number: int
    text: str


@dataclass(frozen=True, eq=False)
class Ran:
    """How it ended. outputs: arrays, where it is done. missing: names that the code does not define.

    kind, said, where: what was raised, outermost line first. walls: what protected: `limits`, `audit`, `landlock`,
    `seccomp`.
    """

    state: State
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    kind: str = ""
    said: str = ""
    where: tuple[Line, ...] = ()
    printed: str = ""
    walls: tuple[str, ...] = ()
    took_s: float = 0.0


Short = Annotated[str, Field(max_length=TOLD)]


class _Told(BaseModel):
    """What a child says; it may say anything, so it is checked."""

    model_config = ConfigDict(extra="forbid", strict=True)

    state: Literal["done", "raised", "missing"]
    missing: Annotated[list[Short], Field(max_length=MOST_MISSING)] = []
    kind: Short = ""
    said: Short = ""
    where: Annotated[list[tuple[int, Short]], Field(max_length=PLACES)] = []
    printed: Annotated[str, Field(max_length=PRINTED + 1)] = ""


@dataclass(frozen=True)
class Piece:
    """What runs: the learner's source; names that it must define; the source of `drive(code, inputs)`."""

    source: str
    needs: tuple[str, ...]
    drive: str


def run(piece: Piece, inputs: Mapping[str, np.ndarray], limits: Limits | None = None) -> Ran:
    """Runs the code on these inputs. UsageError for a source beyond 100,000 characters, InfrastructureError where no
    child process starts.
    """
    if len(piece.source) > MOST_SOURCE:
        raise UsageError(f"the code has {len(piece.source):,} characters", f"an exercise takes up to {MOST_SOURCE:,}")
    limits = limits or Limits()
    most = MOST_ANSWER + sum(array.nbytes for array in inputs.values())
    with own_folder() as folder:
        _hand_over(folder, piece, inputs, limits)
        with (folder / ERRORS).open("wb") as errors:
            return _Child(folder, errors.fileno(), most).ended(limits)


def _hand_over(folder: Path, piece: Piece, inputs: Mapping[str, np.ndarray], limits: Limits) -> None:
    order = {"needs": piece.needs, "seconds": limits.seconds, "memory": limits.memory}
    (folder / ORDER).write_text(json.dumps(order), "utf-8")
    (folder / ANSWER).write_bytes(piece.source.encode("utf-8", "replace"))
    (folder / DRIVE).write_text(piece.drive, "utf-8")
    with (folder / INPUTS).open("wb") as file:
        file.writelines(pack(inputs))


def _environment() -> dict[str, str]:
    """Nothing of the user's. One thread of arithmetic: Landlock holds threads that begin behind it, and no others."""
    threads = dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
    )
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "SystemDrive") if name in os.environ}
    return {"LC_ALL": "C.UTF-8"} | threads | kept


class _Child:
    """One process, from its start to its end, which always comes."""

    def __init__(self, folder: Path, errors: int, most: int) -> None:
        self.folder, self.most = folder, most
        roots = [str(Path(module.__file__ or "").resolve().parents[1]) for module in (whybox, np)]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", START, *dict.fromkeys(roots)],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=sys.platform != "win32",
        )
        self.ready = threading.Event()
        self.first, self.rest = b"", b""
        self.listener = threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True)

    def _listen(self, answers: IO[bytes]) -> None:
        self.first = answers.readline(MOST_SOURCE)
        self.ready.set()
        self.rest = answers.read(self.most + 1)

    def ended(self, limits: Limits) -> Ran:
        """Waits for the answer, no longer than the limit, and leaves no process behind."""
        self.listener.start()
        try:
            self.ready.wait(STARTS_WITHIN)
            begun = time.perf_counter()
            full = self._waited(limits.seconds)
            took, late = time.perf_counter() - begun, self.listener.is_alive()
        finally:
            self._end()
        if not self.first:
            raise InfrastructureError(
                f"no child process could be started for the exercise: {self._last_words()}",
                f"check that {sys.executable} -I starts, and that numpy can be imported there",
            )
        if full or len(self.rest) > self.most:
            return Ran("full" if full else "garbled", walls=_walls(self.first), took_s=took)
        late = late or -self.process.returncode in OUT_OF_TIME
        return _ran(self.first, self.rest, late, took)

    def _waited(self, seconds: float) -> bool:
        """Until the answer is there or time is up. True where the folder became too full before that."""
        before, until = held(self.folder), time.perf_counter() + seconds
        while self.listener.is_alive() and (left := until - time.perf_counter()) > 0:
            if overfull(self.folder, before):
                return True
            self.listener.join(min(LOOKS, left))
        return False

    def _end(self) -> None:
        """The whole group; the process is waited for only then, so that its number is nobody else's yet."""
        if sys.platform == "win32":
            self.process.kill()
        else:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.listener.join()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _last_words(self) -> str:
        said = (self.folder / ERRORS).read_bytes()[-2_000:].decode("utf-8", "replace").strip().splitlines()
        return said[-1] if said else "it said nothing"


def _walls(first: bytes) -> tuple[str, ...]:
    return tuple(json.loads(first)["walls"])


def _ran(first: bytes, rest: bytes, late: bool, took: float) -> Ran:
    walls = _walls(first)
    if late:
        return Ran("slow", walls=walls, took_s=took)
    line, parted, data = rest.partition(b"\n")
    if not parted:
        return Ran("died", walls=walls, took_s=took)
    if len(line) > MOST_TOLD:
        return Ran("garbled", walls=walls, took_s=took)
    try:
        told = _Told.model_validate_json(line)
        outputs = {name: array.copy() for name, array in unpack(data).items()} if told.state == "done" else {}
    except (ValidationError, ValueError):
        return Ran("garbled", walls=walls, took_s=took)
    where = tuple(Line(number, text) for number, text in told.where)
    return Ran(told.state, outputs, tuple(told.missing), told.kind, told.said, where, told.printed, walls, took)
