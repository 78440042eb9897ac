"""A chapter as data: what it asks, what it then shows, what it grades, what is to be recited. Words only, no numbers.

Each chapter is `chapters/lNN.yaml`. Its sentences have blanks, which are filled by what was computed: figures of
`whybox.learn.figures`, and what `chapters/lNN.py` computes besides (`whybox.learn.course.computed`).
"""

import re
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from whybox.errors import FormatError
from whybox.learn.ledger import Said, blanks

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Figure = Annotated[str, Field(pattern=r"^[a-z0-9_]+\.[a-z0-9_]+$")]
Source = Annotated[str, Field(pattern=r"^whybox(\.[a-z_0-9]+)+\.[A-Za-z_]\w*$")]


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Computed(Strict):
    """A computed number in a sentence. take: which of several. spec: how it is written, as in a format string."""

    figure: Figure
    take: int | None = Field(None, ge=0)
    spec: str = ".3g"


def _computed(given: object) -> object:
    """`cache.llama_2_70b`, `worked.row_3[2]` and `worked.row_3[2]:.2f` are short for the whole form."""
    if not isinstance(given, str):
        return given
    found = re.fullmatch(r"([\w.]+?)(?:\[(\d+)\])?(?::(.+))?", given)
    if found is None:
        raise ValueError(f"expected figure, figure[place] or figure[place]:format, found {given!r}")
    figure, take, spec = found.groups()
    return {"figure": figure, "take": take and int(take)} | ({"spec": spec} if spec else {})


Filled = Annotated[Computed, BeforeValidator(_computed)]
Fills = dict[Name, Filled]


class Told(Strict):
    """Paragraphs with blanks, in both languages; a blank line parts paragraphs, `code` is set off."""

    say: Said
    fills: Fills = Field(default_factory=dict)

    @model_validator(mode="after")
    def _every_blank_is_filled(self) -> "Told":
        for lang in ("en", "zh"):
            if (told := blanks(self.say.of(lang))) != set(self.fills):
                raise ValueError(f"{lang}: blanks {sorted(told)} of the sentences, fills {sorted(self.fills)}")
        return self


class NumberField(Strict):
    """One number that is asked for. decimals: how exactly it must be; None where it is only compared."""

    say: Said
    figure: Filled
    decimals: int | None = Field(None, ge=0)


class Option(Strict):
    """Something to choose."""

    id: Name
    say: Said


class Question(Strict):
    """What every question has. after: said once it was answered."""

    id: Name
    ask: Said
    after: Told | None = None


class Numbers(Question):
    """Numbers to be worked out, or guessed."""

    kind: Literal["numbers"]
    fields: tuple[NumberField, ...] = Field(min_length=1)


class Chosen(Question):
    """Options. one: exactly one is right; some: every right one; order: all of them, in the right order.

    right: among the chapter's `answers`, which computes the ids of what is right.
    pass_with: how many of the options may be judged right for a pass, for `some`; all where it is None.
    """

    kind: Literal["one", "some", "order"]
    options: tuple[Option, ...] = Field(min_length=2)
    right: Name
    pass_with: int | None = Field(None, ge=1)


class Matched(Question):
    """Every item gets one of the options: classes of heads, sites of source lines. right: one id an item."""

    kind: Literal["match"]
    items: tuple[Option, ...] = Field(min_length=2)
    options: tuple[Option, ...] = Field(min_length=2)
    right: Name
    pass_with: int | None = Field(None, ge=1)


class Code(Question):
    """Python to be written. starter: what the learner begins with; task: among the chapter's `tasks`."""

    kind: Literal["code"]
    starter: str
    task: Name


class Handed(Question):
    """A file to be written that is no program, such as a case or a suite. judge: among the chapter's `judges`."""

    kind: Literal["file"]
    format: Literal["yaml", "text"]
    starter: str
    judge: Name


Prediction = Annotated[Numbers | Chosen | Matched, Field(discriminator="kind")]
Exercise = Annotated[Numbers | Chosen | Matched | Code | Handed, Field(discriminator="kind")]


class Words(Told):
    """Sentences among what is shown."""

    kind: Literal["words"] = "words"


class TableShown(Strict):
    """rows: among the chapter's `tables`; a cell is a number or text. specs: how a column's numbers are written."""

    kind: Literal["table"]
    caption: Said
    columns: tuple[Said, ...] = Field(min_length=1)
    rows: Name
    specs: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _one_spec_a_column(self) -> "TableShown":
        if self.specs is not None and len(self.specs) != len(self.columns):
            raise ValueError(f"{len(self.columns)} columns, {len(self.specs)} specs")
        return self


class GridShown(Strict):
    """A matrix with labels, shaded by value. grid: among the chapter's `grids`."""

    kind: Literal["grid"]
    caption: Said
    grid: Name
    spec: str = ".2f"


class SourceShown(Strict):
    """The very code that computed it: a function or class of whybox by its full name."""

    kind: Literal["source"]
    caption: Said
    of: Source


Shown = Annotated[Words | TableShown | GridShown | SourceShown, Field(discriminator="kind")]


class Station(Strict):
    """A point of a recital. heard: regular expressions, any of which says that it was told; case does not matter."""

    id: Name
    say: Said
    heard: dict[Literal["en", "zh"], tuple[str, ...]]

    @model_validator(mode="after")
    def _both_languages(self) -> "Station":
        if set(self.heard) != {"en", "zh"} or not all(self.heard.values()):
            raise ValueError("expected expressions in en and in zh")
        for expression in (*self.heard["en"], *self.heard["zh"]):
            re.compile(expression)
        return self


class Recital(Strict):
    """What to tell without notes. ordered: whether the order of the stations counts."""

    minutes: float = Field(gt=0)
    ask: Said
    ordered: bool = False
    stations: tuple[Station, ...] = Field(min_length=2)


class Chapter(Strict):
    """One idea. where: sections of the documents; claims: ids in the ledger that it corrects or confirms."""

    id: str = Field(pattern=r"^L([1-9]|1[0-5])$")
    title: Said
    where: tuple[str, ...] = Field(min_length=1)
    claims: tuple[str, ...] = ()
    opening: Said
    predict: tuple[Prediction, ...] = Field(min_length=1)
    shown: tuple[Shown, ...] = Field(min_length=1)
    exercises: tuple[Exercise, ...] = Field(min_length=1)
    recite: Recital

    @model_validator(mode="after")
    def _ids_once(self) -> "Chapter":
        ids = [question.id for question in (*self.predict, *self.exercises)]
        if len(ids) != len(set(ids)):
            raise ValueError(f"every question has an id of its own, found {ids}")
        return self

    @property
    def module(self) -> str:
        """The name of its two files: l04."""
        return f"l{int(self.id[1:]):02d}"


def read(text: str, source: str) -> Chapter:
    """A chapter's words. FormatError names the field, what was expected and what was found."""
    try:
        given = yaml.load(text, Loader=yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)
    except yaml.YAMLError as problem:
        raise FormatError(source, "the whole file", "YAML", " ".join(str(problem).split())) from problem
    return _chapter(given, source)


def _chapter(given: Any, source: str) -> Chapter:
    try:
        return Chapter.model_validate(given)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole file"
        raise FormatError(
            source, field, first["msg"].removeprefix("Value error, "), f"{first['input']!r:.80}"
        ) from problem
