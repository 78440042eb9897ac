"""Where two texts part, by hand."""

import pytest

from whybox.probes.forks import first_divergent, fork_of, pieces
from whybox.statistics.behaviour.edit import Fork
from whybox.statistics.unknown import Unknown


def test_pieces_of_both_languages() -> None:
    assert pieces("It keeps  parcels, 17 days.") == ["It", "keeps", "parcels", ",", "17", "days", "."]
    assert pieces("维岚仓库保留17天。") == ["维", "岚", "仓", "库", "保", "留", "17", "天", "。"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("7 days", "30 days", Fork(0, True)),
        ("for 7 days", "for 7  days", Fork(3, False)),
        ("for 7 days", "for 7", Fork(2, False)),
        ("保留7天", "保留30天", Fork(2, True)),
        ("", "7", Fork(0, False)),
    ],
)
def test_the_first_piece_that_differs(one: str, other: str, expected: Fork) -> None:
    assert fork_of(one, other) == expected


def test_half_of_the_pairs() -> None:
    found = first_divergent("x", [("a b c", "a b d"), ("a b c", "a d c"), ("a b c", "a b c")], 3)
    assert (found.value, found.unit, found.primary) == (2.0, "tokens", False)
    assert isinstance(first_divergent("x", [("a b c", "a b c")], 1).value, Unknown)
    assert isinstance(first_divergent("x", [], 0).value, Unknown)
