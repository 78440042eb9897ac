"""Writing behind many texts: what is chosen for each, and the plain way to run them, one after the other."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from whybox.engine.sampling import Decoding, choose
from whybox.engine.trace import Choose, Draft, Engine

Array = np.ndarray


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
        chosen = choose(logits, self.decodings[index], self._generators[index])
        self.written[index].append(chosen)
        finished = chosen in self.stops or len(self.written[index]) >= self.drafts[index].count
        return None if finished else chosen


def one_by_one(engine: Engine, drafts: Sequence[Draft], choose: Choose) -> None:
    """Each draft to its end before the next begins: what every faster way must equal."""
    for index, draft in enumerate(drafts):
        fed, cache = draft.ids, engine.fresh_cache(len(draft.ids) + draft.count)
        while fed:
            trace = engine.run(fed, (), draft.edits, cache, tail=1)
            (chosen,) = choose([index], trace.logits[-1:])
            fed, cache = () if chosen is None else (chosen,), trace.cache
