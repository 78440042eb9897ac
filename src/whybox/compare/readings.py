"""Where a recording was taken, if not where its names say: hidden states behind a norm, or one layer late.

Programs hand out "hidden states" of their own counting: the last one behind the final norm, all of them behind a norm,
the embeddings as the first. Read as named they would look like a broken model. A recording is read in another way only
where its own numbers demand it: what was recorded fits our model there, and not where its names say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.compare.naming import Named, Walk, Walker
from whybox.compare.observation import Observation, errors
from whybox.compare.pieces import Described, Piece
from whybox.engine.edit import set_to
from whybox.engine.rounded import in_format
from whybox.engine.trace import Key
from whybox.errors import NonFiniteError
from whybox.testing.faults import FINAL_NORM_MISSING

LAST_NORMED = "the recording's last state was taken after the final norm: compared as final"
ALL_NORMED = "the recording's states were taken after the next norm: compared as attn_in, the last one as final"
LATE = "the recording's states stand one layer late: compared as those of the layer before"
LOGITS: Key = ("logits", None)
DECISIVE = 4.0
"""Times what rounding allows: so far must a recorded value move the logits to be no part of their run."""


@dataclass(frozen=True, eq=False)
class Read:
    """seen: under the names of the places where it was taken. moved: what was read in another way, None for nothing."""

    seen: Observation
    walk: Walk
    moved: str | None = None


def read(seen: Observation, walker: Callable[[Observation], Walker], known: Sequence[Named]) -> Read:
    """The recording as named, unless another reading leaves nothing to explain, and its own numbers demand it."""
    named = walker(seen)
    if not named.partings(known):
        return Read(seen, named.walk(known))
    return _normed(named, walker, known) or _late(seen, walker, known) or Read(seen, named.walk(known))


def _normed(named: Walker, walker: Callable[[Observation], Walker], known: Sequence[Named]) -> Read | None:
    """States behind a norm. With other faults beside it: the last one, where the walk then explains all."""
    if not behind_the_norm(named, known):
        return None
    seen, count = named.seen, len(named.spec.layers)
    for move, told in ((last_normed, LAST_NORMED), (all_normed, ALL_NORMED)):
        other = walker(move(seen, count))
        if not other.partings(known):
            return Read(other.seen, other.walk(known), told)
    if seen.logits is None:
        return None
    other = walker(last_normed(seen, count))
    walk = other.walk(known)
    missing = any(FINAL_NORM_MISSING.name in each.fault.name for each in walk.named)
    return None if walk.left or missing else Read(other.seen, walk, LAST_NORMED)


def _late(seen: Observation, walker: Callable[[Observation], Walker], known: Sequence[Named]) -> Read | None:
    if ("resid_post", 0) not in seen.sites:
        return None
    other = walker(one_late(seen))
    if other.parting(other.pieces[0], known) is not None or other.partings(known):
        return None
    return Read(other.seen, other.walk(known), LATE)


def behind_the_norm(walker: Walker, known: Sequence[Named]) -> bool:
    """Whether the head, without its norm, makes of the last state what was recorded as logits; maybe, without logits.

    It does so where the norm is missing, too: only a whole walk tells the two apart.
    """
    seen, count = walker.seen, len(walker.spec.layers)
    if ("resid_post", count - 1) not in seen.sites:
        return False
    head = Piece(count, count, from_ids=False, head=True)
    return seen.logits is None or walker.parting(head, [*known, Named(FINAL_NORM_MISSING, None)]) is None


def last_normed(seen: Observation, count: int) -> Observation:
    """The last state as `final`."""
    return _moved(seen, {("resid_post", count - 1): ("final", None)})


def all_normed(seen: Observation, count: int) -> Observation:
    """Every state as what the next norm gave."""
    inside: dict[Key, Key] = {("resid_post", at): ("attn_in", at + 1) for at in range(count - 1)}
    return _moved(seen, inside | {("resid_post", count - 1): ("final", None)})


def one_late(seen: Observation) -> Observation:
    """Every state as that of the layer before, the first as the embedding."""
    moves: dict[Key, Key] = {
        (site, layer): (site, layer - 1) if layer else ("embed", None)
        for site, layer in seen.sites
        if site == "resid_post" and layer is not None
    }
    return _moved(seen, moves)


def _moved(seen: Observation, moves: Mapping[Key, Key]) -> Observation:
    there = {key: value for key, value in seen.sites.items() if key not in moves}
    return replace(seen, sites=there | {moves[key]: value for key, value in seen.sites.items() if key in moves})


def contradicted(model: Described, seen: Observation, key: Key, sites: str, limit: float) -> bool:
    """Whether ours, with what was recorded put in at a place, gives other logits than those that were recorded.

    Where the logits agree without it, such a value was no part of the run that made them. limit: of their error.
    """
    if key not in seen.sites or key == LOGITS or seen.logits is None:
        return False
    patch = set_to(key[0], seen.sites[key], key[1])
    try:
        ours = in_format(*model, sites).run(seen.ids, edits=(patch,), tail=len(seen.logits)).logits
    except NonFiniteError:
        return True
    left = errors(Observation(seen.ids, {LOGITS: ours}), seen, model[0])[LOGITS]
    return float(np.nanmax(left)) > DECISIVE * limit
