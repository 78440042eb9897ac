"""The bench: every run of an explanation passes here, is counted, and computes only what its edits can change.

A causal decoder gives a law: an edit first felt at position P leaves every earlier position exactly as it was. So the
keys and values of ids[:P] are computed once and shared by all counterfactuals that begin at P or later.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from whybox.engine.edit import Edit, Index
from whybox.engine.sampling import GREEDY, Decoding, choose
from whybox.engine.trace import Cache, Trace, Wish
from whybox.model import Model

Array = np.ndarray
Ids = tuple[int, ...]
_KEPT_PREFIXES = 6
_PASSES_OF_AN_ANSWER = 20


@dataclass(frozen=True)
class Progress:
    """Where a job stands. rate: runs per second so far; left_s: seconds left at most, by the passes still to come."""

    stage: str
    done: int
    planned: int
    rate: float | None
    left_s: float | None


@dataclass(frozen=True)
class Settings:
    """How answers are written: decoding, limit of tokens, and a penalty on repeated ids (1: none)."""

    decoding: Decoding = GREEDY
    limit: int = 32
    penalty: float = 1.0

    @property
    def greedy(self) -> bool:
        return self.decoding.temperature == 0 and not self.decoding.banned and self.penalty == 1.0


@dataclass(frozen=True, eq=False)
class Written:
    """An answer: its ids, the logits [v] from which each was chosen, and whether a stop token ended it."""

    ids: Ids
    logits: tuple[Array, ...]
    stopped: bool


def _silent(_: Progress) -> None:
    pass


@dataclass(frozen=True)
class Work:
    """Runs: passes that are read, and answers that are written (each of them many passes)."""

    reads: int = 0
    writes: int = 0

    @property
    def runs(self) -> int:
        return self.reads + self.writes

    @property
    def passes(self) -> int:
        return self.reads + _PASSES_OF_AN_ANSWER * self.writes

    def __add__(self, other: "Work") -> "Work":
        return Work(self.reads + other.reads, self.writes + other.writes)


@dataclass
class Bench:
    """Runs, counted. `planned` is everything that may still come, with what was made; `tell` hears after every run."""

    model: Model
    tell: Callable[[Progress], None] = _silent
    planned: "Work" = field(default_factory=lambda: Work())
    made: "Work" = field(default_factory=lambda: Work())
    stage: str = ""
    _prefixes: dict[tuple[Ids, int], Cache] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    def read(self, ids: Ids, edits: Sequence[Edit] = (), length: int = 0, tail: int = 1) -> Array:
        """Logits [tail v] after ids. length: the whole run's, where it is longer than ids."""
        trace = self._run(ids, edits, max(length, len(ids)), tail)
        self._count(Work(reads=1))
        return trace.logits

    def see(self, ids: Ids, wishes: Iterable[Wish], edits: Sequence[Edit] = (), last: int | None = None) -> Trace:
        """A trace of the last rows (all of them by default), with sites kept."""
        self.model.require_fits(len(ids))
        whole = len(ids) if last is None else last
        cache = self._prefix(ids[: len(ids) - whole], len(ids)) if whole < len(ids) else None
        trace = self.model.engine.run(ids[len(ids) - whole :], wishes, edits, cache, tail=1)
        self._count(Work(reads=1))
        return trace

    def write(self, ids: Ids, settings: Settings, edits: Sequence[Edit] = ()) -> Written:
        """The answer to a prompt under edits, which hold at every step."""
        stops = self.model.tokenizer.stop_ids
        generator = np.random.default_rng(settings.decoding.seed)
        limit = min(settings.limit, self.model.room(len(ids)))
        trace = self._run(ids, edits, len(ids) + settings.limit, 1)
        chosen: list[int] = []
        rows: list[Array] = []
        while True:
            rows.append(trace.logits[-1])
            allowed = penalised(rows[-1], (*ids, *chosen), settings.penalty)
            following = choose(allowed, settings.decoding, generator)
            if following in stops or len(chosen) == limit:
                break
            chosen.append(following)
            if len(chosen) < limit:
                trace = self.model.engine.run([following], (), edits, trace.cache, tail=1)
            else:
                break
        self._count(Work(writes=1))
        return Written(tuple(chosen), tuple(rows), following in stops)

    def _run(self, ids: Ids, edits: Sequence[Edit], length: int, tail: int) -> Trace:
        self.model.require_fits(len(ids))
        shared = min([first_felt(edit) for edit in edits], default=0)
        shared = min(shared, len(ids) - tail)
        cache = self._prefix(ids[:shared], length) if shared > 0 else self.model.engine.fresh_cache(length)
        return self.model.engine.run(ids[max(shared, 0) :], (), edits, cache, tail=tail)

    def _prefix(self, ids: Ids, length: int) -> Cache:
        key = (ids, length)
        if key not in self._prefixes:
            if len(self._prefixes) >= _KEPT_PREFIXES:
                self._prefixes.pop(next(iter(self._prefixes)))
            fresh = self.model.engine.fresh_cache(length)
            self._prefixes[key] = self.model.engine.run(ids, (), (), fresh, tail=1).cache
        return self._prefixes[key]

    def _count(self, work: Work) -> None:
        self.made += work
        took = time.monotonic() - self._began
        done, planned = self.made.runs, max(self.planned.runs, self.made.runs)
        left = max(self.planned.passes - self.made.passes, 0) * took / self.made.passes
        self.tell(Progress(self.stage, done, planned, done / took if took > 0 else None, left))


def first_felt(edit: Edit) -> int:
    """The earliest position whose values an edit can change."""
    chosen = dict(edit.at)
    places = [chosen[axis] for axis in ("q", "k") if axis in chosen]
    return max([_lowest(place) for place in places], default=0)


def penalised(logits: Array, seen: Sequence[int], penalty: float) -> Array:
    """Repetition penalty (arXiv 1909.05858): an id seen before has its logit divided by it, multiplied if negative."""
    if penalty == 1.0:
        return logits
    where = np.unique(np.asarray(seen, np.int64))
    changed = logits.copy()
    changed[where] = np.where(logits[where] > 0, logits[where] / penalty, logits[where] * penalty)
    return changed


def _lowest(index: Index) -> int:
    match index:
        case int():
            return index
        case slice():
            return index.start or 0
        case _:
            return min(index, default=0)
