"""Questions that would make every result meaningless: one clear message each, before anything is run."""

from dataclasses import replace
from typing import Any

import pytest

from whybox.errors import CaseError, PromptError, UsageError
from whybox.items.case import Case
from whybox.jobs.why import WhyOptions, why
from whybox.model import Model
from whybox.testing.context_rows import not_looking
from whybox.text.tokenizer import Tokenizer

PARTS = [
    {"name": "doc1", "text": "DOC1 Aldova Quorlan ."},
    {"name": "doc2", "text": "DOC2 Brintow Rimbleth ."},
    {"name": "question", "text": "the of and to Q Aldova"},
]
ANSWER = {"right": "Quorlan", "wrong": "Rimbleth", "kind": "name"}
BASE: dict[str, Any] = {"id": "x", "text": PARTS, "join": " ", "answer": ANSWER, "evidence": ["doc1"]}


@pytest.fixture(scope="module")
def model() -> Model:
    return not_looking(1).model


def test_the_case_itself_is_sound(model: Model) -> None:
    assert why(model, Case.from_data(BASE), WhyOptions(limit=4)).answer.got == " Rimbleth"


@pytest.mark.parametrize(
    ("fields", "fact", "kind", "said"),
    [
        ({"evidence": ["doc9"]}, "", CaseError, "expected a part among doc1, doc2, question, found 'doc9'"),
        ({"answer": {**ANSWER, "wrong": "Quorlan"}}, "", CaseError, "an answer other than the right one"),
        ({"answer": {**ANSWER, "wrong": "QUORLAN"}}, "", CaseError, "other than the right one, found 'QUORLAN'"),
        ({"answer": {**ANSWER, "right": "Zzyzx"}}, "", CaseError, "answer.right: 'Zzyzx' cannot be joined"),
        ({"answer": {**ANSWER, "wrong": "Zzyzx"}}, "", CaseError, "answer.wrong: 'Zzyzx' cannot be joined"),
        ({"answer": {"right": "Quorlan", "wrong": "Quorlan the", "kind": "text"}}, "", CaseError, "differ in no id"),
        ({"text": [{"name": "doc1", "text": " "}, *PARTS[1:]]}, "", CaseError, "evidence 'doc1' holds no text"),
        ({"text": [*PARTS, {"name": "template", "text": "the"}]}, "", CaseError, "a part cannot be called 'template'"),
        ({"evidence": ["question"]}, "", CaseError, "'question' is the part that asks"),
        ({"evidence": ["doc1", "doc2", "question"]}, "", CaseError, "every part is named as evidence"),
        ({"text": PARTS[:1]}, "", CaseError, "every part is named as evidence"),
        ({}, "DOC3 Aldova Quorlan .", UsageError, "--fact is for a case without evidence; this one names doc1"),
        ({"evidence": []}, "DOC1  Aldova Quorlan .", UsageError, "--fact changes nothing"),
        ({"evidence": []}, "  ", UsageError, "--fact holds no text"),
    ],
)  # fmt: skip
def test_one_message_each(model: Model, fields: dict[str, Any], fact: str, kind: type[UsageError], said: str) -> None:
    with pytest.raises(kind) as problem:
        why(model, Case.from_data(BASE | fields), WhyOptions(limit=4, fact=fact))
    assert said in problem.value.cause
    assert "\n" not in problem.value.cause
    assert problem.value.remedy


def test_evidence_outside_the_context_is_named(model: Model) -> None:
    long = [PARTS[1], {"name": "filler", "text": "the " * 100}, PARTS[0], PARTS[2]]
    with pytest.raises(PromptError, match="evidence 'doc1' lies outside the trained context of 96 tokens"):
        why(model, Case.from_data(BASE | {"text": long}))
    before = [PARTS[0], {"name": "filler", "text": "the " * 100}, PARTS[2]]
    with pytest.raises(PromptError, match="the trained context has 96"):
        why(model, Case.from_data(BASE | {"text": before}))


def test_a_prompt_of_one_token(model: Model) -> None:
    blueprint = model.tokenizer.blueprint
    bare = replace(model, tokenizer=Tokenizer(replace(blueprint, specials=replace(blueprint.specials, add_bos=False))))
    with pytest.raises(PromptError, match="the prompt has one token"):
        why(bare, Case.from_data({"id": "x", "text": "Q", "answer": ANSWER}))
