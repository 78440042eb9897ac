"""A model as the options name it, and a prompt as the command line gives it."""

import sys

from whybox.cli.options import EngineName, Run
from whybox.cli.telling import progress_for
from whybox.errors import PromptError
from whybox.model import Model, open_model
from whybox.text.prompt import Prompt


def opened(
    name: str,
    engine: EngineName,
    precision: str,
    device: str,
    accept_keys: list[str] | None,
    allow_long: bool,
    quiet: bool,
) -> Model:
    """The model; downloads are told on stderr unless quiet."""
    keys = tuple(accept_keys or ())
    return open_model(name, engine.value, precision, keys, allow_long, progress_for(quiet), device)


def model_of(run: Run) -> Model:
    """The model that the options name."""
    return opened(run.model, run.engine, run.precision, run.device, run.accept_key, run.allow_long, run.quiet)


def prompt_of(model: Model, text: str, chat: bool) -> Prompt:
    """PROMPT as raw text, or as one user message through the template; `-` reads standard input."""
    text = _standard_input() if text == "-" else text
    return model.prompt([{"role": "user", "content": text}] if chat else text)


def _standard_input() -> str:
    if sys.stdin is None:
        raise PromptError("standard input is closed", "pipe a text into it, or give the text itself")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PromptError(
            f"standard input is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        ) from None
