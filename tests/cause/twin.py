"""The bench's slow and obvious twin: every run by itself, from nothing, the answer token by token."""

from typing import Any

import numpy as np

from whybox.cause.asking import Read, Refused, Request, Requests, See, Write, Written
from whybox.cause.bench import Bench
from whybox.cause.ledger import said
from whybox.engine.sampling import choose
from whybox.errors import PromptError, SiteError

Array = np.ndarray


class OneByOne(Bench):
    """Nothing is shared, nothing is batched, nothing is asked for once."""

    def _answers(self, requests: Requests) -> list[Any]:
        return [self._made(request) for request in requests]

    def _made(self, request: Request) -> Any:
        try:
            self.model.require_fits(len(request.ids))
            match request:
                case Read():
                    return self._read_alone(request)
                case Write():
                    return self._write_alone(request)
                case See():
                    return request.keep(self.see(request.ids, request.wishes, request.edits, request.last))
        except (PromptError, SiteError) as error:
            return Refused(error)

    def _read_alone(self, read: Read[Any]) -> Any:
        found = read.keep(self._logits_behind(read.ids, read, max(read.length, len(read.ids)), read.tail))
        self.enter(read.ids, said(read.edits))
        return found

    def _write_alone(self, write: Write[Any]) -> Any:
        settings, generator = write.settings, np.random.default_rng(write.settings.decoding.seed)
        count = min(settings.limit, self.model.room(len(write.ids)))
        chosen: list[int] = []
        logits: list[Array] = []
        stopped = False
        while not stopped and len(chosen) < count:
            text = (*write.ids, *chosen)
            logits.append(self._logits_behind(text, write, len(write.ids) + count, 1)[-1])
            following = choose(logits[-1], settings.decoding, generator, text)
            stopped = following in self.model.tokenizer.stop_ids
            chosen += [] if stopped else [following]
        self.enter(write.ids, said(write.edits), kind="write")
        return write.keep(Written(tuple(chosen), stopped), logits)

    def _logits_behind(self, ids: tuple[int, ...], asked: Read[Any] | Write[Any], length: int, tail: int) -> Array:
        engine = self.model.engine
        return engine.run(ids, (), asked.edits, engine.fresh_cache(length), tail=tail).logits
