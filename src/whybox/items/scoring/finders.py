"""How one known candidate is found in folded text: as a number with a unit, a name, a code, or a phrase."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, assert_never

from whybox.errors import CaseError
from whybox.items.scoring.folding import Folded, fold_text, stands_alone
from whybox.items.scoring.loose import Amount
from whybox.items.scoring.quantities import Quantity, find_quantities, unsummed
from whybox.items.scoring.score import Mention
from whybox.items.scoring.standing import is_labelled, unit_of_key
from whybox.items.scoring.units import SCALES, Unit, unit_named

# A word behind a number says what is counted (7 documents).
_BARE_LINE = re.compile(r"[\W_]*(?:(?:the |final )*answer(?: is)?|答案)?[是为\W_]*")
_METRES = re.compile(r"[0-9][ \t]?m\Z")
_COUNTED = re.compile(r"[ \t]*[^\W\d_]")

# Without these words the answer would be another one: more than 7 days; 7 days ago can be said as 7 days.
_STRICT = frozenset({"above", "below", "other", "multiple"})
Bare = Literal["alone on its line", "anywhere"]
"""Where a number may do without the unit of its candidate. Anywhere: where no other word makes it a number of
something else."""


@dataclass(frozen=True)
class NumberCandidate:
    """A value with the unit that it must carry, or where it may do without; without a unit, any but percent.

    beside, bounds: how the answer itself is written (7 days and 12 hours; more than 7 days). allowed: bounds that may
    stand around it besides.
    """

    written: str
    value: Decimal
    unit: Unit | None
    bare: Bare = "alone on its line"
    beside: tuple[Amount, ...] = ()
    bounds: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()

    @classmethod
    def parse(
        cls, written: str, bare: Bare = "alone on its line", allowed: frozenset[str] = frozenset()
    ) -> "NumberCandidate":
        """Read `7 days`, `7天`, `-3` or `seven days`; CaseError when there is no number in it."""
        folded = fold_text(written).strip()
        number = next(iter(find_quantities(folded, words=True)), None)
        if number is None:
            raise CaseError(
                f"answer: expected a number, found {written!r}", "Write a number, or choose kind: name, choice or text."
            )
        rest = folded[number.end :].strip(" .") if number.unit is None else number.unit
        unit = unit_named(rest) if rest else None
        return cls(written, number.value, unit, bare, number.beside, number.bounds, allowed)

    def is_met_by(self, quantity: Quantity, text: str) -> bool:
        """Same value, and the same unit; a bare number is enough where it is all that its line says."""
        return quantity.value == self.value and self._stands_so(quantity) and self._has_unit(quantity, text)

    def _stands_so(self, quantity: Quantity) -> bool:
        """Nothing around the number makes another value of it than the answer is; a bound that the answer names must
        stand there.
        """
        if not set(self.beside) <= set(quantity.beside):
            return False
        return self.bounds & _STRICT <= quantity.bounds <= self.bounds | self.allowed

    def _has_unit(self, quantity: Quantity, text: str) -> bool:
        if self.unit is None:
            return quantity.unit not in SCALES
        return quantity.unit == self.unit.name or (quantity.unit is None and self.may_be_bare(text, quantity))

    def may_be_bare(self, text: str, quantity: Quantity) -> bool:
        """Whether a number without a unit may stand for this candidate there."""
        match self.bare:
            case "alone on its line":
                return _is_bare(text, quantity)
            case "anywhere":
                key = unit_of_key(text, quantity.start)
                if key is not None and self.unit is not None and key != self.unit.name:
                    return False
                return not (_COUNTED.match(text, quantity.end) or is_labelled(text, quantity.start))
            case _:
                assert_never(self.bare)


def find_numbers(folded: Folded, candidates: Sequence[NumberCandidate], words: bool) -> list[Mention]:
    """Mentions of numeric candidates, and of what a range or a list of alternatives offers beside one: `7 or 8`."""
    extra = [candidate.unit for candidate in candidates if candidate.unit is not None]
    amounts = {(candidate.value, candidate.unit.name) for candidate in candidates if candidate.unit is not None}
    quantities = find_quantities(folded.text, words, extra)
    found = [
        (candidate, quantity)
        for quantity in (*quantities, *(unsummed(folded.text) if words else ()))
        for candidate in candidates
        if _is_in_its_scale(folded, quantity, candidate)
        and candidate.is_met_by(quantity, folded.text)
        and set(quantity.beside) <= {*candidate.beside, *amounts}
    ]
    known = [Mention(candidate.written, quantity.start, quantity.end) for candidate, quantity in found]
    return [*known, *_offered(folded, quantities, [quantity for _, quantity in found], {c.value for c in candidates})]


def _offered(
    folded: Folded, quantities: Sequence[Quantity], met: Sequence[Quantity], values: set[Decimal]
) -> list[Mention]:
    """Values that nobody listed, in one breath with a known one: who offers them all answers none."""
    beside = {value for one in met for value in one.others} - values
    own = {one.value for one in met}
    return [
        Mention(folded.text[one.start : one.end], one.start, one.end, offered=True)
        for one in quantities
        if one.value in beside and not own.isdisjoint(one.others)
    ]


def _is_in_its_scale(folded: Folded, quantity: Quantity, candidate: NumberCandidate) -> bool:
    """7M are millions and 7 m are metres; without a unit, 7m may be either."""
    if not _METRES.search(folded.text[quantity.start : quantity.end]):
        return True
    if candidate.unit is None:
        return False
    return (folded.written(quantity.end - 1) == "M") == candidate.written.rstrip().endswith("M")


def _is_bare(text: str, quantity: Quantity) -> bool:
    head = text.rfind("\n", 0, quantity.start) + 1
    tail = text.find("\n", quantity.end)
    before, behind = text[head : quantity.start], text[quantity.end : tail if tail >= 0 else len(text)]
    return bool(_BARE_LINE.fullmatch(before)) and not re.search(r"\w", behind)


def find_phrases(folded: Folded, phrases: Sequence[str]) -> list[Mention]:
    """Mentions of words or phrases, whole and in their order, any blanks between them."""
    return longest(
        Mention(phrase, match.start(), match.end())
        for phrase in phrases
        for match in phrase_pattern(phrase).finditer(folded.text)
        if match.end() > match.start() and stands_alone(folded.text, match.start(), match.end())
    )


def find_forms(folded: Folded, by_form: Mapping[str, str]) -> list[Mention]:
    """Mentions of candidates that have several forms; `by_form`: form → candidate."""
    return [Mention(by_form[m.candidate], m.start, m.end) for m in find_phrases(folded, tuple(by_form))]


@lru_cache(maxsize=4096)
def phrase_pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(spaced(fold_text(phrase).strip().rstrip(".。")) or r"(?!)")


def spaced(folded: str) -> str:
    return r"\s+".join(re.escape(word) for word in folded.split())


_CODE_BEHIND = re.compile(r"[ \t]?[/\\|][ \t]?[^\W_]|\.[0-9]|[-_]+[^\W_]")
_CODE_BEFORE = re.compile(r"[^\W_][ \t]?[/\\|][ \t]?\Z|[0-9]\.\Z")


def find_codes(folded: Folded, codes: Sequence[str]) -> list[Mention]:
    """Mentions of codes: exact signs, and no hyphen, underscore, slash or point that would make them longer."""
    text = folded.text
    return [
        m
        for m in find_phrases(folded, codes)
        if not is_continued(text, m.start, m.end)
        and not _CODE_BEHIND.match(text, m.end)
        and not _CODE_BEFORE.search(text[max(0, m.start - 8) : m.start])
    ]


def is_continued(text: str, start: int, end: int) -> bool:
    """Whether a hyphen or underscore makes a word longer: K7Q-19-B, Anna Berg-Mann."""
    return bool(re.search(r"[^\W_][-_]\Z", text[:start][-2:]) or re.match(r"[-_][^\W_]", text[end:]))


_INTRODUCED = re.compile(r"(?:\A|\b(?:is|symbol)|[:(\"“]|[是为])[ \t]*[\"“(]*\Z")


def find_symbols(folded: Folded, symbols: Sequence[str]) -> list[Mention]:
    """Mentions of symbols in exactly their case: at the start, or introduced by `is`, a colon, a bracket, 是.

    He, In and As are words too; at the start they count only where the line ends behind them.
    """
    return [
        mention
        for mention in find_phrases(folded, symbols)
        if "".join(folded.written(i) for i in range(mention.start, mention.end)) == mention.candidate
        and _INTRODUCED.search(folded.text[max(0, mention.start - 12) : mention.start].lstrip("\n"))
        and (mention.start > 0 or not re.match(r"[ \t]+\w", folded.text[mention.end :]))
    ]


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions that are not part of a longer one (`New York` inside `New York State`)."""
    kept: list[Mention] = []
    widest: Mention | None = None
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if widest is not None and mention.end <= widest.end and mention.candidate != widest.candidate:
            continue
        kept.append(mention)
        widest = mention if widest is None or mention.end > widest.end else widest
    return kept
