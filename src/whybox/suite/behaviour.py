"""The suite file `whybox.yaml`: which targets, which data, which probes, which gates. Published as
`docs/schema/whybox.behaviour.json`. Every fault is one message with the line in which it stands.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from whybox.errors import CaseError, UsageError, WhyboxError, meant
from whybox.items.generate import Language
from whybox.items.schema import Name, Strict
from whybox.items.yaml_tree import Document, FieldPath, parse_yaml, read_text
from whybox.probes import PROBES
from whybox.probes.design import Design, Measure
from whybox.statistics.gates import Demand, HarmAtMost, MeanAtMost, RateAtLeast, RateAtMost, SameWithin
from whybox.suite.complaints import complaint

NAME, VERSION = "whybox.behaviour", 1
SENT = "extra_body"
CASES = "run its cases as items of a suite of probes: data: {mine: {file: cases.yaml}}"
REMEDY = "The suite file is described in docs/run.md; `whybox init` writes one."

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]


class TargetText(Strict):
    """Who is asked. model: as -m takes it, openai:NAME, or bot:NAME. Keys come from the environment alone.

    The fields from base_url on are for endpoints; engine and precision for models of this machine.
    """

    model: Annotated[str, Field(min_length=1, max_length=400)]
    name: Name | None = None
    base_url: str | None = None
    timeout: Annotated[float, Field(gt=0)] = 60.0
    max_retries: Annotated[int, Field(ge=0)] = 3
    concurrency: Positive = 8
    stream: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)
    extra_headers: dict[str, str] = Field(default_factory=dict)
    ca_file: Path | None = None
    engine: Literal["auto", "numpy", "torch"] = "auto"
    precision: str = "fp32"

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, data: Any) -> Any:
        return {"model": data} if isinstance(data, str) else data

    @property
    def title(self) -> str:
        """The name in reports and in --filter."""
        return self.name or self.model


class DataText(Strict):
    """Items of the user: cases as YAML (one, or a list) or JSONL, or a CSV with the columns of docs/run.md."""

    file: Path
    language: Language = "en"


class GateText(Strict):
    """What a probe must show. One of at_least, at_most, within; shares, so 0.05 is five points."""

    probe: str
    statistic: str
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    at_least: Share | None = None
    at_most: Share | None = None
    within: Annotated[float, Field(gt=0, le=1)] | None = None

    @model_validator(mode="after")
    def _one_limit(self) -> "GateText":
        if sum(limit is not None for limit in (self.at_least, self.at_most, self.within)) != 1:
            raise ValueError("exactly one of at_least, at_most, within")
        return self

    @property
    def limit(self) -> float:
        """The limit, whichever it is."""
        return next(limit for limit in (self.at_least, self.at_most, self.within) if limit is not None)

    @property
    def demand(self) -> str:
        """The gate as the file says it."""
        kind = "at_least" if self.at_least is not None else "at_most" if self.at_most is not None else "within"
        return f"{self.statistic} {kind} {self.limit:g}"


class FloorText(Strict):
    """The A/A check before the first probe: so many items, each asked so often under each condition."""

    items: Annotated[int, Field(ge=1, le=1000)] = 12
    times: Annotated[int, Field(ge=2, le=100)] = 5


class RunText(Strict):
    """How calls are made. stop: texts that end an answer. looks: how often gates may be read, written beforehand.

    seed: stated with every answer that is written, and one more with each repetition; none leaves it to the target.
    """

    temperature: Annotated[float, Field(ge=0)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    stop: Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=4)] = Field(default_factory=list)
    floor: FloorText = Field(default_factory=FloorText)
    cache: bool = True
    looks: Literal[1, 2] = 1

    @model_validator(mode="before")
    @classmethod
    def _looks_as_number(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("looks") in ("1", "2"):
            return {**data, "looks": int(data["looks"])}
        return data


class ReportText(Strict):
    """strict: an inconclusive gate ends the run with 4. failures: items that are shown in full for each probe."""

    strict: bool = False
    failures: Annotated[int, Field(ge=0, le=100)] = 3


class FileText(Strict):
    """The file as a whole. What stands under `probes` is read by each probe."""

    suite: Annotated[str, Field(min_length=1, max_length=200)]
    version: Literal["1"] = "1"
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    targets: Annotated[list[TargetText], Field(min_length=1, max_length=64)]
    data: dict[Name, DataText] = Field(default_factory=dict)
    probes: Annotated[dict[Name, dict[str, Any] | None], Field(min_length=1, max_length=64)]
    gates: Annotated[list[GateText], Field(max_length=256)] = Field(default_factory=list)
    run: RunText = Field(default_factory=RunText)
    report: ReportText = Field(default_factory=ReportText)


@dataclass(frozen=True)
class Behaviour:
    """A suite file that was read: its probes are designs. text: what was read; document: its tree, with lines."""

    file: FileText
    probes: Mapping[str, Design]
    text: str
    document: Document = field(repr=False)

    @property
    def digest(self) -> str:
        """Hex name of the file's text."""
        return blake2b(self.text.encode(), digest_size=16).hexdigest()

    @contextmanager
    def told_of(self, *path: str | int) -> Iterator[None]:
        """What goes wrong within is told with the line of this field."""
        try:
            yield
        except WhyboxError as fault:
            raise fault.at(_place(self.document, path)) from fault.__cause__

    @classmethod
    def load(cls, path: Path) -> "Behaviour":
        """UsageError names file, line, what was expected and what was found."""
        try:
            return cls.parse(read_text(path), str(path))
        except CaseError as fault:
            raise UsageError(fault.cause.replace("case file", "suite file"), fault.remedy or REMEDY) from fault

    @classmethod
    def parse(cls, text: str, source: str = "suite") -> "Behaviour":
        """A suite from YAML text. UsageError as `load`."""
        try:
            document = parse_yaml(text, source)
        except CaseError as fault:
            raise UsageError(fault.cause, REMEDY) from fault
        return cls.of(document, text)

    @classmethod
    def of(cls, document: Document, text: str) -> "Behaviour":
        """A suite from the tree of its text. UsageError as `load`."""
        source = document.source
        if not isinstance(document.tree, dict):
            raise UsageError(f"{source}: expected a mapping with suite, targets and probes, found no mapping", REMEDY)
        if "tests" in document.tree:
            raise UsageError(f"{source}: this is a suite of cases and tests, as `whybox why` writes it", CASES)
        try:
            file = FileText.model_validate(_without_blanks(_as_meant(document)))
        except ValidationError as error:
            raise _complaint(document, error, ()) from error
        probes = {name: _design(document, name, fields) for name, fields in file.probes.items()}
        _check_names(document, file, probes)
        return cls(file, probes, text, document)


