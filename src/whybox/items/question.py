"""Which part of a case asks: by its name, else by what the parts say."""

import re
from collections.abc import Sequence

from whybox.items.instance import CaseInstance
from whybox.text.prompt import Part

ASKS = "question"  # the name that settles it
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)\s*|[。！？；]\s*|\n+|$)", re.DOTALL)


def question_of(case: CaseInstance) -> str | None:
    """Of a case's parts that the model did not say."""
    groups = [case.raw_parts] if case.is_raw else [m.parts for m in case.messages if m.role != "assistant"]
    return asking_part([part for group in groups for part in group], case.evidence, case.wrong)


def asking_part(parts: Sequence[Part], evidence: Sequence[str] = (), wrong: str | None = None) -> str | None:
    """The part named `question`; else, of those that are no evidence and do not just state the wrong answer, the last
    one if it asks, the last that ends with a question, the last that asks at all, the last.
    """
    free = [part for part in parts if part.name not in evidence]
    if any(part.name == ASKS for part in free):
        return ASKS
    pool = [part for part in free if holds_question(part.text) or not _is_rival(wrong, part)] or free
    asking = [part for part in pool if holds_question(part.text)]
    ending = [part for part in asking if asks(part.text)]
    found = pool[-1:] if not asking or asking[-1] is pool[-1] else ending[-1:] or asking[-1:]
    return found[0].name if found else None


def asks(text: str) -> bool:
    """A question that mentions the answer ("Is it 7 days?") states nothing."""
    return text.rstrip().endswith(("?", "？"))


def holds_question(text: str) -> bool:
    """Whether one of its sentences asks."""
    return any(asks(sentence) for sentence in sentences_of(text))


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, which joined are the text."""
    return [match[0] for match in _SENTENCE.finditer(text) if match[0]]


def _is_rival(wrong: str | None, part: Part) -> bool:
    return wrong is not None and wrong.casefold() in part.text.casefold()
