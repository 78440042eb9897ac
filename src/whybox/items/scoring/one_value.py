"""An answer that states one value and no other of its kind; and how a document words the value that it states."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from whybox.items.scoring.finders import NumberCandidate
from whybox.items.scoring.folding import Folded, fold, fold_text
from whybox.items.scoring.negation import is_negated
from whybox.items.scoring.quantities import Quantity, amounts_in, find_quantities
from whybox.items.scoring.score import Score, Scorer
from whybox.items.scoring.standing import unit_of_key
from whybox.items.scoring.units import of_one_kind, same_amount

_ENDED = re.compile(r"[.!?;](?=\s|[^\W\d_])|[。！？；\n]")


@dataclass(frozen=True)
class OneValueScorer:
    """Right where `plain` says so and the text asserts no other value of the same kind: "7 days, and 7 weeks" is none.

    Another value that stands there makes the answer hedged, the first one first.
    """

    plain: Scorer
    right: str

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        score = self.plain.score(text, finish_reason)
        if text is None or not score.right or score.span is None:
            return score
        folded = fold(text)
        places = [(folded.span(one.start, one.end), one) for one in others_in(folded.text, self.right)]
        if not places:
            return score
        texts = [(span[0], text[slice(*span)]) for span, _ in places]
        several = [said for _, said in sorted([*texts, (score.span[0], self.right)], key=lambda found: found[0])]
        ends = [score.span, *(span for span, _ in places)]
        span = min(start for start, _ in ends), max(end for _, end in ends)
        return Score("hedged", span=span, flags=score.flags, several=tuple(dict.fromkeys(several)))


def gives_a_value(folded: Folded, right: str) -> bool:
    """Whether a text ends a sentence or a line behind another value of the kind of `right`: no limit cut that value."""
    return any(_ENDED.search(folded.text, one.end) for one in others_in(folded.text, right))


def gives_amount(text: str, right: str) -> bool:
    """Whether folded text holds a number, or an amount in words (a month) of what `right` measures."""
    if find_quantities(text, words=True):
        return True
    own = next(iter(find_quantities(fold_text(right), words=True)), None)
    return own is not None and own.unit is not None and any(of_one_kind(own.unit, o.unit) for o in amounts_in(text))


def others_in(text: str, right: str) -> Iterator[Quantity]:
    """Quantities that folded text asserts and that are another value of the kind of `right`."""
    own = NumberCandidate.parse(right, "anywhere")
    unit = None if own.unit is None else own.unit.name
    for found in amounts_in(text):
        one = found if found.unit is not None else replace(found, unit=unit_of_key(text, found.start))
        if unit is not None and one.unit is not None and not of_one_kind(unit, one.unit):
            continue
        if own.is_met_by(one, text) or same_amount(own.value, unit, one.value, one.unit):
            continue
        if one.unit is None and not own.may_be_bare(text, one):
            continue
        if not is_negated(text, (one.start, one.end), ()):
            yield one


@lru_cache(maxsize=256)
def bounds_in(right: str, texts: Sequence[str]) -> frozenset[str]:
    """How documents word the right value where they state it (more than 7 days, 7 days a week): so an answer may, too.

    Empty where it is no number.
    """
    own = next(iter(find_quantities(fold_text(right), words=True)), None)
    if own is None:
        return frozenset()
    found = (one for text in texts for one in find_quantities(fold_text(text), words=True))
    return frozenset().union(*(one.bounds for one in found if (one.value, one.unit) == (own.value, own.unit)))
