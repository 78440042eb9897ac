"""Scorer of lettered choices: the letter, the option's content, or both where they agree."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from whybox.errors import CaseError
from whybox.items.scoring.cut import whole
from whybox.items.scoring.folding import Folded, fold, fold_text
from whybox.items.scoring.score import Mention, Score, asserted_mentions, decide, finished
from whybox.items.scoring.scorers import NO_CONTENT, number_scorer, word_scorer

_CUE = re.compile(
    r"(?:\b(?:answer|option|choice|choose|pick|select)(?: is)?|答案|选项|选择?)[ \t]*[是为]?[ \t]*:?[ \t]*[(\[\"“]?\Z"
)
# A capital A or I opens many sentences; it is a label only before one of these.
_AFTER_LABEL = re.compile(
    r"[ \t]*(?:\Z|[^\w \t]|(?:and|or|is|are|was|because|since|but|to|would|seems)\b|[^\x00-\x7f])"
)
_ALONE = re.compile(r"[\W_]*[a-z][\W_]*")


@dataclass(frozen=True)
class ChoiceScorer:
    """`right`: the right label; `labels`: all of them; `find_contents`: mentions of the options' contents, by label."""

    right: str
    labels: tuple[str, ...]
    find_contents: Callable[[Folded], list[Mention]]
    listing: re.Pattern[str] | None = None

    def score(self, text: str | None, finish_reason: str | None = None) -> Score:
        if text is None:
            return NO_CONTENT
        folded = self._without_the_options(fold(text))
        letters = self._letters(folded)
        contents = whole(folded, self.find_contents(folded), (), finish_reason)
        if not letters:
            plain = decide(folded, contents, self.right)
            by_content = plain if plain.span is None else _flagged(plain)
            return finished(by_content, finish_reason)
        plain = decide(folded, letters, self.right)
        named = {mention.candidate for mention in asserted_mentions(folded.text, contents)}
        if plain.candidate is not None and named and plain.candidate not in named:
            return Score("invalid", plain.candidate, plain.span, (*plain.flags, "conflict"))
        return finished(plain, finish_reason)

    def _without_the_options(self, folded: Folded) -> Folded:
        """Options that are said again, two or more, one a line, are no answer."""
        return folded.without(self.listing) if self.listing is not None else folded

    def _letters(self, folded: Folded) -> list[Mention]:
        wanted = {label.casefold(): label for label in self.labels}
        return [
            Mention(wanted[match[0]], match.start(), match.end())
            for match in re.finditer(r"(?<![^\W_\u2e80-\u9fff])[a-z](?![^\W_\u2e80-\u9fff]|')", folded.text)
            if match[0] in wanted and _is_label(folded, match.start())
        ]


def _flagged(score: Score) -> Score:
    return replace(score, flags=(*score.flags, "content-only"))


def _is_label(folded: Folded, at: int) -> bool:
    """A letter that is meant as a label: alone, in brackets, behind a cue, or a capital that opens no sentence."""
    text = folded.text
    before, behind = text[max(0, at - 24) : at], text[at + 1 : at + 16]
    if _ALONE.fullmatch(text) or _CUE.search(before):
        return True
    if before.endswith(("(", "[")) and behind.startswith((")", "]")):
        return True
    if behind.startswith((")", "、")) or (
        behind.startswith((".", ":")) and text[:at].rpartition("\n")[2].strip() == ""
    ):
        return True
    if not folded.written(at).isupper():
        return False
    return text[at] not in "ai" or _AFTER_LABEL.match(behind) is not None


def choice_scorer(
    right: str, labels: Sequence[str] = ("A", "B", "C", "D"), contents: Mapping[str, str] | None = None
) -> ChoiceScorer:
    """Scorer for labels such as A–D; `contents` (label → option text) lets the content alone count.

    CaseError when `right` is no label, or two options have the same content.
    """
    if right not in labels:
        raise CaseError(f"answer.right: expected one of {', '.join(labels)}, found {right!r}", "Name the label.")
    return ChoiceScorer(right, tuple(labels), _content_finder(contents or {}), _listing(contents or {}))


def _listing(contents: Mapping[str, str]) -> re.Pattern[str] | None:
    """Two options or more, each on a line of its own, as they were given."""
    if len(contents) < 2:
        return None
    each = "|".join(
        rf"\(?{re.escape(label.casefold())}[).:、][ \t]*{re.escape(fold_text(content).strip())}"
        for label, content in contents.items()
    )
    line = rf"^[ \t]*(?:{each})[ \t.;,]*"
    return re.compile(rf"{line}$(?:\n+{line}$)+", re.MULTILINE)


def _content_finder(contents: Mapping[str, str]) -> Callable[[Folded], list[Mention]]:
    if not contents:
        return _find_nothing
    by_content = {content: label for label, content in contents.items()}
    if len(by_content) < len(contents):
        raise CaseError("answer.options: expected different contents, found the same twice", "Change one option.")
    try:
        find = number_scorer(*_parted(by_content)).find
    except CaseError:
        find = word_scorer(*_parted(by_content)).find
        return partial(_find_labels, find=find, by_content=by_content)
    return partial(_find_values, find=find, by_content=by_content)


def _find_nothing(folded: Folded) -> list[Mention]:
    return []


def _find_labels(
    folded: Folded, find: Callable[[Folded], list[Mention]], by_content: Mapping[str, str]
) -> list[Mention]:
    """An unlisted word beside a content is no option."""
    return [Mention(by_content[m.candidate], m.start, m.end) for m in find(folded) if m.candidate in by_content]


def _find_values(
    folded: Folded, find: Callable[[Folded], list[Mention]], by_content: Mapping[str, str]
) -> list[Mention]:
    """A value beside a content is another answer, whether it is an option or not: 7 or 9 days."""
    return [replace(m, candidate=by_content.get(m.candidate, m.candidate)) for m in find(folded)]


def _parted(by_content: Mapping[str, str]) -> tuple[str, list[str]]:
    first, *rest = by_content
    return first, rest
