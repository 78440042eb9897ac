"""A question as it is put: everything that is asked, nothing of what is right."""

import hashlib
from collections.abc import Sequence

from whybox.learn.course.chapter import Chosen, Code, Exercise, Handed, Matched, Numbers, Option
from whybox.learn.course.reckoning import paragraphs
from whybox.learn.ledger import Lang
from whybox.report.document import FieldRow, OptionRow, QuestionRow


def row(question: Exercise, lang: Lang) -> QuestionRow:
    """In the reader's language."""
    asked = QuestionRow(id=question.id, kind=question.kind, ask=paragraphs(question.ask.of(lang)))
    match question:
        case Numbers():
            fields = tuple(FieldRow(say=each.say.of(lang), decimals=each.decimals) for each in question.fields)
            return asked.model_copy(update={"fields": fields})
        case Chosen():
            return asked.model_copy(update={"options": _options(listed(question), lang)})
        case Matched():
            both = {"options": _options(question.options, lang), "items": _options(question.items, lang)}
            return asked.model_copy(update=both)
        case Code():
            return asked.model_copy(update={"starter": question.starter, "format": "python"})
        case Handed():
            return asked.model_copy(update={"starter": question.starter, "format": question.format})


def listed(question: Chosen) -> tuple[Option, ...]:
    """As they are put. What is to be brought into order is mixed, always alike: its own order may be the right one."""
    if question.kind != "order":
        return question.options
    return tuple(sorted(question.options, key=lambda each: hashlib.sha256(each.id.encode()).digest()))


def _options(options: Sequence[Option], lang: Lang) -> tuple[OptionRow, ...]:
    return tuple(OptionRow(id=each.id, say=each.say.of(lang)) for each in options)
