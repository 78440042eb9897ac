"""Which words say what a text is about: a hint, no proof."""

import re

from whybox.items.scoring.folding import HAN, fold_text

_WORD = re.compile(rf"[{HAN}]+|[^\W\d_{HAN}]+")
_STEM = 5  # letters that refund, refunds and refunded share
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about according after all an and any are as at be been before by can could did do does down else ever "
        "for from had has have he her his how i if in into is it its just last long made make many may me might "
        "more most much must my no not of on one only or other our out q question answer said says shall she "
        "should so some take takes than that the their them then there these they this those to up was we were "
        "what when where which while who whom whose why will with within would you your ",
    )
)
_COMMON_CHINESE = frozenset(
    re.findall("..", "问题答案多少多久什么怎么哪里哪个是否几天需要多长长时时间请问可以根据以下")
)


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that say what a text is about; pairs of characters in Chinese."""
    found: set[str] = set()
    for word in _WORD.findall(fold_text(text)):
        if word.isascii():
            found |= {word[:_STEM]} if word not in _COMMON else set()
        else:
            found |= {word[i : i + 2] for i in range(len(word) - 1)} - _COMMON_CHINESE
    return frozenset(found)
