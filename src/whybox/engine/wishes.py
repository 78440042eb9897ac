"""Wishes as callers state them, as what engines take: whole numbers, numbers. What cannot be meant is refused by name.

NumPy's numbers are as good as Python's everywhere.
"""

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from whybox.errors import SiteError, UsageError

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


def whole_numbers(what: str, given: Any, error: type[UsageError] = UsageError) -> tuple[int, ...]:
    """One whole number or several, in a collection of any kind."""
    try:
        return tuple(map(operator.index, given)) if isinstance(given, Iterable) else (operator.index(given),)
    except TypeError:
        raise error(f"{what}: expected a whole number or several, found {given!r}") from None


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
    """An array of real numbers, NaN and Inf among them; one of no axes for a single number."""
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: expected numbers in one array, found {type(given).__name__}") from None
    if found.dtype.kind not in REAL:
        raise UsageError(f"{what}: expected real numbers, found {found.dtype} ({type(given).__name__})")
    return found


def number(what: str, given: object) -> float:
    """A single real number."""
    found = real(what, given)
    if found.ndim:
        raise UsageError(f"{what}: expected one number, found an array of shape {found.shape}")
    return float(found)
