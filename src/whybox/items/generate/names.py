"""Invented names: syllables in English, two characters in Chinese. None can be mistaken for another, or for a word."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import numpy as np

from whybox.items.generate import fillers
from whybox.items.generate.vocabulary import ATTRIBUTES, ENTITY_KINDS, SYSTEM, Language

_FIRST = ("Vel", "Tan", "Osk", "Bru", "Qui", "Dro", "Fen", "Gal", "Hes", "Jor", "Kal", "Lum", "Mir", "Nol", "Pra",
          "Sib", "Tor", "Ulv", "Wex", "Yar", "Zen", "Cro", "Esk", "Ivo")  # fmt: skip
_MIDDLE = ("mo", "ri", "ke", "du", "la", "vi", "no", "sa", "te", "gu", "be", "fo", "zi", "pa", "lu", "che")
_LAST = ("ra", "k", "lin", "dai", "lam", "th", "x", "ven", "sk", "mir", "don", "ph", "bel", "rust", "gan", "wick")
_HAN = "维岚青岑沐岭朔川槐湾霁舟澜庭翊渡皓原芷汀砚桥璟塘蕴坡翎浦岱陌珩溪黛岗琅崖杳滩祁渚昀屿栩涧筠堤鹤垣棠隘绫峪樟埠"


def draw_names(
    generator: np.random.Generator, language: Language, count: int, avoid: Collection[str] = ()
) -> tuple[str, ...]:
    """`count` names without their kind word, far from each other, from `avoid`, and from every word in use."""
    chosen: list[str] = []
    for name in _candidates(generator, language):
        if not any(too_close(name, other) for other in (*chosen, *avoid)) and is_unlike_words(name, language):
            chosen.append(name)
        if len(chosen) == count:
            return tuple(chosen)
    raise AssertionError("an endless source of names ended")


def _candidates(generator: np.random.Generator, language: Language) -> Iterator[str]:
    while True:
        if language == "en":
            yield "".join(_pick(generator, syllables) for syllables in (_FIRST, _MIDDLE, _LAST))
        else:
            first, second = generator.choice(len(_HAN), size=2, replace=False)
            yield _HAN[first] + _HAN[second]


def _pick(generator: np.random.Generator, options: Sequence[str]) -> str:
    return options[int(generator.integers(len(options)))]


def with_kind(name: str, entity: str, language: Language) -> str:
    """The name as it is written: `Velmora depot`, 维岚仓库."""
    kind = ENTITY_KINDS[entity][language]
    return f"{name} {kind}" if language == "en" else name + kind


def too_close(a: str, b: str) -> bool:
    """Equal, one inside the other (prefixes included), or one edit apart; case does not count."""
    a, b = a.casefold(), b.casefold()
    return a in b or b in a or _one_edit_apart(a, b)


def _one_edit_apart(a: str, b: str) -> bool:
    if abs(len(a) - len(b)) > 1:
        return False
    short, long = sorted((a, b), key=len)
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]


def is_unlike_words(name: str, language: Language) -> bool:
    """Whether the name is far from every word that fillers, attributes and instructions use."""
    if language == "zh":
        return name not in _text(language)
    return not any(too_close(name, word) for word in _words() if len(word) > 2)


@cache
def _text(language: Language) -> str:
    phrases = [attribute.phrases(language) for attribute in ATTRIBUTES]
    return "\n".join([SYSTEM[language], *fillers.words(language), *(p.fact + p.question + p.answer for p in phrases)])


@cache
def _words() -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", _text("en").casefold()))
