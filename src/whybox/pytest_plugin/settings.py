"""What a test run is told: on the command line, in the ini file, by a marker. The nearest wins."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

Inconclusive = Literal["skip", "xfail", "fail"]
MARKER = "whybox(target=, seed=, budget=, inconclusive=, prompt=): who is asked, and how, in this test (docs/pytest.md)"

_TEXTS = {
    "target": ("smollm2", "who is asked: as `whybox -m` takes it, openai:NAME or bot:NAME"),
    "seed": ("0", "of every draw"),
    "budget": ("5000", "calls that one assertion may plan"),
    "inconclusive": ("skip", "what an assertion that is neither shown nor refuted does: skip, xfail or fail"),
    "lang": ("en", "language of messages: en or zh"),
}


@dataclass(frozen=True)
class Settings:
    """target: a name. seed: of every draw. budget: calls that one assertion may plan. prompt: a case file, or None.

    cache: whether answers of earlier runs of the tests will do.
    """

    target: str = "smollm2"
    seed: int = 0
    budget: int = 5000
    inconclusive: Inconclusive = "skip"
    lang: Literal["en", "zh"] = "en"
    cache: bool = False
    prompt: Path | None = None


def add_options(parser: pytest.Parser) -> None:
    """`--whybox-…` and the ini keys of the same names."""
    group = parser.getgroup("whybox", "behaviour of language models")
    for name, (default, about) in _TEXTS.items():
        group.addoption(f"--whybox-{name}", default=None, help=f"{about} (ini: whybox_{name}, default {default})")
        parser.addini(f"whybox_{name}", about, default=default)
    parser.addini("whybox_cache", "take answers of earlier runs of the tests", type="bool", default=False)
    parser.addini("whybox_files", "suites of `whybox why --test-out` that are collected", type="args", default=[])


def of_config(config: pytest.Config) -> Settings:
    """UsageError of pytest for a value that none of the options takes."""
    said = {name: config.getoption(f"whybox_{name}") or config.getini(f"whybox_{name}") for name in _TEXTS}
    return _checked(Settings(cache=bool(config.getini("whybox_cache"))), said)


def of_item(item: pytest.Item) -> Settings:
    """The settings of one test: those of the run, then its markers, the outermost first. Paths are from its file."""
    found = of_config(item.config)
    for mark in reversed(list(item.iter_markers("whybox"))):
        unknown = sorted(set(mark.kwargs) - {*_TEXTS, "prompt"})
        if unknown or mark.args:
            raise pytest.UsageError(f"{item.nodeid}: expected {MARKER.split(':')[0]}, found {unknown or mark.args}")
        given = dict(mark.kwargs)
        prompt = given.pop("prompt", None)
        found = _checked(found, given)
        if prompt is not None:
            found = replace(found, prompt=item.path.parent / prompt)
    return found


def _checked(base: Settings, said: dict[str, Any]) -> Settings:
    numbers: dict[str, Any] = {name: _number(name, said[name]) for name in ("seed", "budget") if name in said}
    _known("inconclusive", said.get("inconclusive", base.inconclusive), get_args(Inconclusive))
    _known("lang", said.get("lang", base.lang), ("en", "zh"))
    return replace(base, **(said | numbers))


def _number(name: str, said: object) -> int:
    try:
        return int(str(said))
    except ValueError:
        raise pytest.UsageError(f"whybox_{name}: expected a whole number, found {said!r}") from None


def _known(name: str, said: object, known: tuple[str, ...]) -> None:
    if said not in known:
        raise pytest.UsageError(f"whybox_{name}: expected {', '.join(known)}, found {said!r}")
