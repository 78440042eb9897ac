"""What a run takes over from an earlier one: keys and values of the text that both begin with, where edits agree.

So a dialogue forks, another question follows the same context, and an edited text is gone on with, at the price of what
is new. The earlier run stays as it was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from whybox.engine.edit import Edit, portion
from whybox.engine.felt import common, differ, foresights, untouched
from whybox.engine.forgotten import forgotten
from whybox.engine.likeness import require_like
from whybox.engine.trace import Cache, Engine, Trace, Wish
from whybox.errors import UsageError
from whybox.statistics.rows import AttentionWish


@dataclass(frozen=True)
class Asked:
    """A run as it is asked for, of a whole text. length: of the text it will become, for which RoPE is chosen."""

    ids: tuple[int, ...]
    see: Iterable[Wish]
    edits: tuple[Edit, ...]
    tail: int | None
    length: int
    statistics: AttentionWish | None = None


def run(engine: Engine, asked: Asked, before: Trace | None) -> Trace:
    """The run that is asked for; rows that `before` has already are not computed again, and have no values here.

    UsageError for an earlier run of other weights, or in another precision.
    """
    if before is not None:
        require_like(before, engine)
    cache = standing(engine, before, asked)
    whole, rest = range(len(asked.ids)), range(cache.seen, len(asked.ids))
    edits = [portion(edit, whole, rest, engine.spec) for edit in asked.edits]
    found = engine.run(asked.ids[cache.seen :], asked.see, edits, cache, asked.tail, asked.statistics)
    return replace(found, edits=asked.edits, changed=_changed(before, found, asked.edits))


def standing(engine: Engine, before: Trace | None, asked: Asked) -> Cache:
    """The cache to begin behind, an empty one where nothing can be taken over. The last id is fed in any case."""
    if before is not None and before.cache.layers and _turn_alike(before, asked.length):
        try:
            kept = before.cache.crop(_agreed(before, asked), before.spec)
        except UsageError:  # a window has rolled over what the next token would see
            return engine.fresh_cache(asked.length)
        fed = range(kept.seen, len(asked.ids))
        if kept.seen and not forgotten(asked.edits, fed, kept, before.spec):
            return replace(kept, rope_length=asked.length)
    return engine.fresh_cache(asked.length)


def _agreed(before: Trace, asked: Asked) -> int:
    """How many leading positions both runs share: the same ids, reached by no edit that only one of them has."""
    longest = max(len(asked.ids), before.end)
    unlike = () if before.edits == asked.edits else (*before.edits, *asked.edits)
    shared = min(common(before.cache.ids, asked.ids), len(asked.ids) - 1)
    return min(shared, untouched(unlike, longest, before.spec), *foresights(asked.edits, longest))


def _turn_alike(before: Trace, length: int) -> bool:
    """RoPE that depends on the length may have turned the keys of the other run otherwise."""
    ropes = {layer.attention.rope for layer in before.spec.layers}
    return not any(rope is not None and differ(rope, before.rope_length, length) for rope in ropes)


def _changed(before: Trace | None, found: Trace, edits: Sequence[Edit]) -> tuple[bool, ...]:
    """Whether each edit changed anything: in the rows that were computed, or in those that were taken over."""
    if before is None or before.edits != edits:
        return found.changed
    reached = (untouched([edit], found.start, found.spec) < found.start for edit in edits)
    return tuple(a or (b and c) for a, b, c in zip(found.changed, before.changed, reached, strict=True))
