"""Makes the calls of a plan that are not finished, and keeps each before the next.

Nothing here knows what a call means. What is interrupted, killed or refused goes on where it was.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b

from whybox.errors import EndpointError
from whybox.probes.design import AnyOutcome, Call
from whybox.suite.cache import Cache, NoCache
from whybox.suite.executor import Executor
from whybox.suite.progress import Progress, Tell, unseen
from whybox.suite.store import Source, Store
from whybox.targets.target import Failure, Identity


@dataclass
class Sitting:
    """One go at a run: where results are kept, where older ones are looked up, who is told."""

    store: Store
    cache: Cache = field(default_factory=NoCache)
    tell: Tell = unseen
    clock: Callable[[], float] = time.perf_counter
    progress: Progress = field(default_factory=partial(Progress, 0))
    _begun: float = field(default=0.0, init=False)

    def plan(self, calls: int) -> None:
        """How many calls this sitting will make."""
        self.progress = Progress(calls)
        self._begun = self.clock()
        self.tell(self.progress)

    def add(self, calls: int) -> None:
        """So many more calls than were planned: a further round."""
        self.progress = replace(self.progress, planned=self.progress.planned + calls)
        self.tell(self.progress)

    async def make(self, calls: Sequence[Call], executor: Executor, target: str) -> None:
        """The calls, in this order as far as the executor keeps it. target: name of the target in the cache.

        EndpointError where a target refuses in a way that every call would meet; what was done before is kept.
        """
        kept = self.cache.found(calls, target)
        for position, outcome in kept.items():
            self._keep(calls[position], outcome, "cache")
        left = [call for position, call in enumerate(calls) if position not in kept]
        async for position, outcome in executor.outcomes(left):
            if isinstance(outcome, Failure) and outcome.fatal:
                raise EndpointError(outcome.cause, outcome.remedy)
            self._keep(left[position], outcome, "fresh")
            self.cache.put(left[position], target, outcome)

    def _keep(self, call: Call, outcome: AnyOutcome, source: Source) -> None:
        self.store.keep(call, outcome, source)
        now = self.progress
        self.progress = replace(
            now,
            done=now.done + 1,
            failed=now.failed + isinstance(outcome, Failure),
            cached=now.cached + (source == "cache"),
            seconds=self.clock() - self._begun,
        )
        self.tell(self.progress)


def target_key(identity: Identity, fingerprint: str) -> str:
    """Name of a target in the cache: who it says it is, and the fingerprint that it showed in this run."""
    return blake2b(f"{identity.digest}/{fingerprint}".encode(), digest_size=16).hexdigest()
