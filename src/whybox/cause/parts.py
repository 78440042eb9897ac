"""Which part of a prompt plays which role, and the prompts that result when parts are left out or moved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whybox.cause.decision import mention
from whybox.items.instance import CaseInstance
from whybox.items.lenient import is_number, unwrapped
from whybox.items.question import asks, question_of, sentences_of
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.scorers import NO_WORDS, YES_WORDS, lenient_number_scorer
from whybox.statistics.designs import orders
from whybox.text.prompt import Part


@dataclass(frozen=True)
class Roles:
    """evidence: parts that hold the right answer; others: parts beside them that could be left out or moved.

    presumed: the case names no evidence, so the sentences that state the right answer stand in. fixed: others that
    stand in a message apart, and are left out but not moved.
    """

    evidence: tuple[str, ...]
    others: tuple[str, ...]
    question: str | None
    presumed: bool = False
    fixed: tuple[str, ...] = ()


def roles_of(case: CaseInstance) -> Roles:
    """Others are neither evidence nor question, and share a message with one of them or, an earlier turn of the model
    included, hold the wrong answer or state the right one.
    """
    question = question_of(case)
    if not case.evidence:
        return Roles((), (), question)
    named = {*case.evidence, question}
    asked = [case.raw_parts] if case.is_raw else [m.parts for m in case.messages if m.role != "assistant"]
    beside = {p.name for group in asked if any(q.name in named for q in group) for p in group}
    apart = {part.name for part in case.parts if part.name not in beside and _gives_away(case, part)}
    others = tuple(part.name for part in case.parts if part.name in beside | apart and part.name not in named)
    return Roles(case.evidence, others, question, fixed=tuple(name for name in others if name in apart))


def _gives_away(case: CaseInstance, part: Part) -> bool:
    """Whether a part holds the wrong answer, which is another value than the right one, or states the right one."""
    wrong = case.wrong is not None and not same_value(case, case.wrong) and speaks_of(case, part.text, case.wrong)
    tells = case.kind != "choice" and case.right.strip().casefold() not in YES_WORDS | NO_WORDS
    return wrong or (tells and states(case, part.text))


def with_presumed_evidence(case: CaseInstance) -> tuple[CaseInstance, bool]:
    """A case without named evidence whose messages are one text each: cut at sentences, those that state the right
    answer being the evidence. The text stays the same; a case with evidence or named parts stays as it is.
    """
    plain = not case.is_raw and all(len(message.parts) == 1 for message in case.messages)
    if case.evidence or not plain:
        return case, False
    messages = tuple(
        replace(message, parts=tuple(_sentences(message.parts[0]))) if message.role != "assistant" else message
        for message in case.messages
    )
    scorer = case.scorer()
    cut = replace(case, messages=messages, join="")
    stating = tuple(part.name for part in cut.parts if not asks(part.text) and scorer.score(part.text).right)
    return (replace(cut, evidence=stating), True) if stating else (case, False)


def states(case: CaseInstance, text: str) -> bool:
    """Whether a sentence of the text gives the right answer, whatever else it says; one that asks gives none.

    The value counts, without the form that the answer must have (7 for `{"days": 7}`).
    """
    alone = replace(case, wrong=None)
    scorer = alone.scorer() if case.kind == "number" else alone.lenient_scorer()
    return any(scorer.score(sentence).right for sentence in sentences_of(text) if not asks(sentence))


def speaks_of(case: CaseInstance, text: str, answer: str) -> bool:
    """Whether a text holds an answer: asserted, denied or asked for. A letter of a choice, or a plain yes or no, is
    held by any text.
    """
    if case.kind == "choice" or answer.strip().casefold() in YES_WORDS | NO_WORDS:
        return False
    if mention(text, answer) is not None:
        return True
    scorer = replace(case, right=answer, wrong=None).lenient_scorer()
    return any(scorer.score(sentence).right for sentence in sentences_of(text))


def same_value(case: CaseInstance, answer: str) -> bool:
    """Whether an answer is the right one in another form (`7 days` for `{"days": 7}`)."""
    right, other = unwrapped(case.right), unwrapped(answer)
    if is_number(right) and is_number(other):
        return lenient_number_scorer(right).score(other).right
    return fold_text(right).strip() == fold_text(other).strip()


def _sentences(part: Part) -> Iterator[Part]:
    found = sentences_of(part.text) or [part.text]
    for number, text in enumerate(found, start=1):
        yield Part(part.name if len(found) == 1 else f"{part.name}.{number}", text)


def alone(case: CaseInstance, roles: Roles) -> CaseInstance:
    """The evidence without what stands beside it."""
    return without(case, roles.others)


def closed_book(case: CaseInstance, roles: Roles) -> CaseInstance:
    """Question and instructions only."""
    return without(case, (*roles.evidence, *roles.others))


def with_fact(case: CaseInstance, question: str, fact: str) -> CaseInstance:
    """The fact stands right before the question, in its text."""
    return case.replacing({question: f"{fact}\n{case.part(question).text}"})


def asked_alone(case: CaseInstance, question: str) -> CaseInstance | None:
    """The asking part without what stands before it; of a prompt that is one part, its last question and what follows
    that. None where that is the prompt itself.
    """
    text = case.part(question).text
    found = sentences_of(text)
    last = max((number for number, sentence in enumerate(found) if asks(sentence)), default=0)
    left = case.replacing({question: "".join(found[last:])}) if last else case
    left = left.keeping([question]) if len(case.parts) > 1 else left
    return None if left == case else left


def without(case: CaseInstance, names: Sequence[str]) -> CaseInstance:
    return case.keeping([part.name for part in case.parts if part.name not in set(names)])


def movable_parts(roles: Roles) -> set[str]:
    """Evidence and what stands beside it."""
    return {*roles.evidence, *roles.others} - {*roles.fixed}


def crosses_roles(case: CaseInstance, roles: Roles) -> bool:
    """Whether another order puts a part into a message of another role (a system rule into the user's words)."""
    movable = movable_parts(roles)
    return len({message.role for message in case.messages if any(p.name in movable for p in message.parts)}) > 1


def other_orders(case: CaseInstance, roles: Roles) -> list[tuple[str, ...]]:
    """Other orders of evidence and others: all of them up to three parts, a Williams square beyond."""
    movable = movable_parts(roles)
    units = tuple(part.name for part in case.parts if part.name in movable)
    if len(units) < 2:
        return []
    rows = [tuple(units[unit] for unit in row) for row in orders(len(units))]
    return [row for row in rows if row != units]
