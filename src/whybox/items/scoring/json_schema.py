"""Does a JSON value follow a schema? The part of JSON Schema that answers need; other keywords are refused by name."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from whybox.errors import CaseError

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
    "null": type(None),
}
_KNOWN = (
    "type", "enum", "const", "required", "properties", "additionalProperties", "items", "minItems", "maxItems",
    "minimum", "maximum", "minLength", "maxLength", "pattern", "title", "description",
)  # fmt: skip
MOST_DEPTH = 16


def schema_of(text: str) -> dict[str, Any]:
    """The schema of a JSON text. CaseError for what is none, and for keywords that are not known here."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaseError(f"answer.match.json_schema: expected JSON, found {error}") from error
    _check(found, "json_schema", MOST_DEPTH)
    return dict(found)


def _check(schema: object, where: str, left: int) -> None:
    if not isinstance(schema, dict) or left == 0:
        raise CaseError(f"answer.match.{where}: expected a schema, found {str(schema)[:60]!r}")
    for word, value in schema.items():
        if word not in _KNOWN:
            raise CaseError(f"answer.match.{where}: expected one of {', '.join(_KNOWN)}, found {word!r}")
        if word == "type" and value not in _TYPES:
            raise CaseError(f"answer.match.{where}.type: expected one of {', '.join(_TYPES)}, found {value!r}")
        if word == "pattern":
            compiled(str(value), f"{where}.pattern")
    for name, each in schema.get("properties", {}).items():
        _check(each, f"{where}.properties.{name}", left - 1)
    if "items" in schema:
        _check(schema["items"], f"{where}.items", left - 1)


def compiled(pattern: str, where: str) -> re.Pattern[str]:
    """The regular expression. CaseError where it is none."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise CaseError(f"answer.match.{where}: expected a regular expression, found {error}") from error


def first_fault(value: object, schema: Mapping[str, Any]) -> str | None:
    """Where a value first leaves its schema, as a path; None where it follows it."""
    return next(_faults(value, schema, ""), None)


def _faults(value: object, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    here = path or "the value"
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{here} is no {schema['type']}"
        return
    if "const" in schema and not _same(value, schema["const"]):
        yield f"{here} is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        yield f"{here} is none of {schema['enum']!r}"
    match value:
        case dict():
            yield from _of_object(value, schema, path)
        case list():
            yield from _of_array(value, schema, path)
        case str():
            yield from _beyond(len(value), schema.get("minLength"), schema.get("maxLength"), f"the length of {here}")
            if "pattern" in schema and re.search(schema["pattern"], value) is None:
                yield f"{here} does not match {schema['pattern']!r}"
        case bool() | None:
            return
        case int() | float():
            yield from _beyond(value, schema.get("minimum"), schema.get("maximum"), here)


def _of_object(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{path}.{name} is missing" for name in schema.get("required", ()) if name not in value)
    if schema.get("additionalProperties") is False:
        yield from (f"{path}.{name} is not allowed" for name in value if name not in known)
    for name, each in known.items():
        if name in value:
            yield from _faults(value[name], each, f"{path}.{name}")


def _of_array(value: list[Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _beyond(
        len(value), schema.get("minItems"), schema.get("maxItems"), f"the length of {path or 'the list'}"
    )
    if "items" in schema:
        for i, each in enumerate(value):
            yield from _faults(each, schema["items"], f"{path}[{i}]")


def _beyond(value: float, least: float | None, most: float | None, what: str) -> Iterator[str]:
    if least is not None and value < least:
        yield f"{what} is below {least}"
    if most is not None and value > most:
        yield f"{what} is above {most}"


def _is_of(value: object, kind: str) -> bool:
    """true and false are no numbers; 7.0 is a whole number."""
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _same(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other
