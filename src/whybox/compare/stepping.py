"""A text fed in pieces behind a cache, seen as one run: the prompt at once, the rest token by token."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from whybox.compare.observation import Observation, axes_of
from whybox.engine.edit import row_axis, set_to
from whybox.engine.trace import Engine, Key, Trace

Array = np.ndarray


def stepped(
    engine: Engine, ids: Sequence[int], first: int, see: Iterable[str], entry: Array | None = None
) -> Iterator[Trace]:
    """The runs: `first` tokens, then one by one. entry: the stream [q c] that takes the place of the embedding."""
    cache, wishes = engine.fresh_cache(len(ids)), tuple(see)
    for rows in (slice(0, first), *(slice(at, at + 1) for at in range(first, len(ids)))):
        edits = () if entry is None else (set_to("embed", entry[rows]),)
        trace = engine.run(tuple(ids[rows]), wishes, edits, cache=cache)
        cache = trace.cache
        yield trace


def joined(traces: Iterable[Trace], rows: int) -> Observation:
    """Runs behind one another as one, `final` and `logits` of the last rows.

    Scores and patterns are left out: which keys a cache still holds is not in their shape.
    """
    runs = list(traces)
    spec, sites = runs[0].spec, {}
    keys: list[Key] = [*runs[0].sites]
    for key in keys:
        axes = axes_of(key, spec)
        if "q" in axes and "k" in axes:
            continue
        sites[key] = np.concatenate([run.sites[key] for run in runs], axis=row_axis(axes))
    if ("final", None) in sites:
        sites["final", None] = sites["final", None][-rows:]
    sites["logits", None] = np.concatenate([run.logits for run in runs])[-rows:]
    return Observation(tuple(token for run in runs for token in run.ids), sites, runs[0].precision)
