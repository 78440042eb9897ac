"""What is wrong with a question before anything is run: one clear message each."""

from whybox.cause.parts import roles_of
from whybox.cause.spans import BOS, TEMPLATE
from whybox.errors import CaseError, PromptError, UsageError
from whybox.items.instance import CaseInstance
from whybox.model import Model
from whybox.text.prompt import Prompt

_OURS = frozenset({TEMPLATE, BOS})


def check(model: Model, case: CaseInstance, fact: str) -> None:
    """Raises CaseError, PromptError or UsageError at the first thing that would make every result meaningless."""
    _check_names(case)
    prompt = model.prompt(case)
    _check_length(model, prompt, case)
    _check_answers(model, prompt, case)
    _check_evidence(case)
    if fact:
        _check_fact(case, fact)


def _check_names(case: CaseInstance) -> None:
    """A part called as the report calls what nobody wrote would be added up with it."""
    for part in case.parts:
        if part.name in _OURS:
            raise CaseError(
                f"a part cannot be called {part.name!r}: the report calls what stands around the parts so",
                "give it another name",
            )


def _check_length(model: Model, prompt: Prompt, case: CaseInstance) -> None:
    """Something must stand before the decision, and the evidence within what the model was trained on."""
    if len(prompt) == 1:
        raise PromptError(
            "the prompt has one token: nothing stands before the place where the answer is decided",
            "give a prompt of at least two tokens",
        )
    context = model.spec.context
    beyond = [name for name in case.evidence if prompt.segment(name).end > context]
    if beyond and not model.allow_long:
        raise PromptError(
            f"evidence {', '.join(map(repr, beyond))} lies outside the trained context of {context} tokens "
            f"(the prompt has {len(prompt)})",
            "shorten the prompt, or pass --allow-long (allow_long=True) and read the result as beyond training",
        )


def _check_answers(model: Model, prompt: Prompt, case: CaseInstance) -> None:
    """Each answer must have ids of its own behind the prompt."""
    unknown = model.tokenizer.unknown
    for name, answer in (("right", case.right), ("wrong", case.wrong)):
        if answer is None:
            continue
        ids, start = model.join(prompt, answer)
        if unknown is not None and unknown in ids[start:]:
            raise CaseError(
                f"answer.{name}: {answer!r} cannot be joined to the prompt: the tokenizer has no ids for it",
                "write the answer in characters that the model's vocabulary holds",
            )


def _check_evidence(case: CaseInstance) -> None:
    """Evidence holds text, and something else asks."""
    for name in case.evidence:
        if not case.part(name).text.strip():
            raise CaseError(f"evidence {name!r} holds no text", "name the part that the answer can be read from")
    if case.evidence and roles_of(case).question is None:
        raise CaseError(
            "every part is named as evidence: none is left that asks", "name the question as a part of its own"
        )
    if "question" in case.evidence:
        raise CaseError("evidence: 'question' is the part that asks", "name the part that the answer can be read from")


def _check_fact(case: CaseInstance, fact: str) -> None:
    """The fact is an edit that was asked for: one that changes nothing is a mistake."""
    said = " ".join(fact.split())
    if not said:
        raise UsageError("--fact holds no text", 'give a sentence that answers the question: --fact "…"')
    if case.evidence:
        raise UsageError(
            f"--fact is for a case without evidence; this one names {', '.join(case.evidence)}",
            "leave --fact out, or evidence",
        )
    if any(said in " ".join(part.text.split()) for part in case.parts):
        raise UsageError(
            "--fact changes nothing: the prompt says exactly this already", "leave it out, or name the part as evidence"
        )
