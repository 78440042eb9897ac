"""docs/architecture.md names every module, and no module that is not there."""

import re
from fnmatch import fnmatch
from pathlib import PurePosixPath

from tests.documents import ROOT

SOURCE = ROOT / "src/whybox"
PICTURE = re.compile(r"```.*?```", re.DOTALL)  # of floors, in columns: a name in it has no folder
PAGE = PICTURE.sub("", (ROOT / "docs/architecture.md").read_text("utf-8"))
NAME = re.compile(r"(?<![\w./-])[\w./-]+\.(?:py|js)(?![\w/])")
ELSEWHERE = ("bench/", "tests/", "docs/")


def modules() -> set[str]:
    """Every file of code by its path, packages apart: a package is a folder."""
    found = (path for path in SOURCE.rglob("*") if path.suffix in (".py", ".js") and path.name != "__init__.py")
    return {path.relative_to(SOURCE).as_posix() for path in found}


def meant(name: str, folder: str, known: set[str]) -> set[str]:
    """The modules that a name stands for: from the root, in the folder of the name before it, or by its end.

    `lNN.py` stands for a file a number.
    """
    pattern = name.replace("NN", "[0-9][0-9]")
    for place in (pattern, f"{folder}/{pattern}", f"*/{pattern}"):
        if found := {each for each in known if fnmatch(each, place)}:
            return found
    return set()


def named(page: str, known: set[str]) -> tuple[set[str], list[str]]:
    """The modules that a page names, and the names that are no module's or could be several's."""
    found, wrong = set[str](), []
    for line in page.splitlines():
        folder = ""
        for name in NAME.findall(line):
            if name.startswith(ELSEWHERE) or name.endswith("__init__.py"):
                continue
            modules = meant(name, folder, known)
            if not modules or (len(modules) > 1 and "NN" not in name):
                wrong.append(f"{name}: {sorted(modules)}")
            found |= modules
            folder = str(PurePosixPath(min(modules, default="")).parent)
    return found, wrong


def test_every_module_is_named() -> None:
    assert sorted(modules() - named(PAGE, modules())[0]) == []


def test_every_name_is_one_modules() -> None:
    assert named(PAGE, modules())[1] == []


def test_a_module_that_is_not_there_and_one_that_is_left_out_are_found() -> None:
    known = {"parts/norm.py", "parts/rope.py", "text/view.py", "report/view.py"}
    assert named("`parts/norm.py`, `rope.py`", known) == ({"parts/norm.py", "parts/rope.py"}, [])
    assert named("`parts/gone.py`", known) == (set(), ["parts/gone.py: []"])
    assert named("`view.py`", known)[1] == ["view.py: ['report/view.py', 'text/view.py']"]
