import re
import string

import pytest

from whybox.report.words import WORDS, claim_key, say


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_are_there_and_have_the_same_blanks(key: str) -> None:
    english, chinese = WORDS[key]
    assert english.strip()
    assert chinese.strip()
    assert blanks(english) == blanks(chinese)


def test_no_sentence_claims_more_than_was_measured() -> None:
    forbidden = re.compile(r"\b(thinks?|important|significant|believes?|wants?)\b|重要|认为|觉得|显著", re.IGNORECASE)
    assert [key for key, pair in WORDS.items() if forbidden.search(" ".join(pair))] == []


def test_the_most_special_claim_is_taken() -> None:
    assert claim_key("context-use", "not-looked-at") == "claim.context-use.not-looked-at"
    assert claim_key("joint", "order+knowledge") == "claim.joint"
    assert say("claim.context-use.not-looked-at", "zh", about="doc2") == "模型对 doc2 看得太少"
