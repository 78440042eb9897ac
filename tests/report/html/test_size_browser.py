"""The page of sizes in a browser."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report.test_size_reports import document
from tests.size.published import DEEPSEEK_V3
from whybox.report.document import Lang
from whybox.report.html import size_page
from whybox.size.load import Machine

pytestmark = pytest.mark.browser

LOOKS = [*itertools.product([375, 1280], ["light"], ["en", "zh"]), (1920, "dark", "en")]


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits(visit: Callable, tmp_path: Path, width: int, theme: str, lang: Lang) -> None:
    of = document(tmp_path, DEEPSEEK_V3, Machine(2 * 10**12, 10**13, 10**15), batch=32, context=200_000)
    page = visit(size_page(of, lang), width, theme)
    page.locator("summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("polygon").count() == 4
    assert page.locator(".sized > div").count() == len(of.formulas) - 3  # no window, nothing shared, nothing tied
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    assert len(page.screenshot()) > 15_000
    assert page.faults == []


def test_the_row_that_was_asked_for_stands_out(visit: Callable, tmp_path: Path) -> None:
    page = visit(size_page(document(tmp_path, context=2048), "en"), 1280)
    assert page.locator("tr.here").all_inner_texts()[0].split()[0] == "2,048"
    copied = page.locator("[data-copy-table=curve]")
    assert copied.count() == 1
    assert page.faults == []
