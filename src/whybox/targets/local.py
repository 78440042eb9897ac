"""A model of this machine as a target: prompts in batches, shared prefixes computed once, log-probabilities free.

The numbers are those of the rows that chose the tokens: nothing is run a second time to obtain them.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np

from whybox.engine.sampling import Decoding
from whybox.engine.trace import Answer, Draft, log_softmax
from whybox.engine.writing import Writing, afresh
from whybox.errors import InfrastructureError, PromptError, UnsupportedError, WhyboxError
from whybox.model import Model
from whybox.targets import choosing
from whybox.targets.target import (
    YES,
    Abilities,
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Identity,
    Outcome,
    Raw,
    Reply,
    Request,
    Sampling,
    ScoreOutcome,
    TokenLogprob,
    Usage,
    no,
)
from whybox.text.prompt import Prompt
from whybox.text.tokenizer import Tokenizer

Array = np.ndarray
D = TypeVar("D")
MOST_BYTES = 4  # of a character in UTF-8


@dataclass(eq=False)
class LocalTarget:
    """A whybox model that can be asked. batch: requests that are run together."""

    model: Model
    batch: int = 32

    @property
    def identity(self) -> Identity:
        """Weights and configuration by the digest of their files, the tokenizer by what was read of it, and the way."""
        model, way = self.model, self.model.way
        details = {
            "digest": model.file.digest(),
            "tokenizer": model.tokenizer.digest,
            "engine": model.engine.name,
            "precision": model.engine.precision,
            "kernel": model.engine.kernel,
            "cached": str(model.cached),
            "chunk": str(way.chunk),
            "rows": str(way.batch),
            "padding": str(way.padding),
            "device": way.device,
            "allow_long": str(model.allow_long),
        }
        return Identity("local", model.name, tuple(sorted(details.items())))

    @property
    def abilities(self) -> Abilities:
        chat = YES if self.model.tokenizer.chat_template else no("the file holds no chat template")
        context, vocabulary = self.model.spec.context, self.model.spec.vocab
        return Abilities(chat, YES, YES, YES, YES, YES, YES, YES, vocabulary, context, chat_scores=chat, decoding=YES)

    async def ask(self, request: Request) -> Outcome:
        """One answer, run alone."""
        return self._outcomes([request])[0]

    async def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        """Outcomes batch by batch; between two batches others have their turn."""
        for chunk in _batches(requests, self.batch):
            for (index, _), outcome in zip(chunk, self._outcomes([request for _, request in chunk]), strict=True):
                yield index, outcome
            await asyncio.sleep(0)

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        """log P of one answer."""
        return self._scores([request])[0]

    async def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        """Scores batch by batch."""
        for chunk in _batches(requests, self.batch):
            for (index, _), outcome in zip(chunk, self._scores([request for _, request in chunk]), strict=True):
                yield index, outcome
            await asyncio.sleep(0)

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        """The ids that the model reads."""
        return self.prompt(prompt).ids

    async def close(self) -> None:
        """Nothing is held but the model, which is the caller's."""

    def prompt(self, prompt: Chat | Raw) -> Prompt:
        """The prompt as the model reads it, with spans. PromptError, UnsupportedError as `Model.prompt`."""
        if isinstance(prompt, Raw):
            return self.model.prompt(prompt.text)
        return self.model.prompt([{"role": turn.role, "content": turn.content} for turn in prompt.turns])

    def _outcomes(self, requests: Sequence[Request]) -> list[Outcome]:
        """What is written, and what is chosen: the labels of several requests are scored together."""
        plain = [request for request in requests if not request.choices]
        asked = [label for request in requests if request.choices for label in choosing.wanted(request)]
        written = iter(self._answers(plain) if plain else ())
        scores = (score for some in _batches(asked, self.batch) for score in self._scores([each for _, each in some]))
        return [self._chosen(request, scores) if request.choices else next(written) for request in requests]

    def _chosen(self, request: Request, scores: Iterator[ScoreOutcome]) -> Outcome:
        """By the next scores, one for each text wanted."""
        found = choosing.by_scores(request, list(islice(scores, len(choosing.wanted(request)))))
        if isinstance(found, Failure):
            return found
        return replace(found, served_by=self.model.name, fingerprint=self.model.file.digest()[:16])

    def _answers(self, requests: Sequence[Request]) -> list[Outcome]:
        """All together; where that is refused, each alone, so that one bad prompt fails alone."""
        begun = time.perf_counter()
        try:
            found: list[Outcome] = list(self._written(requests))
        except (PromptError, InfrastructureError) as error:
            if len(requests) == 1:
                return [_failed(error)]
            return [self._answers([request])[0] for request in requests]
        each = (time.perf_counter() - begun) / max(1, len(requests))
        return [replace(outcome, seconds=each) for outcome in found]

    def _written(self, requests: Sequence[Request]) -> list[Reply]:
        prompts = [self.prompt(request.prompt) for request in requests]
        for prompt in prompts:
            self.model.require_fits(len(prompt.ids))
        counts = [
            min(request.sampling.max_tokens, self.model.room(len(prompt.ids)))
            for request, prompt in zip(requests, prompts, strict=True)
        ]
        drafts = [Draft(prompt.ids, count) for prompt, count in zip(prompts, counts, strict=True)]
        hearing = Hearing(
            drafts,
            [self._decoding(request) for request in requests],
            self.model.tokenizer.stop_ids,
            [request.logprobs for request in requests],
            [request.sampling.stop for request in requests],
            self.model.tokenizer,
        )
        if self.model.cached:
            self.model.engine.write(drafts, hearing)
        else:
            afresh(self.model.engine, drafts, hearing)
        return [
            self._reply(request, prompt, written, heard)
            for request, prompt, written, heard in zip(requests, prompts, hearing.written, hearing.heard, strict=True)
        ]

    def _decoding(self, request: Request) -> Decoding:
        """UnsupportedError for a banned text of several ids."""
        settings = request.sampling
        banned = tuple(self.model.tokenizer.single(text) for text in settings.banned)
        found = decoding_of(settings, request.repeat)
        return replace(found, top_k=settings.top_k, penalty=settings.repetition_penalty, banned=banned)

    def _reply(self, request: Request, prompt: Prompt, written: list[int], heard: list[Array]) -> Reply:
        tokenizer = self.model.tokenizer
        stopped = bool(written) and written[-1] in tokenizer.stop_ids
        ids = written[:-1] if stopped else written
        wanted = request.logprobs
        tokens = None if wanted is None else _tokens(tokenizer, ids, heard, wanted)
        text, cut = cut_at(tokenizer.text(ids), request.sampling.stop)
        if tokens is not None and cut:
            tokens = _within(tokens, len(text))
        return Reply(
            text,
            "stop" if stopped or cut else "length",
            tokens,
            "" if tokens is not None else "not wanted",
            Usage(len(prompt.ids), len(written)),
            self.model.name,
            self.model.file.digest()[:16],
        )

    def _scores(self, requests: Sequence[AnswerRequest]) -> list[ScoreOutcome]:
        begun = time.perf_counter()
        try:
            answers = [self._answer(request) for request in requests]
            rows = dict(self.model.engine.answer_rows(answers))
        except (PromptError, InfrastructureError) as error:
            if len(requests) == 1:
                return [_failed(error)]
            return [self._scores([request])[0] for request in requests]
        each = (time.perf_counter() - begun) / max(1, len(requests))
        return [self._score(answers[i], rows[i], requests[i].logprobs, each) for i in range(len(requests))]

    def _answer(self, request: AnswerRequest) -> Answer:
        ids, start = self.model.join(self.prompt(request.prompt), request.answer)
        if start in (0, len(ids)):
            raise PromptError("prompt and answer need a token each", "give both a text")
        self.model.require_fits(len(ids))
        return Answer(ids, start)

    def _score(self, answer: Answer, rows: Array, top: int, seconds: float) -> AnswerScore:
        chosen = answer.ids[answer.start :]
        tokens = _tokens(self.model.tokenizer, chosen, list(log_softmax(rows)), top)
        return AnswerScore(sum(token.logprob for token in tokens), tokens, seconds)


