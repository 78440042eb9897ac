"""The documents of the explorer: a state that can be shared, and what its changes do to the next token.

A state is everything that a page of the explorer shows, as data: the prompt, and a list of changes. The server keeps
none of it: every request carries its own, so that pages and users cannot be mixed up.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from whybox.report.document.base import Document, Part
from whybox.report.document.why import PromptToken

MOST_PARTS = 256
MOST_CHANGES = 64

Name = Annotated[str, Field(min_length=1, max_length=120)]
Place = Annotated[int, Field(ge=0)]


class PartText(Part):
    """A named piece of the prompt."""

    name: Name
    text: str


class RawPrompt(Part):
    """Text without a template: its parts, joined by line breaks."""

    kind: Literal["text"] = "text"
    parts: tuple[PartText, ...] = Field(max_length=MOST_PARTS)


class Turn(Part):
    """A message of a conversation."""

    role: Name
    parts: tuple[PartText, ...] = Field(max_length=MOST_PARTS)


class ChatPrompt(Part):
    """Messages that go through the model's own template."""

    kind: Literal["chat"] = "chat"
    messages: tuple[Turn, ...] = Field(max_length=MOST_PARTS)


class Switched(Part):
    """A change can be off, and stay in the list."""

    on: bool = True


class HeadGone(Switched):
    """A head writes nothing."""

    kind: Literal["head"] = "head"
    layer: Place
    head: Place


class MlpGone(Switched):
    """An MLP writes nothing."""

    kind: Literal["mlp"] = "mlp"
    layer: Place


class EdgeCut(Switched):
    """A query no longer sees a key, in every layer and head or in one.

    query null: the deciding row, and what is written on.
    """

    kind: Literal["edge"] = "edge"
    query: Place | None = None
    key: Place
    layer: Place | None = None
    head: Place | None = None


class SegmentCut(Switched):
    """A segment is no longer seen: by the deciding row and what is written on, or by every token behind it."""

    kind: Literal["cut"] = "cut"
    segment: Name
    by: Literal["decision", "all"] = "decision"


class SegmentBoosted(Switched):
    """The deciding row's strongest key of a segment is lifted to its strongest key, in every head."""

    kind: Literal["boost"] = "boost"
    segment: Name


class PartDropped(Switched):
    """A part of the prompt is left out."""

    kind: Literal["drop"] = "drop"
    segment: Name


class PartReworded(Switched):
    """A part of the prompt has another text."""

    kind: Literal["reword"] = "reword"
    segment: Name
    text: str


TextChange = PartDropped | PartReworded
RunChange = HeadGone | MlpGone | EdgeCut | SegmentCut | SegmentBoosted
AnyChange = Annotated[TextChange | RunChange, Field(discriminator="kind")]
AnyPrompt = Annotated[RawPrompt | ChatPrompt, Field(discriminator="kind")]


class OtherPrompt(Part):
    """Beside the prompt stands another one."""

    kind: Literal["prompt"] = "prompt"
    prompt: AnyPrompt


class OtherModel(Part):
    """Beside the model stands another one, by the name that the server was given."""

    kind: Literal["model"] = "model"
    name: Name


AnyOther = Annotated[OtherPrompt | OtherModel, Field(discriminator="kind")]


class State(Part):
    """What a page of the explorer shows. model: which one it was made with; another one may open it.

    other: what stands beside it, without the changes. States of version 1 know no such thing, and are read as well.
    """

    version: Literal[2] = 2
    model: str = ""
    prompt: AnyPrompt
    changes: tuple[AnyChange, ...] = Field(default=(), max_length=MOST_CHANGES)
    other: AnyOther | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_version_1(cls, data: Any) -> Any:
        old = isinstance(data, dict) and data.get("version") == 1 and "other" not in data
        return data | {"version": 2} if old else data


class ReadToken(PromptToken):
    """A token and the segment that owns it, by its place in the list. shown: its text with every character visible."""

    shown: str


class ReadSegment(Part):
    """Tokens start … end under one name. part: whether it is a part that the prompt names, and changes may."""

    name: str
    kind: str
    letter: str
    start: int
    end: int
    part: bool


class ReadPrompt(Part):
    """A prompt as the model gets it."""

    text: str
    tokens: tuple[ReadToken, ...]
    segments: tuple[ReadSegment, ...]
    context: int
    notes: tuple[str, ...] = ()


class Beside(Part):
    """A possible next token, without the changes and with them; with none, `then` is null."""

    id: int
    text: str
    base: float = Field(ge=0, le=1)
    then: float | None = Field(None, ge=0, le=1)


class ChangeEffect(Part):
    """What one change does alone. kl: KL(base‖changed) of the next token, nats. top: the most probable one then.

    nothing: it changed no value of the run.
    """

    kl: float | None
    kl_reason: str = ""
    top: str = ""
    nothing: bool = False


class Question(Part):
    """What is asked about a state: its right answer, the wrong one if there is one, the parts that state the right."""

    right: Name
    wrong: str = ""
    evidence: tuple[Name, ...] = ()


class LensLayer(Part):
    """After one layer, if it were the last: the most probable token, and first id − second id in logits."""

    layer: int
    top: str
    ld: float


class Lens(Part):
    """The deciding row by layer, as it is and with the changes that are on (null where none is, or cannot be made)."""

    first: str
    second: str
    base: tuple[LensLayer, ...]
    then: tuple[LensLayer, ...] | None
    then_reason: str = ""


class ExploreDocument(Document):
    """The next token of a prompt, without the changes and with them.

    kl: of all changes that are on, together. floor: what KL moves when nothing is changed, once it has been measured.
    effects: of every change, on or off, alone.
    """

    NAME: ClassVar[str] = "whybox.explore"

    state: State
    next: tuple[Beside, ...]
    kl: float | None
    kl_reason: str = ""
    floor: float | None
    floor_reason: str = ""
    effects: tuple[ChangeEffect, ...] = ()
