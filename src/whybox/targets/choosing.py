"""A choice by log-probability: which of some labels is the most probable answer, without one being written.

A label is spelled bare or, unless the prompt ends in a blank itself, behind one (`B`, ` B`), and its probability is the
sum over both. Where a target scores given answers, every label is scored whole; an endpoint tells its most probable
first tokens. What the numbers leave open is an outcome of its own, never a guess. Nothing here asks anybody: a target
that is asked to choose asks itself what `wanted` or `first_token` says, and hands over what came back.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Outcome,
    Raw,
    Reply,
    Request,
    Sampling,
    ScoreOutcome,
    TokenLogprob,
)

SPELLINGS = ("", " ")
ASK = "word the question so that one label is the whole answer, or answer by text"
MOST_TOP = 20  # as many of the most probable tokens as hosted endpoints tell


def wanted(request: Request) -> list[AnswerRequest]:
    """What is to be scored: every label in the first spelling, then every label in the second, where there is one."""
    spelled = (before + label for before in _spellings(request.prompt) for label in request.choices)
    return [AnswerRequest(request.prompt, each, repeat=request.repeat) for each in spelled]


def by_scores(request: Request, scores: Sequence[ScoreOutcome]) -> Reply | Failure:
    """P(label) = Σ exp(log P(spelling | prompt)); scores: of `wanted`, in its order. One that failed fails the call.

    A spelling counts only where all labels begin at one and the same token: `:D` may be a token of its own behind a
    prompt that ends in a colon, and what it is worth there cannot be set beside ` A`.
    """
    found = [score for score in scores if isinstance(score, AnswerScore)]
    if len(found) < len(scores):
        return next(score for score in scores if isinstance(score, Failure))
    if (pair := _nested(request.choices)) is not None:
        return _undecided(
            f"{pair[0]!r} begins {pair[1]!r}, so it is never the less probable", "name the labels otherwise"
        )
    count = len(request.choices)
    rows = [dict(zip(request.choices, found[i : i + count], strict=True)) for i in range(0, len(found), count)]
    begins = [
        {_reread(before + label, score) for label, score in row.items()}
        for before, row in zip(_spellings(request.prompt), rows, strict=True)
    ]
    nearest = min(map(max, begins))
    usable = [row for row, begin in zip(rows, begins, strict=True) if begin == {nearest}]
    if not usable:
        return _undecided("the labels do not begin at one and the same token behind this prompt", ASK)
    masses = {label: math.fsum(math.exp(row[label].logprob) for row in usable) for label in request.choices}
    reply = Reply("", seconds=math.fsum(score.seconds for score in found))
    return _decided({label: Mass(each, each) for label, each in masses.items()}, reply, "all labels")


def first_token(request: Request) -> Request:
    """What an endpoint is asked: one token, with the most probable ones in its place."""
    return replace(request, sampling=Sampling(max_tokens=1), logprobs=MOST_TOP, choices=())


def by_first_token(request: Request, outcome: Outcome) -> Outcome:
    """The label whose first token is the most probable; outcome: of `first_token`."""
    if isinstance(outcome, Failure):
        return outcome
    top = outcome.tokens[0].top if outcome.tokens else ()
    if not top:
        why = outcome.tokens_reason or "the endpoint gave none of the most probable tokens"
        return _undecided(f"a choice by log-probability needs log-probabilities: {why}", "answer by text")
    masses = {label: mass_of(label, request.choices, top) for label in request.choices}
    return _decided(masses, outcome, f"the {len(top)} most probable first tokens")


@dataclass(frozen=True)
class Mass:
    """Between which bounds the probability of a label lies."""

    least: float
    most: float


def mass_of(label: str, labels: Sequence[str], top: Sequence[tuple[str, float]]) -> Mass:
    """The probability of a label, from the most probable first tokens.

    least: of the tokens that are the label. most: and of those with which it begins and, it may be, another label too;
    a spelling that is not among them is no more probable than the last of them.
    """
    whole: list[float] = []
    begun: list[float] = []
    for text, logprob in top:
        token = text.strip()
        shared = any(other != label and other.startswith(token) for other in labels)
        if token == label and not shared:
            whole.append(math.exp(logprob))
        elif text and label.startswith(token):
            begun.append(math.exp(logprob))
    unseen = max(0, len(SPELLINGS) - len(whole)) * math.exp(min(logprob for _, logprob in top))
    least = math.fsum(whole)
    return Mass(least, least + math.fsum(begun) + unseen)


def _decided(masses: Mapping[str, Mass], reply: Reply, where: str) -> Reply | Failure:
    """The label that is more probable than any other can be."""
    first, *others = sorted(masses, key=lambda label: -masses[label].least)
    if not masses[first].least > 0:
        return _undecided(f"no label stands alone among {where}", ASK)
    rival = max(others, key=lambda label: masses[label].most)
    if masses[rival].most >= masses[first].least:
        return _undecided(f"{where} do not tell {first!r} from {rival!r}", ASK)
    seen = [(label, math.log(masses[label].least)) for label in (first, *others) if masses[label].least > 0]
    token = TokenLogprob(first, seen[0][1], tuple(seen))
    return replace(reply, text=first, finish="stop", tokens=(token,), tokens_reason="")


def _reread(answer: str, score: AnswerScore) -> int:
    """How many characters of the prompt went into the tokens of the answer."""
    return max(0, sum(len(token.text) for token in score.tokens) - len(answer))


def _nested(labels: Sequence[str]) -> tuple[str, str] | None:
    """Two labels of which the first is the beginning of the second."""
    pairs = ((one, other) for one in labels for other in labels if one != other)
    return next((pair for pair in pairs if pair[1].startswith(pair[0])), None)


def _spellings(prompt: Chat | Raw) -> tuple[str, ...]:
    return SPELLINGS[:1] if isinstance(prompt, Raw) and prompt.text[-1:].isspace() else SPELLINGS


def _undecided(why: str, remedy: str) -> Failure:
    return Failure("undecided", why, remedy)
