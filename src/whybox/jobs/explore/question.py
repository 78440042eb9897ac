"""A state and its right answer as a case: what `why` explains, and what a case file holds."""

from typing import Any

import yaml

from whybox.items.case import Case, kind_of, plain_parts
from whybox.items.slots import escape
from whybox.jobs.explore.prompts import parts_of
from whybox.report.document.explore import Question, RawPrompt, State

ID = "explored"


def case_of(state: State, question: Question) -> Case:
    """The case of the prompt without its changes. CaseError for names and answers that no case file may hold."""
    return Case.from_data(_data(state, question), source="the prompt")


def case_file(state: State, question: Question) -> str:
    """The same as YAML text, checked as a case."""
    data = _data(state, question)
    Case.from_data(data, source="the prompt")
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=120)


def _data(state: State, question: Question) -> dict[str, Any]:
    prompt = state.prompt
    asked: dict[str, Any] = (
        {"text": plain_parts(parts_of(prompt.parts))}
        if isinstance(prompt, RawPrompt)
        else {"prompt": [{"role": turn.role, "parts": plain_parts(parts_of(turn.parts))} for turn in prompt.messages]}
    )
    right, wrong = question.right.strip(), question.wrong.strip()
    answer = {"right": escape(right), "kind": kind_of(right, wrong)}
    if wrong:
        answer["wrong"] = escape(wrong)
    return {"id": ID, **asked, "answer": answer, "evidence": list(question.evidence)}
