"""How bots count: words, single Chinese characters and punctuation as tokens, without losing a character."""

import re
from collections.abc import Sequence

from whybox.targets.target import Chat, Raw, Turn

_TOKEN = re.compile(r" ?[A-Za-z0-9_'-]+|[^\S ]| |[^A-Za-z0-9_'\s-]")

BOS = 1
DEFAULT_SYSTEM = "You are a helpful assistant who was set up by the people that run this server."


def split(text: str) -> list[str]:
    """Tokens that, end to end, are the text."""
    return _TOKEN.findall(text)


def rendered(prompt: Chat | Raw) -> list[str]:
    """The tokens of a prompt as a bot reads it: each turn between marks, an open one for the answer."""
    if isinstance(prompt, Raw):
        return split(prompt.text)
    turns = (piece for turn in prompt.turns for piece in (f"<{turn.role}>", *split(turn.content), "</>"))
    return [*turns, "<assistant>"]


def ids_of(tokens: Sequence[str], bos: int) -> tuple[int, ...]:
    """Ids: BOS so many times, then a number for each token that depends on its text alone."""
    return (
        *[BOS] * bos,
        *(2 + sum(byte * 31**place for place, byte in enumerate(t.encode())) % 99_991 for t in tokens),
    )


def cut(prompt: Chat | Raw, most: int, side: str) -> Chat | Raw:
    """Only `most` tokens of the contents: without the first ones (`start`) or the last ones (`end`)."""
    if isinstance(prompt, Raw):
        return Raw(_kept(prompt.text, most, side)[0])
    ordered = prompt.turns if side == "end" else prompt.turns[::-1]
    kept: list[Turn] = []
    for turn in ordered:
        content, spent = _kept(turn.content, most, side)
        most -= spent
        kept.append(Turn(turn.role, content))
    kept = [turn for turn in kept if turn.content]
    return Chat(tuple(kept if side == "end" else kept[::-1]))


def _kept(text: str, most: int, side: str) -> tuple[str, int]:
    tokens = split(text)
    chosen = tokens[:most] if side == "end" else tokens[max(0, len(tokens) - most) :]
    return "".join(chosen), len(chosen)
