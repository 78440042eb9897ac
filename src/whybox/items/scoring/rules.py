"""Checkers of rules that an instruction sets: a word never to be written, a JSON object with a key."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whybox.items.scoring.folding import fold, fold_text, stands_alone
from whybox.items.scoring.score import Flag, Score
from whybox.items.scoring.scorers import NO_CONTENT

_EMPTY = Score("invalid")


def inflections(word: str) -> tuple[str, ...]:
    """The forms of an English word that count as writing it: refund, refunds, refunded, refunding, refundable …"""
    stem = word.removesuffix("e")
    last = word[-1:]
    plural = word + "es" if last in "sxz" or word.endswith(("ch", "sh")) else word + "s"
    forms = [word, plural, stem + "ed", stem + "ing", stem + "able", stem + "er", stem + "ers"]
    if last == "y" and word[-2:-1] not in "aeiou":
        forms[1:3] = [word[:-1] + "ies", word[:-1] + "ied"]
    return tuple(dict.fromkeys(forms))


@dataclass(frozen=True)
class NeverWrite:
    """Right when none of `forms` is written; the first violation is the span. Chinese forms need no boundary."""

    forms: tuple[str, ...]

    @classmethod
    def of(cls, word: str) -> "NeverWrite":
        """The rule "never write `word`", with the inflections of an English word."""
        return cls(inflections(word.casefold()) if word.isascii() else (word,))

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        folded = fold(text)
        for form in sorted(map(fold_text, self.forms), key=len, reverse=True):
            for match in re.finditer(re.escape(form), folded.text):
                if stands_alone(folded.text, match.start(), match.end()):
                    return Score("wrong", form, folded.span(match.start(), match.end()))
        if not folded.text.strip():
            return _EMPTY
        if finish_reason == "length":  # the words that were cut off might have broken the rule
            return Score("error", flags=("truncated",))
        return Score("right", span=(0, len(text)))


_FENCE = re.compile(r"```[ \t]*[A-Za-z]*[ \t]*\n(?P<body>.*?)\n?[ \t]*```", re.DOTALL)
_MOST_TRIES = 64


@dataclass(frozen=True)
class JsonWithKeys:
    """Right when the answer is a JSON object that holds every key. `strict`: nothing may stand around the object."""

    keys: tuple[str, ...]
    strict: bool = False

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        for start, end, flags in object_places(text, self.strict):
            found = _json_object(text[start:end])
            if found is None:
                continue
            mapping, length = found
            span = (start, start + length)
            if self.strict and text[span[1] : end].strip():
                continue
            missing = [key for key in self.keys if key not in mapping]
            return Score("wrong", missing[0], span, flags) if missing else Score("right", None, span, flags)
        return Score("error", flags=("truncated",)) if finish_reason == "length" else _EMPTY


def object_places(text: str, strict: bool = False) -> Iterator[tuple[int, int, tuple[Flag, ...]]]:
    """Where an object may begin: in a fence, at the start, or (unless strict) at any brace."""
    fence = _FENCE.search(text)
    if fence is not None and (not strict or fence[0] == text.strip()):
        yield _stripped_start(text, *fence.span("body")), fence.end("body"), ("fenced",)
    yield _stripped_start(text, 0, len(text)), len(text), ()
    if not strict:
        for match, _ in zip(re.finditer(r"\{", text), range(_MOST_TRIES), strict=False):
            yield match.start(), len(text), ()


def _stripped_start(text: str, start: int, end: int) -> int:
    return end - len(text[start:end].lstrip())


def _json_object(text: str) -> tuple[dict[str, object], int] | None:
    """The object at the very start of `text`, and where it ends; None if there is none, or one nested too deep."""
    if not text.startswith("{"):
        return None
    try:
        value, length = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return (value, length) if isinstance(value, dict) else None


def never_write(words: Sequence[str]) -> NeverWrite:
    """The rule "never write any of these words"."""
    return NeverWrite(tuple(form for word in words for form in NeverWrite.of(word).forms))
