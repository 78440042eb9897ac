"""What holds of every chapter: words in both languages, names that lead somewhere, an order that does not tell."""

import re
import time

import pytest

from tests.learn.course.driving import sources_exist
from whybox.learn.course import lessons
from whybox.learn.course.chapter import Chosen, Code, GridShown, Handed, Matched, TableShown
from whybox.learn.course.questions import listed, row
from whybox.learn.course.reciting import hear
from whybox.learn.ledger import shipped

EVERY = lessons.found()
NEVER = re.compile(r"\bimportant\b|model thinks|!|！|重要的是|模型认为")


@pytest.mark.parametrize("name", EVERY)
def test_every_name_is_computed(name: str) -> None:
    lesson = lessons.lesson(name)
    chapter, computed = lesson.chapter, lesson.computed
    assert chapter.id == name
    assert set(chapter.claims) <= {claim.id for claim in shipped().claims}
    sources_exist(chapter)
    for question in (*chapter.predict, *chapter.exercises):
        match question:
            case Chosen() | Matched():
                assert question.right in computed.answers
            case Code():
                compile(question.starter, "starter.py", "exec")
                assert all(need in question.starter for need in computed.tasks[question.task].needs)
            case Handed():
                assert question.judge in computed.judges
    for block in chapter.shown:
        if isinstance(block, TableShown):
            assert block.rows in computed.tables
        if isinstance(block, GridShown):
            assert block.grid in computed.grids


@pytest.mark.parametrize("name", EVERY)
def test_the_order_as_put_is_not_the_right_one(name: str) -> None:
    lesson = lessons.lesson(name)
    for question in (*lesson.chapter.predict, *lesson.chapter.exercises):
        if isinstance(question, Chosen) and question.kind == "order":
            put = [each.id for each in listed(question)]
            assert sorted(put) == sorted(each.id for each in question.options)
            assert put != [each.id for each in question.options]


@pytest.mark.parametrize("name", EVERY)
def test_words_are_calm(name: str) -> None:
    chapter = lessons.lesson(name).chapter
    for lang in ("en", "zh"):
        told = [chapter.opening.of(lang), chapter.recite.ask.of(lang)]
        told += [said.of(lang) for question in (*chapter.predict, *chapter.exercises) for said in [question.ask]]
        for text in told:
            assert not NEVER.search(text), text[:80]
        for question in (*chapter.predict, *chapter.exercises):
            assert row(question, lang).ask


@pytest.mark.parametrize("text", ["id " * 2_000, "权重" * 3_000, "a" * 6_000, "0 cut mask key value 没看抑制 " * 200])
def test_no_recital_takes_long_to_be_heard(text: str) -> None:
    """The longest that is taken, of words that begin many expressions and end none."""
    for name in EVERY:
        recital = lessons.lesson(name).chapter.recite
        begun = time.process_time()
        hear(recital, text)
        assert time.process_time() - begun < 0.5, name
        for station in recital.stations:
            for expression in (*station.heard["en"], *station.heard["zh"]):
                begun = time.process_time()
                for _ in re.finditer(expression, text, re.IGNORECASE):
                    pass
                assert time.process_time() - begun < 0.2, (name, expression)
