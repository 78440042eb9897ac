"""A recital against its list of stations: which were told, which are missing, which came out of order.

A checklist with a timer. It finds expressions in a text, in English or Chinese or both, and judges no understanding.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from whybox.errors import UsageError
from whybox.learn.course.chapter import Recital, Station
from whybox.learn.course.reckoning import WIDE

MOST = 6_000
OWN = 24
"""Letters of a station's wording that nobody meets by chance; a Chinese character counts for two."""
FEW = 3
"""Words for each station that was found, below which there is only a list; a Chinese character counts for one."""


@dataclass(frozen=True)
class Heard:
    """Ids of stations, in the recital's own order. out_of_order: found, but not where they belong.

    copied: told in the very words of the list. bare: hardly more than a list of words.
    """

    found: tuple[str, ...]
    missing: tuple[str, ...]
    out_of_order: tuple[str, ...]
    copied: tuple[str, ...] = ()
    bare: bool = False


def hear(recital: Recital, told: str) -> Heard:
    """UsageError for an empty text, and one beyond 6,000 characters."""
    if not told.strip():
        raise UsageError("nothing was told", "type or hand in what you said")
    if len(told) > MOST:
        raise UsageError(f"the text has {len(told):,} characters", f"a recital has up to {MOST:,}")
    line = _unwrapped(told)
    places = {station.id: _places(station, line) for station in recital.stations}
    found = tuple(name for name, where in places.items() if where)
    kept = _longest_in_order({name: places[name] for name in found}) if recital.ordered else set(found)
    return Heard(
        found,
        tuple(name for name in places if name not in found),
        tuple(name for name in found if name not in kept),
        tuple(station.id for station in recital.stations if station.id in found and _is_copied(station, line)),
        bool(found) and len(re.findall(rf"{WIDE}|[^\W_]+", line)) < FEW * len(found),
    )


def _is_copied(station: Station, told: str) -> bool:
    said = _letters(told)
    wordings = (_letters(station.say.en), _letters(station.say.zh))
    return any(_size(wording) >= OWN and wording in said for wording in wordings)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _size(letters: str) -> int:
    return len(letters) + len(re.findall(WIDE, letters))


def _unwrapped(told: str) -> str:
    """One line: what is typed is wrapped anywhere. Chinese lines are joined without a blank."""
    told = re.sub(rf"(?<={WIDE})\s*\n\s*|\s*\n\s*(?={WIDE})", "", told)
    return re.sub(r"\s*\n\s*", " ", told)


def _places(station: Station, told: str) -> list[int]:
    """Where it is told, every time."""
    english = [re.compile(each, re.IGNORECASE | re.ASCII) for each in station.heard["en"]]  # also between Chinese words
    chinese = [re.compile(each, re.IGNORECASE) for each in station.heard["zh"]]
    return sorted({hit.start() for each in (*english, *chinese) for hit in each.finditer(told)})


def _longest_in_order(places: dict[str, list[int]]) -> set[str]:
    """The most stations whose places, one of each, do not fall: a longest common subsequence.

    ends[n]: the earliest place at which n + 1 stations in order can end. A station's places are tried from the last
    one on, so that none counts twice.
    """
    ends: list[int] = []
    chains: list[tuple[str, ...]] = []
    for name, where in places.items():
        for place in reversed(where):
            long = bisect_right(ends, place)
            chain = (*(chains[long - 1] if long else ()), name)
            ends[long : long + 1], chains[long : long + 1] = [place], [chain]
    return set(chains[-1]) if chains else set()
