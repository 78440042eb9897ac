"""The course's pictures, chapter 4 in both languages: python docs/images/course.py"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from explorer import LOCALES, kept
from playwright.sync_api import Browser, Page, sync_playwright

PREDICTED = (".04", ".26", ".70")
CARELESS = """import numpy as np


def attention(Q, K, V, mask):
    scores = Q @ K.T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)) * ~mask
    weights = weights / weights.sum(axis=1, keepdims=True)
    return weights @ V, weights
"""
TOLD = {
    "en": "A query says what the token looks for, a key is the label under which it is found. Scores go through a "
    "softmax, and the values are summed with these weights.",
    "zh": "query 是想找什么，key 是别人找到它的标签。分数经过 softmax 归一化，再对 value 加权求和。",
}


@contextmanager
def served() -> Iterator[str]:
    """The page's address, for a learner who has done nothing yet."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"WHYBOX_PROGRESS": str(Path(folder) / "course.json")}
        command = [sys.executable, "-m", "whybox", "serve", "--no-open", "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
            server.terminate()


def learner(chromium: Browser, address: str, lang: str) -> Page:
    """Let in with the token, in the light theme."""
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light", locale=LOCALES[lang])
    page.goto(address)
    return page


def chapter(page: Page, origin: str, lang: str, first: bool) -> None:
    """Chapter 4: asked, shown, an exercise that is not passed, a recital. first: predictions are still to be made."""
    page.goto(f"{origin}/learn/L4?lang={lang}")
    page.locator("#predict-row").wait_for()
    if first:
        for place, said in enumerate(PREDICTED):
            page.locator("#predict-row input").nth(place).fill(said)
        kept(page, f"course-predict-{lang}")
        page.locator("#predict-row button.main").click()
        page.locator("#predict-sharper input").nth(1).check()
        page.locator("#predict-sharper button.main").click()
    page.locator("#exercises").wait_for()
    page.locator("#shown").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('shown').scrollIntoView()")
    kept(page, f"course-shown-{lang}")
    graded(page, lang)
    page.locator("#recite textarea").fill(TOLD[lang])
    page.locator("#recite button.main").click()
    page.locator("#recite .remarks").wait_for()
    kept(page.locator("#recite form"), f"course-recital-{lang}")


def graded(page: Page, lang: str) -> None:
    exercise = page.locator("#exercises form#attention")
    exercise.locator("textarea").fill(CARELESS)
    exercise.locator("button.main").click()
    exercise.locator(".remarks").wait_for()
    kept(exercise, f"course-graded-{lang}")


def shoot() -> None:
    with served() as address, sync_playwright() as browsers:
        chromium = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
        for place, lang in enumerate(LOCALES):
            page = learner(chromium, address, lang)
            chapter(page, origin, lang, first=place == 0)
            page.goto(f"{origin}/learn?lang={lang}")
            page.locator(".chapters li").first.wait_for()
            kept(page, f"course-{lang}")
        chromium.close()


if __name__ == "__main__":
    shoot()
