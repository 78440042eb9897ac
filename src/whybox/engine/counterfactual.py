"""Counterfactual runs: how one is made afresh, and what a sweep over many of them gives back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import overload

import numpy as np

from whybox.engine.edit import portion
from whybox.engine.felt import first_felt, rope_length, untouched
from whybox.engine.forgotten import forgotten
from whybox.engine.trace import Cache, Change, Engine, Read, Trace, Wish
from whybox.engine.wishes import named_sites, real
from whybox.errors import SiteError, UsageError

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


def continued_runs(engine: Engine, base: Trace, changes: Sequence[Change]) -> Iterator[tuple[int, Trace]]:
    """The run of each change, in order, from the first position that it alters: what is before stands in a cache.

    Costs the base run once more. Where rows are wanted that the base run left out, or a window has rolled on, a whole
    run is made. Traces keep no sites.
    """
    starts = [_start(base, change) for change in changes]
    if len(changes) == 1 or not any(starts):
        yield from fresh_runs(engine, base, changes)
        return
    again = engine.run(base.ids, (), base.edits, engine.fresh_cache(base.rope_length), len(base.rows))
    for index, (change, start) in enumerate(zip(changes, starts, strict=True)):
        cache = _before(again, start, change)
        yield index, fresh_run(engine, base, change) if cache is None else _continued(engine, again, change, cache)


def _start(base: Trace, change: Change) -> int:
    """The first row to compute: the last one at least; 0 where earlier logits are wanted than the base run has."""
    length, count = len(change.text(base.ids)), tail(base, change)
    first = 0 if count is None else max(length - count, 0)
    start = min(first_felt(change, base).position, length - 1)
    return start if first >= min(base.rows.start, start) and not base.start else 0


def _before(again: Trace, start: int, change: Change) -> Cache | None:
    """Keys and values of the first `start` tokens; None where there are none, or a window has forgotten some."""
    try:
        cache = again.cache.crop(start, again.spec) if start else None
    except UsageError:
        return None
    fed = range(start, len(change.text(again.ids)))
    return None if cache and forgotten((*again.edits, *change.edits), fed, cache, again.spec) else cache


def _continued(engine: Engine, base: Trace, change: Change, cache: Cache) -> Trace:
    ids, start = change.text(base.ids), cache.seen
    whole, fed = range(len(ids)), range(start, len(ids))
    count = tail(base, change)
    first = 0 if count is None else max(len(ids) - count, 0)
    edits = [portion(edit, whole, fed, engine.spec) for edit in (*base.edits, *change.edits)]
    cache = replace(cache, rope_length=rope_length(ids, base))
    found = engine.run(ids[start:], (), edits, cache, len(ids) - max(first, start))
    older = base.logits[first - base.rows.start : max(start - base.rows.start, 0)] if first < start else base.logits[:0]
    earlier = [untouched([edit], start, engine.spec) < start for edit in base.edits]
    before = (*(a and b for a, b in zip(earlier, base.changed, strict=True)), *(False for _ in change.edits))
    return replace(
        found,
        ids=ids,
        start=0,
        logits=np.concatenate([older, found.logits]),
        rows=range(first, len(ids)),
        edits=(*base.edits, *change.edits),
        changed=tuple(map(any, zip(before, found.changed, strict=True))),
    )


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
    wishes = named_sites("see", see)
    values: dict[int, float | Array] = {}
    for index, trace in engine.counterfactuals(base, changes, wishes):
        values[index] = plain(read(trace))
    return Swept(
        [values[index] for index in range(len(changes))],
        lambda index: plain(read(fresh_run(engine, base, changes[index], wishes))),
    )


def plain(value: float | Array) -> float | Array:
    """A single number as a float, of whatever kind it is. UsageError where a read gives no numbers."""
    found = real("what the read gives", value)
    return value if found.ndim else float(found)
