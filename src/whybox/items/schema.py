"""The shape of a case file: strict pydantic models, unknown keys refused with the nearest known one.

`schema` knows which fields exist; what they must mean together is checked in `meaning`.
"""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from whybox.errors import meant
from whybox.items.instance import By, Kind, Role


def _as_written(value: object) -> object:
    """Numbers of a Python or JSON case as text; a boolean stays one, and is refused."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_as_written), Field(max_length=1 << 20)]
Answer = Annotated[Text, Field(min_length=1, max_length=4096)]
Name = Annotated[str, Field(pattern=r"^[^\W\d][\w.-]*$", max_length=64)]
Slot = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
Values = Annotated[list[Answer], BeforeValidator(_as_list), Field(min_length=1, max_length=256)]


class Strict(BaseModel):
    """A frozen model that names the nearest known key when it meets an unknown one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_keys_only(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = list(cls.model_fields)
        for key in data:
            if key not in known:
                raise PydanticCustomError(
                    "unknown_key",
                    "one of {known}, found '{key}'{meant}",
                    {"known": ", ".join(known), "key": str(key), "meant": meant(key, known)},
                )
        return data


class PartText(Strict):
    """A named piece of a message or of a raw prompt."""

    name: Name
    text: Text


class MessageText(Strict):
    """One message: `parts`, or `text` for a single part named after its role."""

    role: Role
    parts: Annotated[list[PartText], Field(min_length=1, max_length=512)] | None = None
    text: Text | None = None


class MatchText(Strict):
    """How an answer is matched in place of its kind; one of them. pattern: a regular expression that is found in it.
    json_schema: JSON Schema, as JSON text, that its first JSON value follows. overlap: least F1 of the words that it
    shares with the right answer.
    """

    pattern: Text | None = None
    json_schema: Text | None = None
    overlap: Annotated[float, Field(gt=0, le=1)] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "MatchText":
        if sum(way is not None for way in (self.pattern, self.json_schema, self.overlap)) != 1:
            raise ValueError("exactly one of pattern, json_schema, overlap")
        return self


class AnswerText(Strict):
    """What is right, what is wrong, and how the two are told apart. `options`: label → text, for `choice`.

    by: how an option is chosen: by the text that is written, or by the most probable label.
    """

    right: Answer
    wrong: Answer | None = None
    kind: Kind
    options: dict[str, Answer] | None = None
    by: By = "text"
    match: MatchText | None = None
    got: Text | None = None


class DecodingText(Strict):
    """Decoding settings under which the answer was observed; greedy where `temperature` is not stated."""

    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    banned: list[Answer] | None = None


class ContractText(Strict):
    """The form that the answer is held to. `prefix` is literal text (no slots) with which a legal answer begins."""

    prefix: Answer


class ObservedText(Strict):
    """How `answer.got` came about, as far as it is known: what is stated is compared with the run here.

    weights: sha256 of the file, or its first eight digits at least. ids: those that were sent. stop: ids that end an
    answer. Sampling settings stand in `decoding`.
    """

    weights: Annotated[str, Field(pattern=r"^[0-9a-f]{8,64}$")] | None = None
    ids: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=1 << 20)] | None = None
    stop: list[Annotated[int, Field(ge=0)]] | None = None
    precision: Text | None = None
    engine: Text | None = None


class CaseText(Strict):
    """A whole case file, as docs/case.md describes it."""

    id: Annotated[str, Field(pattern=r"^[\w][\w.-]*$", max_length=128)]
    prompt: Annotated[list[MessageText], Field(min_length=1, max_length=512)] | None = None
    text: Text | Annotated[list[PartText], Field(min_length=1, max_length=512)] | None = None
    join: Annotated[str, Field(max_length=64)] = "\n"
    vary: Annotated[dict[Slot, Values], Field(max_length=16)] = Field(default_factory=dict)
    answer: AnswerText
    evidence: Annotated[list[Name], BeforeValidator(_as_list)] = Field(default_factory=list)
    decoding: DecodingText = Field(default_factory=DecodingText)
    contract: ContractText | None = None
    observed: ObservedText | None = None
