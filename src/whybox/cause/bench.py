"""The bench: every run of an explanation passes here, is counted, and computes only what its edits can change.

What several experiments ask for at the same time is made at once: passes as counterfactuals of one base run, answers as
one batch of drafts. The engine makes them in its fastest way. A run that is asked for twice is made once.
"""

import time
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from whybox.cause.asking import Array, Experiment, Ids, Read, Refused, Requests, See, Write, Written, together
from whybox.cause.decision import Reading
from whybox.cause.ledger import Kind, Ledger, said
from whybox.engine.edit import Edit, portion
from whybox.engine.sampling import choose
from whybox.engine.trace import Change, Draft, Trace, Wish
from whybox.errors import PromptError, SiteError
from whybox.model import Model

T = TypeVar("T")
R = TypeVar("R", Read[Any], Write[Any], See[Any])
_KEPT_BASES = 2
_FEW = 3  # a base run costs two passes
_KEPT_LOGITS = 2**29  # bytes of logits that answers may hold until they are read
_PASSES_OF_AN_ANSWER = 20
LOOKED = ", values kept"


@dataclass(frozen=True)
class Progress:
    """Where a job stands. rate: runs per second so far; left_s: seconds left at most, by the passes still to come."""

    stage: str
    done: int
    planned: int
    rate: float | None
    left_s: float | None


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

    def __mul__(self, times: int) -> "Work":
        return Work(self.reads * times, self.writes * times)

    def __or__(self, other: "Work") -> "Work":
        """Enough for either."""
        return Work(max(self.reads, other.reads), max(self.writes, other.writes))


_READ, _WRITE = Work(reads=1), Work(writes=1)


