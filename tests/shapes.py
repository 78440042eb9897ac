"""Shapes in signatures, checked quickly: what a hint says of one array is asked once for each kind and shape.

jaxtyping answers whether an array fits a hint by itself; its answers are kept. What binds arrays to each other (one
name, one size, throughout a call) is compared at each call. Hints with more than names and numbers are left to it.
"""

import re
import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import jaxtyping
from jaxtyping import AbstractArray

Size = int | tuple[int, ...]
Sizes = dict[str, Size]
Meta: Any = type(AbstractArray)
by_jaxtyping = Meta.__instancecheck_str__
alone = jaxtyping.jaxtyped  # before anyone replaces it


class Calls(threading.local):
    """The calls that are under way: sizes by name; None where jaxtyping itself keeps them."""

    def __init__(self) -> None:
        self.sizes: list[Sizes | None] = []


calls = Calls()
answers: dict[tuple[Any, ...], tuple[str, tuple[tuple[str, Size], ...]]] = {}


def scoped(what: Callable[..., Any]) -> Callable[..., Any]:
    """Each call has axes of its own."""
    return _called(what, dict)


def aside(what: Callable[..., Any]) -> Callable[..., Any]:
    """Its axes are jaxtyping's."""
    return _called(what, lambda: None)


def _called(what: Callable[..., Any], sizes: Callable[[], Sizes | None]) -> Callable[..., Any]:
    @wraps(what)
    def called(*given: Any, **named: Any) -> Any:
        calls.sizes.append(sizes())
        try:
            return what(*given, **named)
        finally:
            calls.sizes.pop()

    return called


@cache
def is_plain(hint: Any) -> bool:
    """Whether its axes are names and numbers alone, and names of several axes."""
    return all(re.fullmatch(r"\*?[^\W\d]\w*|\d+|\.\.\.", axis) for axis in hint.dim_str.split())


def fits(hint: Any, value: Any) -> str:
    """Nothing where a value fits, else what is wrong: in jaxtyping's words, or which axis has two sizes."""
    sizes = calls.sizes[-1] if calls.sizes else None
    if sizes is None:
        return str(by_jaxtyping(hint, value))
    kind = type(value)
    key = (hint, kind, getattr(value, "dtype", None), getattr(value, "shape", None))
    if key not in answers:
        with alone("context"):
            answers[key] = str(by_jaxtyping(hint, value)), _named(hint, key[3])
    wrong, named = answers[key]
    if wrong:
        return wrong
    for name, size in named:
        if sizes.get(name, size) != size:
            return f"axis {name} is {size} here, and {sizes[name]} in what was given before"
    sizes.update(named)
    return ""


def _named(hint: Any, shape: Any) -> tuple[tuple[str, Size], ...]:
    """What an array of this shape says of the hint's names. A name with `_` in front says nothing."""
    axes, sizes = hint.dim_str.split(), list(shape or ())
    several = next((place for place, axis in enumerate(axes) if axis[0] in "*."), None)
    if several is not None:
        behind = several + len(sizes) - len(axes) + 1
        sizes[several:behind] = [tuple(sizes[several:behind])]
    pairs = zip(axes, sizes, strict=False)
    return tuple((name, size) for name, size in pairs if re.match(r"\*?[^\W\d_]", name))


Meta.__instancecheck_str__ = fits
