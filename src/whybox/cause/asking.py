"""What an experiment asks for: passes that are read, answers that are written, and runs that are looked into.

An experiment is a coroutine that awaits a Read, a Write or a See and goes on with what was found. It never knows
beside which others its runs are made, so the bench makes those of many experiments at once:

    found = await Read(ids, of_logits, edits)
    first, second = await together([one_experiment(), another()])
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from whybox.engine.edit import Edit
from whybox.engine.sampling import GREEDY, Decoding
from whybox.engine.trace import Trace, Wish
from whybox.errors import WhyboxError

Array = np.ndarray
Ids = tuple[int, ...]
T = TypeVar("T")
Experiment = Awaitable[T]


@dataclass(frozen=True)
class Settings:
    """How answers are written: decoding, and limit of tokens."""

    decoding: Decoding = GREEDY
    limit: int = 32

    @property
    def greedy(self) -> bool:
        return self.decoding.greedy


@dataclass(frozen=True)
class Written:
    """An answer: its ids, and whether a stop token ended it."""

    ids: Ids
    stopped: bool


@dataclass(frozen=True)
class Refused:
    """A run that could not be made."""

    error: WhyboxError


@dataclass(frozen=True)
class Read(Generic[T]):
    """Logits [tail v] behind ids under edits, of which `keep` keeps what is wanted.

    length: the whole run's, where it is longer than ids.
    """

    ids: Ids
    keep: Callable[[Array], T]
    edits: tuple[Edit, ...] = ()
    length: int = 0
    tail: int = 1

    def __await__(self) -> Generator["Requests", "Results", T]:
        return (yield from _one(self))


@dataclass(frozen=True)
class Write(Generic[T]):
    """The answer to a prompt under edits, which hold at every step.

    keep: what is wanted of the answer and the logits [v] from which each id, and the stop, was chosen.
    """

    ids: Ids
    settings: Settings
    keep: Callable[[Written, Sequence[Array]], T]
    edits: tuple[Edit, ...] = ()

    def __await__(self) -> Generator["Requests", "Results", T]:
        return (yield from _one(self))


@dataclass(frozen=True)
class See(Generic[T]):
    """A run under edits that keeps sites at its last rows. keep: what is wanted of its trace."""

    ids: Ids
    wishes: tuple[Wish, ...]
    keep: Callable[[Trace], T]
    edits: tuple[Edit, ...] = ()
    last: int = 1

    def __await__(self) -> Generator["Requests", "Results", T]:
        return (yield from _one(self))


Request = Read[Any] | Write[Any] | See[Any]
Requests = Sequence[Request]
Results = Sequence[Any]


def _one(request: Request) -> Generator[Requests, Results, Any]:
    (found,) = yield (request,)
    if isinstance(found, Refused):
        raise found.error
    return found


@dataclass(frozen=True)
class _Together(Generic[T]):
    experiments: Sequence[Experiment[T]]

    def __await__(self) -> Generator[Requests, Results, list[T]]:
        running = [experiment.__await__() for experiment in self.experiments]
        results: dict[int, T] = {}
        try:
            asked = dict(_sent(running, dict.fromkeys(range(len(running))), results))
            while asked:
                found = iter((yield [request for requests in asked.values() for request in requests]))
                answers = {index: [next(found) for _ in requests] for index, requests in asked.items()}
                asked = dict(_sent(running, answers, results))
        finally:
            for each in running:
                each.close()
        return [results[index] for index in range(len(running))]


def together(experiments: Sequence[Experiment[T]]) -> Experiment[list[T]]:
    """The results of several experiments, in their order: what they ask for in the same round is asked at once."""
    return _Together(experiments)


def _sent(
    running: Sequence[Generator[Requests, Results, T]], answers: dict[int, Any], results: dict[int, T]
) -> Generator[tuple[int, Requests], None, None]:
    """Hands each experiment its answers: what it asks for next; the result of one that has ended."""
    for index, answer in answers.items():
        try:
            yield index, running[index].send(answer)
        except StopIteration as ended:
            results[index] = ended.value
