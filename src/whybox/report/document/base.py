"""What every machine document is made of: frozen parts, a schema, the model, tokens."""

from math import isfinite
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from whybox.version import __version__

Lang = Literal["en", "zh"]
Interval = tuple[float, float]


class Part(BaseModel):
    """A frozen piece of a document. A field `x` is null (a list: empty) exactly when a sibling `x_reason` says why."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, populate_by_name=True)

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> "Part":
        values = dict(self)
        for reason in (name for name in values if name.endswith("_reason")):
            name = reason.removesuffix("_reason")
            if (values[name] in (None, ())) != bool(values[reason]):
                raise ValueError(f"{name} must be null or empty exactly when {reason} says why")
        return self


def obtained(reason: str, **numbers: Any) -> dict[str, Any]:
    """Fields of numbers, each with its sibling: the reason beside those that are None, NaN or infinite."""
    known = {name: None if isinstance(n, float) and not isfinite(n) else n for name, n in numbers.items()}
    return known | {f"{name}_reason": reason if number is None else None for name, number in known.items()}


class SchemaId(Part):
    name: str
    version: int


class ModelInfo(Part):
    """Which weights computed the numbers, and how. `kernel` names the arithmetic that ran."""

    name: str
    family: str
    digest: str
    engine: str
    precision: str
    kernel: str


class Document(Part):
    """What every machine document carries. `lang` is the language of the sentences written into it."""

    NAME: ClassVar[str]
    VERSION: ClassVar[int] = 1

    schema_: SchemaId = Field(alias="schema")
    whybox: str = __version__
    lang: Lang = "en"
    model: ModelInfo
    seed: int
    took_s: float = Field(ge=0)

    @classmethod
    def identity(cls) -> SchemaId:
        """Name and version of this document's schema."""
        return SchemaId(name=cls.NAME, version=cls.VERSION)

    @model_validator(mode="before")
    @classmethod
    def _own_schema(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {"schema": cls.identity()} | data

    @model_validator(mode="after")
    def _is_this_schema(self) -> "Document":
        found = (self.schema_.name, self.schema_.version)
        if found != (self.NAME, self.VERSION):
            raise ValueError(f"expected schema {self.NAME} version {self.VERSION}, found {found[0]} version {found[1]}")
        return self


class TokenRow(Part):
    """One token. `text` is the text of its character span; bytes (hex) and id are the truth.

    part, of: token `part` of the `of` tokens that share its first character (1 of 1: whole characters).
    span: characters [start, end) of the prompt's text.
    """

    id: int
    text: str
    bytes: str
    part: int = Field(1, ge=1)
    of: int = Field(1, ge=1)
    span: tuple[int, int]
