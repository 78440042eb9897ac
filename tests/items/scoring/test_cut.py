"""What stands right at the end of a text that its limit cut is a piece of something, unless nothing can follow it."""

import pytest

from whybox.items.scoring import Pattern, Schema, Scorer, code_scorer, number_scorer, text_scorer, word_scorer


@pytest.mark.parametrize(
    ("scorer", "text", "whole"),
    [
        (text_scorer("July 1", ["July 15"]), "It is July 1", False),
        (text_scorer("July 1"), "It is July 1", False),
        (text_scorer("July 15"), "It is July 15 at noon", True),
        (text_scorer("11", ["11:30"]), "At 11:", False),
        (code_scorer("K7Q-19"), "K7Q-19", False),
        (code_scorer("K7Q-1A"), "K7Q-1A is it", True),
        (word_scorer("German", ["Germany"]), "It was German", False),
        (word_scorer("Germany", ["German"]), "It was Germany", True),
        (word_scorer("Paris"), " Paris", True),
        (text_scorer("no"), "No", True),
        (Pattern(r"\b7\b").scorer("7", ()), "It is 7", False),
        (Pattern(r"\b7\b").scorer("7", ()), "It is 7 days", True),
        (Pattern(r"days").scorer("days", ()), "7 days", True),
        (Schema('{"type": "integer"}').scorer("7", ()), "7", False),
        (Schema('{"type": "object"}').scorer("{}", ()), '{"days": 7}', True),
    ],
)
def test_cut_at_the_limit(scorer: Scorer, text: str, whole: bool) -> None:
    score = scorer.score(text, "length")
    assert score.right == whole
    assert whole or (score.outcome, score.flags) == ("error", ("truncated",))


def test_a_second_value_that_the_limit_cut_is_still_a_second_one() -> None:
    for text in ("7 or 8", "7, 8, 9", "7 to 9"):
        assert number_scorer("7").score(text, "length").outcome == "hedged", text
    assert number_scorer("7 days").score("7 days or so", "length").right
    assert not number_scorer("7 days").score("7 days or 8", "length").right
