"""The page of `look` in a browser: looked at, clicked, used by keyboard, fed with hostile text, at 4,000 tokens."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.report import fixtures, look_fixtures
from whybox.report.document import LookDocument, LookPayload
from whybox.report.draw.rows import unpacked
from whybox.report.html import look_page
from whybox.report.html.page import MOST_BYTES, MOST_NODES
from whybox.report.visible import visible

pytestmark = pytest.mark.browser

LOOKS = list(itertools.product([375, 1024, 1920], ["light", "dark"], ["en", "zh"]))
ROW = "([index, q]) => [...window.look.source(index).row(q)].map((w) => (Number.isNaN(w) ? -1 : w))"


@pytest.fixture
def opened(visit: Callable) -> Any:
    return visit(look_page(*look_fixtures.look(), "en"))


@pytest.mark.parametrize(("width", "theme", "lang"), LOOKS)
def test_it_fits_the_screen_in_both_themes_and_languages(visit: Callable, width: int, theme: str, lang: str) -> None:
    page = visit(
        look_page(*look_fixtures.look(dilution=look_fixtures.DILUTION, dilution_reason=None), lang), width, theme
    )
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("h1").bounding_box()["y"] < 300
    wide = page.evaluate(
        "(width) => [...document.querySelectorAll('h1,h2,h3,h4,p,dd,dt,summary,canvas,label')]"
        ".filter(e => e.getBoundingClientRect().right > width && !e.closest('.scroll, .said')).map(e => e.outerHTML)",
        width,
    )
    assert wide == []
    assert len(page.screenshot()) > 20_000
    assert page.faults == []


def test_the_page_computes_the_rows_that_the_engine_computed(opened: Any) -> None:
    """Windows, learned sinks, a distance bias, a soft cap: every row of every open head, to a millionth."""
    for layer in range(4):
        pattern = look_fixtures.heads_of(layer, 29)[2]
        for head in (0, 1):
            rows = np.array([opened.evaluate(ROW, [3 * layer + head, q]) for q in range(29)])
            seen = rows >= 0
            assert np.abs(np.where(seen, rows, 0) - pattern[head]).max() <= 2e-6
            first = np.maximum(0, np.arange(29) - 23) if layer % 2 else np.zeros(29)
            places = np.arange(29)
            assert (seen == ((places >= first[:, None]) & (places <= places[:, None]))).all()


def test_halves_and_whole_patterns_are_read_too(visit: Callable) -> None:
    document, payload = look_fixtures.look(2)
    query, key, pattern = look_fixtures.heads_of(0, 29)
    half = {"query_rows": [payload.query_rows[0].model_dump() | {"rows": look_fixtures.packed(query[:, 0], "float16")}]}
    half |= {"key_rows": [payload.key_rows[0].model_dump() | {"rows": look_fixtures.packed(key[:, 0], "float16")}]}
    whole = {"patterns": [{"layer": 0, "head": 1, "rows": look_fixtures.packed(pattern[1])}]}
    page = visit(look_page(document, LookPayload.model_validate(payload.model_dump() | half | whole), "en"))
    assert page.evaluate(ROW, [0, 28])[:29] == pytest.approx(pattern[0, 28].tolist(), abs=5e-3)
    row = page.evaluate(ROW, [1, 20])
    assert row[:21] == pytest.approx(pattern[1, 20, :21].tolist(), abs=1e-6)
    assert row[21:] == [-1] * 8
    page.locator("#head canvas").first.focus()
    assert page.locator("#head-cell").inner_text().splitlines()[-1].startswith("≈ ")


def test_pointer_and_keyboard_read_exact_values(opened: Any) -> None:
    pattern = look_fixtures.heads_of(0, 29)[2][0]
    cell, canvas = opened.locator("#head-cell"), opened.locator("[data-view=map]")
    assert cell.inner_text().splitlines()[0] == "#28 “.”"
    drawn = opened.evaluate("({margin: look.map.drawn.margin, cell: look.map.drawn.cell})")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    opened.mouse.move(box["x"] + drawn["margin"] + 9.5 * drawn["cell"][0], box["y"] + 26.5 * drawn["cell"][1])
    assert cell.inner_text().splitlines()[:2] == ["#26 “7”", "→ #9 “天” 1/2"]
    assert float(cell.get_attribute("data-value")) == pytest.approx(float(pattern[26, 9]), abs=1e-6)
    canvas.focus()
    opened.keyboard.press("ArrowUp")
    opened.keyboard.press("End")
    assert cell.inner_text().splitlines() == ["#25 “·”", "→ #28 “.”", "masked or not computed"]
    assert opened.locator("[data-row-name]").inner_text() == "Query #25 “·”"
    shares = [text.split()[0].replace("<", "0") for text in opened.locator("[data-segment-bar] .num").all_inner_texts()]
    assert sum(map(float, shares)) == pytest.approx(100, abs=0.3)
    assert opened.faults == []


def test_the_sink_is_taken_out_with_a_notice_and_rows_sum_to_one(opened: Any) -> None:
    notice = opened.locator("[data-sink-notice]")
    assert not notice.is_visible()
    opened.get_by_label("Take out the sink").check()
    assert notice.is_visible()
    weights = opened.evaluate("[...look.map.weights].map((w) => (Number.isNaN(w) ? -1 : w))")
    pattern = look_fixtures.heads_of(0, 29)[2][0, 28]
    assert weights[0] == -1
    assert weights[1:] == pytest.approx((pattern[1:] / pattern[1:].sum()).tolist(), abs=1e-6)


def test_the_grid_moves_by_arrows_and_enter_opens(opened: Any) -> None:
    name, told = opened.locator("[data-head-name]"), opened.locator("#grid-cell")
    opened.locator("#grid canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        opened.keyboard.press(key)
    assert told.inner_text().startswith("Layer 2, head 1 · ")
    assert name.inner_text() == "Layer 0, head 0"
    opened.keyboard.press("Enter")
    assert name.inner_text() == "Layer 2, head 1"
    opened.keyboard.press("End")
    opened.keyboard.press("Enter")
    assert name.inner_text() == "Layer 3, head 2"
    assert opened.locator("[data-missing]").is_visible()
    assert "--layer 3 --head 2" in opened.locator("[data-missing]").inner_text()
    assert opened.locator("#head-cell").inner_text().splitlines()[-1].startswith("≈ ")


def test_the_grid_is_sorted_and_filtered_and_clicked(opened: Any) -> None:
    opened.locator("[data-sort]").select_option("previous")
    order = opened.evaluate("look.grid.at.map((place) => place.index)")
    previous = [head.previous for head in look_fixtures.look()[0].heads]
    assert [previous[i] for i in order] == sorted(previous, reverse=True)
    opened.locator("[data-class=previous]").click()
    assert opened.locator("[data-class=previous]").get_attribute("aria-pressed") == "true"
    assert opened.evaluate("look.look.heads.map((_, i) => look.grid.shown(i))").count(True) == 2
    opened.locator("[data-sort]").select_option("")
    x, y = opened.evaluate("look.grid.corner({ row: 1, column: 2 })")
    opened.locator("#grid canvas").click(position={"x": x + 9, "y": y + 9})
    assert opened.locator("[data-head-name]").inner_text() == "Layer 1, head 2"


def test_the_theme_turns_maps_and_grid(opened: Any) -> None:
    corner = """(selector) => {
        const canvas = document.querySelector(selector);
        const middle = canvas.getContext("2d").getImageData(canvas.width - 40, canvas.height / 2, 30, 30).data;
        return middle.reduce((total, value) => total + value, 0);
    }"""
    before = [opened.evaluate(corner, selector) for selector in ("#grid canvas", "[data-view=map]")]
    opened.get_by_role("button", name="Dark").click()
    after = [opened.evaluate(corner, selector) for selector in ("#grid canvas", "[data-view=map]")]
    assert all(dark < light for dark, light in zip(after, before, strict=True))
    assert [fault for fault in opened.faults if "getImageData" not in fault] == []  # the test's own readings


def test_lines_are_drawn_for_short_prompts_and_choose_the_query(opened: Any) -> None:
    opened.get_by_role("button", name="Lines").click()
    canvas = opened.locator("[data-view=lines]")
    assert canvas.is_visible()
    assert not opened.locator("[data-view=map]").is_visible()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    opened.mouse.move(box["x"] + 40, box["y"] + 22 * 12 + 8)
    assert opened.locator("[data-row-name]").inner_text() == "Query #12 “氣” 2/3"
    canvas.focus()
    opened.keyboard.press("ArrowDown")
    assert opened.locator("[data-row-name]").inner_text() == "Query #13 “氣” 3/3"
    assert opened.faults == []


def test_zooming_shows_single_tokens_around_the_chosen_cell(opened: Any) -> None:
    canvas = opened.locator("[data-view=map]")
    canvas.focus()
    opened.keyboard.press("+")
    view = opened.evaluate("look.map.view")
    assert (view["rows"], view["columns"], view["top"]) == (15, 15, 14)
    opened.keyboard.press("Home")
    assert opened.evaluate("look.map.view.left") == 0
    opened.get_by_role("button", name="Whole", exact=True).click()
    assert opened.evaluate("look.map.view.rows") == 29


def test_the_table_sorts_opens_and_is_copied(opened: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = opened.locator("#heads-table")
    table.get_by_role("button", name="previous").click()
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("previous")
    rows = table.locator("tbody tr[data-at]")
    first = rows.first.locator("td").first.inner_text()
    previous = {f"{h.layer}.{h.head}": h.previous for h in look_fixtures.look()[0].heads}
    assert first == max(previous, key=lambda name: previous[name])
    rows.first.click()
    assert opened.locator("[data-head-name]").inner_text() == "Layer {}, head {}".format(*first.split("."))
    count = table.locator("th:visible").count()
    table.get_by_label("All statistics").check()
    assert table.locator("th:visible").count() > count
    table.get_by_role("button", name="Copy as CSV").click()
    table.get_by_text("Copied", exact=True).first.wait_for()
    copied = opened.evaluate("navigator.clipboard.readText()").replace("\r\n", "\n").split("\n")
    assert copied[0].startswith("head,classes,sink,previous,")
    assert copied[1].startswith(f"{first},")
    assert len(copied) == 14


def test_attention_between_two_texts_has_axes_of_its_own(visit: Callable) -> None:
    document, payload = look_fixtures.brought()
    page = visit(look_page(document, payload, "en"))
    pattern = unpacked(payload.patterns[0].rows)
    assert page.evaluate(ROW, [5, 3]) == pytest.approx(pattern[3].tolist(), abs=1e-6)
    page.locator("[data-view=map]").focus()
    page.keyboard.press("End")
    assert page.locator("#head-cell").inner_text().splitlines()[:2] == ["#11 “氣” 1/3", "→ #6 “·text”"]
    assert "predicts the next token" not in page.locator("#head").inner_text()
    assert page.locator("section[aria-labelledby=budget]").count() == 0
    assert "ordinary prompts" not in page.locator("h1").inner_text()
    page.get_by_role("button", name="Lines").click()
    assert page.locator("[data-view=lines]").is_visible()
    assert page.faults == []


def test_hostile_text_is_seen_and_runs_nothing(visit: Callable) -> None:
    page = visit(look_page(*look_fixtures.hostile(), "en"), 375)
    assert fixtures.HOSTILE in page.locator("h1").inner_text()
    page.locator("[data-view=map]").focus()
    page.keyboard.press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert visible(fixtures.HOSTILE) in page.locator("#head-cell").inner_text()
    page.get_by_role("button", name="Tokens", exact=True).click()
    assert page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.faults == []


def test_everything_is_reached_by_tab_with_visible_focus(opened: Any) -> None:
    reached = []
    for _ in range(60):
        opened.keyboard.press("Tab")
        reached.append(opened.evaluate("document.activeElement.tagName"))
        if reached[-1] != "BODY":
            assert opened.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert {"A", "BUTTON", "SUMMARY", "CANVAS", "INPUT", "SELECT"} <= set(reached)


def long(count: int = 4_000) -> tuple[LookDocument, LookPayload]:
    """4,000 tokens and 270 heads of made-up statistics, two heads open with 64 dimensions."""
    document, _ = look_fixtures.look(2, 256)
    generator = np.random.default_rng(0)
    tokens = look_fixtures.tokens(count)
    side = [{"start": s, "end": min(s + 125, count), "label": f"#{s}"} for s in range(0, count, 125)]
    maps, heads = [], []
    for place in range(270):
        at = {"layer": place // 9, "head": place % 9}
        values = [generator.dirichlet(np.ones(q + 1)).round(3).tolist() for q in range(32)]
        maps.append(at | {"values": values})
        heads.append(document.heads[place % 6].model_copy(update=at))
    opened = [{"layer": 20, "head": head, "why": "asked for"} for head in (3, 4)]
    query = generator.normal(size=(count, 2, 64)).astype(np.float32)
    key = generator.normal(size=(count, 64)).astype(np.float32)
    query[1:, 0] += 0.4 * key[:-1]
    queries = [{"layer": 20, "head": 3 + i, "group": 1, "rows": look_fixtures.packed(query[:, i])} for i in range(2)]
    keys = [{"layer": 20, "group": 1, "rows": look_fixtures.packed(key)}]
    payload = {"rules": [{"layer": 20, "scale": 0.125}], "query_rows": queries, "key_rows": keys}
    changes = {
        "tokens": tokens,
        "text": look_fixtures.text_of(tokens),
        "maps": {"rows": side, "columns": side, "heads": maps},
        "heads": heads,
        "layers": [look_fixtures.layer_row(layer, 9) for layer in range(30)],
        "opened": opened,
        "short_text": False,
        "decision": document.decision.model_dump()
        | {"by_token": [1 / count] * count, "value_by_token": [1 / count] * count},
    }
    return LookDocument.model_validate(document.model_dump(by_alias=True) | changes), LookPayload.model_validate(
        payload
    )


SMOOTH = """async (step) => {
    const times = [];
    let last = performance.now();
    for (let i = 0; i < 40; i += 1) {
        step(i);
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - last);
        last = performance.now();
    }
    return times.sort((a, b) => a - b);
}"""


def test_at_4000_tokens_the_page_is_small_enough_and_stays_responsive(visit: Callable) -> None:
    document, payload = long()
    html = look_page(document, payload, "en")
    assert len(html.encode()) <= MOST_BYTES
    page = visit(html)
    page.get_by_label("All statistics").check()
    assert page.evaluate("document.querySelectorAll('*').length") <= MOST_NODES
    page.evaluate("(async () => { while (look.map.next < 4000) await new Promise(requestAnimationFrame); })()")
    scrolled = page.evaluate(f"({SMOOTH})((i) => scrollTo(0, 120 * i))")
    hovered = page.evaluate(
        f"({SMOOTH})((i) => look.map.canvas.dispatchEvent(new PointerEvent('pointermove', {{pointerType: 'mouse', "
        "clientX: look.map.canvas.getBoundingClientRect().left + 60 + 7 * i, "
        "clientY: look.map.canvas.getBoundingClientRect().top + 40 + 7 * i})))"
    )
    for name, times in (("scroll", scrolled), ("hover", hovered)):
        print(f"{name}: frames of {times[20]:.0f} ms (median), {times[-1]:.0f} ms (longest)")
    assert scrolled[20] < 50
    assert hovered[20] < 50
    query, key = (unpacked(rows) for rows in (payload.query_rows[0].rows, payload.key_rows[0].rows))
    scores = query[3210].astype(np.float64) @ key[:3211].T * 0.125
    weights = np.exp(scores - scores.max())
    place = page.evaluate("look.look.heads.findIndex((h) => h.layer === 20 && h.head === 3)")
    assert page.evaluate(ROW, [place, 3210])[:3211] == pytest.approx((weights / weights.sum()).tolist(), abs=1e-6)
    assert page.faults == []


def test_a_part_of_an_arabic_character_stays_behind_it(opened: Any) -> None:
    """A mark behind letters that run from right to left; no other label is changed."""
    told = opened.evaluate("""() => {
        const { map } = window.look;
        Object.assign(map.axes.rows, { labels: ["ه", "氣"], parts: ["1/2", "1/3"] });
        return [map.label("rows", 0), map.label("rows", 1)];
    }""")
    assert told == ["ه\u200e 1/2", "氣 1/3"]
