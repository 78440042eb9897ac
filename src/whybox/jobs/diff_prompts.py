"""The texts of a comparison from a file: lines, or the failed items of a run."""

import json
from pathlib import Path

from whybox.compare.prompts import Text
from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.jobs.run import RUN, kept_failures
from whybox.model import Model
from whybox.targets.target import Raw, prompt_of


def texts_of(path: Path, model: Model | None) -> tuple[Text, ...]:
    """One text a line; of the folder of a run, or of its run.sqlite, the prompts of its failed items.

    model: ours, None where both sides are endpoints. UsageError for a file that holds none.
    """
    if path.is_dir() or path.name == RUN:
        return _failed(path if path.is_dir() else path.parent, model)
    try:
        lines = [line for line in path.read_text("utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "a text file in UTF-8, one prompt a line") from None
    if not lines:
        raise UsageError(f"{path} holds no prompt", "one prompt a line")
    return tuple(Text(f"line {n}", _ids(model, line), line) for n, line in enumerate(lines, 1))


def _failed(folder: Path, model: Model | None) -> tuple[Text, ...]:
    cases = [Case.from_data(json.loads(line), str(folder)) for line in kept_failures(folder).splitlines()]
    if not cases:
        raise UsageError(f"no item failed in {folder}", "leave --prompts out, or name another run")
    return tuple(_text(case, model) for case in cases)


def _text(case: Case, model: Model | None) -> Text:
    """A case as it was sent: raw text, or a conversation that each side puts through its template."""
    prompt = prompt_of(case.filled())
    ids = () if model is None else tuple(model.prompt(case).ids)
    return Text(case.id, ids, prompt.text) if isinstance(prompt, Raw) else Text(case.id, ids, None, prompt)


def _ids(model: Model | None, text: str) -> tuple[int, ...]:
    return () if model is None else tuple(model.prompt(text).ids)
