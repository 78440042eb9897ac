"""What a target is asked and what it answers: one request, one outcome, whoever runs the model.

A request is data, frozen, with a digest of everything that could change the answer. An outcome is a Reply or a Failure:
a call that failed has no answer, so nothing can be scored from it by mistake. Targets are asked from asyncio; those
that compute in this process answer in batches, endpoints concurrently, and both give outcomes as they come.
"""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, Protocol, runtime_checkable

from whybox.errors import UsageError
from whybox.items.instance import CaseInstance


@dataclass(frozen=True)
class Turn:
    """One message of a conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Chat:
    """A conversation: the target puts it through its own template."""

    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Raw:
    """A text that goes to the model as it is, without a template."""

    text: str


@dataclass(frozen=True)
class Sampling:
    """How an answer is written. temperature 0 is greedy; None leaves a setting to the target.

    seed: of the draw where temperature > 0. stop: texts that end the answer, and are no part of it. top_k,
    repetition_penalty and banned (texts of one token each) are for targets that are able to (`Abilities.decoding`).
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 64
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_k: int | None = None
    repetition_penalty: float = 1.0
    banned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.temperature is not None and not self.temperature >= 0:  # NaN too
            raise UsageError(f"temperature must be 0 or more, found {self.temperature}")
        if self.top_p is not None and not 0 < self.top_p <= 1:
            raise UsageError(f"top_p must lie in (0, 1], found {self.top_p}")
        if self.max_tokens < 1:
            raise UsageError(f"max_tokens must be at least 1, found {self.max_tokens}")
        if "" in self.stop:
            raise UsageError("an empty stop text would end every answer at once", "leave it out")

    @property
    def is_common(self) -> bool:
        """Whether any target can write so."""
        return self.top_k is None and self.repetition_penalty == 1.0 and not self.banned

    @property
    def stated(self) -> dict[str, Any]:
        """As plain data; settings that came later stand in it where they say something."""
        later = ("top_k", "repetition_penalty", "banned")
        return {name: value for name, value in vars(self).items() if name not in later or value != _PLAIN[name]}


_PLAIN = vars(Sampling())


@dataclass(frozen=True)
class Request:
    """One call. logprobs: None for none, k for those of the written tokens and of the k most probable at each.

    choices: labels among which the target chooses by log-probability in place of writing (`choosing.py`): the text of
    the reply is the label, and its one token holds the log-probability of each.

    repeat: how often the same was asked before. Nobody may answer otherwise because of it (it tells recordings of
    equal calls apart), so it is no part of the digest.
    """

    prompt: Chat | Raw
    sampling: Sampling = Sampling()
    logprobs: int | None = None
    repeat: int = 0
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        different = {label.strip() for label in self.choices} - {""}
        if self.choices and len(different) < max(2, len(self.choices)):
            raise UsageError(f"expected two or more different labels to choose from, found {list(self.choices)}")

    @cached_property
    def digest(self) -> str:
        """Hex name of everything that could change the answer."""
        asked = {"prompt": _plain(self.prompt), "sampling": self.sampling.stated, "logprobs": self.logprobs}
        return _digest(asked | ({"choices": self.choices} if self.choices else {}))

    def again(self, times: int) -> "Request":
        """The same asked once more, as often before. A stated seed goes on with it: each draw is one of its own."""
        seed = self.sampling.seed
        drawn = self.sampling if seed is None else replace(self.sampling, seed=seed + times)
        return replace(self, repeat=self.repeat + times, sampling=drawn)


@dataclass(frozen=True)
class AnswerRequest:
    """Asks for log P(answer | prompt), joined as text; logprobs: how many of the most probable at each place."""

    prompt: Chat | Raw
    answer: str
    logprobs: int = 0
    repeat: int = 0

    @cached_property
    def digest(self) -> str:
        """Hex name of everything that could change the score."""
        return _digest({"prompt": _plain(self.prompt), "answer": self.answer, "logprobs": self.logprobs})

    def again(self, times: int) -> "AnswerRequest":
        """The same asked once more, as often before."""
        return replace(self, repeat=self.repeat + times)


