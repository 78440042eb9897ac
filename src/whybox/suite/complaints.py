"""What pydantic complains about, in the words of a suite file: what was expected, and what stands there."""

from typing import Any

_EXPECTED = {
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "float_type": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "string_type": "a text",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
}
_COUNTED = ("too_short", "too_long")
MOST_SHOWN = 80


def complaint(found: Any) -> str:
    """One complaint of pydantic: `expected at least 3 entries, found 2`."""
    kind, context = found["type"], found.get("ctx", {})
    if kind == "missing":
        return "expected this field, found none"
    if kind == "unknown_key":
        return f"expected {found['msg']}"
    if kind in _COUNTED:
        return f"expected {_EXPECTED[kind].format(**context)}, found {context['actual_length']}"
    said = found["msg"].removeprefix("Value error, ")
    expected = _EXPECTED[kind].format(**context) if kind in _EXPECTED else f"{said[:1].lower()}{said[1:]}"
    return f"expected {expected}, found {_shown(found['input'])}"


def _shown(value: object) -> str:
    """What stands there, as it would be written."""
    written = repr(value)
    return written if len(written) <= MOST_SHOWN else f"{written[: MOST_SHOWN - 1]}…"