def demand_of(gate: GateText, measure: Measure) -> Demand | None:
    """What a gate demands of a statistic of this kind; None where such a limit says nothing about it."""
    limit = gate.limit
    match measure.kind, gate.at_least is not None, gate.at_most is not None:
        case "rate", True, _:
            return RateAtLeast(limit)
        case "rate", _, True:
            return RateAtMost(limit)
        case "pairs", _, True:
            return HarmAtMost(limit)
        case "effects", _, True:
            return MeanAtMost(limit)
        case "pairs" | "effects", False, False:
            return SameWithin(limit)
        case _:
            return None


def _design(document: Document, name: str, fields: Mapping[str, Any] | None) -> Design:
    given = dict(fields or {})
    kind = given.pop("probe", name)
    if kind not in PROBES:
        raise _fault(document, ("probes", name), f"a probe among {', '.join(PROBES)}", kind, meant(kind, PROBES))
    try:
        return PROBES[kind].model_validate(_without_blanks(given))
    except ValidationError as error:
        raise _complaint(document, error, ("probes", name)) from error


def _check_names(document: Document, file: FileText, probes: Mapping[str, Design]) -> None:
    titles = [target.title for target in file.targets]
    if len(set(titles)) < len(titles):
        raise _fault(document, ("targets",), "every target once", ", ".join(titles), "; give each a name")
    for name, design in probes.items():
        for key, wanted in design.sets:
            if wanted not in file.data:
                known = ", ".join(file.data) or "nothing, since there is no `data`"
                raise _fault(document, ("probes", name, key), f"data among {known}", wanted, meant(wanted, file.data))
    for i, gate in enumerate(file.gates):
        _check_gate(document, i, gate, probes)


