"""What stops a learner's code is said in both languages, with the limit that it met."""

from pathlib import Path

import pytest

from tests.learn.course.driving import without_model
from whybox.learn.course.course import Course
from whybox.learn.course.progress import Progress
from whybox.report.document import Lang


@pytest.mark.parametrize(
    ("body", "lang", "told"),
    [
        ("return open('/etc/passwd').read()", "zh", "练习不能打开自己文件夹以外的文件"),
        ("return open('/etc/passwd').read()", "en", "an exercise cannot open files outside its own folder"),
        ("import os", "zh", "练习可用 numpy 和标准库的一部分，不可用 os"),
        ("return 1 / 0", "zh", "代码中断：ZeroDivisionError：division by zero"),
        ("return [0] * 10**11", "en", "the code asked for more memory than an exercise has (2 GB)"),
    ],
)
def test_what_stopped_it_is_told(body: str, lang: Lang, told: str, tmp_path: Path) -> None:
    course = Course(without_model(), Progress(tmp_path / "course.json"))
    answer = f"def attention(Q, K, V, mask):\n    {body}\n"
    graded = course.attempt("L4", "attention", answer, lang, seed=1).graded
    assert not graded.passed
    assert told in graded.remarks[0].say
