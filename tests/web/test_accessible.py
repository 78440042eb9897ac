"""axe-core over the explorer, unfolded: nothing serious, in both languages, both themes, wide and narrow."""

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")
pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")

from axe_playwright_python.sync_playwright import Axe

from tests.real import real
from tests.web.serving import Running, running
from whybox.web.seat import Beside

pytestmark = [pytest.mark.browser, pytest.mark.model]

LOOKS = [(1440, "light", "en-GB"), (375, "dark", "zh-CN")]
GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with running(lambda: real("smollm2", "torch"), Beside("smollm2@int8", lambda m: m.variant("int8"))) as found:
        yield found


def unfolded(page: Any, heads: bool) -> Any:
    """What the page can show: a change, both lenses, two prompts, a question, a part's menu; every head if wished."""
    page.locator(".choices button").first.click()
    page.locator("#next tbody tr").first.wait_for()
    page.locator(".change input").check()
    page.locator("[data-pair=prompt]").click()
    page.locator("#editor textarea").last.fill("How long does it take?")
    page.locator("[data-tokens=b] .apart").first.wait_for()
    for summary in page.locator("details.exact > summary").all():
        summary.click()
    page.locator("#lens svg").wait_for()
    page.locator("#pair svg").wait_for()
    if heads:
        page.locator("[data-look]").click()
        page.locator("iframe").wait_for(timeout=60_000)
    page.locator(".menu summary").first.click()
    page.locator(".chip").first.click()
    return page


@pytest.mark.parametrize(("width", "theme", "locale"), LOOKS)
def test_nothing_serious_is_found(browser: Any, server: Running, width: int, theme: str, locale: str) -> None:
    """The content policy lets no script in from outside; only this test's own browser lets axe-core pass it."""
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": theme, "locale": locale}
    context = browser.new_context(**look, bypass_csp=True)
    page = context.new_page()
    page.goto(server.page)
    found = Axe().run(unfolded(page, heads=width > 1000)).response
    grave = [
        (each["id"], [n["html"] for n in each["nodes"]]) for each in found["violations"] if each["impact"] in GRAVE
    ]
    assert grave == []
    assert len(found["passes"]) > 20
    context.close()
