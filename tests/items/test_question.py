"""Which part asks: everything that is left out or kept rests on it."""

import pytest

from whybox.cause.parts import alone, closed_book, roles_of
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.items.question import question_of

ASK = "How long does a refund take?"
EXCHANGES = "Exchanges are accepted for 30 days."
REFUNDS = "Refunds are paid within 7 days."
FAQ = {
    "faq1": "How long are exchanges accepted? They are accepted for 30 days.",
    "doc2": "When are refunds paid? They are paid within 7 days.",
    "faq3": "What does shipping cost?",
}


def instance(parts: dict[str, str], evidence: str = "doc2", wrong: str | None = "30 days") -> CaseInstance:
    data = {
        "id": "x",
        "text": [{"name": name, "text": text} for name, text in parts.items()],
        "answer": {"right": "7 days", "wrong": wrong, "kind": "number"},
        "evidence": [evidence],
    }
    return Case.from_data(data).filled()


@pytest.mark.parametrize(
    ("parts", "asks"),
    [
        ({"doc1": EXCHANGES, "doc2": REFUNDS, "ask": ASK}, "ask"),
        ({"question": "Answer.", "doc1": EXCHANGES, "doc2": REFUNDS, "ask": ASK}, "question"),
        ({"ask": ASK, "doc2": REFUNDS, "doc1": EXCHANGES}, "ask"),
        ({"ask": f"{ASK} Use the rules.", "doc2": REFUNDS, "doc3": "Repairs take 2 days."}, "ask"),
        ({"doc1": EXCHANGES, "doc2": REFUNDS, "ask": ASK, "style": "Answer in one sentence."}, "ask"),
        ({"doc2": REFUNDS, "faq": "Can I return it? Yes.", "ask": f"Question: {ASK}\nAnswer: It takes"}, "ask"),
        ({"doc1": "换货需要30天。", "doc2": "退款需要7天。", "问": "退款需要多少天？", "格式": "只回答数字。"}, "问"),
        ({"doc2": REFUNDS, "doc1": "Repairs take 2 days.", "ask": "State how long a refund takes."}, "ask"),
        ({"doc2": REFUNDS, "ask": "A refund takes more than 30 days, does it not? Say how long."}, "ask"),
        (FAQ | {"ask": "Tell me the refund period."}, "ask"),
        (FAQ | {"ask": "The refund period, in days:"}, "ask"),
        (FAQ | {"style": "Answer in one sentence."}, "faq3"),
        ({"doc1": "换货要多久？30天。", "doc2": "退款要7天。", "doc3": "运费多少？", "问": "告诉我退款的期限。"}, "问"),
    ],
)
def test_the_part_that_asks(parts: dict[str, str], asks: str) -> None:
    assert question_of(instance(parts)) == asks


def test_the_question_is_never_left_out_with_the_documents() -> None:
    case = instance({"ask": ASK, "doc2": REFUNDS, "doc1": EXCHANGES})
    roles = roles_of(case)
    assert [part.name for part in alone(case, roles).parts] == ["ask", "doc2"]
    assert [part.name for part in closed_book(case, roles).parts] == ["ask"]
