"""A run in pieces: what each of them keeps and changes, which runs cannot be cut, and the pieces as one trace again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.engine.edit import Add, Edit, Set, row_axis, site_axes
from whybox.engine.trace import Cache, Key, Trace, Wish, wanted
from whybox.spec import Spec
from whybox.statistics.rows import AttentionRows, AttentionWish, Joining

Array = np.ndarray


@dataclass(frozen=True)
class Watch:
    """What a run keeps, and what it changes."""

    see: tuple[Wish, ...] = ()
    edits: tuple[Edit, ...] = ()
    statistics: AttentionWish | None = None


def chunks(whole: range, size: int) -> list[range]:
    """A run's positions in consecutive parts."""
    return [range(start, min(start + size, whole.stop)) for start in range(whole.start, whole.stop, size)]


def joined(pieces: Sequence[Trace]) -> Trace:
    """The traces of consecutive chunks as one."""
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return first
    return replace(
        last,
        ids=tuple(token for piece in pieces for token in piece.ids),
        start=first.start,
        sites={
            key: _site([(piece.end, piece.sites[key]) for piece in pieces if key in piece.sites], key)
            for key in last.sites
        },
        logits=np.concatenate([piece.logits for piece in pieces]),
        rows=range(last.rows.stop - sum(len(piece.rows) for piece in pieces), last.rows.stop),
        changed=tuple(map(any, zip(*(piece.changed for piece in pieces), strict=True))),
        kernel=", then ".join(dict.fromkeys(piece.kernel for piece in pieces)),
    )


def extend(records: Sequence[Joining], chunk: dict[int, AttentionRows]) -> None:
    """Each layer's record with the next chunk behind it; those of the chunk are let go, layer by layer."""
    for layer in sorted(chunk):
        records[layer].add(chunk.pop(layer))


def needs_one_piece(watch: Watch, cache: Cache, spec: Spec) -> bool:
    """What has keys that come later: raw scores, and weights given to them. So have patterns over slots with gaps."""
    sites = {site for site, _ in wanted(watch.see, spec)}
    gaps = any(len(slots) and np.ptp(slots.positions) + 1 != len(slots) for slots in cache.layers)
    given = any(edit.site == "pattern" and isinstance(edit.action, Set | Add) for edit in watch.edits)
    return given or "scores" in sites or ("pattern" in sites and gaps)


def _site(pieces: Sequence[tuple[int, Array]], key: Key) -> Array:
    """Along the rows. A pattern has weight 0 on keys that came later, and on those that left through the window.

    pieces: (position behind the last row, value) of each chunk.
    """
    arrays = [value for _, value in pieces]
    if key[0] == "pattern":
        first, stop = min(end - value.shape[-1] for end, value in pieces), pieces[-1][0]
        beside = [(end - value.shape[-1] - first, stop - end) for end, value in pieces]
        arrays = [np.pad(value, ((0, 0), (0, 0), both)) for value, both in zip(arrays, beside, strict=True)]
    axis = row_axis(site_axes(key[0]))
    whole = np.concatenate(arrays, axis=axis)
    whole.flags.writeable = False
    return whole
