"""The shape of a difference: over positions, through layers, across heads and channels. It names a kind, no cause.

Zero at position 0 and growing: positions. First break at exactly the window: the window. The same everywhere: a scale,
a norm, an activation. One token alone: a sink or a massive activation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.compare.observation import Errors, Observation
from whybox.engine.trace import Key
from whybox.spec import Spec

Array = np.ndarray
EVEN = 10.0  # largest over smallest decile of positions, up to which an error is the same everywhere
ALONE = 10.0  # times the next largest error that a single position must have to stand alone
STREAM = ("resid_post", "resid_mid", "resid_pre", "embed")


@dataclass(frozen=True)
class Profile:
    """shape: none | positions | window | everywhere | one-token | from. first: the first position beyond the floor.

    by_position: errors of the last recorded residual stream, or of the logits. by_layer: the median over positions of
    each layer's stream. heads, channels: which of them differ where the runs first part, None where most do.
    """

    shape: str
    first: int | None
    site: str
    by_position: Array
    by_layer: tuple[float | None, ...]
    heads: tuple[int, ...] | None = None
    channels: tuple[int, int] | None = None


def profile(found: Errors, limits: Mapping[Key, Array], spec: Spec, parted: Key | None = None) -> Profile:
    """Of a whole run against another. parted: where they part first, asked where the last stream is alike."""
    key = _told(found, spec)
    beyond = _beyond(found, limits, key)
    if not beyond.size and parted is not None and parted in found:
        key, beyond = parted, _beyond(found, limits, parted)
    rows, first = found[key], int(beyond[0]) if beyond.size else None
    return Profile(_shape(rows, beyond, spec), first, _label(key), rows, _layers(found, spec))


def _beyond(found: Errors, limits: Mapping[Key, Array], key: Key) -> Array:
    """Positions where rounding does not explain the error."""
    rows = found[key]
    return np.flatnonzero(rows > limits.get(key, np.zeros_like(rows)))


def _label(key: Key) -> str:
    site, layer = key
    return site if layer is None else f"{site}.{layer}"


def _told(found: Errors, spec: Spec) -> Key:
    """The last residual stream that was kept: logits may be kept for few rows."""
    streams: list[Key] = [("resid_post", layer) for layer in reversed(range(len(spec.layers)))]
    return next((key for key in (*streams, ("final", None), ("logits", None)) if key in found), next(iter(found)))


def _layers(found: Errors, spec: Spec) -> tuple[float | None, ...]:
    rows = (found.get(("resid_post", layer)) for layer in range(len(spec.layers)))
    return tuple(None if each is None else _finite(float(np.nanmedian(each))) for each in rows)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _shape(rows: Array, beyond: Array, spec: Spec) -> str:
    if not beyond.size:
        return "none"
    first, windows = int(beyond[0]), {layer.attention.window for layer in spec.layers} - {None}
    if first and first in {w + by for w in windows if w is not None for by in (-1, 0)}:
        return "window"
    known = rows[np.isfinite(rows)]
    largest = np.sort(known)[::-1]
    if len(largest) > 2 and largest[0] > ALONE * largest[1]:
        return "one-token"
    if first == 0 and known.size:
        low, high = np.quantile(known, (0.1, 0.9))
        return "everywhere" if high <= EVEN * max(low, np.finfo(float).tiny) else "uneven"
    if not known.size:
        return "everywhere"
    return "positions" if first == 1 else "from"


def parts_apart(one: Observation, other: Observation, key: Key, axes: Sequence[str]) -> tuple[int, ...] | None:
    """Of a site with heads: which heads carry the difference, None where it has no heads or most of them do."""
    letter = next((each for each in axes if each in ("h", "g")), None)
    if letter is None or key not in one.sites or key not in other.sites:
        return None
    a, b = (np.nan_to_num(side.sites[key].astype(np.float64), posinf=0, neginf=0) for side in (one, other))
    if a.shape != b.shape:
        return None
    axis = list(axes).index(letter)
    rest = tuple(i for i in range(a.ndim) if i != axis)
    apart = np.sqrt(np.square(a - b).sum(axis=rest))
    chosen = np.flatnonzero(apart > apart.max() / 100) if apart.max() else np.array([], int)
    return tuple(map(int, chosen)) if 0 < len(chosen) <= len(apart) / 2 else None


def channels_apart(one: Observation, other: Observation, key: Key) -> tuple[int, int] | None:
    """First and last channel of the last axis that differ, each against its own size; None where most of them do."""
    if key not in one.sites or key not in other.sites or one.sites[key].shape != other.sites[key].shape:
        return None
    a, b = (side.sites[key].astype(np.float64) for side in (one, other))
    size = np.linalg.norm(a.reshape(-1, a.shape[-1]), axis=0)
    apart = np.linalg.norm((a - b).reshape(-1, a.shape[-1]), axis=0) / np.maximum(size, np.median(size) / 1000 or 1.0)
    chosen = (
        np.flatnonzero(apart > apart.max() / 100) if np.isfinite(apart).all() and apart.max() else np.array([], int)
    )
    return (int(chosen[0]), int(chosen[-1])) if 0 < len(chosen) <= len(apart) / 2 else None
