"""A model that the caller has loaded with transformers, as a target. Nothing of it is imported before it is asked.

Each step reads the logits behind the last token and chooses by our own rule, so a seed means the same as on local
models, and log-probabilities are those of the rows that chose.
"""

import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from inspect import signature
from itertools import chain
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from whybox.engine.sampling import choose
from whybox.engine.trace import log_softmax
from whybox.errors import PromptError, UnsupportedError, WhyboxError
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
from whybox.text import chat, prompt
from whybox.text.join import join
from whybox.text.prompt import Prompt
from whybox.text.tokenizer import Tokenizer

Array = np.ndarray
NOT_THE_MODEL = ("_name_or_path", "transformers_version")  # of a configuration: where it lay, and who wrote it


@dataclass(eq=False)
class HuggingFaceTarget:
    """A causal language model and its tokenizer. name: how reports call it.

    BOS and other special ids are those that the tokenizer adds to raw text, and that the template writes for a chat;
    no other text makes a control token. Tokenizer, template and weights are taken as they are when they are first
    asked for. UnsupportedError for a tokenizer that cannot write itself as tokenizer.json: what its text becomes
    cannot be checked.
    """

    model: Any
    tokenizer: Any
    name: str = "transformers"

    def __post_init__(self) -> None:
        known = signature(self.model.forward).parameters
        self._cache_name = "cache" if "cache" in known else "past_key_values"  # renamed between versions
        self._text = _read(self.tokenizer)

    @property
    def identity(self) -> Identity:
        """Every weight and setting of the model, and what its text side was read to be."""
        details = {
            "class": type(self.model).__name__,
            "dtype": str(self.model.dtype),
            "device": str(self.model.device),
            "weights": self._weights,
            "config": _config_digest(self.model.config.to_dict()),
            "attention": str(self.model.config._attn_implementation),
            "training": str(self.model.training),
            "tokenizer": self._text.digest,
            "stops": str(sorted(self._stops())),
        }
        return Identity("huggingface", self.name, tuple(sorted(details.items())))

    @cached_property
    def _weights(self) -> str:
        """Hex name of all parameters and buffers, bit by bit; read once."""
        state = blake2b(digest_size=16)
        for name, tensor in chain(self.model.state_dict().items(), self.model.named_buffers()):
            state.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
            state.update(_bytes(tensor))
        return state.hexdigest()

    @property
    def abilities(self) -> Abilities:
        chat = YES if self._text.chat_template else no("the tokenizer has no chat template")
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
            ids, _ = self._encoded(request.prompt)
        except (PromptError, UnsupportedError) as error:
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
            both, start = self._encoded(request.prompt, request.answer)
        except (PromptError, UnsupportedError) as error:
            return Failure("prompt", error.cause, error.remedy)
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
        return tuple(self._encoded(prompt)[0])

    async def close(self) -> None:
        """Model and tokenizer are the caller's."""

    def _context(self) -> int | None:
        found = self.model.config.to_dict().get("max_position_embeddings")
        return int(found) if found else None

    def _encoded(self, prompt: Chat | Raw, answer: str = "") -> tuple[list[int], int]:
        """Ids of prompt and answer as one text, and where those begin that are not the prompt's own.

        They are those of the model's own tokenizer wherever these hold no control token but the template's and those
        that are put around raw text; where a content spells one, those of `whybox.text`, to which it is plain text.
        """
        own, is_raw = self._prompt(prompt), isinstance(prompt, Raw)
        ids, start = join(self._text, own, answer) if answer else (own.ids, len(own.ids))
        before, both = (self._theirs(own.data.decode() + more, is_raw) for more in ("", answer))
        if self._are_safe(before, own.ids, is_raw) and self._are_safe(both, ids, is_raw):
            pairs = enumerate(zip(before, both, strict=False))
            ids, start = tuple(both), next((i for i, (a, b) in pairs if a != b), len(before))
        context = self._context()
        if not ids or (context is not None and len(ids) > context):
            raise PromptError(f"the prompt has {len(ids)} tokens, the context {context}")
        return list(ids), start

    def _prompt(self, asked: Chat | Raw) -> Prompt:
        """The prompt with its template text and contents apart."""
        if isinstance(asked, Raw):
            return prompt.from_text(self._text, asked.text)
        return chat.from_messages(self._text, [{"role": turn.role, "content": turn.content} for turn in asked.turns])

    def _theirs(self, text: str, is_raw: bool) -> list[int]:
        """What the model's tokenizer makes of a text. A rendered template holds its own special ids."""
        how = {"split_special_tokens": True} if is_raw else {"add_special_tokens": False}
        return [int(token) for token in self.tokenizer(text, **how)["input_ids"]]

    def _are_safe(self, theirs: Sequence[int], own: Sequence[int], is_raw: bool) -> bool:
        """Whether they hold the control tokens of our own ids, and beside these what is put around any raw text."""
        around = self._theirs("", True) if is_raw else []
        begins = 1 if is_raw and self._text.add_bos else 0
        return self._controls(theirs) == self._controls([*around, *own[begins:]])

    def _controls(self, ids: Sequence[int]) -> Counter[int]:
        return Counter(token for token in ids if self._text.is_control(token))

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


def _read(tokenizer: Any) -> Tokenizer:
    """The tokenizer as it writes itself into a folder."""
    with TemporaryDirectory(prefix="whybox-") as folder:
        tokenizer.save_pretrained(folder)
        try:
            return Tokenizer.from_folder(folder)
        except WhyboxError as error:
            cause = error.cause.replace(f"{folder} has", f"{type(tokenizer).__name__} writes")
            raise UnsupportedError(cause, "load a fast tokenizer (use_fast=True)") from error


def _config_digest(config: dict[str, Any]) -> str:
    kept = {name: value for name, value in config.items() if name not in NOT_THE_MODEL}
    return blake2b(json.dumps(kept, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()


def _bytes(tensor: Any) -> memoryview:
    import torch

    found: memoryview = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data
    return found


def _numpy(tensor: Any) -> Array:
    found: Array = tensor.float().cpu().numpy()
    return found
