"""How an answer is matched where a value with a unit, a name or a phrase is not what is asked for.

A pattern that the answer must contain; a JSON Schema that it must follow; a text that it must share enough words with.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybox.items.scoring.cut import CUT, ends_in_a_number
from whybox.items.scoring.folding import HAN, fold, fold_text
from whybox.items.scoring.json_schema import compiled, first_fault, schema_of
from whybox.items.scoring.rules import object_places
from whybox.items.scoring.score import Score, Scorer, asserted_mentions, finished, without_candidate
from whybox.items.scoring.scorers import NO_CONTENT, word_scorer

_WORD = re.compile(rf"[{HAN}]|[^\W{HAN}]+")
_ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True)
class Pattern:
    """Right where the regular expression is found anywhere in the answer, as it was written."""

    pattern: str

    def scorer(self, right: str, others: Sequence[str]) -> Scorer:
        return _PatternScorer(right, tuple(others), compiled(self.pattern, "pattern"))


@dataclass(frozen=True)
class Schema:
    """Right where the first JSON value of the answer follows the schema, given as JSON text."""

    json_schema: str

    def scorer(self, right: str, others: Sequence[str]) -> Scorer:
        return _SchemaScorer(right, schema_of(self.json_schema))


@dataclass(frozen=True)
class Overlap:
    """Right where the F1 of shared words, of single characters in Chinese, with the right answer is at least this."""

    overlap: float

    def scorer(self, right: str, others: Sequence[str]) -> Scorer:
        return _OverlapScorer(right, self.overlap)


Match = Pattern | Schema | Overlap


def text_f1(one: str, other: str) -> float:
    """F1 of two bags of words: 2·shared / (words of one + words of the other). Articles aside; Chinese by character."""
    left, right = Counter(_words(one)), Counter(_words(other))
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold_text(text)) if word not in _ARTICLES]


@dataclass(frozen=True)
class _PatternScorer:
    right: str
    others: tuple[str, ...]
    regex: re.Pattern[str]

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        if (found := self.regex.search(text)) is not None:
            if finish_reason == "length" and ends_in_a_number(text, found.end()):
                return CUT
            return Score("right", self.right, found.span())
        return self._otherwise(text, finish_reason)

    def _otherwise(self, text: str, finish_reason: str | None) -> Score:
        """One of the other answers, a refusal, or nothing known."""
        folded = fold(text)
        if self.others:
            named = asserted_mentions(folded.text, word_scorer(self.others[0], self.others[1:]).find(folded))
            if named:
                return Score("wrong", named[0].candidate, folded.span(named[0].start, named[0].end))
        return finished(without_candidate(folded), finish_reason)


@dataclass(frozen=True)
class _SchemaScorer:
    right: str
    schema: Mapping[str, Any]

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        for value, span in _values(text):
            if finish_reason == "length" and ends_in_a_number(text, span[1]):
                return CUT
            if first_fault(value, self.schema) is None:
                return Score("right", self.right, span)
            return Score("wrong", text[slice(*span)], span)
        return finished(without_candidate(fold(text)), finish_reason)


def _values(text: str) -> Iterator[tuple[object, tuple[int, int]]]:
    """The JSON values that begin where one may."""
    for start, _, _ in object_places(text):
        try:
            value, length = json.JSONDecoder().raw_decode(text[start:])
        except (ValueError, RecursionError):
            continue
        yield value, (start, start + length)


@dataclass(frozen=True)
class _OverlapScorer:
    right: str
    at_least: float

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        if text_f1(text, self.right) >= self.at_least:
            return Score("right", self.right, (0, len(text)))
        plain = finished(without_candidate(fold(text)), finish_reason)
        if plain.outcome != "invalid" or not text.strip():
            return plain
        return Score("wrong", fold_text(text).strip(), (0, len(text)))
