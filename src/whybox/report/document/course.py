"""The documents of `whybox learn`: the outline, a chapter as far as it is open, an exercise graded, a recital heard.

A right answer stands in none of them before the learner's own is stored.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whybox.report.document.base import Document, Part

Kind = Literal["numbers", "one", "some", "order", "match", "code", "file"]
Angle = Literal["mathematics", "principle", "source", "practice"]
Done = Literal["new", "begun", "done"]


class ChapterRow(Part):
    """A line of the outline. where: sections of the documents. angles: the ways in which it looks at its idea."""

    id: str
    title: str
    where: tuple[str, ...]
    angles: tuple[Angle, ...]
    predicted: int = Field(ge=0)
    predictions: int = Field(ge=1)
    passed: int = Field(ge=0)
    exercises: int = Field(ge=1)
    recited: int = Field(ge=0)
    stations: int = Field(ge=1)
    done: Done


class StatementRow(Part):
    """Something that the learner can do once its exercises are passed. exercises: `L4.softmax`."""

    say: str
    exercises: tuple[str, ...]
    passed: int = Field(ge=0)
    ticked: bool


class UseRow(Part):
    """What the course is good for, and the verb that does it."""

    say: str
    verb: str


class OutcomeRow(Part):
    """What one can do afterwards, and the chapter that leads there."""

    say: str
    chapter: str


class CourseDocument(Document):
    """`whybox learn`. kept: the file in which progress is kept."""

    NAME: ClassVar[str] = "whybox.course"

    needs: tuple[str, ...]
    uses: tuple[UseRow, ...]
    outcomes: tuple[OutcomeRow, ...]
    chapters: tuple[ChapterRow, ...]
    statements: tuple[StatementRow, ...]
    kept: str


class OptionRow(Part):
    """Something to choose, or something that gets one of the options."""

    id: str
    say: str


class FieldRow(Part):
    """A number that is asked for. decimals: how exactly; null where it is only compared."""

    say: str
    decimals: int | None = Field(None, ge=0)


class QuestionRow(Part):
    """What is asked. fields: of `numbers`. options: of choices. items: of `match`, each of which gets an option.

    starter: what the learner begins with. format: of what is handed in (`python`, `yaml`, `text`).
    """

    id: str
    kind: Kind
    ask: tuple[str, ...]
    fields: tuple[FieldRow, ...] = ()
    options: tuple[OptionRow, ...] = ()
    items: tuple[OptionRow, ...] = ()
    starter: str = ""
    format: Literal["", "python", "yaml", "text"] = ""


class AnswerRow(Part):
    """What was said, beside what is right. right: empty as long as it is not told. holds: null where only compared."""

    say: str
    said: str
    right: str = ""
    holds: bool | None = None


class PredictionRow(Part):
    """stored: whether the learner's prediction is kept. said: as it is kept: numbers as written, ids of options.

    not_stored: what was predicted with this document, where an earlier prediction stands. compared, after: once every
    prediction of the chapter is stored.
    """

    question: QuestionRow
    stored: bool
    said: tuple[str, ...] = ()
    not_stored: tuple[str, ...] = ()
    compared: tuple[AnswerRow, ...] = ()
    after: tuple[str, ...] = ()


class WordsBlock(Part):
    kind: Literal["words"] = "words"
    paragraphs: tuple[str, ...]


class TableBlock(Part):
    """Cells as they are written."""

    kind: Literal["table"] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class GridBlock(Part):
    """A matrix, shaded by value. values: null where there is none (masked). cells: as they are written."""

    kind: Literal["grid"] = "grid"
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    cells: tuple[tuple[str, ...], ...]


class SourceBlock(Part):
    """The very code that computed it. file: from the package on; line: of its first line."""

    kind: Literal["source"] = "source"
    caption: str
    name: str
    file: str
    line: int = Field(ge=1)
    text: str


ShownBlock = Annotated[WordsBlock | TableBlock | GridBlock | SourceBlock, Field(discriminator="kind")]


class RemarkRow(Part):
    """One thing that a hidden test found."""

    holds: bool
    say: str


class CodeLine(Part):
    """A line of the learner's own, through which an error came."""

    number: int = Field(ge=1)
    text: str


class Graded(Part):
    """What became of an answer. after: said once it is passed. lines, printed, walls: of code.

    walls: what kept the code where it belongs: limits, audit, landlock, seccomp. seed: of the hidden tests' draws.
    """

    passed: bool
    rows: tuple[AnswerRow, ...] = ()
    remarks: tuple[RemarkRow, ...] = ()
    lines: tuple[CodeLine, ...] = ()
    printed: str = ""
    walls: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    seed: int | None = None


class ExerciseRow(Part):
    """attempts: so far. graded: where an answer came with this document. after: once it is passed."""

    question: QuestionRow
    passed: bool
    attempts: int = Field(ge=0)
    graded: Graded | None = None
    after: tuple[str, ...] = ()


class RecitalRow(Part):
    """stations: how many points there are; which ones is not told before. best: the most that were found so far."""

    ask: tuple[str, ...]
    minutes: float = Field(gt=0)
    ordered: bool
    stations: int = Field(ge=2)
    best: int = Field(ge=0)


class ChapterDocument(Document):
    """`whybox learn L4`. waiting: ids of predictions that are still to be made; nothing is shown before."""

    NAME: ClassVar[str] = "whybox.chapter"

    id: str
    title: str
    where: tuple[str, ...]
    claims: tuple[str, ...]
    opening: tuple[str, ...]
    predict: tuple[PredictionRow, ...]
    waiting: tuple[str, ...]
    shown: tuple[ShownBlock, ...] = ()
    shown_reason: str | None = None
    exercises: tuple[ExerciseRow, ...]
    recital: RecitalRow


class GradedDocument(Document):
    """One exercise, graded. attempts: null where progress could not be kept; the reason says why."""

    NAME: ClassVar[str] = "whybox.graded"

    chapter: str
    exercise: str
    kind: Kind
    attempts: int | None = Field(ge=1)
    attempts_reason: str | None = None
    graded: Graded


class StationRow(Part):
    """A point of the recital. in_order: null where the order does not count, or it was not found."""

    id: str
    say: str
    found: bool
    in_order: bool | None = None


class RecitedDocument(Document):
    """A recital against its list of stations: a checklist with a timer, and no judgement of understanding.

    remarks: where it is no recital: the list's own words, or hardly more than a list of words.
    """

    NAME: ClassVar[str] = "whybox.recited"

    chapter: str
    stations: tuple[StationRow, ...]
    found: int = Field(ge=0)
    missing: tuple[str, ...]
    out_of_order: tuple[str, ...]
    remarks: tuple[str, ...] = ()
    seconds: float | None = Field(None, ge=0)
    seconds_reason: str | None = None
    minutes: float = Field(gt=0)
    note: str
