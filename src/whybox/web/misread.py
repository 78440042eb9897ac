"""A request that does not have the shape of this version, in one line of bounded length: little of it is repeated."""

from collections.abc import Mapping
from typing import Any

from whybox.errors import UsageError

MOST_SHOWN = 40


def misread(complaint: Mapping[str, Any]) -> UsageError:
    """From pydantic's first complaint: where, and what was expected there."""
    place = ".".join(shown(str(step)) for step in complaint["loc"] if step != "body") or "the request"
    cause = f"{place}: {_expected(complaint)}"
    if place.endswith("version"):
        cause = "this state was shared by another version of whybox"
    return UsageError(cause, "see docs/serve.md for what a state holds")


def _expected(complaint: Mapping[str, Any]) -> str:
    """What pydantic says; where its sentence repeats the tag that came, only those that would do."""
    if complaint["type"] == "union_tag_invalid":
        return f"input should be {complaint['ctx']['expected_tags']}"
    return str(complaint["msg"]).lower()


def shown(text: str) -> str:
    """The beginning of a text that a stranger sent, in characters that have a picture."""
    plain = "".join(letter if letter.isprintable() else "�" for letter in text[:MOST_SHOWN])
    return plain if len(text) <= MOST_SHOWN else f"{plain}…"
