"""What Python itself refuses to an exercise: an audit hook that passes a short list of events and nothing else.

It gives the clear message. It is no wall by itself, since code that reaches raw memory reaches past it; the wall is the
kernel's (`kernel.py`).
"""

import ast
import os
import sys
from typing import Any

HAS = "an exercise has numpy and a part of the standard library, not"
PASSED = frozenset(
    {
        "array.__new__",
        "builtins.id",
        "compile",
        "exec",
        "object.__delattr__",
        "object.__getattr__",
        "object.__setattr__",
        "sys._getframe",
        "sys._getframemodulename",
        "sys.excepthook",
        "sys.unraisablehook",
        "time.sleep",
    }
)
MODULES = (
    "__future__", "abc", "bisect", "cmath", "collections", "collections.abc", "contextlib", "copy", "dataclasses",
    "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json", "math", "numbers", "operator", "random",
    "re", "statistics", "string", "time", "types", "typing", "numpy", "numpy.fft", "numpy.lib.stride_tricks",
    "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random", "numpy.typing",
)  # fmt: skip
"""What an exercise may import; all of it is there before the door is locked."""
WRITTEN = 16
"""How often a run may open a file for writing."""
DRIVERS = ("tracemalloc",)
"""What only the hidden tests' own `drive` may import besides."""


def watch() -> None:
    """From now on: no file but one in the own folder by its plain name, no import, no process, no thread, no socket."""
    sys.addaudithook(_hook())


def _hook() -> Any:
    # What the hook uses is bound here: names of modules and builtins could be replaced by the code that it watches.
    passed, text, kind, denied, missing, has = PASSED, str, type, PermissionError, ImportError, HAS
    writes, most, left = os.O_WRONLY | os.O_RDWR | os.O_CREAT, WRITTEN, WRITTEN

    def hook(event: str, told: tuple[Any, ...]) -> None:
        nonlocal left
        if event in passed:
            if event == "object.__setattr__" and told[1] == "__code__":
                raise denied("an exercise cannot do this: object.__setattr__ of __code__")
            return
        if event == "open":
            path = told[0]
            if told[2] & writes:
                left -= 1
                if left < 0:
                    raise denied(f"an exercise opens files for writing {most} times at most")
            if kind(path) is text and path not in ("", ".", "..") and not ("/" in path or "\\" in path or ":" in path):
                return
            raise denied("an exercise cannot open files outside its own folder")
        if event == "import":
            raise missing(f"{has} this module")
        raise denied("an exercise cannot do this: " + event)

    return hook


def foreign(tree: ast.AST) -> tuple[int, str] | None:
    """The first import of something that is not on the list: its line and its name. Said before anything runs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "." * node.level]
        else:
            continue
        for name in names:
            if name not in MODULES and name.partition(".")[0] != "numpy":
                return node.lineno, name
    return None
