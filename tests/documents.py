"""Markdown as programs: fenced blocks found, Python run and compared, commands taken apart."""

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
PAGES = (*READMES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?")
GAP = "…"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page where it begins."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Shown:
    """A command of a `console` block and the lines that the page shows below it."""

    command: str
    output: tuple[str, ...]

    @property
    def arguments(self) -> list[str]:
        return shlex.split(self.command)


def blocks(page: Path, *languages: str) -> Iterator[Block]:
    """Fenced blocks of these languages, in order."""
    text = page.read_text("utf-8")
    for found in _FENCE.finditer(text):
        if found[1] in languages:
            yield Block(found[1], found[2], text.count("\n", 0, found.start()) + 1)


def shown(page: Path) -> Iterator[Shown]:
    """Commands of the console blocks with their output."""
    for block in blocks(page, "console"):
        for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            command, *output = piece.rstrip("\n").split("\n")
            yield Shown(command, tuple(output))


def commands(page: Path) -> Iterator[str]:
    """Every whybox command of a page, from console and sh blocks: `whybox …`, up to the end of its simple command."""
    for block in blocks(page, "console", "sh"):
        typed = block.text.splitlines()
        if block.language == "console":
            typed = [line.removeprefix("$ ") for line in typed if line.startswith("$ ")]
        for line in typed:
            for found in re.finditer(r"(?:^|[\s/])(whybox\s[^&|;#]+)", line.split("   #")[0]):
                yield found[1].strip()


def run_python(page: Path) -> int:
    """Run the Python blocks of a page in one namespace; each `# → value` is compared. Returns how many were."""
    scope: dict[str, Any] = {}
    compared = 0
    for block in blocks(page, "python"):
        source = "\n" * block.line + block.text
        exec(compile(source, str(page), "exec"), scope)
        for line in block.text.splitlines():
            if "  # → " in line:
                expression, expected = line.split("  # → ")
                assert_same(repr(eval(expression, scope)), expected, line)
                compared += 1
    return compared


def assert_same(found: str, expected: str, where: str) -> None:
    """Equal text; decimal numbers equal to half of the last digit that is shown."""
    assert _NUMBER.sub("#", found) == _NUMBER.sub("#", expected), f"{where}\nfound: {found}"
    for mine, theirs in zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True):
        digits = len(theirs.partition(".")[2])
        assert abs(float(mine) - float(theirs)) <= 0.501 * 10**-digits, f"{where}\nfound: {found}"


def assert_prints(found: str, expected: tuple[str, ...]) -> None:
    """The shown lines stand in the output, in order and side by side; a line `…` stands for any number of lines."""
    lines, place = [line.rstrip() for line in found.splitlines()], 0
    for wanted in _between_gaps(expected):
        last = len(lines) - len(wanted)
        start = next((i for i in range(place, last + 1) if lines[i : i + len(wanted)] == wanted), None)
        assert start is not None, "not printed any more:\n" + "\n".join(wanted) + "\n\nprinted:\n" + found
        place = start + len(wanted)


def _between_gaps(lines: tuple[str, ...]) -> Iterator[list[str]]:
    run: list[str] = []
    for line in (*lines, GAP):
        if line.strip() != GAP:
            run.append(line.rstrip())
        elif run:
            yield run
            run = []


if __name__ == "__main__":
    print(sum(run_python(Path(page)) for page in sys.argv[1:]))