def _batches(requests: Iterable[D], size: int) -> Iterator[list[tuple[int, D]]]:
    ahead = iter(enumerate(requests))
    while batch := list(islice(ahead, size)):
        yield batch


@dataclass
class Hearing(Writing):
    """Chooses as `Writing` does, and keeps the log-probabilities [v] of every row from which somebody wants them.

    ends: the texts that end each answer; it is not gone on with behind one.
    """

    wanted: Sequence[int | None]
    ends: Sequence[tuple[str, ...]]
    tokenizer: Tokenizer

    def __post_init__(self) -> None:
        super().__post_init__()
        self.heard: list[list[Array]] = [[] for _ in self.drafts]

    def _next(self, index: int, logits: Array) -> int | None:
        if self.wanted[index] is not None:
            self.heard[index].append(log_softmax(logits))
        chosen = super()._next(index, logits)
        return None if self._has_ended(index) else chosen

    def _has_ended(self, index: int) -> bool:
        """Whether a stop text has just come: it begins at most as many tokens back as it has bytes."""
        if not self.ends[index]:
            return False
        longest = max(len(stop.encode()) for stop in self.ends[index])
        return cut_at(self.tokenizer.text(self.written[index][-longest - MOST_BYTES :]), self.ends[index])[1]


def decoding_of(sampling: Sampling, repeat: int) -> Decoding:
    """The engine's settings. Without a seed each repetition draws anew."""
    seed = repeat if sampling.seed is None else sampling.seed
    return Decoding(sampling.temperature or 0.0, None, sampling.top_p, seed)


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """The text up to the first stop, and whether there was one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def _tokens(tokenizer: Tokenizer, ids: Sequence[int], rows: Sequence[Array], top: int) -> tuple[TokenLogprob, ...]:
    """rows: log-probabilities [v] of the row that chose each id."""
    return tuple(
        TokenLogprob(tokenizer.text([token]), float(row[token]), _top(tokenizer, row, top))
        for token, row in zip(ids, rows, strict=False)
    )


def _top(tokenizer: Tokenizer, row: Array, top: int) -> tuple[tuple[str, float], ...]:
    if top == 0:
        return ()
    least = np.partition(row, -top)[-top:].min() if top < len(row) else -np.inf  # sorting a vocabulary takes ms a token
    near = np.flatnonzero(row >= least)
    best = near[np.argsort(-row[near], kind="stable")][:top]
    return tuple((tokenizer.text([int(token)]), float(row[token])) for token in best)


def _within(tokens: tuple[TokenLogprob, ...], length: int) -> tuple[TokenLogprob, ...]:
    """The tokens that begin within the first `length` characters."""
    kept, at = [], 0
    for token in tokens:
        if at >= length:
            break
        kept.append(token)
        at += len(token.text)
    return tuple(kept)


def _failed(error: WhyboxError) -> Failure:
    """A prompt that cannot be run, or an engine that failed on it."""
    is_prompt = isinstance(error, PromptError | UnsupportedError)
    return Failure("prompt" if is_prompt else "engine", error.cause, error.remedy)
