"""The ledger of claims: what the documents say, what is right, and the numbers that decide between them, as data.

`claims.yaml` holds no right value in its sentences: they have blanks, which are filled by what was computed.
"""

import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from whybox.errors import FormatError, UsageError
from whybox.learn.printed import Printed, several

Lang = Literal["en", "zh"]
Status = Literal["right", "imprecise", "wrong"]
Why = Literal["torch", "long", "published"]
FILE = "claims.yaml"
WITHIN = {"nll": 0.005, "ld": 0.02, "share": 0.01}
"""How far a figure of a real model may be from what was recorded: nats, logits, part of 1."""


def _numbers(given: object) -> tuple[Printed, ...]:
    if not isinstance(given, str):
        raise ValueError(f"numbers are written as quoted text, found {given!r}")
    return several(given)


Numbers = Annotated[tuple[Printed, ...], BeforeValidator(_numbers)]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Said(_Strict):
    """A sentence, written in both languages."""

    en: str = Field(min_length=1)
    zh: str = Field(min_length=1)

    def of(self, lang: Lang) -> str:
        return self.zh if lang == "zh" else self.en


class Rest(_Strict):
    """A number, or several, on which a claim rests.

    figure: what computes it (`whybox.learn.figures`), take: which of several numbers; or once: why it was measured once
    and is not computed here.
    expected: as recorded, which a computed number must equal to half of the last digit, or `within` some distance.
    between: for numbers that are rounding noise, or drawn. stated: what the document prints in its place.
    """

    figure: str | None = None
    take: int | None = Field(None, ge=0)
    once: Why | None = None
    expected: Numbers = ()
    within: float | Literal["nll", "ld", "share"] | None = None
    between: tuple[float, float] | None = None
    stated: Numbers = ()

    @model_validator(mode="after")
    def _whole(self) -> "Rest":
        if (self.figure is None) == (self.once is None):
            raise ValueError("expected either a figure that computes it, or once: a reason")
        if bool(self.expected) == (self.between is not None):
            raise ValueError("expected either expected numbers, or between: [low, high]")
        if self.once is not None and not self.expected:
            raise ValueError("a number measured once is written down: expected is missing")
        if self.stated and self.expected and len(self.stated) != len(self.expected):
            raise ValueError(f"{len(self.stated)} stated numbers beside {len(self.expected)} expected")
        return self

    def bounds(self, index: int) -> tuple[float, float]:
        """Between which the number of that place must lie."""
        if self.between is not None:
            return self.between
        here = self.expected[index]
        if self.within is None:
            return here.bounds
        wide = WITHIN[self.within] if isinstance(self.within, str) else self.within
        return here.value - wide, here.value + wide


class Claim(_Strict):
    """One thing that the documents say. where: sections. erratum: known before anything was recomputed."""

    id: str = Field(pattern=r"^C[1-9]\d*$")
    where: tuple[str, ...] = Field(min_length=1)
    status: Status
    erratum: bool = False
    stated: Said
    right: Said
    why: Said
    rests: dict[str, Rest] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _every_number_is_told(self) -> "Claim":
        for lang in ("en", "zh"):
            told = blanks(self.right.of(lang)) | blanks(self.why.of(lang))
            if told != set(self.rests):
                raise ValueError(f"{lang}: blanks {_listed(told)} of the sentences, numbers {_listed(self.rests)}")
        return self


@dataclass(frozen=True)
class Ledger:
    """All claims, in order."""

    claims: tuple[Claim, ...]

    def chosen(self, ids: Sequence[str]) -> tuple[Claim, ...]:
        """Those of these ids in the ledger's order; all where none is named. UsageError for one that is not there."""
        wanted = {name.upper() for name in ids}
        unknown = sorted(wanted - {claim.id for claim in self.claims})
        if unknown:
            last = self.claims[-1].id
            raise UsageError(f"there is no claim {unknown[0]}", f"claims are {self.claims[0].id} … {last}")
        return tuple(claim for claim in self.claims if not wanted or claim.id in wanted)


@cache
def shipped() -> Ledger:
    """The ledger that comes with whybox."""
    return read((files("whybox.learn") / FILE).read_text(encoding="utf-8"))


def read(text: str, source: str = FILE) -> Ledger:
    """FormatError names the claim, the field, what was expected and what was found."""
    try:
        entries = yaml.load(text, Loader=yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)
    except yaml.YAMLError as problem:
        raise FormatError(source, "the whole file", "YAML", " ".join(str(problem).split())) from problem
    if not isinstance(entries, list) or not entries:
        raise FormatError(source, "the whole file", "a list of claims", type(entries).__name__)
    claims = tuple(_claim(entry, source) for entry in entries)
    names = [claim.id for claim in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FormatError(source, twice, "every id once", "it twice")
    return Ledger(claims)


def blanks(sentence: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def _claim(entry: Any, source: str) -> Claim:
    try:
        return Claim.model_validate(entry)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        name = entry.get("id", "?") if isinstance(entry, dict) else "?"
        field = ".".join((str(name), *map(str, first["loc"])))
        found = repr(first["input"]) if first["type"] != "value_error" else "this"
        raise FormatError(source, field, first["msg"].removeprefix("Value error, "), f"{found:.80}") from problem


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