@dataclass(frozen=True)
class TokenLogprob:
    """A token that was written, its log-probability in nats, and the most probable ones in its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Usage:
    """Tokens as the target counts them."""

    prompt: int
    completion: int


@dataclass(frozen=True)
class Attempt:
    """One try of a call: how it ended (`ok` or a kind of failure), seconds it took, seconds waited before the next."""

    ended: str
    seconds: float
    waited: float = 0.0


FailureKind = Literal[
    "unreachable", "transport", "timeout", "http", "malformed", "no-content", "truncated", "refused", "prompt",
    "engine", "undecided",
]  # fmt: skip


@dataclass(frozen=True)
class Reply:
    """What was written. tokens: None with a reason where log-probabilities were not wanted or not obtained.

    finish: stop | length | another word of the target's. seconds, first_token_s and attempts are no part of equality.
    """

    text: str
    finish: str = "stop"
    tokens: tuple[TokenLogprob, ...] | None = None
    tokens_reason: str = "not wanted"
    usage: Usage | None = None
    served_by: str = ""
    fingerprint: str | None = None
    reasoning: str = ""
    seconds: float = field(default=0.0, compare=False)
    first_token_s: float | None = field(default=None, compare=False)
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Failure:
    """A call without an answer: an outcome of its own, neither right nor wrong.

    fatal: every other call to this target will fail alike (refused key, unknown model, nobody there).
    again: whether asking again may help. after: seconds that the target asked to wait.
    """

    kind: FailureKind
    cause: str
    remedy: str = ""
    status: int | None = None
    fatal: bool = False
    again: bool = field(default=False, compare=False)
    after: float | None = field(default=None, compare=False)
    seconds: float = field(default=0.0, compare=False)
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class AnswerScore:
    """log P of an answer in nats, and of each of its tokens; token t is predicted by the row before it."""

    logprob: float
    tokens: tuple[TokenLogprob, ...]
    seconds: float = field(default=0.0, compare=False)
    attempts: tuple[Attempt, ...] = field(default=(), compare=False)


Outcome = Reply | Failure
ScoreOutcome = AnswerScore | Failure


@dataclass(frozen=True)
class Ability:
    """Whether a target can do something: yes, no, or None where nobody knows before it was tried; and why."""

    has: bool | None
    why: str = ""

    def __bool__(self) -> bool:
        return self.has is True


YES, UNKNOWN = Ability(True), Ability(None, "not tried")


def no(why: str) -> Ability:
    """An ability that is missing, for this reason."""
    return Ability(False, why)


@dataclass(frozen=True)
class Abilities:
    """What a target says it can do; `whybox doctor` finds out what is real.

    scores: log P of a given answer behind raw text, chat_scores: behind a conversation. seed: a seeded draw is drawn
    again. ids: the token ids of a prompt are revealed. shared_prefixes: what prompts begin with alike is computed once.
    decoding: answers are written with top-k, a repetition penalty and banned tokens. context: tokens, where known.
    """

    chat: Ability = UNKNOWN
    raw: Ability = UNKNOWN
    logprobs: Ability = UNKNOWN
    scores: Ability = UNKNOWN
    seed: Ability = UNKNOWN
    ids: Ability = UNKNOWN
    usage: Ability = UNKNOWN
    shared_prefixes: Ability = UNKNOWN
    most_top: int = 20
    context: int | None = None
    chat_scores: Ability = Ability(False, "answers are scored only behind raw text")
    decoding: Ability = Ability(False, "top-k, a repetition penalty and banned tokens are for models of this machine")

    def scores_behind(self, prompt: Chat | Raw) -> Ability:
        """Whether log P of a given answer is told behind such a prompt."""
        return self.chat_scores if isinstance(prompt, Chat) else self.scores


@dataclass(frozen=True)
class Identity:
    """Which model answers, where and how: all that tells two targets apart, and nothing secret."""

    kind: Literal["local", "endpoint", "bot", "huggingface"]
    model: str
    details: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """Hex name of the target, a part of the key under which its answers are kept."""
        return _digest(asdict(self))


@runtime_checkable
class Target(Protocol):
    """A model that can be asked. A call that fails is a Failure; only what makes every call impossible is raised."""

    @property
    def identity(self) -> Identity:
        """Which target this is."""
        ...

    @property
    def abilities(self) -> Abilities:
        """What it says it can do."""
        ...

    async def ask(self, request: Request) -> Outcome:
        """The answer to one request."""
        ...

    def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        """(index, outcome) of each request exactly once, in the order in which they come."""
        ...

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        """log P of one given answer."""
        ...

    def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        """(index, score) of each request exactly once, in the order in which they come."""
        ...

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        """The token ids that the model reads for a prompt; None where the target does not reveal them."""
        ...

    async def close(self) -> None:
        """Gives back what the target holds (connections)."""
        ...


def request_of(instance: CaseInstance, sampling: Sampling | None = None, logprobs: int | None = None) -> Request:
    """The request of a concrete case: its messages or its raw text, joined exactly as written.

    A choice by log-probability is one token, and nothing is drawn: `sampling` says nothing of it.
    """
    if instance.by == "logprob" and instance.options:
        labels = tuple(label for label, _ in instance.options)
        return Request(prompt_of(instance), Sampling(max_tokens=1), logprobs, choices=labels)
    return Request(prompt_of(instance), sampling or Sampling(), logprobs)


def sampling_of(instance: CaseInstance, limit: int) -> Sampling:
    """How a case states that its answer is written; greedy where it states nothing.

    limit: tokens, where it states none. A draw without a seed is that of seed 0, as in `why`.
    """
    stated = instance.decoding
    return Sampling(
        stated.temperature or 0.0,
        stated.top_p,
        stated.max_tokens or limit,
        stated.seed or 0,
        top_k=stated.top_k,
        repetition_penalty=stated.repetition_penalty or 1.0,
        banned=stated.banned,
    )


def prompt_of(instance: CaseInstance) -> Chat | Raw:
    """The prompt of a concrete case."""
    if instance.is_raw:
        return Raw(instance.join.join(part.text for part in instance.raw_parts))
    joined = ((message.role, instance.join.join(part.text for part in message.parts)) for message in instance.messages)
    return Chat(tuple(Turn(role, content) for role, content in joined))


def chat(user: str, system: str | None = None) -> Chat:
    """One user message, behind a system message where one is given."""
    opening = () if system is None else (Turn("system", system),)
    return Chat((*opening, Turn("user", user)))


def to_record(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data for a store. `from_record` gives an equal outcome, times and attempts included."""
    return {"outcome": "reply" if isinstance(outcome, Reply) else "failure", **asdict(outcome)}


def from_record(record: dict[str, Any]) -> Outcome:
    """The outcome of a record."""
    data = {name: value for name, value in record.items() if name != "outcome"}
    data["attempts"] = tuple(Attempt(**attempt) for attempt in data["attempts"])
    if record["outcome"] == "failure":
        return Failure(**data)
    tokens = data["tokens"]
    data["tokens"] = None if tokens is None else tuple(map(_token, tokens))
    data["usage"] = None if data["usage"] is None else Usage(**data["usage"])
    return Reply(**data)


def _token(record: dict[str, Any]) -> TokenLogprob:
    top = tuple((str(text), float(logprob)) for text, logprob in record["top"])
    return TokenLogprob(record["text"], record["logprob"], top)


def _plain(prompt: Chat | Raw) -> dict[str, Any]:
    return {"kind": "chat" if isinstance(prompt, Chat) else "raw", **asdict(prompt)}


def _digest(data: dict[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
