"""Other values that a text claims beside the right one, so that it states several and decides for none.

A list or a range is read where numbers are read (`quantities`). Here are the values of other clauses: one that speaks
of nothing else ("It takes 7 days. You wait 30 days.") and one that is put against it ("Some say 30", 也有人说30天). A
clause with words of its own may speak of something else, and is none: "7 days for a refund, 30 days for an exchange";
nor are steps of a calculation, values of the past, questions in front of the answer, and comparisons that hold.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from whybox.items.scoring.finders import NumberCandidate, find_numbers
from whybox.items.scoring.folding import HAN, Folded
from whybox.items.scoring.quantities import Quantity, amounts_in
from whybox.items.scoring.score import Mention, asserted_mentions
from whybox.items.scoring.standing import is_labelled
from whybox.items.scoring.units import of_one_kind, same_amount

_CLAUSE_END = re.compile(r"[!?;。！？；，、()\n—]|[.,](?![0-9])|\b(?:and|but|while|whereas)\b|而|但是?|不过")
_AGAINST = re.compile(
    r"\b(?:some|others|many|most|people|they|somebody|someone)(?: \w+)? (?:say|says|said|claim|claims|think|thinks"
    r"|believe|report|mention)\b|\b(?:maybe|perhaps|possibly|(?:could|might|may)(?: \w+)? (?:be|take))\b"
    r"|\bin (?:practice|reality|fact)\b|有人|有的|也许|可能|或许|据说|听说|实际|其实"
)
_PAST = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|originally|earlier|before|in the past|until|once|no longer|old)\b"
    r"|以前|之前|过去|原来|原先|原本|曾|从前|此前|旧"
)
# Words with which a clause still speaks of nothing but the value itself.
_EMPTY = re.compile(
    r"\b(?:it|it's|this|that|these|those|here|there|takes?|took|taking|is|are|was|were|be|been|will|would|can|could"
    r"|may|might|must|should|shall|has|have|had|do|does|waits?|waiting|lasts?|needs?|gets?|you|we|they|one|the|an?|in"
    r"|on|at|within|after|up|to|about|around|of|for|least|most|only|just|even|also|or|so|if|then|really|actually"
    r"|sometimes|usually|often|officially|answer|result|time|more|less|longer|shorter|than|full|ends?|practice|reality"
    r"|fact|some|others|many|people|somebody|someone|sa(?:y|ys|id)|claims?|thinks?|believe|report|mention|maybe|perhaps"
    r"|possibly|over|under|below|above|too|well|all)\b"
    r"|实际上?|有人|有的|也许|可能|或许|认为|觉得|可以|大概|我们|时间|期限|其实|通常|一般|有时|至少|答案|左右"
    r"|需要?|要|是|为|得|等|花|用|的|了|会|能|大?约|才|就|也|还|又|这|它|你|您|我|总?一?共|以?内|之?后|最[多少]|人|说"
    r"|据|听|或者?"
)
_WITH = re.compile(r"[ \t]*with\b")
_FURTHEST = 200  # characters to either side that are looked at
_SENTENCE_END = re.compile(r"[.!。！\n](?![0-9])|[?？]")
_WORD = re.compile(rf"[{HAN}]|[^\W\d_{HAN}]+")


def find_claims(folded: Folded, candidates: Sequence[NumberCandidate], words: bool) -> list[Mention]:
    """Mentions of numeric candidates, and of what else a text claims that asserts the first of them."""
    mentions = find_numbers(folded, candidates, words)
    if not any(m.candidate == candidates[0].written for m in mentions):
        return mentions
    rivals = list(_rivals(folded.text, candidates[0], mentions, words))
    if not rivals:
        return mentions
    own = [m for m in asserted_mentions(folded.text, mentions) if m.candidate == candidates[0].written]
    others = _claimed(folded.text, candidates[0], own, rivals) if own else ()
    return [*mentions, *(Mention(folded.text[one.start : one.end], one.start, one.end) for one in others)]


def _rivals(text: str, right: NumberCandidate, mentions: Sequence[Mention], words: bool) -> Iterator[Quantity]:
    """Other values of the right one's kind that are no known answer."""
    taken = {i for one in mentions for i in range(one.start, one.end)}
    unit = None if right.unit is None else right.unit.name
    for one in amounts_in(text, words, () if right.unit is None else (right.unit,)):
        if _is_rival(text, one, right.value, unit) and taken.isdisjoint(range(one.start, one.end)):
            yield one


def _claimed(
    text: str, right: NumberCandidate, own: Sequence[Mention], rivals: Sequence[Quantity]
) -> Iterator[Quantity]:
    """Those that a clause puts forward as the value that is asked for."""
    unit = None if right.unit is None else right.unit.name
    clauses = {_clause_around(text, one.start, one.end) for one in own}
    said = {word for start, end in clauses for word in _words(text[start:end])}
    for one in rivals:
        clause = _clause_around(text, one.start, one.end)
        if clause in clauses or _PAST.search(text[slice(*clause)]):
            continue
        if one.start < own[0].start and _is_asked(text, one.end):
            continue
        against = _AGAINST.search(text[slice(*clause)]) is not None
        words = _words(text[slice(*clause)]) - _words(text[one.start : one.end])
        alone = words <= said
        if words & said and any(_adds_to(text, clause, added) for added in clauses):
            yield one
            continue
        is_alike = unit is not None and one.unit == unit
        if (against or alone) if is_alike else (against and alone):
            yield one


def _is_rival(text: str, one: Quantity, value: Decimal, unit: str | None) -> bool:
    """Whether it is another value of the same kind, and does not merely compare with the right one."""
    if one.unit is None:
        return one.value != value and not is_labelled(text, one.start) and not _counts(text, one.end)
    if unit is None or not of_one_kind(unit, one.unit) or same_amount(value, unit, one.value, one.unit):
        return False
    if one.unit == unit and one.bounds & {"above", "below"}:
        return one.value >= value if "above" in one.bounds else one.value <= value
    return not one.bounds & {"ago", "rate", "multiple", "other"}


def _counts(text: str, end: int) -> bool:
    """Whether a word behind a number says what it counts: 9 pears, 9个."""
    return re.match(r"[ \t]*[^\W\d_]", text[end : end + 8]) is not None


def _is_asked(text: str, end: int) -> bool:
    close = _SENTENCE_END.search(text, end, end + _FURTHEST)
    return close is not None and close[0] in "?？"


def _clause_around(text: str, start: int, end: int) -> tuple[int, int]:
    window = max(0, start - _FURTHEST), min(len(text), end + _FURTHEST)
    head = max((match.end() for match in _CLAUSE_END.finditer(text, window[0], start)), default=window[0])
    tail = _CLAUSE_END.search(text, end, window[1])
    return head, window[1] if tail is None else tail.start()


def _adds_to(text: str, clause: tuple[int, int], added: tuple[int, int]) -> bool:
    """Whether the second clause is put to the first with `with`, as in: a month, with 7 days …"""
    return clause[1] < added[0] <= clause[1] + 2 and _WITH.match(text, *added) is not None


def _words(text: str) -> frozenset[str]:
    """What a clause speaks of: its words but those that only lead to a value; Chinese by character."""
    return frozenset(word for word in _WORD.findall(_EMPTY.sub(" ", text)) if len(word) > 1 or not word.isascii())
