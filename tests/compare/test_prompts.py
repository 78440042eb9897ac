"""The texts of a comparison: long enough for a window, rebuilt by anyone, the same ids from the same text."""

from dataclasses import replace
from functools import cache

import pytest

from tests.models import model_path
from tests.targets.folder import tiny_folder
from whybox.compare.harm import first_apart
from whybox.compare.prompts import BEYOND, default_texts, lines, plain_texts, windows_not_reached
from whybox.compare.served import first_word
from whybox.model import Model, open_model
from whybox.testing import faults


@cache
def model() -> Model:
    return open_model(str(tiny_folder()), "numpy")


def windowed(window: int) -> Model:
    """The same model, its second layer behind a window."""
    first, second = model().spec.layers
    spec = replace(model().spec, layers=(first, replace(second, attention=replace(second.attention, window=window))))
    return replace(model(), engine=faults.NO_FAULT.engine_for(spec, model().weights))


def test_the_long_text_reaches_beyond_a_window() -> None:
    *_, long = default_texts(windowed(150))
    assert 150 + BEYOND <= len(long.ids) <= model().spec.context
    assert windows_not_reached(windowed(150)) == []
    assert windows_not_reached(windowed(290)) == [290]


def test_every_text_makes_its_own_ids() -> None:
    for text in default_texts(model()):
        if text.text is not None:
            assert tuple(model().prompt(text.text).ids) == text.ids, text.name
    assert [text.name for text in plain_texts()] == ["english", "chinese", "code", "lines"]
    assert all(text.text and not text.ids for text in plain_texts())
    assert lines(3).count("Line") == 3


@pytest.mark.gemma
def test_the_window_of_gemma_is_crossed() -> None:
    *_, long = default_texts(open_model(str(model_path("gemma3-270m")), "numpy"))
    assert 512 + BEYOND <= len(long.ids) < 640


def test_the_first_word_ends_at_a_blank() -> None:
    assert [first_word(text) for text in ("The cat sat", " The cat", "退货须在七天", "a")] == [3, 4, 3, 1]


def test_where_two_rows_of_tokens_part() -> None:
    assert [first_apart(*pair) for pair in (("abc", "abc"), ("abc", "abd"), ("ab", "abc"), ("", "a"))] == [
        None, 2, 2, 0,
    ]  # fmt: skip
