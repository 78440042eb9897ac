"""The page of a run in a browser: looked at, clicked, used by keyboard, fed with hostile text, with 10,000 calls."""

import itertools
import time
from collections.abc import Callable

import pytest

from tests.report import run_fixtures
from whybox.report.document import CallsPayload
from whybox.report.html import run_page
from whybox.report.html.page import MOST_NODES

pytestmark = pytest.mark.browser

LOOKS = list(itertools.product([375, 1280], ["light", "dark"], ["en", "zh"]))


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits_the_screen_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: str) -> None:
    page = visit(run_page(run_fixtures.run(lang), run_fixtures.calls(), lang), width, theme)
    page.locator(".call-row").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("h1").bounding_box()["y"] < 300
    assert page.locator(".call-row").count() == 40
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    assert len(page.screenshot()) > 20_000
    assert page.faults == []


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("kinds", [("question", "value-early", "value-late"), ("a long label",) * 5])
def test_labels_of_an_axis_stay_within_it_and_apart(visit: Callable, width: int, kinds: tuple[str, ...]) -> None:
    found = run_fixtures.run()
    curve = found.probes[1].curves[0]
    points = tuple(point.model_copy(update={"label": label}) for point, label in zip(curve.points, kinds, strict=False))
    shown = curve.model_copy(update={"axis": "edit", "points": points})
    probes = (found.probes[0], found.probes[1].model_copy(update={"curves": (shown,)}), *found.probes[2:])
    page = visit(run_page(found.model_copy(update={"probes": probes}), run_fixtures.calls(), "en"), width)
    outside, over = page.evaluate("""() => {
        const axis = document.querySelector(".curves .x-axis"), edge = axis.getBoundingClientRect();
        const boxes = [...axis.querySelectorAll("text")].map(text => text.getBoundingClientRect());
        const meet = (a, b) => a.right > b.left && a.left < b.right && a.bottom - 4 > b.top && a.top < b.bottom - 4;
        return [boxes.filter(box => box.right > edge.right + 0.5 || box.left < edge.left - 0.5).length,
                boxes.filter((box, i) => boxes.some((other, j) => j > i && meet(box, other))).length];
    }""")
    assert (outside, over) == (0, 0)


def test_a_failure_opens_its_prompt_answer_and_reason_by_keyboard(visit: Callable) -> None:
    page = visit(run_page(run_fixtures.run(), run_fixtures.calls(), "en"))
    row = page.locator(".call-row").first
    row.focus()
    page.keyboard.press("Enter")
    opened = page.locator(".call-open")
    assert row.get_attribute("aria-expanded") == "true"
    assert opened.locator("pre").all_inner_texts() == ["Documents.", "How long does a refund take? 2", "answer 2"]
    assert "The scorer read “30”; expected “7 days”." in opened.inner_text()
    page.keyboard.press("Enter")
    assert opened.count() == 0


def test_filters_and_pages(visit: Callable) -> None:
    page = visit(run_page(run_fixtures.run(), run_fixtures.calls(), "en"))
    told = page.locator("[data-calls-shown]")
    assert told.inner_text() == "1–40 of 40"
    page.locator("[data-calls=all]").click()
    assert told.inner_text() == "1–50 of 120"
    page.locator("[data-calls-turn='1']").click()
    page.locator("[data-calls-turn='1']").click()
    assert told.inner_text() == "101–120 of 120"
    assert page.locator("[data-calls-turn='1']").is_disabled()
    page.locator("[data-calls-probe]").select_option("order")
    assert told.inner_text() == "1–50 of 60"
    page.locator("[data-calls-search]").fill("answer 119")
    assert told.inner_text() == "1–1 of 1"
    page.locator("[data-calls-search]").fill("nowhere")
    assert told.inner_text() == "No call fits."


def test_hostile_text_runs_nothing_and_moves_nothing(visit: Callable) -> None:
    evil = run_fixtures.EVIL
    long = evil + "x" * 19_000
    payload = CallsPayload(
        prompts=((("user", evil), ("</script>", evil)),) * 7, settings=(evil,),
        calls=(run_fixtures.call(0, "wrong", long, evil), run_fixtures.call(2, None, "")),
    )  # fmt: skip
    page = visit(run_page(run_fixtures.run("en", evil, evil), payload, "en"), 375)
    page.locator(".call-row").first.click()
    shown = page.locator(".call-open pre").first.inner_text()
    assert shown.startswith(
        'a<b<c"><img src=x onerror=alert(1)></script><script>alert(2)</script>\\u202edrow\\u2066 \\ud800'
    )
    assert "\u202e" not in page.locator("body").inner_text()
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.faults == []


def test_ten_thousand_calls_are_there_at_once(visit: Callable) -> None:
    html = run_page(run_fixtures.run(), run_fixtures.calls(10_000, "word " * 400), "en")
    begun = time.perf_counter()
    page = visit(html)
    page.locator(".call-row").first.wait_for()
    assert time.perf_counter() - begun < 5
    assert page.locator("[data-calls-shown]").inner_text() == "1–50 of 3333"
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
