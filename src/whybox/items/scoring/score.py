"""What a scorer returns, and the one decision that all of them share: which candidate does this text assert?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal, Protocol, runtime_checkable

from whybox.items.scoring.abstention import abstains
from whybox.items.scoring.folding import Folded
from whybox.items.scoring.negation import is_negated

Outcome = Literal["right", "wrong", "abstain", "hedged", "invalid", "error"]
Flag = Literal["truncated", "no-content", "fenced", "answer-line", "content-only", "conflict", "negated"]

_ANSWER_LINE = re.compile(r"(?:\banswer|答案)[ \t]*(?:是|为|is)?[ \t]*:[ \t]*\n?[^\n]*")


# Between two mentions: the first one is taken back.
_CORRECTED = re.compile(
    r"[ \t\n.,;:!?。，；：！？…—()-]*(?:no|nope|sorry|wait|correction|rather|actually|i mean|i meant|make that|oops"
    r"|scratch that|不|不对|不是|错了|更正|说错了|抱歉|我是说|应为|应该是)[ \t\n.,;:!?。，；：！？…—-]+"
    r"(?:(?:it|that|the answer) (?:is|takes|should be)\b|it's|that's|是|应该?是|应为|需要|要)?[ \t:：]*(?:the[ \t]+)?"
)

# How many mentions back a list such as "not 7, 14 or 30" may reach.
_NEAR = 8
_LONGEST_CORRECTION = 60


@dataclass(frozen=True)
class Score:
    """One scored answer. `span`: character offsets in the original text of what decided; `candidate`: what it was;
    `several`: of a hedged answer, the candidates in the order in which it first asserts them.
    """

    outcome: Outcome
    candidate: str | None = None
    span: tuple[int, int] | None = None
    flags: tuple[Flag, ...] = ()
    several: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return self.outcome == "right"

    @property
    def undecided(self) -> bool:
        """Neither right nor wrong: no text, or one that its limit ended before it gave a whole value."""
        return self.outcome == "error"


@dataclass(frozen=True)
class Mention:
    """A known candidate at [start, end) of the folded text. offered: nobody listed it, it stands beside a known value
    in one breath, and is another one however it goes on (7 or 8).
    """

    candidate: str
    start: int
    end: int
    offered: bool = False


@runtime_checkable
class Scorer(Protocol):
    """Decides what a text answers. Deterministic; never raises on any text."""

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        """Outcome of `text`; no text at all, or one cut by the length limit before it answered, is an error."""
        ...


def decide(folded: Folded, mentions: Sequence[Mention], right: str) -> Score:
    """The rule of all scorers: denied mentions dropped; one asserted candidate decides; several, the answer line."""
    asserted = asserted_mentions(folded.text, mentions)
    flags: tuple[Flag, ...] = ("negated",) if len(asserted) < len(mentions) else ()
    if len({mention.candidate for mention in asserted}) > 1:
        on_line = on_answer_line(folded.text, asserted)
        if len({mention.candidate for mention in on_line}) != 1:
            several = tuple(dict.fromkeys(mention.candidate for mention in asserted))
            span = folded.span(asserted[0].start, asserted[-1].end)
            return Score("hedged", span=span, flags=flags, several=several)
        asserted, flags = on_line, (*flags, "answer-line")
    if asserted:
        found = asserted[0]
        outcome: Outcome = "right" if found.candidate == right else "wrong"
        return Score(outcome, found.candidate, folded.span(found.start, found.end), flags)
    return replace(without_candidate(folded), flags=flags)


def asserted_mentions(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions outside every negation scope that no later one takes back ("30 days... sorry, 7 days"), in order."""
    ordered = sorted(mentions, key=lambda mention: (mention.start, -mention.end))
    spans = [(mention.start, mention.end) for mention in ordered]
    kept = [m for i, m in enumerate(ordered) if not is_negated(text, spans[i], spans[max(0, i - _NEAR) : i])]
    return [m for m, later in zip_longest(kept, kept[1:]) if later is None or not _is_corrected(text, m, later)]


def _is_corrected(text: str, mention: Mention, later: Mention) -> bool:
    gap = text[mention.end : later.start]
    return len(gap) <= _LONGEST_CORRECTION and _CORRECTED.fullmatch(gap) is not None


def on_answer_line(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions that stand on an `Answer:` or 答案： line."""
    lines = [match.span() for match in _ANSWER_LINE.finditer(text)]
    return [m for m in mentions if any(start <= m.start and m.end <= end for start, end in lines)]


def without_candidate(folded: Folded) -> Score:
    """Abstain if a sentence declines and holds no value, otherwise invalid."""
    span = abstains(folded.text)
    return Score("invalid") if span is None else Score("abstain", span=folded.span(*span))


def finished(score: Score, finish_reason: str | None) -> Score:
    """A text cut by the length limit without an asserted answer is an error, never a wrong answer."""
    if finish_reason == "length" and score.outcome in ("invalid", "abstain"):
        return Score("error", span=score.span, flags=("truncated",))
    return score
