"""Counterfactual runs: how one is made afresh, and what a sweep over many of them gives back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from whybox.engine.felt import rope_length
from whybox.engine.trace import Change, Engine, Read, Trace, Wish
from whybox.errors import SiteError

Array = np.ndarray
SAMPLE = 4  # changes that are run afresh to measure a sweep's floor


def fresh_run(engine: Engine, base: Trace, change: Change, see: Iterable[Wish] = ()) -> Trace:
    """The counterfactual as a whole run from nothing: what every faster way must equal.

    The base run's edits hold as well, and come first. Logits: all rows where the base run has all; else as many as it
    has, from the end, and one for each id of the continuation.
    """
    if base.start:
        raise SiteError(f"the base run began at position {base.start}", "run the whole prompt without a cache")
    ids = change.text(base.ids)
    cache = engine.fresh_cache(rope_length(ids, base))
    return engine.run(ids, see, (*base.edits, *change.edits), cache, tail(base, change))


def tail(base: Trace, change: Change) -> int | None:
    """How many rows of logits a counterfactual has, from its end; None for all."""
    return None if len(base.rows) == len(base.ids) else len(base.rows) + len(change.continuation)


def fresh_runs(
    engine: Engine, base: Trace, changes: Sequence[Change], see: Iterable[Wish] = ()
) -> Iterator[tuple[int, Trace]]:
    """One whole run for each change, in order: what an engine does that has no faster way."""
    wishes = tuple(see)
    for index, change in enumerate(changes):
        yield index, fresh_run(engine, base, change, wishes)


class Swept(Sequence[float | Array]):
    """What was read from each counterfactual, in the order of the changes. `runs`: the model's, so far."""

    def __init__(self, values: Sequence[float | Array], again: Callable[[int], float | Array]) -> None:
        self._values, self._again = tuple(values), again
        self.runs = len(self._values)

    def __repr__(self) -> str:
        return f"<Swept: {len(self)} reads>"

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> float | Array: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[float | Array]: ...
    def __getitem__(self, index: int | slice) -> float | Array | Sequence[float | Array]:
        return self._values[index]

    @cached_property
    def floor(self) -> float:
        """The largest |difference| between a read here and that of a fresh run, over a sample; 0 where nothing ran.

        The sample is spread evenly over the changes, first and last included; it is run when first asked for.
        """
        sample = np.unique(np.linspace(0, len(self) - 1, min(SAMPLE, len(self))).round().astype(int))
        apart = [np.abs(np.asarray(self._again(int(index))) - self[int(index)]).max(initial=0) for index in sample]
        self.runs += len(sample)
        return float(max(apart, default=0.0))


def sweep(engine: Engine, base: Trace, changes: Sequence[Change], read: Read, see: Iterable[Wish] = ()) -> Swept:
    """`read` of each counterfactual, as the engine makes them; no trace outlives its read."""
    wishes = tuple(see)
    values: dict[int, float | Array] = {}
    for index, trace in engine.counterfactuals(base, changes, wishes):
        values[index] = plain(read(trace))
    return Swept(
        [values[index] for index in range(len(changes))],
        lambda index: plain(read(fresh_run(engine, base, changes[index], wishes))),
    )


def plain(value: float | Array) -> float | Array:
    """A single number as a float, of whatever kind it is."""
    return float(value) if np.ndim(value) == 0 else value
