"""The course in a real browser: a whole chapter by keyboard and mouse, in both languages, on every screen."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.web.serving import TOKEN, Running

pytestmark = pytest.mark.browser

SOLUTION = [
    "s = np.where(mask, -np.inf, Q @ K.T / np.sqrt(Q.shape[1]))",
    "peak = s.max(axis=1, keepdims=True)",
    "e = np.exp(s - np.where(np.isfinite(peak), peak, 0))",
    "total = e.sum(axis=1, keepdims=True)",
    "a = e / np.where(total == 0, 1, total)",
    "return a @ V, a",
]
LOOKS = [(375, "dark", "zh"), (1024, "dark", "en"), (1920, "light", "zh")]
NAMELESS = """() => [...document.querySelectorAll('input, select, textarea, button, a, [role=region]')].filter(e =>
    !e.closest('[hidden]') && !(e.labels?.length && [...e.labels].some(l => l.textContent.trim()))
    && !e.getAttribute('aria-label') && !e.getAttribute('aria-labelledby')
    && !(['BUTTON', 'A'].includes(e.tagName) && e.textContent.trim())).map(e => e.outerHTML)"""
HEADINGS = "() => [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))"
OUTSIDE = """(width) => [...document.querySelectorAll('h1,h2,h3,p,li,label,button,textarea,input,select,table,pre')]
    .filter(e => e.getBoundingClientRect().right > width + 0.5 && !e.closest('.scroll, .said')).map(e => e.outerHTML)"""


@pytest.fixture
def visit(browser: Any, course: Running) -> Iterator[Callable]:
    """Opens a page of the course for a learner who has done nothing yet."""
    Path(os.environ["WHYBOX_PROGRESS"]).unlink(missing_ok=True)
    contexts = []

    def open_page(path: str, width: int = 1024, theme: str = "light", lang: str = "en") -> Any:
        locale = {"en": "en-GB", "zh": "zh-CN"}[lang]
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme, locale=locale)
        context.add_cookies([{"name": f"whybox-{course.url.rsplit(':')[-1]}", "value": TOKEN, "url": course.url}])
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(f"error: {error}"))
        page.on("console", lambda said: page.faults.append(said.text) if said.type in ("error", "warning") else None)
        page.on("dialog", lambda dialog: (page.faults.append("dialog"), dialog.dismiss()))
        page.on("request", lambda r: None if r.url.startswith((course.url, "data:")) else page.faults.append(r.url))
        page.goto(f"{course.url}{path}")
        page.locator("h1").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()


def predicted(page: Any) -> Any:
    """Both predictions of chapter 4, by keyboard."""
    boxes = page.locator("#predict-row input")
    boxes.last.wait_for()
    for box, text in zip(boxes.all(), ("0.04", "0.26", "0.7"), strict=True):
        box.fill(text)
    boxes.last.press("Enter")
    page.locator("#predict-sharper input:focus").wait_for()
    assert page.locator("#shown, #exercises, #recite").count() == 0
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#exercises").wait_for()
    return page


def test_an_earlier_prediction_of_another_window_stands_and_is_told(visit: Callable) -> None:
    first, second = visit("/learn/L4"), visit("/learn/L4")
    for page in (first, second):
        page.locator("#predict-sharper input").first.wait_for()
    for page, choice in ((first, 1), (second, 2)):
        form = page.locator("#predict-sharper")
        form.locator("input").nth(choice).check()
        form.locator("button").click()
        form.get_by_text("you said").wait_for()
    second.get_by_text("An earlier prediction stands; what you just chose is not stored.").wait_for()
    assert first.get_by_text("An earlier prediction stands").count() == 0
    assert [first.faults, second.faults] == [[], []]


def test_a_result_is_told_although_it_cannot_be_kept(visit: Callable) -> None:
    page = predicted(visit("/learn/L4"))
    Path(os.environ["WHYBOX_PROGRESS"]).write_text("{", "utf-8")
    form = page.locator("form#softmax")
    for box, text in zip(form.locator("input").all(), ("0.67", "0.24", "0.09"), strict=True):
        box.fill(text)
    form.locator("button.main").click()
    form.get_by_text("This result is not kept.").wait_for()
    assert "Passed" in form.text_content()
    assert page.faults == []


def test_a_whole_chapter(visit: Callable) -> None:
    page = predicted(visit("/learn/L4"))
    compared = page.locator("#predict-row .compared td").all_text_contents()
    assert [cell.strip() for cell in compared] == ["0.04", "0.07", "0.26", "0.31", "0.7", "0.62"]
    assert "forgot what the document forgot" in page.locator("#predict-row").text_content()
    assert "whybox/parts/attention.py, line" in page.locator("#shown").text_content()
    masked = page.locator("#shown .shaded").nth(2).locator(".hidden")
    assert masked.all_text_contents() == ["masked"] * 3
    colours = page.locator("#shown .shaded td:not(.corner)").evaluate_all(
        "all => all.map(e => getComputedStyle(e).backgroundColor)"
    )
    assert len(set(colours)) > 5

    first = page.locator("form#softmax")
    for box, text in zip(first.locator("input").all(), ("0.61", "0.24", "many"), strict=True):
        box.fill(text)
    first.locator("button.main").click()
    first.get_by_text("'many' is not a number").wait_for()
    first.locator("input").last.fill("0.09")
    first.locator("button.main").click()
    first.get_by_text("Not yet").wait_for()
    assert first.locator(".remarks .sign > [aria-hidden]").all_text_contents() == ["✗", "✓", "✓"]
    first.locator("input").first.fill("0.67")
    first.locator("button.main").click()
    first.get_by_text("Passed", exact=True).wait_for()
    page.locator("#exercises .aside").get_by_text("1 of 6 passed").wait_for()

    recital = page.locator("#recite form")
    recital.get_by_role("button", name="Start the timer").click()
    recital.locator("textarea").fill("softmax of the scores; each query meets every key")
    recital.locator("button.main").click()
    recital.get_by_text("4 of 8 points found").wait_for()
    assert recital.get_by_text("found, out of order").count() > 0
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate(HEADINGS)[0] == 1
    page.locator(".turns .next").click()
    page.locator("h1").wait_for()
    page.locator(".bar .where a").first.click()
    page.locator(".chapters").get_by_text("exercises 1/6").wait_for()
    assert len(page.faults) == 1, page.faults
    assert "422" in page.faults[0]


def test_code_is_written_by_keyboard_kept_and_run(visit: Callable) -> None:
    page = predicted(visit("/learn/L4"))
    form = page.locator("form#attention")
    box = form.locator("textarea")
    box.fill("")
    box.press_sequentially("import numpy as np\ndef attention(Q, K, V, mask):\n")
    page.keyboard.insert_text(SOLUTION[0])
    for line in SOLUTION[1:]:
        page.keyboard.press("Enter")
        page.keyboard.insert_text(line)
    assert box.input_value().splitlines()[2:] == [f"    {line}" for line in SOLUTION]
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    assert box.input_value().endswith("\n        return a @ V, a")
    page.keyboard.press("Shift+Tab")
    assert box.input_value().endswith("\n    return a @ V, a")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Run the hidden tests"
    page.keyboard.press("Enter")
    form.get_by_text("Passed", exact=True).wait_for()
    assert form.locator(".remarks li").count() > 2
    page.reload()
    page.locator("form#attention .mark-passed").get_by_text("Passed").wait_for()
    assert SOLUTION[0] in page.locator("form#attention textarea").input_value()
    page.locator("form#attention").get_by_role("button", name="Put the starter back").click()
    assert SOLUTION[0] not in page.locator("form#attention textarea").input_value()
    assert page.faults == []


def test_an_order_is_made_by_keyboard_and_by_mouse(visit: Callable) -> None:
    page = visit("/learn/L3")
    form = page.locator("#predict-harm")
    names = form.locator("li").evaluate_all("all => all.map(e => e.dataset.id)")
    form.locator("li").nth(2).locator("button").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    moved = [names[2], names[0], names[1], *names[3:]]
    assert form.locator("li").evaluate_all("all => all.map(e => e.dataset.id)") == moved
    assert page.evaluate("document.activeElement.closest('li').dataset.id") == names[2]
    assert "place 1 of 4" in form.locator("[role=status]").first.text_content()
    form.locator("li").nth(0).drag_to(form.locator("li").nth(3), target_position={"x": 40, "y": 40})
    assert form.locator("li").evaluate_all("all => all.map(e => e.dataset.id)") == [*moved[1:], moved[0]]
    form.locator("button.main").click()
    form.get_by_text("you said").wait_for()
    page.reload()
    said = page.locator("#predict-harm .result b").text_content()
    assert said.count("→") == 3
    assert page.locator("#predict-harm .order").is_hidden()
    assert page.faults == []


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits_the_screen_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: str) -> None:
    page = visit("/learn", width, theme, lang)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(OUTSIDE, width) == []
    assert page.evaluate(NAMELESS) == []
    page.locator(".chapters a", has_text="attention" if lang == "zh" else "Attention by hand").first.click()
    page = predicted(page)
    assert page.locator("html").get_attribute("lang") == ("zh-Hans" if lang == "zh" else "en")
    assert page.title().startswith("L4 · 手算" if lang == "zh" else "L4 · Attention")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate(OUTSIDE, width) == []
    assert page.evaluate(NAMELESS) == []
    assert page.evaluate("scrollTo(999, 0), scrollX") == 0
    assert page.locator(".prose").first.evaluate("e => e.getBoundingClientRect().width") < 700
    assert page.faults == []
