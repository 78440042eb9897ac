"""Other values for the evidence: from variants, else counted on, never one that the rest of the prompt holds."""

from typing import Any

import pytest

from whybox.cause.followed import other_values
from whybox.cause.parts import roles_of
from whybox.items.case import Case
from whybox.items.instance import CaseInstance

REFUND: dict[str, Any] = {
    "id": "x",
    "prompt": [
        {
            "role": "user",
            "parts": [
                {"name": "doc1", "text": "Exchanges are accepted for {other} days."},
                {"name": "doc2", "text": "Refunds take {right} days, or 1{right} in winter."},
                {"name": "question", "text": "How long does a refund take?"},
            ],
        }
    ],
    "vary": {"right": ["7", "5", "9"], "other": ["30", "20"]},
    "answer": {"right": "{right} days", "wrong": "{other} days", "kind": "number"},
    "evidence": ["doc2"],
}


def others(**fields: Any) -> list[CaseInstance]:
    """Of the case with other fields; a field that is None is left out."""
    case = Case.from_data({name: value for name, value in (REFUND | fields).items() if value is not None})
    instance = case.filled()
    return other_values(instance, instance.wrong or "", roles_of(instance), case.instances()[1:])


def test_values_of_variants_in_the_place_of_the_evidence() -> None:
    found = others()
    assert {case.right for case in found[:2]} == {"5 days", "9 days"}
    for case in found[:2]:
        value = case.right.split()[0]
        assert case.part("doc2").text == f"Refunds take {value} days, or 1{value} in winter."
        assert case.part("doc1").text == "Exchanges are accepted for 30 days."
        assert case.wrong == "30 days"


def test_numbers_counted_on_where_there_are_no_variants() -> None:
    found = others(vary={"right": ["7"], "other": ["8"]})
    assert [case.right for case in found] == ["9 days", "1 days", "2 days"]
    assert found[0].part("doc2").text == "Refunds take 9 days, or 17 in winter."


def test_no_value_that_another_part_holds() -> None:
    prompt = [{"role": "user", "parts": [*REFUND["prompt"][0]["parts"], {"name": "more", "text": "Returns: 5 days."}]}]
    assert [case.right for case in others(prompt=prompt)][:1] == ["9 days"]


@pytest.mark.parametrize("kind", ["name", "text"])
def test_names_are_not_invented(kind: str) -> None:
    text = [{"name": "doc2", "text": "It is Velmora."}, {"name": "question", "text": "Where?"}]
    answer = {"right": "Velmora", "wrong": "Tanrik", "kind": kind}
    assert others(prompt=None, text=text, vary=None, answer=answer) == []
