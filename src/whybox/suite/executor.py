"""Who makes the calls: here, the target itself, in this process. A cluster needs another class and nothing else.

An executor is given calls, which are plain data, and gives each position with its outcome exactly once, as they come.
How many are under way, when a refused call is made again and how fast an endpoint is asked is the target's own affair
(`targets/pace.py`); a local model computes groups of calls in batches, what they begin with alike once.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from whybox.probes.design import AnyOutcome, Call
from whybox.targets.target import AnswerRequest, Request, Target


@runtime_checkable
class Executor(Protocol):
    """Makes calls to one target."""

    def outcomes(self, calls: Sequence[Call]) -> AsyncIterator[tuple[int, AnyOutcome]]:
        """(position, outcome) of every call exactly once, in the order in which they come."""
        ...


@dataclass(frozen=True)
class LocalExecutor:
    """Asks a target from this process."""

    target: Target

    async def outcomes(self, calls: Sequence[Call]) -> AsyncIterator[tuple[int, AnyOutcome]]:
        """First the answers that are written, then those that are scored."""
        asked = [(i, call.request) for i, call in enumerate(calls) if isinstance(call.request, Request)]
        async for index, outcome in self.target.ask_all(request for _, request in asked):
            yield asked[index][0], outcome
        scored = [(i, call.request) for i, call in enumerate(calls) if isinstance(call.request, AnswerRequest)]
        async for index, score in self.target.score_all(request for _, request in scored):
            yield scored[index][0], score
