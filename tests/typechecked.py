"""The runtime type checker of the test suite: beartype, with int accepted where float is asked (PEP 484).

jaxtyping's own decorator checks every call as if it had shapes, its parameters twice, and builds two checkers anew for
each `def` that is passed: a `why` takes seven times as long. Here a signature with shapes is checked once, in a context
of its own; one without by beartype alone; a function within a function only where it has shapes (mypy knows the rest).
What a hint says of an array alone is jaxtyping's to say (tests/shapes.py).
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_args

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import AbstractArray, install_import_hook

from tests import shapes
from tests.sampled import sampled

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
by_jaxtyping = jaxtyping.jaxtyped


def install() -> None:
    """For every module of whybox that is imported from here on."""
    jaxtyping.jaxtyped = jaxtyped
    install_import_hook("whybox", "tests.typechecked.checked")


def jaxtyped(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """The decorator that the hook writes above every `def` and every class."""

    def decorated(what: Any) -> Any:
        match what:
            case type():
                return _class(what)
            case staticmethod() | classmethod():
                return type(what)(decorated(what.__func__))
            case property():
                return property(*(each and decorated(each) for each in (what.fget, what.fset, what.fdel)))
            case _:
                checking = _function(what)
                return what if checking is what else sampled(what, checking)

    return decorated


def _class(what: type) -> type:
    """Of a dataclass, what it is made of."""
    made = vars(what).get("__init__")
    if not is_dataclass(what) or made is None:
        return what
    hints = made.__annotations__.values()
    if any(isinstance(hint, str) for hint in hints) or _is_filled_in(what) or not all(map(_is_plain, hints)):
        what = by_jaxtyping(typechecker=checked)(what)
        what.__init__ = shapes.aside(what.__init__)  # type: ignore[misc]
        return what
    made = checked(made)
    what.__init__ = shapes.scoped(made) if any(map(_has_shape, hints)) else made  # type: ignore[misc]
    return what


def _is_filled_in(what: type) -> bool:
    """Whether a field has a default that is made anew: a stand-in that beartype takes for a value."""
    return any(each.default_factory is not MISSING for each in fields(what))  # type: ignore[arg-type]


def _function(what: Callable[..., Any]) -> Callable[..., Any]:
    hints = list(vars(what).get("__annotations__", what.__annotations__).values())
    if any(isinstance(hint, str) for hint in hints) or inspect.isgeneratorfunction(what) or _shadows(what):
        return shapes.aside(by_jaxtyping(typechecker=checked)(what))
    if not all(map(_is_plain, hints)):
        return shapes.aside(by_jaxtyping(typechecker=None)(checked(what)))
    if any(map(_has_shape, hints)):
        return shapes.scoped(checked(what))
    return what if "<locals>" in what.__qualname__ else checked(what)


def _shadows(what: Callable[..., Any]) -> bool:
    """beartype's code calls built-ins by name, in the module of the function: one has a module named `next`."""
    return any(name in what.__globals__ for name in ("isinstance", "iter", "len", "next"))


def _has_shape(hint: Any) -> bool:
    return any(_is_shape(each) for each in _within(hint))


def _is_plain(hint: Any) -> bool:
    return all(shapes.is_plain(each) for each in _within(hint) if _is_shape(each))


def _is_shape(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def _within(hint: Any) -> Iterator[Any]:
    yield hint
    for part in hint if isinstance(hint, list) else get_args(hint):  # a list: the parameters of a Callable
        yield from _within(part)
