"""The first calls of each function in each test are checked, the thousands behind them are not.

A wrong shape is a fault of a way through the code, and a test takes each of its ways early.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

CALLS = 40


class Now:
    """The test that is under way: whatever was counted before it counts no longer."""

    test: object = None


def began() -> None:
    """Every function is checked again from its next call on."""
    Now.test = object()


def sampled(plain: Callable[..., Any], checked: Callable[..., Any]) -> Callable[..., Any]:
    """`checked` for the first calls of a test, `plain` for the others."""
    counted: object = None
    left = 0

    @wraps(checked)
    def called(*given: Any, **named: Any) -> Any:
        nonlocal counted, left
        if counted is not Now.test:
            counted, left = Now.test, CALLS
        if not left:
            return plain(*given, **named)
        left -= 1
        return checked(*given, **named)

    return called
