"""A chromium for the tests that look at pages; without one they are skipped and say so."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")  # its event loop must not outlive the module: others start loops of their own
def browser() -> Iterator[object]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no chromium at {CHROMIUM}")
    with playwright.sync_playwright() as session:
        args = ["--no-sandbox", "--disable-background-networking", "--disable-gpu", "--no-first-run"]
        chromium = session.chromium.launch(executable_path=str(CHROMIUM), args=args)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, tmp_path: Path) -> Iterator[Callable]:
    """Opens HTML text from a file. Anything that would leave the machine, any script error, any dialog is kept."""
    contexts = []

    def open_page(html: str, width: int = 1024, theme: str = "light"):
        file = tmp_path / f"page-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(f"error: {error}"))
        page.on("console", lambda message: page.faults.append(f"console: {message.text}"))
        page.on("dialog", lambda dialog: (page.faults.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: None if request.url == file.as_uri() else page.faults.append(request.url))
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
