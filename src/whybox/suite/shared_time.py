"""Seconds that each call of a run took of the time that the run took: calls that are under way together share it."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

Key = TypeVar("Key", bound=Hashable)
Span = tuple[float, float]


def shares(spans: Mapping[Key, Span]) -> dict[Key, float]:
    """Seconds of each call, of (begun, ended): ∫ dt / (calls under way at t).

    They add up to the time during which anything was under way, however many calls were so at once; a pause between
    two sittings is nobody's.
    """
    if not spans:
        return {}
    begun, ended = (np.array(side) for side in zip(*spans.values(), strict=True))
    moments = np.unique(np.concatenate([begun, ended]))
    first, behind = np.searchsorted(moments, begun), np.searchsorted(moments, ended)
    under_way = np.zeros(len(moments))
    np.add.at(under_way, first, 1)
    np.add.at(under_way, behind, -1)
    active = np.cumsum(under_way)[:-1]
    lengths = np.diff(moments)
    until = np.concatenate([[0.0], np.cumsum(np.divide(lengths, active, out=np.zeros_like(lengths), where=active > 0))])
    return dict(zip(spans, map(float, until[behind] - until[first]), strict=True))
