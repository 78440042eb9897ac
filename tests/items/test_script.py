"""In which script a text is written."""

import pytest

from whybox.items.script import is_chinese


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("Who is Zoë?", False),
        ("Zoë", False),
        ("How many days does a refund (退款) take? Answer in English.", False),
        ("退款 (refund) 要几天？", True),
        ("SmolLM2 的退款需要多少天？", True),
        ("7?", False),
        ("", False),
    ],
)
def test_chinese_has_more_characters_than_the_rest_has_words(text: str, chinese: bool) -> None:
    assert is_chinese(text) is chinese
