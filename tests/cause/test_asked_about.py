"""Words that parts share with the question, and what they may say about a wrong declaration."""

from whybox.cause.asked_about import content_words, is_off_question, nearer_parts
from whybox.cause.parts import roles_of
from whybox.items.case import Case
from whybox.items.instance import CaseInstance


def shop(question: str, evidence: str) -> CaseInstance:
    parts = [
        {"name": "doc1", "text": "Exchanges are accepted for 30 days."},
        {"name": "doc2", "text": "Refunds are paid within 7 days."},
        {"name": "question", "text": question},
    ]
    answer = {"right": "7 days", "wrong": "30 days", "kind": "number"}
    prompt = [{"role": "user", "parts": parts}]
    return Case.from_data({"id": "x", "prompt": prompt, "answer": answer, "evidence": [evidence]}).filled()


def test_content_words_are_stems_and_pairs_of_characters() -> None:
    assert content_words("How long does a refund take?") == content_words("Refunds are") == {"refun"}
    assert content_words("退款需要多久？") & content_words("退款在7天内到账。") == {"退款"}


def test_a_part_that_states_the_wrong_answer_and_speaks_of_what_is_asked() -> None:
    asked = shop("How long are exchanges accepted?", "doc2")
    assert nearer_parts(asked, roles_of(asked), "30 days") == ("doc1",)
    assert nearer_parts(asked, roles_of(asked), "7 days") == ()
    assert is_off_question(asked, roles_of(asked))
    right = shop("How long does a refund take?", "doc2")
    assert nearer_parts(right, roles_of(right), "30 days") == ()
    assert not is_off_question(right, roles_of(right))
