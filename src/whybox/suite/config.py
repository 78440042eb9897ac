"""The suite file: cases and the tests that they must pass. Published as `docs/schema/whybox.suite.json`.

A test names a probe and what it varies; a gate states beforehand what counts as passed. Scalars of cases stay text.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.items.schema import CaseText, Name, Strict

NAME, VERSION = "whybox.suite", 1
MOST_BYTES = 1 << 22

Points = Annotated[float, Field(ge=0, le=100)]
Share = Annotated[float, Field(ge=0, le=1)]


class Test(Strict):
    """What every test has. case: the id of a case of this suite. known_failing: it fails today, and may."""

    __test__ = False

    name: Annotated[str, Field(min_length=1, max_length=200)]
    case: str
    known_failing: bool = False


class CaseTest(Test):
    """The case as it stands, and its variants: the answer is the expected one."""

    probe: Literal["case"] = "case"
    expect: Literal["right", "abstain"] = "right"
    variants: bool = True


class OrderTest(Test):
    """The parts in other orders. most_points: D of the probe `order`, changed answers beyond those of asking again."""

    probe: Literal["order"] = "order"
    parts: Annotated[list[Name], Field(min_length=2)]
    most_points: Points = 5.0


class EvidenceTest(Test):
    """The evidence at every place among the parts, or at the last. least: share of right answers at each place."""

    probe: Literal["evidence"] = "evidence"
    evidence: Annotated[list[Name], Field(min_length=1)]
    parts: Annotated[list[Name], Field(min_length=1)]
    places: Literal["every", "last"] = "every"
    least: Share = 0.8


class ChangedTest(Test):
    """The value in the evidence is replaced by others (those that the slot takes): the answer must follow."""

    probe: Literal["changed"] = "changed"
    evidence: Annotated[list[Name], Field(min_length=1)]
    slot: str | None = None
    least: Share = 0.9


class KnowledgeTest(Test):
    """Prior knowledge and text disagree. text-right: the text must win. text-wrong: it must win as well, since the
    prompt tells to answer from it.
    """

    probe: Literal["knowledge"] = "knowledge"
    evidence: Annotated[list[Name], Field(min_length=1)]
    directions: tuple[Literal["text-right", "text-wrong"], ...] = ("text-right", "text-wrong")
    least: Share = 0.9


class BoundaryTest(Test):
    """With the fact the answer is right; without it the model declines."""

    probe: Literal["boundary"] = "boundary"
    fact: Annotated[str, Field(min_length=1)]


class ChoiceTest(Test):
    """Where right and wrong part, the right one leads: at least so many nats."""

    probe: Literal["choice"] = "choice"
    least_nats: float = 0.0


class FormatTest(Test):
    """The answer is legal: it begins with the prefix, where there is one, and asserts an answer."""

    probe: Literal["format"] = "format"
    prefix: str | None = None


class DiffTest(Test):
    """Two ways of computing the same ids. most: largest difference of logits over their scale; same_top: the next
    token agrees everywhere.
    """

    probe: Literal["diff"] = "diff"
    ids: Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1)]
    switch: str
    most: Annotated[float, Field(gt=0)] = 1e-3
    same_top: bool = True


AnyTest = Annotated[
    CaseTest
    | OrderTest
    | EvidenceTest
    | ChangedTest
    | KnowledgeTest
    | BoundaryTest
    | ChoiceTest
    | FormatTest
    | DiffTest,
    Field(discriminator="probe"),
]


class Suite(Strict):
    """A whole suite file. model: what it was found on; a run may name another.

    max_tokens: of an answer, where its case states no limit. All other settings are those of the case.
    """

    suite: Annotated[str, Field(min_length=1, max_length=200)]
    version: Literal[1] = 1
    model: str
    seed: Annotated[int, Field(ge=0)] = 0
    max_tokens: Annotated[int, Field(ge=1)] = 64
    cases: Annotated[list[CaseText], Field(min_length=1)]
    tests: Annotated[list[AnyTest], Field(min_length=1)]

    @model_validator(mode="after")
    def _every_case_exists(self) -> "Suite":
        ids = [case.id for case in self.cases]
        if len(set(ids)) < len(ids):
            raise ValueError(f"every case id once, found {', '.join(ids)}")
        for test in self.tests:
            if test.case not in ids:
                raise ValueError(f"a test's case among {', '.join(ids)}, found {test.case!r}")
        return self

    def case(self, name: str) -> Case:
        """The case of that id, checked as a case file is. CaseError where its fields contradict each other."""
        return Case.from_data(_plain(next(case for case in self.cases if case.id == name)), source=self.suite)

    def to_yaml(self) -> str:
        """The file. Reading it gives this suite again."""
        data = self.model_dump(mode="json", exclude_unset=False, exclude_none=True)
        data["cases"] = [_plain(case) for case in self.cases]
        return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)

    @classmethod
    def parse(cls, text: str, source: str = "suite") -> "Suite":
        """A suite from YAML text. UsageError says what was expected and what was found."""
        if len(text.encode()) > MOST_BYTES:
            raise UsageError(f"{source}: expected at most {MOST_BYTES} bytes")
        try:
            return cls.model_validate(yaml.safe_load(text))
        except (yaml.YAMLError, RecursionError) as error:
            raise UsageError(f"{source}: not YAML: {error}".replace("\n", " ")) from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            at = ".".join(str(step) for step in first["loc"]) or "suite"
            raise UsageError(f"{source}: {at}: {first['msg']}, found {first['input']!r:.80}") from error

    @classmethod
    def load(cls, path: Path) -> "Suite":
        return cls.parse(path.read_text("utf-8"), str(path))


def _plain(case: CaseText) -> dict[str, Any]:
    """A case as its file says it."""
    found: dict[str, Any] = case.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of a suite file."""
    return {"$id": f"{NAME}/{VERSION}", **Suite.model_json_schema()}
