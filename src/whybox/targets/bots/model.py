"""Log-probabilities of bots: a toy language model that copies what it has read, and one of twenty words with noise."""

import math
import re
from collections.abc import Iterable, Sequence

from whybox.targets.bots.answers import WORDS
from whybox.targets.bots.draws import normal, uniform
from whybox.targets.bots.text import split
from whybox.targets.target import TokenLogprob

MOST_TOP = 20
SHARPNESS = 2.0  # spread of the logits of the model of twenty words


def of_answer(text: str, prompt: str, top: int, rivals: Iterable[str] = ()) -> tuple[TokenLogprob, ...]:
    """Each token of an answer: most probable, with a number of its own at each place; rivals lead the others."""
    firsts = [tokens[0] for rival in rivals if (tokens := split(rival))]
    return tuple(
        _token(token, prompt, place, top, firsts if place == 0 else []) for place, token in enumerate(split(text))
    )


def _token(token: str, prompt: str, place: int, top: int, rivals: Sequence[str]) -> TokenLogprob:
    chosen = 0.6 + 0.38 * uniform("answer", prompt, place)
    names = [name for name in dict.fromkeys([*rivals, *(f" {word}" for word in WORDS)]) if name != token]
    left, rows = 1 - chosen, [(token, math.log(chosen))]
    for name in names[: max(0, top - 1)]:
        left /= 2
        rows.append((name, math.log(left)))
    return TokenLogprob(token, rows[0][1], tuple(rows[:top]))


def of_text(tokens: Sequence[str]) -> list[float | None]:
    """log P of each token of a given text, behind those before it; none for the first.

    A token that has followed the one before it already is likely, any other is not.
    """
    numbers: list[float | None] = [None]
    followed: dict[str, set[str]] = {}
    for place in range(1, len(tokens)):
        before, token = tokens[place - 1].strip(), tokens[place].strip()
        draw = uniform("text", place, before, token)
        numbers.append(-0.05 - 0.2 * draw if token in followed.get(before, ()) else -5.0 - 3.0 * draw)
        followed.setdefault(before, set()).add(token)
    return numbers[: len(tokens)]


def noisy(seed: int, sigma: float, behind: Sequence[str]) -> list[tuple[str, float]]:
    """log P of each of the twenty words behind a text, in the order of `WORDS`: logits + sigma · fixed draws."""
    name = " ".join(behind[-3:])
    logits = [SHARPNESS * normal("logit", name, word) + sigma * normal("noise", seed, name, word) for word in WORDS]
    most = max(logits)
    total = most + math.log(sum(math.exp(logit - most) for logit in logits))
    return [(word, logit - total) for word, logit in zip(WORDS, logits, strict=True)]


def written(seed: int, sigma: float, prompt: str, count: int, draw: tuple[float, int]) -> list[TokenLogprob]:
    """`count` words of the noisy model behind a prompt; draw: temperature and seed, 0 is greedy."""
    behind: list[str] = re.findall(r"\w+", prompt.lower())
    found: list[TokenLogprob] = []
    for place in range(count):
        rows = sorted(noisy(seed, sigma, behind), key=lambda row: -row[1])
        word, logprob = (
            rows[0] if draw[0] == 0 else _drawn(rows, draw[0], uniform("sample", draw[1], place, *behind[-3:]))
        )
        found.append(TokenLogprob(f" {word}" if found else word, logprob, tuple(rows)))
        behind.append(word)
    return found


def forced(seed: int, sigma: float, tokens: Sequence[str]) -> list[TokenLogprob]:
    """log P of each token of a given text; what is no word of the model gets the least of all."""
    behind: list[str] = []
    found: list[TokenLogprob] = []
    for token in tokens:
        rows = sorted(noisy(seed, sigma, behind), key=lambda row: -row[1])
        word = token.strip().lower()
        found.append(TokenLogprob(token, dict(rows).get(word, rows[-1][1]), tuple(rows)))
        behind += [word] if word else []
    return found


def _drawn(rows: list[tuple[str, float]], temperature: float, draw: float) -> tuple[str, float]:
    weights = [math.exp(logprob / temperature) for _, logprob in rows]
    left = draw * sum(weights)
    for row, weight in zip(rows, weights, strict=True):
        left -= weight
        if left < 0:
            return row
    return rows[-1]
