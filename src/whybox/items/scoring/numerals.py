"""Number words: English to one hundred and its multiples, Chinese 零 to 百 (两 = 2), as exact values.

Runs are read whole, so that 十七 is 17 and never "contains 七"; a run that these rules cannot read has no value.
"""

import re

_ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

ENGLISH: dict[str, int] = {
    "zero": 0,
    **{word: i + 1 for i, word in enumerate(_ONES)},
    **{word: i + 10 for i, word in enumerate(_TEENS)},
    **{word: 10 * (i + 2) for i, word in enumerate(_TENS)},
}
_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}

_WORD = "|".join(sorted(ENGLISH, key=len, reverse=True))
ENGLISH_RUN = re.compile(
    rf"(?<![^\W_])(?:(?:a|{'|'.join(_ONES)})[ -]hundred(?:(?: and)?[ -](?:{_WORD}))*|hundred"
    rf"|(?:{_WORD})(?:[ -](?:{_WORD}))*)(?![^\W_])"
)
CHINESE_RUN = re.compile("[零〇一二两三四五六七八九十百千万亿]+")
_CHINESE_NUMBER = re.compile(
    r"(?:(?P<hundreds>[一二两三四五六七八九])?百)?零?(?:(?P<tens>[一二三四五六七八九])?(?P<ten>十))?(?P<ones>[零〇一二两三四五六七八九])?"
)


def english_value(run: str) -> int | None:
    """Value of an English run such as `twenty-one` or `a hundred and five`; None when it is not one number."""
    words = [word for word in re.split(r"[ -]", run) if word != "and"]
    if "hundred" in words:
        at = words.index("hundred")
        head = 1 if at == 0 or words[0] == "a" else ENGLISH[words[0]]
        rest = _below_hundred(words[at + 1 :])
        return None if rest is None else 100 * head + rest
    return _below_hundred(words)


def _below_hundred(words: list[str]) -> int | None:
    values = [ENGLISH[word] for word in words]
    match values:
        case []:
            return 0
        case [value]:
            return value
        case [tens, ones] if tens >= 20 and 0 < ones < 10:
            return tens + ones
        case _:
            return None


def chinese_value(run: str) -> int | None:
    """Value of a Chinese run from 零 to 九百九十九; None for 千, 万 and digit strings such as 二〇二四."""
    match = _CHINESE_NUMBER.fullmatch(run)
    if match is None:
        return None
    hundreds = _CHINESE_DIGITS[match["hundreds"]] if match["hundreds"] else int("百" in run)
    tens = _CHINESE_DIGITS[match["tens"]] if match["tens"] else int(match["ten"] is not None)
    ones = _CHINESE_DIGITS[match["ones"]] if match["ones"] else 0
    return 100 * hundreds + 10 * tens + ones
