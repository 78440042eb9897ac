"""Which part of a case asks: by its name, else by what the parts say."""

import re
from collections.abc import Sequence

from whybox.items.content_words import content_words
from whybox.items.instance import CaseInstance
from whybox.text.prompt import Part

ASKS = "question"  # the name that settles it
_REQUEST = re.compile(
    r"\s*(?:(?:please,? )?(?:tell|let) (?:me|us)\b|(?:i|we)(?: want|.d like| need| would like) to know\b"
    r"|请?(?:告诉|告知)我|我们?[想要]知道)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)\s*|[。！？；]\s*|\n+|$)", re.DOTALL)


def question_of(case: CaseInstance) -> str | None:
    """Of a case's parts that the model did not say."""
    groups = [case.raw_parts] if case.is_raw else [m.parts for m in case.messages if m.role != "assistant"]
    return asking_part([part for group in groups for part in group], case.evidence, case.wrong)


def asking_part(parts: Sequence[Part], evidence: Sequence[str] = (), wrong: str | None = None) -> str | None:
    """The part named `question`; else, of those that are no evidence and do not just state the wrong answer, the last
    one if it asks, the last that ends with a question, the last that asks at all, the last. A last one that requests
    ("Tell me …"), or that alone shares words with the evidence, comes before an earlier question: that may be one of a
    list of questions and answers.
    """
    free = [part for part in parts if part.name not in evidence]
    if any(part.name == ASKS for part in free):
        return ASKS
    pool = [part for part in free if holds_question(part.text) or not _is_rival(wrong, part)] or free
    asking = [part for part in pool if holds_question(part.text)]
    ending = [part for part in asking if asks(part.text)]
    found = pool[-1:] if not asking or asking[-1] is pool[-1] else ending[-1:] or asking[-1:]
    if found and (_REQUEST.match(pool[-1].text) or _nearer(pool[-1], found[0], parts, evidence)):
        return pool[-1].name
    return found[0].name if found else None


def _nearer(last: Part, asking: Part, parts: Sequence[Part], evidence: Sequence[str]) -> bool:
    """Whether the last part speaks of what the evidence does, and the one that asks does not."""
    told = frozenset().union(*(content_words(part.text) for part in parts if part.name in evidence))
    return bool(content_words(last.text) & told) and not content_words(asking.text) & told


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
