"""Folding: what becomes equal, what must stay apart, and the way back to the original characters."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.items.scoring.folding import fold
from whybox.items.scoring.numerals import chinese_value, english_value


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｖｅｌｍｏｒａ", "velmora"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("**7** days", "7 days"),
        ("`K7Q-19`", "k7q-19"),
        ("snake_case", "snake_case"),
        ("7*8", "7*8"),
        ("维 岚 仓库", "维岚仓库"),
        ("7 天", "7 天"),
        ("7\u200b0", "70"),
        ("7½", "7½"),
        ("7²", "7²"),
        ("⒈7天", " 7天"),
        ("①7天", " 7天"),
        ("−7", "-7"),
        ("5–7", "5-7"),
        ("7，30", "7，30"),
        ("~~30~~ 7", "       7"),
        ("$7$ days", "7 days"),
        ("$7 or $9", "$7 or $9"),
        ("\\boxed{7 \\text{ days}}", "7  days}}"),
        ("## Answer: 7", "answer: 7"),
        ("e\u0301", "é"),
        ("٧", "7"),
        ("答案：７", "答案:7"),
    ],
)
def test_folded(text: str, folded: str) -> None:
    assert fold(text).text == folded


@settings(deadline=None)
@given(st.text())
def test_the_map_leads_back_into_the_text_and_never_backwards(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(0 <= s < e <= len(text) for s, e in zip(folded.starts, folded.ends, strict=True))


@settings(deadline=None)
@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"], max_codepoint=0x2FFF)))
def test_letters_fold_as_the_whole_text_would(text: str) -> None:
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    digits_ascii = "".join(
        str(unicodedata.decimal(c)) if unicodedata.decimal(c, None) is not None else c for c in whole
    )
    assert fold(text).text == digits_ascii


ENGLISH = {"zero": 0, "seven": 7, "twenty-one": 21, "twenty one": 21, "ninety nine": 99, "hundred": 100}
ENGLISH_HUNDREDS = {"one hundred": 100, "a hundred and five": 105, "two hundred": 200}
CHINESE = {"零": 0, "两": 2, "七": 7, "十": 10, "十七": 17, "七十": 70, "二十一": 21}
CHINESE_HUNDREDS = {"百": 100, "一百": 100, "一百零五": 105, "一百二十": 120}


@pytest.mark.parametrize(("run", "value"), [*ENGLISH.items(), *ENGLISH_HUNDREDS.items(), ("seven thirty", None)])
def test_english_numerals(run: str, value: int | None) -> None:
    assert english_value(run) == value


@pytest.mark.parametrize(("run", "value"), [*CHINESE.items(), *CHINESE_HUNDREDS.items()])
def test_chinese_numerals(run: str, value: int) -> None:
    assert chinese_value(run) == value


@pytest.mark.parametrize("run", ["七千", "二〇二四", "万", "十七七"])
def test_chinese_runs_that_are_no_number_up_to_hundreds(run: str) -> None:
    assert chinese_value(run) is None


def test_every_chinese_number_below_one_hundred_reads_back() -> None:
    digits = "零一二三四五六七八九"
    for value in range(1, 100):
        tens, ones = divmod(value, 10)
        written = (digits[tens] if tens > 1 else "") + ("十" if tens else "") + (digits[ones] if ones else "")
        assert chinese_value(written) == value
