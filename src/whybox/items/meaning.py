"""What the fields of a case must mean together: unique names, slots declared and used, answers that differ."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from whybox.errors import CaseError
from whybox.items.instance import CaseInstance
from whybox.items.schema import AnswerText, CaseText, MessageText
from whybox.items.slots import slots_in, stray_brace
from whybox.items.yaml_tree import FieldPath


class FieldFault(Exception):
    """A field that contradicts another: its path, what was expected, what was found."""

    def __init__(self, path: FieldPath, expected: str, found: str) -> None:
        super().__init__(f"{path}: expected {expected}, found {found}")
        self.path, self.expected, self.found = path, expected, found


def message_parts(case: CaseText, message: MessageText) -> list[tuple[str, str]]:
    """(name, text) of a message; a message written as plain `text` is one part named after its role and turn."""
    if message.parts is not None:
        return [(part.name, part.text) for part in message.parts]
    turns = [other for other in case.prompt or () if other.role == message.role and other.parts is None]
    number = next(i for i, other in enumerate(turns) if other is message)
    return [(f"{message.role}{number + 1}" if number else message.role, message.text or "")]


def raw_parts(case: CaseText) -> list[tuple[str, str]]:
    """(name, text) of a raw prompt; a plain string is one part named `text`."""
    match case.text:
        case None:
            return []
        case str():
            return [("text", case.text)]
        case parts:
            return [(part.name, part.text) for part in parts]


def check(case: CaseText) -> None:
    """Raise FieldFault at the first field that does not fit the others."""
    _check_prompt(case)
    _check_parts(case)
    _check_slots(case)
    if case.observed is not None and case.answer.got is None:
        raise FieldFault(("observed",), "answer.got, the output that this speaks of", "none")
    exact = case.answer.match is not None and case.answer.match.overlap is None
    if exact and (slots := slots_of_answers(case)):
        raise FieldFault(("answer", "match"), "answers without slots, which no pattern and no schema follows", slots[0])
    if case.answer.kind != "choice" and case.answer.options is not None:
        raise FieldFault(("answer", "options"), "options only with kind: choice", f"kind: {case.answer.kind}")
    if case.answer.by == "logprob":
        _check_labels(case.answer)


def _check_labels(answer: AnswerText) -> None:
    """A choice by log-probability is one among labels, and nothing else of it is read."""
    if answer.kind != "choice" or len(answer.options or {}) < 2:
        found = f"kind: {answer.kind}, {len(answer.options or {})} options"
        raise FieldFault(("answer", "by"), "logprob only with kind: choice and two options or more", found)
    if answer.match is not None:
        raise FieldFault(("answer", "match"), "no match beside by: logprob, which answers with a label", "one")


def check_answers(instance: CaseInstance) -> None:
    """Right and wrong differ, and the scorer recognises both for what they are."""
    if instance.wrong == instance.right:
        raise FieldFault(("answer", "wrong"), "an answer other than the right one", repr(instance.wrong))
    try:
        scorer = instance.scorer()
    except CaseError as error:
        raise FieldFault(("answer",), f"answers of kind {instance.kind}", error.cause) from error
    for field, answer, wanted in (("right", instance.right, "right"), ("wrong", instance.wrong, "wrong")):
        found = None if answer is None else scorer.score(answer).outcome
        if found not in (None, wanted) and _is_the_same(instance):
            said = f"{instance.wrong!r}, which scores like {instance.right!r}"
            raise FieldFault(("answer", "wrong"), "an answer other than the right one", said)
        if found not in (None, wanted):
            raise FieldFault(
                ("answer", field), f"text that kind {instance.kind} scores as {wanted}", f"{answer!r} ({found})"
            )


def _is_the_same(instance: CaseInstance) -> bool:
    """The wrong answer says what the right one says, in other words: `seven days` for `7 days`."""
    return instance.wrong is not None and replace(instance, wrong=None).scorer().score(instance.wrong).right


def slots_of_answers(case: CaseText) -> list[str]:
    """The slots whose values end up in an answer."""
    answers = [case.answer.right, case.answer.wrong or "", *(case.answer.options or {}).values()]
    return list(dict.fromkeys(slot for answer in answers for slot in slots_in(answer)))


def check_scorable(instance: CaseInstance, slot: str, number: int) -> None:
    """The scorer can be built with value `number` of a slot too."""
    try:
        instance.scorer()
    except CaseError as error:
        value = dict(instance.values)[slot]
        raise FieldFault(("vary", slot, number), f"a value for kind {instance.kind}", repr(value)) from error


def _check_prompt(case: CaseText) -> None:
    if (case.prompt is None) == (case.text is None):
        found = "neither" if case.prompt is None else "both"
        raise FieldFault(("prompt",), "either prompt (messages) or text (raw)", found)
    for i, message in enumerate(case.prompt or ()):
        if (message.parts is None) == (message.text is None):
            found = "neither" if message.parts is None else "both"
            raise FieldFault(("prompt", i), "either parts or text", found)
    if not any(text.strip() for _, text in _named_texts(case)):
        raise FieldFault(("prompt" if case.prompt else "text",), "some text", "only blanks")


def _named_texts(case: CaseText) -> list[tuple[str, str]]:
    return raw_parts(case) + [part for message in case.prompt or () for part in message_parts(case, message)]


def _check_parts(case: CaseText) -> None:
    names = [name for name, _ in _named_texts(case)]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise FieldFault(("prompt" if case.prompt else "text",), "every part name once", f"{twice[0]!r} twice")
    for i, name in enumerate(case.evidence):
        if name not in names:
            raise FieldFault(("evidence", i), f"a part among {', '.join(names)}", repr(name))


def _check_slots(case: CaseText) -> None:
    used: set[str] = set()
    for path, text in _templates(case):
        at = stray_brace(text)
        if at is not None:
            raise FieldFault(path, "{slot}, {{ or }}", f"a single brace at character {at}: {text[at : at + 20]!r}")
        used.update(slots_in(text))
        for slot in slots_in(text):
            if slot not in case.vary:
                known = ", ".join(case.vary) or "none (there is no vary)"
                raise FieldFault(path, f"slots among {known}", f"{{{slot}}}")
    for slot, values in case.vary.items():
        if slot not in used:
            raise FieldFault(("vary", slot), "a slot that some text or answer uses", f"no {{{slot}}}")
        if len({" ".join(value.split()) for value in values}) < len(values):
            raise FieldFault(("vary", slot), "values that differ in more than blanks", ", ".join(map(repr, values)))


def _templates(case: CaseText) -> Iterator[tuple[FieldPath, str]]:
    """Every text that may hold slots, with its place in the file."""
    for i, message in enumerate(case.prompt or ()):
        for j, part in enumerate(message.parts or ()):
            yield ("prompt", i, "parts", j, "text"), part.text
        if message.text is not None:
            yield ("prompt", i, "text"), message.text
    for i, (_, text) in enumerate(raw_parts(case)):
        yield ("text",) if isinstance(case.text, str) else ("text", i, "text"), text
    yield ("answer", "right"), case.answer.right
    if case.answer.wrong is not None:
        yield ("answer", "wrong"), case.answer.wrong
    for label, option in (case.answer.options or {}).items():
        yield ("answer", "options", label), option
