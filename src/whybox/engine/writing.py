"""Writing behind many texts: what is chosen for each, and the plain way to run them, one after the other."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from whybox.engine.edit import Edit, portion
from whybox.engine.felt import untouched
from whybox.engine.forgotten import outside_window
from whybox.engine.sampling import Decoding, choose
from whybox.engine.trace import Cache, Choose, Draft, Engine
from whybox.spec import Spec
from whybox.text.prompt import Prompt

Array = np.ndarray
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Generated:
    """What a model wrote. `prompt` holds prompt and answer; `stopped` tells whether a stop token ended it.

    changed: for each edit, whether it changed any element at any step.
    """

    ids: tuple[int, ...]
    text: str
    prompt: Prompt
    stopped: bool
    changed: tuple[bool, ...] = ()


@dataclass
class Writing:
    """Chooses for many drafts, each with its own seed, and keeps what was chosen. A stop is kept, and is the last."""

    drafts: Sequence[Draft]
    decodings: Sequence[Decoding]
    stops: Collection[int]
    written: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.written = [[] for _ in self.drafts]
        self._generators = [np.random.default_rng(decoding.seed) for decoding in self.decodings]

    def __call__(self, drafts: Sequence[int], logits: Array) -> list[int | None]:
        return [self._next(index, row) for index, row in zip(drafts, logits, strict=True)]

    def _next(self, index: int, logits: Array) -> int | None:
        text = (*self.drafts[index].ids, *self.written[index])
        chosen = choose(logits, self.decodings[index], self._generators[index], text)
        self.written[index].append(chosen)
        finished = chosen in self.stops or len(self.written[index]) >= self.drafts[index].count
        return None if finished else chosen


def any_of(steps: Iterable[Sequence[bool]], edits: Sequence[Edit]) -> tuple[bool, ...]:
    """Whether each edit changed anything at any of the steps."""
    return tuple(map(any, zip(*steps, [False] * len(edits), strict=True)))


def one_by_one(engine: Engine, drafts: Sequence[Draft], choose: Choose) -> list[tuple[bool, ...]]:
    """Each draft to its end before the next begins; ids that no edit reaches are fed once for all that share them.

    Whether each edit of each draft changed anything.
    """
    changed: list[tuple[bool, ...]] = [()] * len(drafts)
    for prefix, members in sharing(drafts, engine.spec):
        shared = engine.run(prefix, (), (), _empty(engine, drafts[members[0]]), tail=1).cache if prefix else None
        for index in members:
            steps = _steps(engine, index, drafts[index], shared or _empty(engine, drafts[index]), choose)
            changed[index] = any_of(steps, drafts[index].edits)
    return changed


def afresh(engine: Engine, drafts: Sequence[Draft], choose: Choose) -> list[tuple[bool, ...]]:
    """Without a cache: every token from all ids before it, read again. For drafts without edits."""
    for index, draft in enumerate(drafts):
        ids = list(draft.ids)
        while True:
            trace = engine.run(ids, (), (), engine.fresh_cache(len(ids)), tail=1)
            (chosen,) = choose([index], trace.logits[-1:])
            if chosen is None:
                break
            ids.append(chosen)
    return [()] * len(drafts)


def _empty(engine: Engine, draft: Draft) -> Cache:
    return engine.fresh_cache(len(draft.ids) + draft.count)


def _steps(engine: Engine, index: int, draft: Draft, cache: Cache, choose: Choose) -> Iterator[tuple[bool, ...]]:
    """Goes on to the end; what the edits changed at each step."""
    whole, rest = range(len(draft.ids)), range(cache.seen, len(draft.ids))
    edits = [portion(edit, whole, rest, engine.spec) for edit in draft.edits]
    trace = engine.run(draft.ids[cache.seen :], (), edits, cache, tail=1)
    yield trace.changed
    (chosen,) = choose([index], trace.logits[-1:])
    while chosen is not None:
        trace = engine.run((chosen,), (), draft.edits, trace.cache, tail=1)
        yield trace.changed
        (chosen,) = choose([index], trace.logits[-1:])


def sharing(drafts: Sequence[Draft], spec: Spec) -> Iterator[tuple[Ids, list[int]]]:
    """Indices of drafts that may go on behind the same cache, and the ids that it has seen; () behind an empty one.

    Those are the ids that no edit of theirs reaches, without the last: its logits are wanted. The length of the whole
    run is the same, since RoPE may depend on it. Drafts that share nothing come last, together.
    """
    found: dict[tuple[Ids, int], list[int]] = {}
    for index, draft in enumerate(drafts):
        length = len(draft.ids) + draft.count
        shared = min(untouched(draft.edits, length, spec), len(draft.ids) - 1)
        if outside_window(draft.edits, range(length), spec):  # what is shared has let go of what they need
            shared = 0
        found.setdefault((draft.ids[:shared], length), []).append(index)
    for (prefix, _), members in found.items():
        if prefix and len(members) > 1:
            yield prefix, members
    if rest := [
        index for (prefix, _), members in found.items() if not prefix or len(members) == 1 for index in members
    ]:
        yield (), rest
