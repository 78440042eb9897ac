"""Many answers weighed at once: prefixes that texts share are computed once, their ends go through in batches.

The last id of an answer is read, never fed. Each text keeps the rows that choose its answer for its own end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from whybox.engine.fast.batch import same_angles
from whybox.engine.fast.engine import FastEngine
from whybox.engine.fast.keys import Part, Passing, padded
from whybox.engine.fast.slots import own
from whybox.engine.fast.tap import BatchTap, Places, as_numpy
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_ends
from whybox.engine.prefixes import Fill, Finish, Schedule, schedule
from whybox.engine.trace import Answer, Cache
from whybox.errors import NonFiniteError

Array = np.ndarray
LOGIT_ROWS = 512  # of logits that are held at once


def answer_rows(engine: FastEngine, answers: Sequence[Answer]) -> Iterator[tuple[int, Array]]:
    """(index, logits [n v] of the rows that choose its n ids) of each. NonFiniteError as in a run of its own.

    CapacityError before anything runs, where a batch would not fit in memory.
    """
    lengths = [len(answer.ids) for answer in answers]
    alike = same_angles(lengths, engine.spec)
    readers = [_Reader.of(engine, [answers[i] for i in chosen], max(lengths[i] for i in chosen)) for chosen in alike]
    for reader in readers:
        reader.require_room()
    for reader, chosen in zip(readers, alike, strict=True):
        for place, logits in reader.run():
            yield chosen[place], logits


@dataclass(frozen=True, eq=False)
class _Reader:
    """Answers that may stand in one batch. rows: of each. length: that of the whole run for which RoPE is chosen."""

    engine: FastEngine
    plan: Schedule
    rows: Sequence[int]
    length: int

    @classmethod
    def of(cls, engine: FastEngine, answers: Sequence[Answer], length: int) -> "_Reader":
        rows = [answer.rows for answer in answers]
        return cls(engine, schedule([answer.ids[:-1] for answer in answers], engine.chunk, ends=rows), rows, length)

    def wanted(self, step: Finish) -> list[int]:
        """Rows to read of each text: equal texts may have answers of unlike length."""
        return [max(self.rows[answer] for answer in same) for same in step.prompts]

    def require_room(self) -> None:
        """CapacityError where one of the batches would not fit in memory."""
        for step in (step for step in self.plan if isinstance(step, Finish)):
            most, batch = max(self.wanted(step)), len(step.texts)
            tail = min(most, -(-LOGIT_ROWS // batch))
            run = Run(max(map(len, step.texts)), past=step.start, batch=batch, tail=tail)
            self.engine.require_room(run, need_of_ends)

    def run(self) -> Iterator[tuple[int, Array]]:
        """A stack of caches, one for each prefix on the way."""
        caches = [self.engine.fresh_cache(self.length)]
        for step in self.plan:
            cache = caches[step.depth]
            if isinstance(step, Fill):
                caches[step.depth + 1 :] = [self.engine.run(step.ids, cache=cache, tail=1).cache]
                continue
            found = _ends(self.engine, step.texts, self.wanted(step), cache)
            for same, logits in zip(step.prompts, found, strict=True):
                for answer in same:
                    yield answer, logits[len(logits) - self.rows[answer] :]


def _ends(engine: FastEngine, texts: Sequence[Sequence[int]], wanted: Sequence[int], cache: Cache) -> Iterator[Array]:
    """Logits of the last `wanted` rows of each text behind the cache. A text alone may be longer than a chunk."""
    if len(texts) == 1:
        yield engine.run(texts[0], cache=cache, tail=wanted[0]).logits
        return
    most = max(wanted)
    x, places = _streams(engine, texts, most, cache)
    for first in range(0, len(texts), max(LOGIT_ROWS // most, 1)):
        lot = slice(first, first + max(LOGIT_ROWS // most, 1))
        with torch.inference_mode():
            shown = Places(places[lot], places[lot], [most] * len(places[lot]))
            logits = as_numpy(engine.head(x[lot], BatchTap(engine.spec, (), ()), shown))
        for text, rows, own_rows in zip(texts[lot], wanted[lot], logits, strict=True):
            if not np.isfinite(own_rows[most - rows :]).all():
                engine.run(text, cache=cache, tail=rows)
                raise NonFiniteError("logits", None, cache.seen + len(text) - 1, "finite when the text ran alone")
            yield own_rows[most - rows :]


def _streams(engine: FastEngine, texts: Sequence[Sequence[int]], most: int, cache: Cache) -> tuple[Tensor, Array]:
    """The last residual stream [b n c] of the `most` last rows of each text, and their positions.

    A text that has fewer repeats its first: nobody reads it.
    """
    ids, positions = padded(texts, cache.seen)
    lengths = np.array([len(text) for text in texts])
    with torch.inference_mode():
        batch = engine.batch(
            positions, lengths.tolist(), BatchTap(engine.spec, (), [()] * len(texts)), cache.rope_length
        )
        layers = [Passing(Part.of(own(slots))) for slots in cache.layers]
        needed = ids.shape[1] - int(lengths.min()) + most
        x, _ = engine.through(engine.embed(torch.from_numpy(ids), batch), batch, layers, needed=needed)
        ends = lengths[:, None] + np.arange(-most, 0)
        read = np.maximum(ends - ids.shape[1] + x.shape[1], 0)
        return x[torch.arange(len(texts))[:, None], torch.from_numpy(read)], cache.seen + np.maximum(ends, 0)
