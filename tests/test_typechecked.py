"""Every wrong shape and every wrong type is refused in tests: in functions, methods, dataclasses, functions within."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError

from tests import sampled
from tests.typechecked import checked, jaxtyped
from whybox.parts.linear import linear

ours = jaxtyped(typechecker=checked)
REFUSED = (BeartypeCallHintViolation, TypeCheckError)


def zeros(*shape: int) -> "np.ndarray[Any, Any]":
    return np.zeros(shape, np.float32)


@ours
def joined(a: Float[np.ndarray, "q d"], b: Float[np.ndarray, "d c"]) -> Float[np.ndarray, "q c"]:
    return a @ b if len(a) < 5 else a


@ours
def beside(a: Float[np.ndarray, "*rows c"], b: Float[np.ndarray, "*rows d"]) -> Float[np.ndarray, "... _d"]:
    return np.concatenate([a, b], axis=-1) if len(a) < 5 else np.zeros(())


@ours
def of_all(a: Float[np.ndarray, "2 q"], more: list[Float[np.ndarray, " q"]]) -> int:
    return len(more)


@ours
def doubled(n: int) -> int:
    return n * 2 if n < 5 else str(n)  # type: ignore[return-value]


@ours
def rows(a: Float[np.ndarray, "q d"]) -> Iterator[Float[np.ndarray, " d"]]:
    yield from a


@ours
@dataclass
class Pair:
    a: Float[np.ndarray, "q d"]
    b: Float[np.ndarray, "q d"]

    @property
    @ours
    def first(self) -> int:
        return "no"  # type: ignore[return-value]


@ours
@dataclass
class Plain:
    n: int
    more: list[int] = field(default_factory=list)


@ours
def within(b: Any) -> Any:
    @ours
    def inner(a: Float[np.ndarray, "q q"]) -> Float[np.ndarray, " q"]:
        return a[0]

    return inner(b)


def test_what_fits_passes() -> None:
    assert joined(zeros(2, 3), zeros(3, 7)).shape == (2, 7)
    assert doubled(3) == 6
    assert beside(zeros(2, 3, 5), zeros(2, 3, 7)).shape == (2, 3, 12)
    assert beside(zeros(3), zeros(4)).shape == (7,)
    assert of_all(zeros(2, 3), [zeros(3)]) == 1
    assert [row.shape for row in rows(zeros(2, 3))] == [(3,), (3,)]
    assert Pair(zeros(2, 3), zeros(2, 3)).a.shape == (2, 3)
    assert Plain(3, [4]).more == [4]
    assert within(zeros(3, 3)).shape == (3,)
    assert joined(zeros(2, 3), zeros(3, 5)).shape != joined(zeros(4, 2), zeros(2, 3)).shape, "axes bind anew in a call"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: joined(zeros(2, 3), zeros(5, 7)),
        lambda: joined(zeros(7, 3), zeros(3, 7)),
        lambda: joined(zeros(2, 3).astype(np.int64), zeros(3, 7)),
        lambda: beside(zeros(2, 3, 5), zeros(2, 4, 7)),
        lambda: beside(zeros(2, 3, 5), zeros(3, 7)),
        lambda: beside(zeros(5, 3), zeros(5, 7)),
        lambda: of_all(zeros(3, 3), []),
        lambda: of_all(zeros(2, 3), [zeros(5)]),
        lambda: doubled("3"),  # type: ignore[arg-type]
        lambda: doubled(7),
        lambda: rows(zeros(2)),
        lambda: Pair(zeros(2, 3), zeros(3, 2)),
        lambda: Pair(zeros(2, 3), zeros(2, 3)).first,
        lambda: Plain("3"),  # type: ignore[arg-type]
        lambda: within(zeros(2, 3)),
        lambda: linear(zeros(2, 3), zeros(5, 7), None),
    ],
)
def test_what_does_not_fit_is_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(REFUSED):
        wrong()


def test_the_first_calls_of_a_test_are_checked_and_those_of_the_next_again() -> None:
    for _ in range(sampled.CALLS):
        with pytest.raises(REFUSED):
            doubled("a")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        doubled("a")  # type: ignore[arg-type]
    sampled.began()
    with pytest.raises(REFUSED):
        doubled("a")  # type: ignore[arg-type]
