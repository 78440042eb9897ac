"""How two sides feed one text otherwise: every way by name, worked out on a language of one word, one id."""

from dataclasses import replace

import pytest

from whybox.compare.fed import ids_apart, templates_apart
from whybox.testing.vocabulary import BOS, END, IDS, ids_of, tokenizer
from whybox.text.tokenizer import Tokenizer

TEXT = ids_of(("Q", "Aldova", "Answer:"))
FIRST, STOP = IDS[BOS], IDS[END]


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        ((FIRST, *TEXT), "BOS on the second side alone"),
        ((FIRST, FIRST, *TEXT), "2 × <bos> before the text on the second side: padding that is seen"),
        ((*TEXT, STOP), "an end of text behind the prompt on the second side alone"),
        ((*TEXT, FIRST, FIRST), "2 × <bos> behind the text on the second side: padding that is seen"),
        (TEXT[1:], "the first 1 tokens are cut off on the second side"),
        (TEXT[:2], "the last 1 tokens are cut off on the second side"),
        (tuple(token + 1 for token in TEXT), "every id +1 on the second side: rows of the vocabulary shifted"),
        ((TEXT[0], IDS["the"], TEXT[2]), f"token 1: [{TEXT[1]}] and [{IDS['the']}], 3 and 3 tokens"),
    ],
)
def test_ids_that_differ_are_told_by_what_was_done(theirs: tuple[int, ...], said: str) -> None:
    assert ids_apart(TEXT, theirs, tokenizer()) == said


def test_the_first_side_is_told_as_well() -> None:
    assert ids_apart((FIRST, *TEXT), TEXT, tokenizer()) == "BOS on the first side alone"
    assert ids_apart((FIRST, *TEXT), (FIRST, FIRST, *TEXT), tokenizer()) == "BOS twice on the second side"


TEMPLATE = (
    "{% if messages[0]['role'] != 'system' %}system: Be brief and kind.\n{% endif %}"
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def with_template(text: str | None) -> Tokenizer:
    return Tokenizer(replace(tokenizer().blueprint, chat_template=text))


@pytest.mark.parametrize(
    ("theirs", "said"),
    [
        (TEMPLATE, ""),
        (TEMPLATE.replace("add_generation_prompt", "false"), "the answer is not opened on the second side"),
        (TEMPLATE.replace("!= 'system'", "== 'x'"), "a system message at character 0 on the first side alone"),
        (TEMPLATE.replace("}}\n{% endfor", "}}\n\n{% endfor"), "blanks differ at character"),
        (TEMPLATE.replace("assistant:", "model:"), "other text at character"),
    ],
)
def test_templates_are_told_apart_by_what_they_render(theirs: str, said: str) -> None:
    found = templates_apart(with_template(TEMPLATE), with_template(theirs))
    assert found is not None
    assert found.startswith(said)
    assert bool(found) is bool(said)


def test_without_a_template_nothing_is_said() -> None:
    assert templates_apart(with_template(TEMPLATE), with_template(None)) is None
