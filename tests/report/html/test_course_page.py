"""Pages of the course: what stands in them, and that foreign text stays text."""

from pathlib import Path

import pytest

from tests.learn.course.driving import without_model
from whybox.learn.course.course import Course
from whybox.learn.course.progress import Progress
from whybox.report.document import GridBlock, Lang, TableBlock
from whybox.report.html import chapter_page, course_page
from whybox.report.html.course import _grid, _table

PREDICTED = {"row": [".04", ".26", ".70"], "sharper": "best"}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(without_model(), Progress(tmp_path / "course.json"))


def test_a_chapter_that_is_not_predicted_yet_tells_no_result(course: Course) -> None:
    html = chapter_page(course.open("L4", "en"), "en")
    assert "first comes your prediction: 2 still to be made" in html
    assert "0.0743" not in html
    assert "def attention(Q, K, V, mask):" in html


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", ("you: .04 · computed: 0.07", "✓ passed")), ("zh", ("我：你：.04 · 算得：0.07", "✓ 已通过"))],
)
def test_a_chapter_with_what_was_said_beside_what_is_so(course: Course, lang: Lang, told: tuple[str, str]) -> None:
    document = course.hand_in("L4", {**PREDICTED, "missing": "1", "softmax": ".67 .24 .10"}, lang)
    html = chapter_page(document, lang)
    for line in (*told, "0.0743", "def one_head(", 'class="shade-10"', 'class="hidden"'):
        assert line in html


def test_an_earlier_prediction_that_stands_is_told(course: Course) -> None:
    course.keep("L4", PREDICTED)
    html = chapter_page(course.predict("L4", {"row": "1 2 3", "sharper": "mean"}, "en"), "en")
    assert "An earlier prediction stands; 1 · 2 · 3 is not stored." in html
    assert "An earlier prediction stands; the mean of the three values is not stored." in html


def test_foreign_text_stays_text(course: Course) -> None:
    document = course.open("L4", "en")
    row = document.exercises[0]
    question = row.question.model_copy(update={"ask": ("<img src=x onerror=alert(1)> `<b>`",)})
    hostile = document.model_copy(update={"exercises": (row.model_copy(update={"question": question}),)})
    html = chapter_page(hostile, "en")
    assert "<img" not in html
    assert "&lt;img src=x" in html


def test_numbers_stand_to_the_right_and_shares_are_shaded_by_their_root() -> None:
    table = TableBlock(caption="c", columns=("a", "b"), rows=(("x", "−1.5"), ("some longer words here", "62 %")))
    head, rows = _table(table)
    assert [cell.kind for cell in head] == ["", "right"]
    assert [cell.kind for cell in rows[0]] == ["short", "right"]
    assert rows[1][0].kind == ""
    grid = GridBlock(
        caption="c", rows=("r",), columns=("k",) * 4, values=((0.0, 0.25, 1.0, None),), cells=(("", "", "", ""),)
    )
    assert [cell.kind for cell in _grid(grid)[0][1]] == ["shade-0", "shade-5", "shade-10", "hidden"]


def test_the_outline(course: Course) -> None:
    course.keep("L4", PREDICTED)
    html = course_page(course.outline("zh"), "zh")
    assert "手算 attention：一次软查找" in html
    assert "◐ L4" in html
    assert html.count("<li><b") == 8
