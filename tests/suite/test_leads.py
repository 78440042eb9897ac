"""The lead of a right answer: at the token where the two part, and none where they never do."""

import pytest

from whybox.statistics.unknown import Unknown
from whybox.suite.regression import _lead
from whybox.targets.target import TokenLogprob


def tokens(*texts: str, by: float = -1.0) -> tuple[TokenLogprob, ...]:
    return tuple(TokenLogprob(text, by - place) for place, text in enumerate(texts))


def test_a_lead_is_that_of_the_token_where_the_answers_part() -> None:
    assert _lead(tokens("7", " days"), tokens("7", " weeks", by=-3.0)) == 2.0


@pytest.mark.parametrize(
    ("right", "wrong", "why"),
    [
        (tokens("7"), tokens("7", " days"), "never part"),
        (tokens("\ufffd", by=-9.0), tokens("\ufffd"), "part of a character"),
        (tokens("\ufffd", "岚"), tokens("\ufffd", "麻"), "part of a character"),
    ],
)
def test_answers_that_are_not_told_apart_have_no_lead(
    right: tuple[TokenLogprob, ...], wrong: tuple[TokenLogprob, ...], why: str
) -> None:
    found = _lead(right, wrong)
    assert isinstance(found, Unknown)
    assert why in found.reason
