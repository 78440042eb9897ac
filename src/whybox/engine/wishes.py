"""Wishes as callers state them, as what engines take: whole numbers, numbers. What cannot be meant is refused by name.

NumPy's numbers are as good as Python's everywhere.
"""

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from whybox.errors import SiteError, UsageError
from whybox.statistics.rows import AttentionWish, Segment
from whybox.text.prompt import Prompt

Array = np.ndarray
REAL = "biuf"  # NumPy's kinds of numbers that a float can hold: bool, integers, floats


def whole(what: str, given: object, least: int | None = None) -> int:
    """A whole number. UsageError for anything else, and below the least."""
    try:
        number = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise UsageError(f"{what}: expected a whole number, found {given!r}") from None
    if least is not None and number < least:
        raise UsageError(f"{what}: expected at least {least}, found {number}")
    return number


def truth(what: str, given: object) -> bool:
    """True or False. UsageError for anything else: most of it would count as true."""
    if not isinstance(given, bool):
        raise UsageError(f"{what}: expected True or False, found {given!r}")
    return given


def whole_numbers(what: str, given: Any, error: type[UsageError] = UsageError) -> tuple[int, ...]:
    """One whole number or several, in a collection of any kind. True and False are none."""
    try:
        numbers = tuple(given) if isinstance(given, Iterable) else (given,)
        if any(isinstance(each, bool) for each in numbers):
            raise TypeError
        return tuple(map(operator.index, numbers))
    except TypeError:
        raise error(f"{what}: expected a whole number or several, found {given!r}") from None


def named_sites(what: str, given: object) -> tuple[Any, ...]:
    """Sites in a row. SiteError for what is none: a single name would be read letter by letter."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise SiteError(f"{what}: expected a list of sites, found {given!r}", f'such as {what}=["resid_post"]')
    return tuple(given)


def several(what: str, given: object) -> list[Any]:
    """UsageError for what is no collection, or a single text: it would be read letter by letter."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise UsageError(f"{what}: expected several in a list, found {given!r}")
    return list(given)


def attention_wish(statistics: object, prompt: Prompt) -> AttentionWish | None:
    """What to keep of attention: every token is in exactly one segment of the prompt, so its shares sum to 1."""
    if isinstance(statistics, AttentionWish):
        return statistics
    if not isinstance(statistics, bool):
        raise UsageError(f"statistics: expected True, False or an AttentionWish, found {statistics!r}")
    segments = [Segment(segment.name, segment.start, segment.end) for segment in prompt.segments]
    return AttentionWish.of_length(len(prompt), segments) if statistics else None


def site_and_layers(wish: object) -> tuple[str, tuple[int, ...] | None]:
    """What `see` names: a site, and its layers, None for all. SiteError for what is no wish."""
    match wish:
        case str():
            return wish, None
        case (str() as name, layers):
            return name, whole_numbers(f"layers of {name}", layers, SiteError)
        case _:
            raise SiteError(f"see: expected a site, or a site and its layers, found {wish!r}", 'such as ("pattern", 5)')


def real(what: str, given: object) -> Array:
    """An array of real numbers, NaN and Inf among them; one of no axes for a single number.

    Numbers that no engine knows (of other byte orders, beyond 64 bits) become those that are nearest.
    """
    try:
        found = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):  # the last from tensors that carry a gradient
        raise UsageError(f"{what}: expected numbers in one array, found {type(given).__name__}") from None
    if found.dtype.kind not in REAL:
        raise UsageError(f"{what}: expected real numbers, found {found.dtype} ({type(given).__name__})")
    return found.astype(f"={found.dtype.kind}{min(found.dtype.itemsize, 8)}", copy=False)


def number(what: str, given: object) -> float:
    """A single real number."""
    found = real(what, given)
    if found.ndim:
        raise UsageError(f"{what}: expected one number, found an array of shape {found.shape}")
    return float(found)
