"""A model that the caller has loaded with transformers, as a target. Nothing of it is imported before it is asked.

Each step reads the logits behind the last token and chooses by our own rule, so a seed means the same as on local
models, and log-probabilities are those of the rows that chose.
"""

import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np

from whybox.engine.sampling import choose
from whybox.engine.trace import log_softmax
from whybox.errors import PromptError
from whybox.targets import choosing
from whybox.targets.local import cut_at, decoding_of
from whybox.targets.pace import concurrently
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
    ScoreOutcome,
    TokenLogprob,
    Usage,
    no,
)

Array = np.ndarray


@dataclass(eq=False)
class HuggingFaceTarget:
    """A causal language model and its tokenizer. name: how reports call it.

    BOS and other special ids are those that the tokenizer adds to raw text, and that the template writes for a chat.
    """

    model: Any
    tokenizer: Any
    name: str = "transformers"

    def __post_init__(self) -> None:
        known = signature(self.model.forward).parameters
        self._cache_name = "cache" if "cache" in known else "past_key_values"  # renamed between versions

    @property
    def identity(self) -> Identity:
        details = {"class": type(self.model).__name__, "dtype": str(self.model.dtype), "device": str(self.model.device)}
        return Identity("huggingface", self.name, tuple(sorted(details.items())))

    @property
    def abilities(self) -> Abilities:
        chat = YES if self.tokenizer.chat_template else no("the tokenizer has no chat template")
        prefixes = no("each prompt is run from its first token")
        vocabulary, context = int(self.model.config.vocab_size), self._context()
        known = Abilities(chat, YES, YES, YES, YES, YES, YES, prefixes, most_top=vocabulary, context=context)
        return replace(known, chat_scores=chat)

    async def ask(self, request: Request) -> Outcome:
        """One answer."""
        if request.choices:
            return choosing.by_scores(request, [await self.score(each) for each in choosing.wanted(request)])
        begun = time.perf_counter()
        try:
            ids = self._encoded(request.prompt)
        except PromptError as error:
            return Failure("prompt", error.cause, error.remedy)
        written, rows = self._written(ids, request)
        return self._reply(request, ids, written, rows, time.perf_counter() - begun)

    def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        """Outcomes one after the other."""
        return concurrently(self.ask, requests, 1)

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        """log P of an answer behind raw text or a rendered chat, both encoded as one text."""
        begun = time.perf_counter()
        try:
            prompt, both = self._encoded(request.prompt), self._encoded(request.prompt, request.answer)
        except PromptError as error:
            return Failure("prompt", error.cause, error.remedy)
        start = next((i for i, pair in enumerate(zip(prompt, both, strict=False)) if pair[0] != pair[1]), len(prompt))
        if not 0 < start < len(both):
            return Failure("prompt", "prompt and answer need a token each", "give both a text")
        rows = log_softmax(self._logits(both)[start - 1 : -1])
        tokens = self._tokens(both[start:], list(rows), request.logprobs)
        return AnswerScore(sum(token.logprob for token in tokens), tokens, time.perf_counter() - begun)

    def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        """Scores one after the other."""
        return concurrently(self.score, requests, 1)

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        """The ids that the model reads."""
        return tuple(self._encoded(prompt))

    async def close(self) -> None:
        """Model and tokenizer are the caller's."""

    def _context(self) -> int | None:
        found = self.model.config.to_dict().get("max_position_embeddings")
        return int(found) if found else None

    def _encoded(self, prompt: Chat | Raw, answer: str = "") -> list[int]:
        """A rendered template holds its own special ids; raw text gets those that the tokenizer adds."""
        if isinstance(prompt, Raw):
            ids = self.tokenizer(prompt.text + answer)["input_ids"]
        else:
            if not self.tokenizer.chat_template:
                raise PromptError("the tokenizer has no chat template", "use raw text")
            turns = [{"role": turn.role, "content": turn.content} for turn in prompt.turns]
            text = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            ids = self.tokenizer(text + answer, add_special_tokens=False)["input_ids"]
        context = self._context()
        if not ids or (context is not None and len(ids) > context):
            raise PromptError(f"the prompt has {len(ids)} tokens, the context {context}")
        return [int(token) for token in ids]

    def _logits(self, ids: Sequence[int]) -> Array:
        """Logits [q v] of a whole text."""
        return _numpy(self._run(ids, None).logits[0])

    def _run(self, ids: Sequence[int], cache: Any) -> Any:
        import torch  # it is there, or the model would not be

        with torch.inference_mode():
            fed = torch.tensor([list(ids)], device=self.model.device)
            return self.model(input_ids=fed, use_cache=True, **{self._cache_name: cache})

    def _written(self, ids: list[int], request: Request) -> tuple[list[int], list[Array]]:
        decoding, stops = decoding_of(request.sampling, request.repeat), self._stops()
        generator = np.random.default_rng(decoding.seed)
        written: list[int] = []
        rows: list[Array] = []
        cache, fed = None, ids
        for _ in range(request.sampling.max_tokens):
            found = self._run(fed, cache)
            row, cache = _numpy(found.logits[0, -1]), found.past_key_values
            written.append(choose(row, decoding, generator, (*ids, *written)))
            rows.append(row)
            if written[-1] in stops:
                break
            fed = written[-1:]
        return written, rows

    def _stops(self) -> set[int]:
        found = self.model.generation_config.eos_token_id
        return set() if found is None else {found} if isinstance(found, int) else set(found)

    def _reply(self, request: Request, ids: list[int], written: list[int], rows: list[Array], seconds: float) -> Reply:
        stopped = written[-1] in self._stops()
        kept = written[:-1] if stopped else written
        text, cut = cut_at(self.tokenizer.decode(kept, skip_special_tokens=False), request.sampling.stop)
        wanted = request.logprobs
        tokens = None if wanted is None else self._tokens(kept, [log_softmax(row) for row in rows], wanted)
        reason = "" if tokens is not None else "not wanted"
        finish, usage = "stop" if stopped or cut else "length", Usage(len(ids), len(written))
        return Reply(text, finish, tokens, reason, usage, self.name, seconds=seconds)

    def _tokens(self, ids: Sequence[int], rows: Sequence[Array], top: int) -> tuple[TokenLogprob, ...]:
        found = []
        for token, row in zip(ids, rows, strict=False):
            best = np.argsort(-row, kind="stable")[:top]
            tops = tuple((self.tokenizer.decode([int(other)]), float(row[other])) for other in best)
            found.append(TokenLogprob(self.tokenizer.decode([token]), float(row[token]), tops))
        return tuple(found)


def _numpy(tensor: Any) -> Array:
    found: Array = tensor.float().cpu().numpy()
    return found
