"""Which calls are made, and in which order: arms interleaved, so that a server that drifts is not an arm effect."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b

import numpy as np

from whybox.errors import UsageError
from whybox.probes.design import Call


def scheduled(calls: Sequence[Call], seed: int, shared_prefixes: bool = False) -> list[Call]:
    """A random order, the same for the same seed and calls.

    shared_prefixes: items in random order, and the calls of an item in random order beside each other: what their
    prompts begin with alike is then computed once, and each arm still stands everywhere.
    """
    generator = np.random.default_rng([seed, 0x5EED])
    drawn = [calls[i] for i in generator.permutation(len(calls))]
    if not shared_prefixes:
        return drawn
    places: dict[tuple[str, str], int] = {}
    for call in drawn:
        places.setdefault((call.probe, call.item), len(places))
    return sorted(drawn, key=lambda call: places[call.probe, call.item])


def selected(calls: Sequence[Call], pattern: str | None, limit: int | None) -> list[Call]:
    """The calls whose `probe/item/arm` fits the pattern (`order/*`, `*/fact-en-3/*`), of the first `limit` items
    of each probe. UsageError where nothing is left.
    """
    kept = [call for call in calls if pattern is None or fits(call, pattern)]
    if limit is not None:
        first = _first_items(kept, limit)
        kept = [call for call in kept if (call.target, call.probe, call.item) in first]
    if not kept:
        probes = ", ".join(dict.fromkeys(call.probe for call in calls)) or "none"
        raise UsageError(f"no call fits --filter {pattern!r}", f"probes are: {probes}; for instance --filter 'order/*'")
    return kept


def fits(call: Call, pattern: str) -> bool:
    """Whether `probe/item/arm` of a call matches; a pattern without a slash names a probe."""
    name = f"{call.probe}/{call.item}/{call.arm}"
    return fnmatchcase(name, pattern if "/" in pattern else f"{pattern}/*")


def share_of(calls: Sequence[Call], count: int) -> list[Call]:
    """`count` calls drawn evenly from a plan, one an item: the first run of an arm that differs from item to item."""
    firsts: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        if call.run == 0:
            firsts.setdefault((call.probe, call.item), []).append(call)
    items = list(firsts)
    chosen = [items[i * len(items) // count] for i in range(min(count, len(items)))] if count < len(items) else items
    return [firsts[item][_number(item) % len(firsts[item])] for item in chosen]


def _first_items(calls: Sequence[Call], limit: int) -> set[tuple[str, str, str]]:
    items: dict[tuple[str, str], dict[str, None]] = {}
    for call in calls:
        items.setdefault((call.target, call.probe), {}).setdefault(call.item)
    return {(*where, item) for where, found in items.items() for item in list(found)[:limit]}


def _number(item: tuple[str, str]) -> int:
    return int.from_bytes(blake2b("/".join(item).encode(), digest_size=4).digest())
