"""Notes in Chinese: all that the code of families, prompts and `look` can say, read from the source."""

import re
from pathlib import Path

import pytest

import whybox
from whybox.parts.rope import longrope_magnitude, yarn_magnitude
from whybox.verdict.experiment_words import named

SOURCE = Path(whybox.__file__).parent
BLANKS = {"said": "layers 0, 2, 4 … through the window", "rule": "0.1·ln(factor) + 1", "reason": "is empty"}
NOTE = r"""(?:note\(|notes\.append\(|Notice\(\s*Code\.\w+,|message = )\s*f?(["'])(.+?)\1[,)\n]"""
PLACES = ("families/*.py", "text/prompt.py", "text/chat.py")


def given() -> set[str]:
    found = {
        match[2]
        for place in PLACES
        for file in SOURCE.glob(place)
        for match in re.finditer(NOTE, file.read_text(encoding="utf-8"))
    }
    return {re.sub(r"\{([^}]*)\}", lambda blank: BLANKS.get(blank[1], "7"), text) for text in found if " " in text}


ELSEWHERE = {
    "7 tokens: beyond the 7 of the trained context",
    "layer_types: layers 5, 11 … global, the others through the window (not in the file; the family's rule)",
    "layer_types: sliding from layer 7 on (not in the file; the family's rule)",
    "7 is wholly inside a token of the part before it: it owns no token",
    "rope_theta = 7 was accepted without being obeyed",
}


@pytest.mark.parametrize("text", sorted(given() | ELSEWHERE))
def test_every_note_is_known_in_chinese(text: str) -> None:
    chinese = named(text, "zh")
    assert chinese != text
    assert not re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", chinese), chinese
    assert named(text, "en") == text


def test_the_notes_are_found_in_the_source() -> None:
    said = given()
    assert len(said) >= 18
    assert "layers 5, 11, 17 … global, the others through the window (not in the file; the family's rule)" in said
    assert "query_pre_attn_scalar = 7 (not in the file; by the table of 7 layers)" in said


@pytest.mark.parametrize(
    "rule",
    [
        yarn_magnitude(4.0, 1.5, None, None)[1],
        yarn_magnitude(4.0, None, 1.0, 0.5)[1],
        yarn_magnitude(4.0, None, 1.0, None)[1],
        longrope_magnitude(4096, 4096, None)[1],
    ],
)
def test_the_rules_of_a_magnitude_too(rule: str) -> None:
    chinese = named(f"YaRN magnitude 1.13 by the rule: {rule}", "zh")
    assert not re.search(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}", chinese), chinese


def test_names_of_parts_stay_in_a_note() -> None:
    told = named("token 7 'Xy' lies in doc1 and in doc2; the first one owns it", "zh")
    assert told == "token 7 'Xy' 跨在 doc1 与 doc2 之间；它归前者"
