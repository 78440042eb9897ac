"""Seconds that each call of a run took of the time that the run took: calls that are under way together share it."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

from whybox.probes.design import AnyOutcome

Key = TypeVar("Key", bound=Hashable)
Span = tuple[float, float]


def seconds_taken(asked: Iterable[tuple[Key, AnyOutcome, float]]) -> dict[Key, float]:
    """Of every call, from its outcome and when that was kept.

    A target of this process computes many calls together and gives each its part of the seconds. What goes through a
    wire is tried in attempts: its seconds are a span, in which other calls are under way.
    """
    found, spans = dict[Key, float](), dict[Key, Span]()
    for key, outcome, ended in asked:
        if outcome.attempts:
            spans[key] = (ended - outcome.seconds, ended)
        else:
            found[key] = outcome.seconds
    return found | shares(spans)


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
