"""The front page with progress: chapters, the eight statements, what to bring, what it is good for."""

from typing import Any

from whybox.learn.course.front import front
from whybox.learn.course.lessons import Lesson
from whybox.learn.course.progress import Done, Kept
from whybox.learn.ledger import Lang
from whybox.report.document import ChapterRow, OutcomeRow, StatementRow, UseRow


def front_page(lang: Lang) -> dict[str, Any]:
    """What does not depend on progress."""
    page = front()
    return {
        "needs": tuple(each.of(lang) for each in page.needs),
        "uses": tuple(UseRow(say=each.say.of(lang), verb=each.verb) for each in page.uses),
        "outcomes": tuple(OutcomeRow(say=each.say.of(lang), chapter=each.chapter) for each in page.outcomes),
    }


def row(lesson: Lesson, done: Done, lang: Lang) -> ChapterRow:
    """One chapter with what is done of it. Ids that it no longer has do not count."""
    chapter = lesson.chapter
    predicted = sum(each.id in done.predicted for each in chapter.predict)
    passed = sum(each.id in done.passed for each in chapter.exercises)
    recited = min(done.recited.found if done.recited else 0, len(chapter.recite.stations))
    whole = predicted == len(chapter.predict) and passed == len(chapter.exercises)
    return ChapterRow(
        id=chapter.id,
        title=chapter.title.of(lang),
        where=chapter.where,
        angles=lesson.angles,
        predicted=predicted,
        predictions=len(chapter.predict),
        passed=passed,
        exercises=len(chapter.exercises),
        recited=recited,
        stations=len(chapter.recite.stations),
        done="done" if whole else "begun" if predicted or passed or recited else "new",
    )


def statements(kept: Kept, lang: Lang) -> tuple[StatementRow, ...]:
    """Ticked by passed exercises only."""
    passed = {f"{chapter}.{name}" for chapter, done in kept.chapters.items() for name in done.passed}
    return tuple(
        StatementRow(
            say=each.say.of(lang),
            exercises=each.exercises,
            passed=len(passed & set(each.exercises)),
            ticked=bool(each.exercises) and passed >= set(each.exercises),
        )
        for each in front().statements
    )
