"""Which parts of a prompt speak of what the question asks, by the words that they share: a hint, no proof."""

from whybox.cause.parts import Roles, same_value, speaks_of
from whybox.items.content_words import content_words
from whybox.items.instance import CaseInstance


def shared_words(case: CaseInstance, roles: Roles, name: str) -> int:
    """How many content words of the question a part holds."""
    asked = "" if roles.question is None else case.part(roles.question).text
    return len(content_words(asked) & content_words(case.part(name).text))


def nearer_parts(case: CaseInstance, roles: Roles, wrong: str) -> tuple[str, ...]:
    """Parts that state the wrong answer and share more of the question's words than any evidence does: the
    declared right answer may then answer another question.
    """
    if not roles.evidence or not wrong or same_value(case, wrong):
        return ()
    most = max(shared_words(case, roles, name) for name in roles.evidence)
    free = [part for part in case.parts if part.name not in (*roles.evidence, roles.question)]
    return tuple(p.name for p in free if shared_words(case, roles, p.name) > most and speaks_of(case, p.text, wrong))


def is_off_question(case: CaseInstance, roles: Roles) -> bool:
    """Whether no part of the evidence shares any content word with the question."""
    return bool(roles.evidence) and not any(shared_words(case, roles, name) for name in roles.evidence)
