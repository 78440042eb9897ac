"""Two sides compared by what they say: prompt tokens, log-probabilities behind the same tokens, greedy text.

At every place both sides have read the same. Of an endpoint only the most probable tokens are known there: what the
others may hold is bounded, never filled in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from whybox.compare.served import Heard
from whybox.model import Model
from whybox.statistics.divergence import kl_lower_bound
from whybox.targets.target import TokenLogprob

Array = np.ndarray


@dataclass(frozen=True)
class Place:
    """One place where both sides said something of the next token. position: of the token in prompt and answer.

    one, other: token → log-probability, of tokens that the other side lists. top: the most probable of each side, None
    where an echo lists no others. gap: log-probability of our first token over the second's. written: the token is the
    answer's, not the prompt's.
    """

    text: str
    position: int
    one: Mapping[str, float]
    other: Mapping[str, float]
    top: tuple[str | None, str | None]
    gap: float
    written: bool

    @property
    def moved(self) -> float:
        """The largest change of a log-probability that both know, nats."""
        return max((abs(self.one[token] - self.other[token]) for token in self.one.keys() & self.other), default=0.0)

    @property
    def kl(self) -> float:
        """What KL(one ‖ other) is at least, nats."""
        return kl_lower_bound(_shares(self.one), _shares(self.other))

    @property
    def variation(self) -> tuple[float, float]:
        """Total variation ½ Σ |p − q|: the least and the most that it can be, with what is not listed anywhere."""
        shared = self.one.keys() & self.other
        p, q = (np.exp([side[token] for token in shared]) for side in (self.one, self.other))
        rest = [max(0.0, 1 - float(each.sum())) for each in (p, q)]
        known = float(np.abs(p - q).sum()) / 2
        return known + abs(rest[0] - rest[1]) / 2, min(1.0, known + sum(rest) / 2)

    @property
    def unlisted(self) -> float:
        """Probability of the other side that no listed token holds."""
        return max(0.0, 1 - sum(map(float, np.exp(list(self.other.values())))))


def _shares(side: Mapping[str, float]) -> dict[str, float]:
    return {token: float(np.exp(value)) for token, value in side.items()}


@dataclass(frozen=True, eq=False)
class Followed:
    """Ours along what the other side read and wrote: ids, and the tokens from ids[first] on with their numbers.

    behind: how many places behind their own the echo's numbers stand (some servers give those of the next token).
    """

    ids: tuple[int, ...]
    first: int
    tokens: tuple[TokenLogprob, ...]
    written_from: int
    stopped: str = ""
    behind: int = 0

    @property
    def echoed(self) -> int:
        """How many of the tokens are the prompt's own."""
        return max(0, min(self.written_from - self.first, len(self.tokens)))


class Speller:
    """A model's ids by the text that an endpoint shows for them. Texts that several ids have stand for none."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @cached_property
    def ids(self) -> Mapping[str, int]:
        tokenizer, found, twice = self.model.tokenizer, {}, set()
        for token in range(tokenizer.vocab_size):
            text = tokenizer.text([token])
            twice |= {text} if text in found else set()
            found[text] = token
        return {text: token for text, token in found.items() if text and text not in twice}

    def follow(self, heard: Heard, ids: Sequence[int]) -> Followed:
        """The ids that ours is fed to be behind the same tokens as the other side, as far as they can be told."""
        prompt = list(ids)
        echoed, start = self._echoed(heard, prompt)
        written: list[int] = []
        for token in heard.tokens:
            if token.text not in self.ids:
                break
            written.append(self.ids[token.text])
        left = heard.tokens[len(written) :]
        stopped = f"token {left[0].text!r} has no id here" if left else ""
        first = start if echoed else len(prompt)
        tokens = (*echoed, *heard.tokens[: len(written)])
        return Followed((*prompt, *written), first, tokens, len(prompt), stopped)

    def _echoed(self, heard: Heard, prompt: Sequence[int]) -> tuple[tuple[TokenLogprob, ...], int]:
        """The echo's tokens and where they begin, if they are our prompt's own, token by token."""
        if not heard.echo:
            return (), 0
        echo = heard.echo[0].tokens
        start = len(prompt) - len(echo)
        mine = [self.model.tokenizer.text([token]) for token in prompt[max(start, 0) :]]
        return (echo, start) if start > 0 and mine == [token.text for token in echo] else ((), 0)

    def places(self, heard: Heard, followed: Followed, rows: Array) -> Iterator[Place]:
        """rows: log-probabilities [n + 1, v] of ours that predict the n followed tokens, and the next one."""
        for place, token in enumerate(followed.tokens):
            written = place >= followed.echoed
            row_of = place if written else place + followed.behind
            row = rows[row_of]
            listed = {token.text: token.logprob, **dict(token.top)}
            known = {text: value for text, value in listed.items() if text in self.ids}
            best = np.argpartition(row, -2)[-2:]
            second, first = best[np.argsort(row[best])]
            yield Place(
                text=heard.text.name,
                position=followed.first + row_of,
                one={text: float(row[self.ids[text]]) for text in known},
                other=known,
                top=(self.model.tokenizer.text([int(first)]), _first(token, written)),
                gap=float(row[first] - row[second]),
                written=written,
            )

    def aligned(self, followed: Followed, rows: Array) -> Followed:
        """With the place found at which the echo's numbers stand: their own, or the next one where they fit far better.

        Of the prompt's own tokens: the median change of a log-probability, in either place.
        """
        count = followed.echoed
        if count < FEW:
            return followed
        ids = followed.ids[followed.first : followed.first + count]
        told = np.array([token.logprob for token in followed.tokens[:count]])
        own, next_one = (
            float(np.median(np.abs(told - rows[np.arange(count) + behind, list(ids)]))) for behind in (0, 1)
        )
        return replace(followed, behind=1) if own > APART and next_one * BETTER < own else followed


FEW, APART, BETTER = 8, 0.5, 4.0
"""Numbers of an echo, nats, and times: from where on it is said to stand in another place."""


def between(one: Heard, other: Heard) -> Iterator[Place]:
    """Places of two endpoints: their echoes where the tokens are the same, and their answers up to where they part."""
    echoes = [side.echo[0].tokens if side.echo else () for side in (one, other)]
    alike = [token.text for token in echoes[0]] == [token.text for token in echoes[1]]
    length = one.prompt_tokens or len(echoes[0])
    pairs = list(zip(*echoes, strict=True)) if alike else []
    yield from (_pair(one, a, b, length - len(pairs) + n, False) for n, (a, b) in enumerate(pairs))
    for place, (a, b) in enumerate(zip(one.tokens, other.tokens, strict=False)):
        yield _pair(one, a, b, length + place, True)
        if a.text != b.text:
            return


def _pair(heard: Heard, a: TokenLogprob, b: TokenLogprob, position: int, written: bool) -> Place:
    one, other = ({token.text: token.logprob, **dict(token.top)} for token in (a, b))
    ranked = sorted(dict(a.top).values() or one.values(), reverse=True)
    gap = ranked[0] - ranked[1] if len(ranked) > 1 else float("inf")
    return Place(heard.text.name, position, one, other, (_first(a, written), _first(b, written)), gap, written)


def _first(token: TokenLogprob, written: bool) -> str | None:
    """The most probable token there: the best that is listed, or the one that was written greedily."""
    if token.top:
        return max(token.top, key=lambda pair: pair[1])[0]
    return token.text if written else None
