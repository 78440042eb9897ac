"""The page beside the model: what the browser computes from queries and keys is what the engine computed."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.real import real
from tests.report.html.test_look_browser import ROW
from whybox.jobs.look import LookOptions, LookResult, look
from whybox.report.draw import Budget, HeadAt, ModelView, look_picture, png_bytes
from whybox.report.html import look_page

pytestmark = [pytest.mark.model, pytest.mark.browser]
TEXT = "天氣很好 🙂 مرحبا: the refund is paid within 7 days, and the exchange within 30 days. The refund is paid within"
OPEN = ((0, 1), (18, 6), (29, 8))


@pytest.fixture(scope="module")
def looked() -> LookResult:
    model = real("smollm2")
    return look(model, model.prompt(TEXT), LookOptions(open=OPEN))


def test_rows_of_the_page_are_the_engines_rows(visit: Callable, looked: LookResult) -> None:
    model = real("smollm2")
    trace = model.run(TEXT, see=[("pattern", (0, 18, 29))])
    page = visit(look_page(looked.document, looked.payload(), "en"))
    places = [(head.layer, head.head) for head in looked.document.heads]
    for layer, head in OPEN:
        for query in (0, 1, 7, len(trace.ids) - 1):
            row = page.evaluate(ROW, [places.index((layer, head)), query])
            expected = trace["pattern", layer][head, query]
            assert np.abs(np.array(row[: query + 1]) - expected[: query + 1]).max() <= 1e-4
            assert row[query + 1 :] == [-1] * (len(trace.ids) - query - 1)
    assert page.locator("[data-head-name]").inner_text() == "Layer 0, head 1"
    assert page.faults == []


def test_the_small_maps_and_the_table_are_the_engines_too(visit: Callable, looked: LookResult) -> None:
    trace = real("smollm2").run(TEXT, see=[("pattern", 18)])
    page = visit(look_page(looked.document, looked.payload(), "zh"), 375, "dark")
    sink = float(trace["pattern", 18][6, 1:, 0].mean())
    place = [(head.layer, head.head) for head in looked.document.heads].index((18, 6))
    column = page.evaluate("look.look.columns.findIndex((each) => each.name === 'sink')")
    assert page.evaluate("([i, j]) => look.look.rows[i][j]", [place, column]) == pytest.approx(sink, abs=1e-4)
    first = page.evaluate("(i) => look.grid.map(i).row(look.grid.side.rows - 1)[0]", place)
    block = looked.document.maps.rows[-1]
    size = looked.document.maps.columns[0].end
    expected = trace["pattern", 18][6, block.start : block.end, :size].sum(axis=1).mean()
    assert first == pytest.approx(float(expected), abs=0.01)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.faults == []


def test_pictures_of_a_real_run_are_drawn(looked: LookResult) -> None:
    payload = looked.payload()
    for which in (ModelView(), HeadAt(18, 6), Budget()):
        assert png_bytes(look_picture(looked.document, payload, which, "zh")).startswith(b"\x89PNG")
