"""The explorer's pictures, of the refund in both languages: python docs/images/explorer.py"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
REWORDED = "Refunds are paid within 7 working days."
LONG_MS = 180_000
SCROLLED_MS = 400


@contextmanager
def served() -> Iterator[str]:
    """The page's address; a second model stands beside the first."""
    command = [sys.executable, "-m", "whybox", "serve", "--beside", "@int4", "--no-open", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def kept(shot: Any, name: str, **options: object) -> None:
    """A picture of a page or of a part of it, in few colours, so that it is small."""
    path = HERE / f"{name}.png"
    shot.screenshot(path=path, **options)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128).save(path, optimize=True)


def opened(chromium: Browser, address: str, lang: str, width: int, height: int) -> Page:
    """The first example with its change on."""
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme="light", locale=LOCALES[lang])
    page.goto(address)
    page.locator(".choices button").first.click()
    page.locator(".change input").check()
    page.locator("#finding").get_by_text("KL").wait_for()
    page.locator("#writing [data-write]").click()
    page.locator("#writing [data-told]:not(:empty)").wait_for()
    page.locator("#floor").get_by_text("nats").wait_for()
    page.evaluate("scrollTo(0, 0)")
    return page


def views(page: Page, lang: str) -> None:
    """Overview, lens, two prompts, one head, and a report."""
    kept(page, f"explorer-{lang}")
    page.locator("#lens summary").first.click()
    page.locator("#lens svg").wait_for()
    kept(page.locator("#lens"), f"explorer-lens-{lang}")
    side_by_side(page, lang)
    report(page, lang)


def side_by_side(page: Page, lang: str) -> None:
    page.locator("[data-pair=prompt]").click()
    page.locator("#editor textarea").nth(2).fill(REWORDED)
    page.locator("#pair-floor").get_by_text("nats").wait_for()
    page.locator("#pair [data-write]").click()
    page.locator("#pair [data-told]:not(:empty)").wait_for()
    kept(page.locator("#pair"), f"explorer-pair-{lang}")
    page.locator("[data-undo]").click()


def report(page: Page, lang: str) -> None:
    page.locator("[data-look]").click()
    page.locator("#look-views").wait_for(timeout=LONG_MS)
    grid = page.frame_locator("iframe").locator("#grid canvas")
    grid.focus()
    grid.press("Enter")
    page.locator("#head-tools button").first.wait_for()
    page.locator("[data-view=every]").click()
    page.wait_for_timeout(SCROLLED_MS)
    kept(page.locator("#instrument"), f"explorer-head-{lang}")
    page.locator("[data-view=main]").click()
    page.wait_for_timeout(SCROLLED_MS)
    kept(page.locator("#instrument"), f"explorer-report-{lang}")


def shoot() -> None:
    with served() as address, sync_playwright() as browsers:
        chromium = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for lang in LOCALES:
            views(opened(chromium, address, lang, 1280, 900), lang)
            kept(opened(chromium, address, lang, 375, 812), f"explorer-phone-{lang}", full_page=False)
        chromium.close()


if __name__ == "__main__":
    shoot()
