"""Where texts part, counted in the pieces of the texts: for targets that do not tell their tokens."""

import re
from collections.abc import Iterable

from whybox.items.scoring.folding import HAN
from whybox.probes.design import Estimate
from whybox.statistics.behaviour.edit import Fork, fork, fork_curve
from whybox.statistics.survival import median
from whybox.statistics.unknown import Unknown

_PIECE = re.compile(rf"[{HAN}]|[^\W{HAN}]+|[^\w\s]")
NONE_PART = Unknown("fewer than half of the texts part")


def pieces(text: str) -> list[str]:
    """Words, numbers, single Chinese characters, single signs; blanks aside."""
    return _PIECE.findall(text)


def fork_of(one: str, other: str) -> Fork:
    """The first piece at which two texts differ, counted from 0; censored where the shorter one ends."""
    both = pieces(one), pieces(other)
    numbers = {piece: i for i, piece in enumerate(dict.fromkeys(both[0] + both[1]))}
    first, second = ([numbers[piece] for piece in each] for each in both)
    return fork(first, second)


def first_divergent(statistic: str, pairs: Iterable[tuple[str, str]], items: int) -> Estimate:
    """The piece by which half of the pairs have parted (Kaplan–Meier)."""
    forks = [fork_of(one, other) for one, other in pairs]
    half = median(fork_curve(forks)) if forks else None
    return Estimate(statistic, NONE_PART if half is None else half, None, items, unit="tokens", primary=False)
