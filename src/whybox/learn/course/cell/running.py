"""The child's program: everything is imported, the door is locked, then the learner's code runs.

Two things are told on the way out: which walls stand, before any code of the learner's has run, and how it ended.
"""

import ast
import importlib
import json
import os
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from whybox.learn.course.cell import kernel
from whybox.learn.course.cell.packed import pack, unpack
from whybox.learn.course.cell.watch import DRIVERS, HAS, MODULES, foreign, watch

ANSWER, DRIVE, INPUTS, ORDER = "answer.py", "drive.py", "inputs.bin", "order.json"
PRINTED, TOLD, PLACES = 4_000, 300, 20
FILE_BYTES = 1 << 20


class Page:
    """What is printed, up to a length and one character that says that there was more; the rest is let go."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = PRINTED + 1

    def write(self, text: str) -> int:
        if self.left > 0:
            self.parts.append(str(text)[: self.left])
            self.left -= len(self.parts[-1])
        return len(text)

    def flush(self) -> None:
        """There is nothing behind it."""

    def isatty(self) -> bool:
        return False


def main() -> None:
    """In the folder that is the working folder: reads its four files, runs, and answers on stdout."""
    order = json.loads(Path(ORDER).read_text("utf-8"))
    source, drive = (Path(name).read_text("utf-8") for name in (ANSWER, DRIVE))
    inputs = unpack(np.memmap(INPUTS, np.uint8, "c").data)  # a model's weights are not read twice
    for module in (*MODULES, *DRIVERS):
        importlib.import_module(module)
    answers, page = _streams()
    walls = (*kernel.limit(order["seconds"], order["memory"], FILE_BYTES), "audit", *kernel.lock(os.getcwd()))
    watch()
    tell, end = _teller(answers), os._exit
    tell({"walls": walls})
    told, outputs = _run(source, drive, order["needs"], inputs)
    tell(told | {"printed": "".join(page.parts)}, outputs)
    end(0)  # what the learner's code left for the end of the process does not run


def _streams() -> tuple[int, Page]:
    """Where the parent listens is kept apart; what writes to the standard streams writes to a page, or nowhere."""
    page = Page()
    answers, nowhere = os.dup(1), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)
    sys.stdout = sys.stderr = page
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    return answers, page


def _teller(answers: int) -> Callable[..., None]:
    dumps, write = json.dumps, os.write

    def tell(told: Mapping[str, object], outputs: bytes = b"") -> None:
        data = memoryview(dumps(told).encode() + b"\n" + outputs)
        while data:
            data = data[write(answers, data) :]

    return tell


def _run(source: str, drive: str, needs: list[str], inputs: dict[str, np.ndarray]) -> tuple[dict[str, Any], bytes]:
    code = types.ModuleType("answer")
    driving: dict[str, Any] = {"__name__": "drive", "np": np}
    try:
        tree = ast.parse(source, ANSWER)
        if (found := foreign(tree)) is not None:
            return _foreign(*found, source), b""
        exec(compile(tree, ANSWER, "exec"), vars(code))
        missing = [name for name in needs if name not in vars(code)]
        if missing:
            return {"state": "missing", "missing": missing}, b""
        exec(compile(drive, DRIVE, "exec"), driving)
        came = driving["drive"](code, inputs)
        return {"state": "done"}, b"".join(pack({str(name): np.asarray(value) for name, value in came.items()}))
    except BaseException as problem:  # the learner's code may raise anything
        return _problem(problem, source), b""


def _foreign(line: int, name: str, source: str) -> dict[str, Any]:
    where = [[line, source.splitlines()[line - 1].strip()[:TOLD]]]
    return {"state": "raised", "kind": "ImportError", "said": f"{HAS} {name}"[:TOLD], "where": where}


def _problem(problem: BaseException, source: str) -> dict[str, Any]:
    """What was raised, and through which lines of the learner's it came."""
    lines, places = source.splitlines(), list[int]()
    step = problem.__traceback__
    while step is not None and len(places) < PLACES:
        if step.tb_frame.f_code.co_filename == ANSWER:
            places.append(step.tb_lineno)
        step = step.tb_next
    if isinstance(problem, SyntaxError) and problem.filename == ANSWER:
        places.append(problem.lineno or 1)
    where = [[place, lines[place - 1].strip()[:TOLD]] for place in places if 0 < place <= len(lines)]
    said = problem.msg if isinstance(problem, SyntaxError) else _said(problem)
    return {"state": "raised", "kind": type(problem).__name__[:TOLD], "said": str(said)[:TOLD], "where": where}


def _said(problem: BaseException) -> str:
    try:
        return str(problem)
    except Exception:  # an exception of the learner's own that cannot say itself
        return ""


if __name__ == "__main__":
    main()
