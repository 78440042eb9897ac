"""The options that verbs share, each defined once.

A verb that runs a model takes all of them together:

    @with_shared
    def verb(prompt: Text, top: Top = 10, *, shared: Shared) -> None: ...

Others name those that they need: `def verb(json: Json = False)`. Options of a verb that belong together are a group in
the same way, a dataclass like Shared.
"""

import locale
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

DEFAULT_MODEL = "smollm2"
DEFAULT_PRECISION = "fp32"


class Lang(StrEnum):
    """The languages of reports."""

    en = "en"
    zh = "zh"


class EngineName(StrEnum):
    """Which engine runs the model; `auto` takes the fastest that is there."""

    auto = "auto"
    numpy = "numpy"
    torch = "torch"


Model = Annotated[
    str, typer.Option("-m", "--model", metavar="MODEL", help="Alias, .gguf file, safetensors folder or hf:org/name.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, and nothing else there.")]
Out = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="FILE", help="Write the result; its suffix picks the format.")
]
Language = Annotated[
    Lang | None, typer.Option("--lang", help="Language of the report (from the locale).", show_default=False)
]
Engine = Annotated[
    EngineName,
    typer.Option("--engine", envvar="WHYBOX_ENGINE", help="Which engine runs the model (auto: torch if there)."),
]
Precision = Annotated[
    str,
    typer.Option("--precision", metavar="fp32|bf16|…", help="fp32, fp64; with torch also bf16, int8, fp16 (GPU only)."),
]
Device = Annotated[str, typer.Option("--device", metavar="auto|cpu|cuda", help="Where the torch engine computes.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Processor threads (all of them).", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random draw.")]
Chat = Annotated[bool, typer.Option("--chat/--raw", help="Put a plain PROMPT through the chat template, or not.")]
AllowLong = Annotated[bool, typer.Option("--allow-long", help="Go beyond the context that the model was trained for.")]
AcceptKey = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-key", metavar="KEY", help="Go on although this config key is not obeyed.", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", envvar="WHYBOX_QUIET", help="No progress and no notes on stderr.")]


def language(asked: Lang | None) -> Literal["en", "zh"]:
    """The language asked for, else that of the locale, else English."""
    if asked is not None:
        return asked.value
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), None)
    return "zh" if (named or locale.getlocale()[0] or "").lower().startswith(("zh", "chinese")) else "en"


TYPED = "typed"
"""The field of a group that is no option: the names of those that stood on the command line."""


@dataclass(frozen=True)
class Run:
    """Which model, and how it is run."""

    model: Model = DEFAULT_MODEL
    allow_long: AllowLong = False
    accept_key: AcceptKey = None
    engine: Engine = EngineName.auto
    precision: Precision = DEFAULT_PRECISION
    device: Device = "auto"
    threads: Threads = None
    quiet: Quiet = False


@dataclass(frozen=True)
class Shared(Run):
    """What every verb that runs a model can be told: which model, run how, and where the result goes.

    typed: the options that were given, for verbs that read a file which may say the same.
    """

    seed: Seed = 0
    lang: Language = None
    out: Out = None
    json: Json = False
    typed: frozenset[str] = frozenset()

    @property
    def language(self) -> Literal["en", "zh"]:
        return language(self.lang)


@dataclass(frozen=True)
class Delivered:
    """Where the result goes."""

    lang: Language = None
    out: Out = None
    json: Json = False
    quiet: Quiet = False


def with_shared(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as typer reads it: in place of a parameter that is a group, such as `shared`, every field of it is an
    option, with the group's defaults.
    """
    own = signature(verb)
    groups: dict[str, Any] = {n: each.annotation for n, each in own.parameters.items() if is_dataclass(each.annotation)}
    options = [option for each in own.parameters.values() for option in _options(each)]
    invocation = Parameter("invocation", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [*options, invocation]

    @wraps(verb)
    def told(**given: Any) -> None:
        source = given.pop("invocation").get_parameter_source
        typed = frozenset(each.name for each in options if (found := source(each.name)) and found.name == "COMMANDLINE")
        made = {name: _made(group, given, typed) for name, group in groups.items()}
        verb(**given, **made)

    told.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    told.__annotations__ = {each.name: each.annotation for each in parameters}
    return told


def _made(group: Any, given: dict[str, Any], typed: frozenset[str]) -> Any:
    """A group of the options that were given, which it takes; `typed`, where it has such a field."""
    taken = {each.name: typed if each.name == TYPED else given.pop(each.name) for each in fields(group)}
    return group(**taken)


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """A parameter by name; of a group every field."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    for each in (field for field in fields(parameter.annotation) if field.name != TYPED):
        yield Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=each.type)
