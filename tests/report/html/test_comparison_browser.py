"""The page of two runs in a browser."""

import itertools
from collections.abc import Callable

import pytest

from tests.report import run_fixtures
from tests.report.test_run_reports import MODEL
from whybox.report.document import ComparisonDocument, Lang
from whybox.report.html import comparison_page

pytestmark = pytest.mark.browser

LOOKS = list(itertools.product([375, 1280], ["light", "dark"], ["en", "zh"]))


def compared(lang: Lang = "en", text: str = "30 days") -> ComparisonDocument:
    row = {
        "probe": text, "arm": "1-2-3", "n": 40, "worse": 12, "better": 1, "lost": 0, "texts_changed": 14,
        "difference": -0.275, "interval": (-0.42, -0.12), "p": 0.003, "p_adjusted": 0.006, "p_same": 1.0,
        "shown": "worse",
    }  # fmt: skip
    changed = {
        "probe": text, "item": text, "arm": "1-2-3", "prompt": text, "right": "7 days", "first": text, "second": text,
        "first_outcome": "right", "second_outcome": "wrong",
    }  # fmt: skip
    side = {"run": text, "suite": text, "target": text, "calls": 80}
    return ComparisonDocument.model_validate(
        {
            "schema": ComparisonDocument.identity(), "lang": lang, "model": MODEL, "seed": 0, "took_s": 0.1,
            "first": side, "second": side, "margin": 0.1, "matched": 80, "only_first": 0, "only_second": 3,
            "rows": (row, row | {"difference": 0.0, "interval": (-0.1, 0.1), "shown": "open"}),
            "settings": ({"name": text, "first": text, "second": text},), "changed": (changed,), "changed_more": 4,
            "shown": "worse",
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("width", "theme", "lang"), list(itertools.product([375, 1280], ["light", "dark"], ["en", "zh"]))
)
def test_it_fits_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: Lang) -> None:
    page = visit(comparison_page(compared(lang), lang), width, theme)
    page.locator("summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".forest-row.comparison .estimate").count() == 2
    zeros = page.locator(".forest-row.comparison .zero")
    assert zeros.nth(0).bounding_box()["x"] == zeros.nth(1).bounding_box()["x"], "one axis for all rows"
    assert len(page.screenshot()) > 15_000
    assert page.faults == []


def test_hostile_text_is_text(visit: Callable) -> None:
    page = visit(comparison_page(compared(text=run_fixtures.EVIL), "en"), 375)
    assert page.locator("img").count() == 0
    assert run_fixtures.MARKUP in page.locator("body").inner_text()
    assert "\u202e" not in page.locator("body").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.faults == []