def _check_gate(document: Document, i: int, gate: GateText, probes: Mapping[str, Design]) -> None:
    if gate.probe not in probes:
        near = meant(gate.probe, probes)
        raise _fault(document, ("gates", i, "probe"), f"a probe of this suite ({', '.join(probes)})", gate.probe, near)
    measures = probes[gate.probe].MEASURES
    if gate.statistic not in measures:
        near = meant(gate.statistic, measures)
        expected = f"a statistic that {gate.probe} measures ({', '.join(measures)})"
        raise _fault(document, ("gates", i, "statistic"), expected, gate.statistic, near)
    if demand_of(gate, measures[gate.statistic]) is None:
        expected = "at_least or at_most" if measures[gate.statistic].kind == "rate" else "at_most or within"
        raise _fault(document, ("gates", i), f"{expected} for {gate.statistic}", gate.demand.split()[1], "")


def _complaint(document: Document, error: ValidationError, prefix: FieldPath) -> UsageError:
    """The first complaint of pydantic, with its line."""
    first = max(error.errors(include_url=False), key=lambda complaint: len(complaint["loc"]))
    key = (first["ctx"]["key"],) if first["type"] == "unknown_key" else ()
    return _located(document, (*prefix, *first["loc"], *key), complaint(first))


def _fault(document: Document, path: FieldPath, expected: str, found: str, hint: str) -> UsageError:
    return _located(document, path, f"expected {expected}, found {found!r}{hint}")


def _located(document: Document, path: FieldPath, said: str) -> UsageError:
    return UsageError(f"{_place(document, path)}: {said}", REMEDY)


def _place(document: Document, path: FieldPath) -> str:
    """whybox.yaml:5: probes.order.items"""
    line = document.line(path)
    where = f"{document.source}:{line}" if line else document.source
    return f"{where}: {'.'.join(map(str, path)) or 'suite'}"


def _as_meant(document: Document) -> Any:
    """The tree, where what an endpoint is sent as it stands has numbers and truth values, not texts in their place."""
    tree = document.tree
    if not isinstance(tree, dict) or not isinstance(targets := tree.get("targets"), list):
        return tree
    return tree | {
        "targets": [
            each | {SENT: document.meant(each[SENT], ("targets", i, SENT))}
            if isinstance(each, dict) and SENT in each
            else each
            for i, each in enumerate(targets)
        ]
    }


def _without_blanks(tree: Any) -> Any:
    """Fields that were left empty take their defaults; probes may be named without fields."""
    if not isinstance(tree, dict):
        return tree
    kept = {key: value for key, value in tree.items() if value is not None or key == "probes"}
    return {key: value if key == "probes" else _without_blanks(value) for key, value in kept.items()}


def schema() -> dict[str, Any]:
    """The JSON Schema of a suite file, every probe with its fields."""
    whole = FileText.model_json_schema()
    designs = {name: probe.model_json_schema() for name, probe in PROBES.items()}
    for name, each in designs.items():
        each["properties"] |= {"probe": {"const": name, "description": "where the name in the suite is another"}}
    named = {name: {"anyOf": [{"$ref": f"#/$defs/probe-{name}"}, {"type": "null"}]} for name in designs}
    others = {"anyOf": [{"$ref": f"#/$defs/probe-{name}"} for name in designs]}
    whole["$defs"] |= {f"probe-{name}": each for name, each in designs.items()}
    whole["properties"]["probes"] |= {"properties": named, "additionalProperties": others}
    whole["properties"]["version"] = {"enum": [1, "1"], "default": 1}
    return {"$id": f"{NAME}/{VERSION}", **whole}
