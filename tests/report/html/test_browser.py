"""Pages in a real browser: looked at, clicked, used by keyboard, fed with hostile text."""

import itertools
from collections.abc import Callable

import pytest

from tests.report import fixtures
from tests.report.html.test_page import hostile, huge
from whybox.report.html import why_page
from whybox.report.visible import visible

pytestmark = pytest.mark.browser

LOOKS = list(itertools.product([375, 1024, 1920], ["light", "dark"], ["en", "zh"]))


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits_the_screen_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: str) -> None:
    page = visit(why_page(fixtures.full(), lang), width, theme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(246, 246, 243)" if theme == "light" else "rgb(16, 19, 23)")
    heading = page.locator("h1")
    assert heading.is_visible()
    assert heading.bounding_box()["y"] < 300
    assert len(page.screenshot()) > 20_000
    assert page.faults == []


@pytest.mark.parametrize("width", [375, 1024])
@pytest.mark.parametrize("make", [hostile, huge, fixtures.not_determined])
def test_strange_documents_fit_too(visit: Callable, make: Callable, width: int) -> None:
    page = visit(why_page(make(), "en"), width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.querySelectorAll('*').length") <= 3_000
    assert page.faults == []


def test_no_text_is_cut_off_or_laid_over_another_on_a_phone(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"), 375)
    wide = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,p,dd,dt,button,summary')]"
        ".filter(e => e.getBoundingClientRect().right > 375).map(e => e.textContent)"
    )
    assert wide == []


@pytest.mark.parametrize("width", [375, 1440])
def test_the_label_of_a_layer_lies_on_no_point_and_within_its_plot(visit: Callable, width: int) -> None:
    page = visit(why_page(fixtures.why(decided_at=22), "zh"), width)
    inside, over = page.evaluate("""() => {
        const plot = document.querySelector("section[aria-labelledby=lens] .decided").closest("svg");
        const label = plot.querySelector(".label").getBoundingClientRect(), edge = plot.getBoundingClientRect();
        const meets = p => p.right > label.left && p.left < label.right && p.bottom > label.top && p.top < label.bottom;
        const over = [...plot.querySelectorAll(".dot")].filter(dot => meets(dot.getBoundingClientRect())).length;
        return [label.left >= edge.left && label.right <= edge.right && label.top >= edge.top, over];
    }""")
    assert (inside, over) == (True, 0)


def test_hostile_text_is_seen_and_runs_nothing(visit: Callable) -> None:
    page = visit(why_page(hostile(), "en"))
    assert fixtures.HOSTILE in page.locator("h1").inner_text()
    assert fixtures.HOSTILE in page.locator("#command").inner_text()
    assert page.locator("img").count() == 0
    assert page.evaluate("JSON.parse(document.getElementById('data').textContent).document.case.id") == fixtures.HOSTILE
    assert visible(fixtures.HOSTILE) in page.locator("#map-cell").inner_text()
    assert page.faults == []


def test_the_policy_stops_scripts_and_requests(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        document.body.append(script);
    }""")
    assert page.evaluate("window.ran") is None
    assert page.evaluate("fetch('https://example.invalid/').then(() => 'sent', () => 'refused')") == "refused"


def test_the_theme_switch_turns_the_page_and_the_map(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    corner = "() => [...document.querySelector('canvas').getContext('2d').getImageData(60, 500, 1, 1).data].join()"
    before = page.evaluate(corner)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 19, 23)"
    assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
    assert page.evaluate(corner) != before
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 19, 23)"


def test_details_open_and_tables_are_copied_as_csv(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    section = page.locator("section[aria-labelledby=evidence]")
    assert not section.locator("table").is_visible()
    section.locator("summary").click()
    assert section.locator("tbody tr").count() == 6
    section.get_by_role("button", name="Copy as CSV").click()
    page.get_by_text("Copied", exact=True).first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n")
    assert copied.startswith("segment,attention share,direct,")
    assert "doc2,0.047179,-3.5098," in copied


def test_tokens_show_spaces_line_ends_and_parts(visit: Callable) -> None:
    prompt = fixtures.why_data()["prompt"]
    tokens = [dict(token) for token in prompt["tokens"]]
    tokens[15] |= {"part": 1, "of": 2}
    page = visit(why_page(fixtures.why(prompt=prompt | {"tokens": tokens}), "en"))
    run = page.locator(".run", has_text="policy")
    assert "You answer from" in run.inner_text()
    page.get_by_role("button", name="Tokens", exact=True).click()
    assert "·answer" in run.inner_text()
    assert page.locator(".chip sub").inner_text() == "1/2"
    assert run.locator(".chip").nth(1).get_attribute("title") == "#4 · id 2988 · 20616e73776572"
    page.get_by_role("button", name="Text", exact=True).click()
    assert "You answer from" in run.inner_text()


def test_the_map_is_read_by_pointer_and_by_keyboard(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    cell = page.locator("#map-cell")
    assert cell.inner_text().startswith("#56 ")
    assert "37.4 %" in cell.inner_text()
    canvas = page.locator("canvas")
    canvas.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("End")
    assert cell.inner_text().splitlines() == ["#55 “·for”", "→ #56 “·”", "masked or not computed"]
    page.keyboard.press("Home")
    assert "→ #0 “<|im_start|>”" in cell.inner_text()
    box = canvas.bounding_box()
    inset, size = 19, (box["width"] - 19) / 57
    page.mouse.move(box["x"] + inset + 33.5 * size, box["y"] + 56.5 * size)
    assert cell.inner_text().splitlines() == ["#56 “·”", "→ #33 “7”", "1.22 %"]
    assert page.locator(".row-bar", has_text="doc2").locator(".num").inner_text() == "4.72 %"


def test_the_sink_can_be_taken_out_with_a_notice(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    notice = page.locator("[data-map-notice]")
    assert not notice.is_visible()
    page.get_by_label("Take out the first key").check()
    assert notice.is_visible()
    shares = page.locator(".row-bar .num").all_inner_texts()
    assert sum(float(share.split()[0]) for share in shares) == pytest.approx(100, abs=0.2)
    assert page.locator("#map-cell").inner_text().endswith("masked or not computed")


def test_everything_is_reached_by_tab_with_visible_focus(visit: Callable) -> None:
    page = visit(why_page(fixtures.why(), "en"))
    reached = []
    for _ in range(45):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.tagName"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        if reached[-1] != "BODY":
            assert outline != "none"
    assert {"A", "BUTTON", "SUMMARY", "CANVAS", "INPUT"} <= set(reached)


def test_without_scripts_the_page_still_tells_everything(browser, tmp_path) -> None:
    file = tmp_path / "page.html"
    file.write_text(why_page(fixtures.why(), "en"), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator("section[aria-labelledby=map] summary").click()
    assert page.locator("section[aria-labelledby=map] tbody tr").count() == 24
    assert page.locator("h1").is_visible()
    context.close()