@dataclass
class Bench:
    """Runs, counted. `planned` is everything that may still come, with what was made; `tell` hears after every run.

    ledger: every run, with what was changed in it. A pass that only prepares others (the base run of a sweep, a prefix
    that several share) is part of theirs, and no run by itself.
    """

    model: Model
    tell: Callable[[Progress], None] = _silent
    planned: "Work" = field(default_factory=lambda: Work())
    made: "Work" = field(default_factory=lambda: Work())
    stage: str = ""
    ledger: Ledger = field(default_factory=Ledger)
    _bases: dict[tuple[Ids, int, int], Trace] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    def result(self, experiment: Experiment[T]) -> T:
        """What one experiment finds."""
        running = experiment.__await__()
        try:
            asked = next(running)
            while True:
                asked = running.send(self._answers(asked))
        except StopIteration as ended:
            found: T = ended.value
            return found
        finally:
            running.close()

    def results(self, experiments: Sequence[Experiment[T]]) -> list[T]:
        """What each of many experiments finds, in their order; their runs are made together."""
        return self.result(together(experiments))

    def see(self, ids: Ids, wishes: Iterable[Wish], edits: Sequence[Edit] = (), last: int | None = None) -> Trace:
        """A trace of the last rows (all of them by default), with sites kept; the edits hold at all rows."""
        self.model.require_fits(len(ids))
        engine, whole = self.model.engine, range(len(ids))
        first = 0 if last is None else len(ids) - last
        cache = engine.fresh_cache(len(ids))
        if first:
            before = [portion(edit, whole, whole[:first], engine.spec) for edit in edits]
            cache = engine.run(ids[:first], (), before, cache, tail=1).cache
        behind = [portion(edit, whole, whole[first:], engine.spec) for edit in edits]
        wanted = tuple(wishes)
        trace = engine.run(ids[first:], wanted, behind, cache, tail=1)
        self.enter(ids, f"{said(edits)}{LOOKED if wanted else ''}")
        return trace

    def enter(
        self,
        ids: Ids,
        what: str,
        found: tuple[str, float | None] = ("", None),
        answer: str | None = None,
        kind: Kind = "read",
    ) -> None:
        """A run that was made: entered, counted, told. found: what was read from it, and the number."""
        self.ledger.enter(self.stage, kind, ids, what, found, answer)
        self._count(_WRITE if kind == "write" else _READ)

    def _answers(self, requests: Requests) -> list[Any]:
        """What each request keeps of its run; Refused where that cannot be made."""
        found: dict[int, Any] = {}
        reads: dict[int, Read[Any]] = {}
        writes: dict[int, Write[Any]] = {}
        sights: dict[int, See[Any]] = {}
        for index, request in enumerate(requests):
            try:
                self.model.require_fits(len(request.ids))
            except PromptError as error:
                found[index] = Refused(error)
                continue
            match request:
                case Read():
                    reads[index] = request
                case Write():
                    writes[index] = request
                case See():
                    sights[index] = request
        for lot in self._lots(reads):
            found.update(self._read(lot))
        found.update(self._each_once(writes))
        found.update(self._seen(sights))
        return [found[index] for index in range(len(requests))]

    def _each_once(self, writes: dict[int, Write[Any]]) -> Iterator[tuple[int, Any]]:
        """Answers, written once for all that ask for the same."""
        alike = {same[0]: same for same in distinct(writes, lambda write: (write.ids, write.settings))}
        firsts = {first: _for_all([writes[index] for index in same]) for first, same in alike.items()}
        for some in self._portions(firsts):
            for first, kept in self._written(some).items():
                each = [kept] * len(alike[first]) if isinstance(kept, Refused) else kept
                yield from zip(alike[first], each, strict=True)

    def _seen(self, sights: dict[int, See[Any]]) -> Iterator[tuple[int, Any]]:
        for same in distinct(sights, lambda see: (see.ids, see.wishes, see.last)):
            asked = sights[same[0]]
            try:
                trace = self.see(asked.ids, asked.wishes, asked.edits, asked.last)
            except SiteError as error:
                yield from ((index, Refused(error)) for index in same)
            else:
                yield from ((index, sights[index].keep(trace)) for index in same)

    def _lots(self, reads: dict[int, Read[Any]]) -> Iterable[dict[int, Read[Any]]]:
        """Reads that can depart from one base run: as many rows, and the same reserve where RoPE depends on it."""
        lots: dict[tuple[int, int], dict[int, Read[Any]]] = {}
        for index, read in reads.items():
            lots.setdefault((read.tail, self._reserve(read)), {})[index] = read
        return lots.values()

    def _reserve(self, read: Read[Any]) -> int:
        """Tokens that the whole run is longer than what is read."""
        return max(read.length - len(read.ids), 0) if self.model.spec.length_dependent else 0

    def _read(self, lot: dict[int, Read[Any]]) -> Iterator[tuple[int, Any]]:
        alike = distinct(lot, lambda read: (read.ids, read.length))
        runs = {same[0]: lot[same[0]] for same in alike}
        sharers = {same[0]: same for same in alike}
        for first, logits in self._logits(runs, self._base(list(runs.values()))):
            if isinstance(logits, Refused):
                yield from ((index, logits) for index in sharers[first])
                continue
            kept = [(index, lot[index].keep(logits)) for index in sharers[first]]
            self.enter(lot[first].ids, said(lot[first].edits), _number(kept[0][1]))
            yield from kept

    def _logits(self, runs: dict[int, Read[Any]], base: Trace | None) -> Iterator[tuple[int, Array | Refused]]:
        """Logits [tail v] of each. Where one of them cannot be made, halves are tried apart until it stands alone."""
        left = dict(runs)
        try:
            for index, logits in self._passes(runs, base):
                del left[index]
                yield index, logits
        except SiteError as error:
            if len(left) == 1:
                yield from ((index, Refused(error)) for index in left)
            else:
                for half in _halves(left):
                    yield from self._logits(half, base)

    def _passes(self, runs: dict[int, Read[Any]], base: Trace | None) -> Iterator[tuple[int, Array]]:
        engine = self.model.engine
        if base is None:
            for index, read in runs.items():
                cache = engine.fresh_cache(len(read.ids) + self._reserve(read))
                yield index, engine.run(read.ids, (), read.edits, cache, tail=read.tail).logits
            return
        order = list(runs)
        changes = [Change(runs[i].edits, None if runs[i].ids == base.ids else runs[i].ids) for i in order]
        for place, trace in engine.counterfactuals(base, changes):
            yield order[place], trace.logits

    def _base(self, runs: Sequence[Read[Any]]) -> Trace | None:
        """The run from which these depart: one that is known, else that of the text which most of them share.

        None for a few without: they are as quickly run by themselves.
        """
        keys = [(read.ids, self._reserve(read), read.tail) for read in runs]
        known = next((self._bases[key] for key in keys if key in self._bases), None)
        if known is not None or len(runs) <= _FEW:
            return known
        key = max(keys, key=keys.count)
        while len(self._bases) >= _KEPT_BASES:
            self._bases.pop(next(iter(self._bases)))
        ids, reserve, tail = key
        engine = self.model.engine
        self._bases[key] = engine.run(ids, (), (), engine.fresh_cache(len(ids) + reserve), tail=tail)
        return self._bases[key]

    def _portions(self, writes: dict[int, Write[Any]]) -> Iterator[dict[int, Write[Any]]]:
        """As many at a time as may hold their logits until they are finished."""
        longest = max((write.settings.limit for write in writes.values()), default=1)
        most = max(_KEPT_LOGITS // (4 * self.model.spec.vocab * longest), 1)
        order = list(writes)
        for first in range(0, len(order), most):
            yield {index: writes[index] for index in order[first : first + most]}

    def _written(self, writes: dict[int, Write[Any]]) -> dict[int, Any]:
        """Halves are tried apart where one of them cannot be made, until it stands alone."""
        drafts = [Draft(w.ids, min(w.settings.limit, self.model.room(len(w.ids))), w.edits) for w in writes.values()]
        answers = Answers(list(writes.values()), drafts, self.model.tokenizer.stop_ids, self._wrote)
        refused: dict[int, Any] = {}
        try:
            self.model.engine.write(drafts, answers)
        except SiteError as error:
            left = {index: writes[index] for place, index in enumerate(writes) if place not in answers.kept}
            if len(left) == 1:
                refused = dict.fromkeys(left, Refused(error))
            else:
                for half in _halves(left):
                    refused |= self._written(half)
        return refused | {index: answers.kept[place] for place, index in enumerate(writes) if place in answers.kept}

    def _wrote(self, write: Write[Any], written: Written) -> None:
        self.enter(write.ids, said(write.edits), answer=self.model.tokenizer.text(written.ids), kind="write")

    def _count(self, work: Work) -> None:
        self.made += work
        took = time.monotonic() - self._began
        done, planned = self.made.runs, max(self.planned.runs, self.made.runs)
        left = max(self.planned.passes - self.made.passes, 0) * took / self.made.passes
        self.tell(Progress(self.stage, done, planned, done / took if took > 0 else None, left))


@dataclass(eq=False)
class Answers:
    """Chooses for many answers as each is to be decoded. What is wanted of one is kept as soon as it ends.

    done: told after each, with what was written.
    """

    writes: Sequence[Write[Any]]
    drafts: Sequence[Draft]
    stops: Collection[int]
    done: Callable[[Write[Any], Written], None]
    kept: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._chosen: list[list[int]] = [[] for _ in self.writes]
        self._logits: list[list[Array]] = [[] for _ in self.writes]
        self._generators = [np.random.default_rng(write.settings.decoding.seed) for write in self.writes]

    def __call__(self, drafts: Sequence[int], logits: Array) -> list[int | None]:
        return [self._next(index, row) for index, row in zip(drafts, logits, strict=True)]

    def _next(self, index: int, logits: Array) -> int | None:
        settings, chosen = self.writes[index].settings, self._chosen[index]
        self._logits[index].append(logits)
        text = (*self.drafts[index].ids, *chosen)
        following = choose(logits, settings.decoding, self._generators[index], text)
        stopped = following in self.stops
        if not stopped:
            chosen.append(following)
        if not stopped and len(chosen) < self.drafts[index].count:
            return following
        written = Written(tuple(chosen), stopped)
        self.kept[index] = self.writes[index].keep(written, self._logits[index])
        self._logits[index] = []
        self.done(self.writes[index], written)
        return None


def _number(kept: object) -> tuple[str, float | None]:
    """What was read, where it is one number."""
    match kept:
        case Reading(ld):
            return "LD", ld
        case float():
            return "log P", kept
        case _:
            return "", None


def distinct(runs: Mapping[int, R], place: Callable[[R], Hashable]) -> list[list[int]]:
    """Indices of runs, those of one and the same together: at the same place, under the same edits."""
    found: dict[Hashable, list[list[int]]] = {}
    for index, run in runs.items():
        lots = found.setdefault(place(run), [])
        same = next((lot for lot in lots if runs[lot[0]].edits == run.edits), None)
        if same is None:
            lots.append([index])
        else:
            same.append(index)
    return [lot for lots in found.values() for lot in lots]


def _for_all(writes: Sequence[Write[Any]]) -> Write[list[Any]]:
    """One answer of which each keeps what it wants."""
    return replace(writes[0], keep=lambda written, logits: [write.keep(written, logits) for write in writes])


def _halves(runs: dict[int, T]) -> Iterator[dict[int, T]]:
    middle = len(runs) // 2
    for part in (slice(middle), slice(middle, None)):
        yield dict(list(runs.items())[part])
