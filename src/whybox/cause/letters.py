"""Answers in the letters in which the model writes them: where `No` is written, LD compares No with Yes."""

from collections.abc import Callable
from dataclasses import replace

from whybox.cause.answers import Answered
from whybox.items.instance import CaseInstance


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


_WAYS: tuple[Callable[[str], str], ...] = (_capitalized, str.upper, str.lower)


def as_written(case: CaseInstance, asked: CaseInstance, own: Answered) -> CaseInstance:
    """A case with both answers in the letters of the answer that was written to the asked one; itself where those are
    the case's.

    Only a word or a phrase is scored without regard to capitals; a name, a letter of a choice and a unit are not.
    """
    way = _way(asked, own)
    if way is None or case.wrong is None:
        return case
    return replace(case, right=way(case.right), wrong=way(case.wrong))


def _way(asked: CaseInstance, own: Answered) -> Callable[[str], str] | None:
    score = own.score
    if asked.kind != "text" or asked.match is not None or score.span is None or score.candidate is None:
        return None
    written = own.text[slice(*score.span)]
    ways = (way for way in _WAYS if way(score.candidate or "") == written)
    return None if written == score.candidate else next(ways, None)
