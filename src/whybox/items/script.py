"""In which script a text is written, so that what is put beside it can be written alike."""

import re

from whybox.items.scoring.folding import HAN

_HAN = re.compile(rf"[{HAN}]")
_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]+")


def is_chinese(text: str) -> bool:
    """Whether it holds more Chinese characters than words in Latin letters, with accents or without."""
    return len(_HAN.findall(text)) > len(_LATIN.findall(text))
