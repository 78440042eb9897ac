"""Found, missing and out of order, on texts whose answer is known."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.learn.course.chapter import Recital
from whybox.learn.course.lessons import lesson
from whybox.learn.course.reciting import hear

NAMES = ("ant", "bee", "cat", "dog", "elk")


def recital(ordered: bool = True) -> Recital:
    stations = [{"id": n, "say": {"en": n, "zh": n}, "heard": {"en": [rf"\b{n}s?\b"], "zh": [f"第{n}"]}} for n in NAMES]
    ask = {"en": "Tell.", "zh": "说。"}
    return Recital.model_validate({"minutes": 1, "ask": ask, "ordered": ordered, "stations": stations})


def test_found_missing_and_out_of_order() -> None:
    heard = hear(recital(), "The Ant and the 第cat saw bees; no elk")
    assert heard.found == ("ant", "bee", "cat", "elk")
    assert heard.missing == ("dog",)
    assert len(heard.out_of_order) == 1
    assert heard.out_of_order[0] in ("bee", "cat")


def test_what_is_told_twice_counts_where_it_fits() -> None:
    assert hear(recital(), "elk first, then ant bee cat dog and the elk again").out_of_order == ()


def test_a_list_of_words_is_no_recital() -> None:
    assert hear(recital(), "ant, bee, cat, dog, elk").bare
    assert not hear(recital(), "An ant met a bee that had seen how the cat ran from a dog and an elk").bare
    assert not hear(recital(), "第ant个遇到第bee个，它们看着第cat个走开").bare
    assert not hear(recital(), "nothing").bare


def test_the_words_of_the_list_are_known_again() -> None:
    own = {
        "id": "sum",
        "say": {"en": "weights are never negative and sum to one", "zh": "权重非负，相加之和等于一，逐行如此"},
    }
    short = {"id": "mask", "say": {"en": "a mask", "zh": "掩码"}, "heard": {"en": ["mask"], "zh": ["掩码"]}}
    stations = [own | {"heard": {"en": ["sum"], "zh": ["之和"]}}, short]
    told = Recital.model_validate(recital().model_dump() | {"stations": stations})
    assert hear(told, "First a mask; weights are never negative, and sum\nto one").copied == ("sum",)
    assert hear(told, "掩码。权重非负，相加之和 等于一；逐行如此。").copied == ("sum",)
    assert hear(told, "a mask, and weights whose sum is one").copied == ()


def test_a_line_may_end_anywhere() -> None:
    wrapped = Recital.model_validate(
        recital().model_dump()
        | {
            "stations": [
                {
                    "id": "en",
                    "say": {"en": "e", "zh": "e"},
                    "heard": {"en": ["same number of parameters"], "zh": ["不会出现"]},
                },
                {"id": "zh", "say": {"en": "z", "zh": "z"}, "heard": {"en": ["never said"], "zh": ["残差流"]}},
            ]
        }
    )
    assert hear(wrapped, "the same number of \n  parameters, then 残差\n流").found == ("en", "zh")


def test_the_order_may_be_free() -> None:
    assert hear(recital(ordered=False), "elk dog cat bee ant").out_of_order == ()
    assert len(hear(recital(), "elk dog cat bee ant").out_of_order) == 4


@given(st.lists(st.sampled_from(NAMES), min_size=1, max_size=9))
def test_as_few_as_possible_are_out_of_order(told: list[str]) -> None:
    """Against every choice of stations: the largest that stands in the text in order."""
    heard = hear(recital(), " ".join(told))
    best = max(
        size for size in range(len(NAMES) + 1) for chosen in combinations(NAMES, size) if _stands(chosen, iter(told))
    )
    assert len(heard.found) - len(heard.out_of_order) == best
    kept = [name for name in heard.found if name not in heard.out_of_order]
    assert _stands(tuple(kept), iter(told))


def _stands(chosen: tuple[str, ...], told: Iterator[str]) -> bool:
    return all(name in told for name in chosen)


def test_bad_texts() -> None:
    for text in ("", " \n", "x" * 6_001):
        with pytest.raises(UsageError):
            hear(recital(), text)


def test_an_english_word_may_stand_between_chinese_ones() -> None:
    assert hear(recital(), "这是ant的事，bee也在").found == ("ant", "bee")


OWN_WORDS = [
    (
        "L1",
        "The tokenizer numbers the pieces; the number picks a row. A bank of a river and a bank with money start from "
        "the very same vector. You could write zeros and a one times the table, which nobody does. Two prompts that "
        "look the same may have other numbers.",
        4,
    ),
    (
        "L1",
        "文本切成 token，用编号去表里取出那一行。这一行与上下文无关。"
        "相当于独热向量乘矩阵，太浪费。比较两个提示要比编号。",
        4,
    ),
    (
        "L4",
        "每个 token 由三个训练出来的矩阵得到三个向量：我在找什么，我能被怎么找到，我给出什么。"
        "前两个做内积，除以根号 d，归一化成和为 1 的比例，再按比例把它们加起来。只取最大的那个就没法求导。",
        8,
    ),
]
VAGUE = [
    ("L4", "Scores go through a softmax, and the values are summed with these weights.", 4),
    ("L4", "注意力就是让模型关注重要的内容，很重要。", 0),
    ("L4", "Attention is a clever mechanism which helps the model to understand.", 0),
    ("L6", "A later correction is a difficult thing.", 0),
]


@pytest.mark.parametrize(("chapter", "told", "found"), [*OWN_WORDS, *VAGUE])
def test_recitals_in_own_words_and_vague_ones(chapter: str, told: str, found: int) -> None:
    assert len(hear(lesson(chapter).chapter.recite, told).found) == found
