"""Scorers of single answers: number, name, code, phrase, abstention, yes or no.

Each finds its known candidates in the folded text and lets `decide` choose. None asks a model. Each accepts any text.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from whybox.items.scoring import finders
from whybox.items.scoring.alternatives import gives, with_unlisted
from whybox.items.scoring.claims import find_claims
from whybox.items.scoring.cut import whole
from whybox.items.scoring.folding import Folded, fold
from whybox.items.scoring.names import find_names, find_words
from whybox.items.scoring.negation import clause_start
from whybox.items.scoring.one_value import gives_a_value
from whybox.items.scoring.score import Mention, Score, decide, finished, without_candidate

NO_CONTENT = Score("error", flags=("no-content",))


def gives_nothing(_: Folded) -> bool:
    """Of kinds for which only the candidates are answers."""
    return False


@dataclass(frozen=True)
class CandidateScorer:
    """Shared by all kinds: `right` and `others` are what may be found, `find` is how. gives: whether a text without
    them gives something else, which is another answer, and no cut one.
    """

    right: str
    others: tuple[str, ...]
    find: Callable[[Folded], list[Mention]] = field(repr=False)
    gives: Callable[[Folded], bool] = field(default=gives_nothing, repr=False)

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        folded = fold(text)
        mentions = whole(folded, self.find(folded), (self.right, *self.others), finish_reason)
        decided = decide(folded, mentions, self.right)
        return decided if self.gives(folded) else finished(decided, finish_reason)


def number_scorer(
    right: str, others: Sequence[str] = (), words: bool = True, allowed: frozenset[str] = frozenset()
) -> CandidateScorer:
    """Values with units, one of them alone (`claims`). `words`: whether `seven` and 七 are read; `allowed`: what may
    stand around the value besides (`standing`). CaseError when a candidate holds no number.
    """
    candidates = [finders.NumberCandidate.parse(written, allowed=allowed) for written in (right, *others)]
    find = partial(find_claims, candidates=candidates, words=words)
    return CandidateScorer(right, tuple(others), find, partial(gives_a_value, right=right))


def lenient_number_scorer(right: str, others: Sequence[str] = ()) -> CandidateScorer:
    """Values with their units or without any; a number of something else (7 weeks, 7 documents) is none of them."""
    candidates = [finders.NumberCandidate.parse(written, "anywhere") for written in (right, *others)]
    return CandidateScorer(right, tuple(others), partial(finders.find_numbers, candidates=candidates, words=True))


def name_scorer(
    right: str, others: Sequence[str] = (), follows: str = "", rivals: frozenset[str] = frozenset()
) -> CandidateScorer:
    """Names of people, places, offices, devices; the kind word may be left out. `follows`: see `find_names`; `rivals`:
    see `with_unlisted`.
    """
    find = partial(find_names, names=(right, *others), follows=follows)
    return CandidateScorer(right, tuple(others), with_unlisted(find, rivals), partial(gives, rivals=rivals))


def code_scorer(right: str, others: Sequence[str] = ()) -> CandidateScorer:
    """Codes such as K7Q-19, exact to the sign."""
    codes = (right, *others)
    return CandidateScorer(right, tuple(others), with_unlisted(partial(finders.find_codes, codes=codes)))


def word_scorer(right: str, others: Sequence[str] = (), rivals: frozenset[str] = frozenset()) -> CandidateScorer:
    """Whole words or phrases; abbreviations such as IT in their own case. `rivals`: see `with_unlisted`."""
    find = partial(find_words, words=(right, *others))
    return CandidateScorer(right, tuple(others), with_unlisted(find, rivals), partial(gives, rivals=rivals))


def forms_scorer(right: Sequence[str], others: Sequence[Sequence[str]] = ()) -> CandidateScorer:
    """Whole phrases, each candidate in several forms (Kyiv, Kiev); the first form names it."""
    by_form = {form: forms[0] for forms in (right, *others) for form in forms}
    names = tuple(forms[0] for forms in others)
    return CandidateScorer(right[0], names, with_unlisted(partial(finders.find_forms, by_form=by_form)))


def symbol_scorer(right: str, others: Sequence[str] = ()) -> CandidateScorer:
    """Element symbols, in their own case (`Co`, not `CO`); inside a sentence only where it introduces them."""
    symbols = (right, *others)
    return CandidateScorer(right, tuple(others), partial(finders.find_symbols, symbols=symbols))


@dataclass(frozen=True)
class AbstainScorer:
    """Right when the text declines; any asserted value of `known` is wrong."""

    known: CandidateScorer | None = None

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        plain = self.known.score(text) if self.known else without_candidate(fold(text))
        match plain.outcome:
            case "abstain":
                return replace(plain, outcome="right", candidate="abstain")
            case "right":  # the candidate that `known` was built around is as wrong as the others
                return replace(plain, outcome="wrong")
            case _:
                return finished(plain, finish_reason)


_DENIED_PREMISE = re.compile(
    r"\b(?:did|does|do|has|have|was|were|is)(?:n't| not) (?:actually |really |been )?(?:close|closed|shut)\b"
    r"|\b(?:no mention|no record|no evidence) of\b|(?:没有|并未|未)(?:停用|关闭)"
)


@dataclass(frozen=True)
class FalsePremiseScorer:
    """For "why did X close" where X never closed: right when the text declines or denies, wrong when it plays along."""

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        folded = fold(text)
        plain = without_candidate(folded)
        denied = _DENIED_PREMISE.search(folded.text)
        if plain.outcome == "abstain":
            return replace(plain, outcome="right", candidate="abstain")
        if denied is not None:
            return Score("right", "denied", folded.span(*denied.span()))
        if finish_reason == "length" or not folded.text.strip():
            return finished(plain, finish_reason)
        return Score("wrong", "premise accepted", (0, len(text)))


_ENGLISH_YES_NO = re.compile(
    r"(?:(?:the |final )*answer(?: is)?[ :]*)?[\"“(]*(?P<said>yes|yeah|yep|no|nope)[\")”]*(?: indeed| sir)?(?: -.*)?"
)
_CHINESE_NO = re.compile(
    r"(?:不可以|不能|不行|不是|不会|不需要|不用|不允许|不对|没有|否|不)(?!知道|清楚|确定|明|了解|详|规定|提|说|写|信息|相关)"
)
_CHINESE_YES = re.compile(r"(?:可以|能|是的?|对的?|会|需要|允许|行|有)(?!不|没|人|时|关|些|可能)")
_CHINESE_HEAD = re.compile(r"[\s\W]*(?:答案)?[是为:\s]*[\"“]*")
_CLAUSES = re.compile(r"[^.!?;,。！？；，\n]+")


def yes_no_scorer(right: str) -> CandidateScorer:
    """Yes or no, as a clause of its own in English (`No, it is not.`), at the start of the answer in Chinese."""
    return CandidateScorer(right, ("no" if right == "yes" else "yes",), _find_yes_no)


def _find_yes_no(folded: Folded) -> list[Mention]:
    found = []
    for clause in _CLAUSES.finditer(folded.text):
        lead = clause.start() + len(clause[0]) - len(clause[0].lstrip())
        match = _ENGLISH_YES_NO.fullmatch(folded.text, lead, lead + len(clause[0].strip()))
        if match is not None:
            found.append(Mention("no" if match["said"].startswith("n") else "yes", *match.span("said")))
    return found or _chinese_yes_no(folded.text)


def _chinese_yes_no(text: str) -> list[Mention]:
    head = _CHINESE_HEAD.match(text)
    at = head.end() if head else 0
    for said, pattern in (("no", _CHINESE_NO), ("yes", _CHINESE_YES)):
        match = pattern.match(text, at) or pattern.match(text, clause_start(text, at))
        if match is not None:
            return [Mention(said, *match.span())]
    return []


YES_WORDS = frozenset({"yes", "是", "是的", "可以", "能", "对"})
NO_WORDS = frozenset({"no", "否", "不", "不是", "不可以", "不能", "不对"})
_CODE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+|(?=.*[0-9])(?=.*[A-Z])[A-Z0-9]{4,}")


def text_scorer(right: str, others: Sequence[str] = (), rivals: frozenset[str] = frozenset()) -> CandidateScorer:
    """The scorer of `kind: text`: yes or no, a code, or a phrase, whichever the right answer is."""
    folded = right.strip().casefold()
    if folded in YES_WORDS or folded in NO_WORDS:
        return yes_no_scorer("yes" if folded in YES_WORDS else "no")
    if _CODE.fullmatch(right):
        return code_scorer(right, others)
    return word_scorer(right, others, rivals)
