"""The options that verbs share, each defined once: `def verb(model: Model = DEFAULT_MODEL, json: Json = False)`."""

import locale
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

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
