"""What every verb writes: the JSON document on stdout, progress on stderr."""

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import whybox
from whybox.errors import UsageError
from whybox.library.progress import Progress, Silent, Terminal

if TYPE_CHECKING:
    from rich.console import Console

    from whybox.report.document import Document, Lang

D = TypeVar("D", bound="Document")


def progress_for(quiet: bool) -> Progress:
    """Who is told what happens: stderr, or nobody; the hub's own bars follow."""
    if quiet:
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        return Silent()
    return Terminal()


def print_document(name: str, begun: float, part: Mapping[str, object]) -> None:
    """Prints the document of a verb that runs no model. begun: `time.perf_counter()` when the verb began."""
    head = {"schema": {"name": f"whybox.{name}", "version": 1}, "whybox": whybox.__version__}
    document = head | dict(part) | {"took_s": round(time.perf_counter() - begun, 3)}
    print(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


def tell(
    document: D, render: "Callable[[D, Console, Lang], None]", lang: "Lang", as_json: bool, out: Path | None
) -> None:
    """The document as the user asked for it: a JSON file, JSON on stdout, or a rendering of the terminal."""
    from rich.console import Console

    from whybox.report.document import to_json

    if out is not None:
        write_whole(out, _as_text(document, render, lang, out))
    if as_json:
        print(to_json(document))
    elif out is None:
        render(document, Console(), lang)


def _as_text(document: D, render: "Callable[[D, Console, Lang], None]", lang: "Lang", out: Path) -> str:
    from io import StringIO

    from rich.console import Console

    from whybox.report.document import to_json

    match out.suffix:
        case ".json":
            return to_json(document) + "\n"
        case ".txt":
            written = StringIO()
            render(document, Console(file=written, width=100), lang)
            return written.getvalue()
        case suffix:
            raise UsageError(f"cannot write {suffix or 'a file without suffix'}", "use -o FILE.json or FILE.txt")


def write_whole(out: Path, text: str) -> None:
    """The file whole or not at all: written beside its place, then moved there."""
    beside = out.with_name(f".{out.name}.part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(out)
    finally:
        beside.unlink(missing_ok=True)
