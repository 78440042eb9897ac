"""The page of the ledger in a browser."""

import itertools
from collections.abc import Callable

import pytest

from tests.learn.test_recompute import TOY_CLAIMS, closed
from whybox.learn.claims import claims
from whybox.report.document import Lang
from whybox.report.html import claims_page

pytestmark = pytest.mark.browser

LOOKS = [*itertools.product([375, 1280], ["light"], ["en", "zh"]), (1920, "dark", "en")]


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits(visit: Callable, width: int, theme: str, lang: Lang) -> None:
    page = visit(claims_page(claims([claim.id for claim in TOY_CLAIMS], lang, closed), lang), width, theme)
    page.locator("summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".gate").count() == len(TOY_CLAIMS)
    assert len(page.screenshot()) > 15_000
    assert page.faults == []
