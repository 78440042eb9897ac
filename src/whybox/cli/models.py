"""`whybox models`: what is on this machine, and what can be pulled."""

import sys
import time
from dataclasses import dataclass
from typing import Literal

from whybox.cli.options import Json, Language, Quiet, language
from whybox.cli.telling import print_document, progress_for
from whybox.library import ALIASES, Alias, Found, discover
from whybox.library.progress import size_text
from whybox.report.visible import one_line


@dataclass(frozen=True)
class _Words:
    """The words of the table."""

    head: tuple[str, str, str]
    none: str
    to_pull: str


_WORDS: dict[Literal["en", "zh"], _Words] = {
    "en": _Words(("model", "size", "found in"), "No model is on this machine yet.", "To get one: whybox pull"),
    "zh": _Words(("模型", "大小", "来源"), "本机还没有模型。", "获取模型：whybox pull"),
}


def models(json: Json = False, lang: Language = None, quiet: Quiet = False) -> None:
    """List the models here: own cache, WHYBOX_MODELS, Hugging Face, Ollama, LM Studio."""
    begun = time.perf_counter()
    found = discover(progress_for(quiet))
    absent = [alias for name, alias in ALIASES.items() if name not in {model.name for model in found}]
    if json:
        rows = [{"name": m.name, "path": str(m.path), "bytes": m.size, "origin": m.origin} for m in found]
        aliases = [{"name": a.name, "title": a.title, "bytes": a.size, "licence": a.licence.name} for a in absent]
        print_document("models", begun, {"found": rows, "to_pull": aliases})
    else:
        _print_found(found, _WORDS[language(lang)])
        for alias in absent:
            print(_offer(alias, _WORDS[language(lang)]))


def _print_found(found: list[Found], words: _Words) -> None:
    """A table on a terminal; elsewhere one line a model: name, bytes, origin, path, with tabs between."""
    if not found:
        print(words.none)
    elif not sys.stdout.isatty():
        for model in found:
            print(model.name, model.size, model.origin, model.path, sep="\t")
    else:
        _print_table(found, words)


def _print_table(found: list[Found], words: _Words) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(words.head[0], overflow="fold")
    table.add_column(words.head[1], justify="right", no_wrap=True)
    table.add_column(words.head[2], no_wrap=True)
    for model in found:
        table.add_row(Text(one_line(model.name)), size_text(model.size), model.origin)
    Console().print(table)


def _offer(alias: Alias, words: _Words) -> str:
    return f"{words.to_pull} {alias.name}   ({alias.title}, {size_text(alias.size)}, {alias.licence.name})"
