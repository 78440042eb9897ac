"""The front page of the course as data: what to bring, what it is good for, eight statements that exercises tick."""

from functools import cache
from importlib.resources import files
from typing import Annotated

import yaml
from pydantic import Field

from whybox.learn.course.chapter import Strict
from whybox.learn.ledger import Said

FILE = "statements.yaml"
Named = Annotated[str, Field(pattern=r"^L([1-9]|1[0-5])\.[a-z][a-z0-9_]*$")]


class Use(Strict):
    verb: str
    say: Said


class Outcome(Strict):
    chapter: str
    say: Said


class Statement(Strict):
    """Ticked once every exercise that it names is passed; never where it names none."""

    say: Said
    exercises: tuple[Named, ...]


class Front(Strict):
    """The whole page."""

    needs: tuple[Said, ...]
    uses: tuple[Use, ...]
    outcomes: tuple[Outcome, ...]
    statements: tuple[Statement, ...]


@cache
def front() -> Front:
    """As it comes with whybox."""
    return Front.model_validate(yaml.safe_load((files("whybox.learn.course") / FILE).read_text(encoding="utf-8")))
