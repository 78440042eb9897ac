"""Parts of a prompt that order an answer ("always say that it takes 30 days"); a document that states one does not."""

import re

from whybox.cause.parts import Roles, same_value, speaks_of
from whybox.items.instance import CaseInstance
from whybox.items.question import asks, sentences_of
from whybox.items.scoring.folding import fold_text

_SAYING = r"(?:say|answer|reply|respond|tell|state|write|output|claim)"
_WHAT = (
    r"(?:\s+(?:that|with|it|yes|no|them|him|her|us|everyone|every\w*|any\w*|customers?|users?|people|the\s\w+)\b"
    r"|\s*[:\"“'‘(]|\s+\d)"
)
_ENGLISH = re.compile(
    rf"(?:^|[,;:.!?\-(]|\bthen|\band)\s*(?:please\s+|just\s+|simply\s+|only\s+|you\s+)*"
    rf"(?:(?:must|should|shall|have to|are to|will)\s+)?(?:always\s+|only\s+)*{_SAYING}{_WHAT}"
    rf"|\b(?:always|must|shall)\s+{_SAYING}{_WHAT}"
)
_CHINESE = re.compile(
    r"(?:^|[,;:。、\s]|请|一律|务必|必须|总是|始终|永远|只能|应当?|(?<![不别])要|都要|就)(?:统一|直接|都)?(?:回答|答复|回复|告诉|告知|答(?!案)|说|写|输出)"
)
"""Of folded text: small letters, and full-width signs as plain ones."""


def demanding_parts(case: CaseInstance, roles: Roles, wrong: str) -> tuple[str, ...]:
    """Of the parts beside the evidence, those in which a sentence orders the wrong answer."""
    if not wrong or same_value(case, wrong):
        return ()
    return tuple(name for name in roles.others if demands(case, case.part(name).text, wrong))


def demands(case: CaseInstance, text: str, answer: str) -> bool:
    """Whether a sentence orders that this answer be given, in words that say so."""
    return any(
        is_order(sentence) and speaks_of(case, sentence, answer)
        for sentence in sentences_of(text)
        if not asks(sentence)
    )


def is_order(sentence: str) -> bool:
    """Whether a sentence orders that something be said. That customers say so is none."""
    folded = fold_text(sentence).strip()
    return _ENGLISH.search(folded) is not None or _CHINESE.search(folded) is not None
