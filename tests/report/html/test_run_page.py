"""The page of a run as text, and what is packed into it."""

import base64
import gzip
import json
import random
import string
from typing import Any

import pytest

from tests.report import run_fixtures
from whybox.report.document import CallsPayload, Lang
from whybox.report.html import run_page
from whybox.report.html.page import MOST_BYTES
from whybox.report.html.run import headline
from whybox.report.html.run_data import packed_calls
from whybox.report.html.run_figures import forest, rate_curve
from whybox.report.run_page_words import RUN_PAGE


def unpacked(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(text)))
    return found


def test_the_verdict_names_the_gate_that_decided() -> None:
    assert headline(run_fixtures.run(), "en") == "fail on bot: not met. At most 5 points."
    html = run_page(run_fixtures.run(), run_fixtures.calls(), "en")
    assert html.index("fail on bot: not met") < html.index("What was run")
    assert "About 240 more items would settle it." in html


def test_failures_come_first_and_a_prompt_is_kept_once() -> None:
    data = unpacked(packed_calls(run_fixtures.calls()).text)
    assert [row[5] for row in data["calls"]] == ["wrong"] * 40 + ["right"] * 80
    assert len(data["prompts"]) == 7
    first = data["calls"][0]
    assert data["prompts"][first[14]] == [["system", "Documents."], ["user", "How long does a refund take? 2"]]
    assert first[15] == "answer 2"


def test_what_does_not_fit_is_counted_and_failures_keep_their_texts() -> None:
    rng = random.Random(0)
    noise = lambda: "".join(rng.choices(string.ascii_letters, k=2_000))  # noqa: E731
    rows = tuple(run_fixtures.call(i, "wrong" if i < 20 else "right", noise()) for i in range(200))
    payload = CallsPayload(prompts=((("", "p"),),) * 7, settings=("{}",), calls=rows)
    small = packed_calls(payload, 100_000)
    assert len(small.text) <= 100_000
    assert 100 < small.bare < 180
    assert small.left_out == 0
    kept = unpacked(small.text)["calls"]
    assert all(row[15] is not None for row in kept[:20])
    assert sum(row[15] is None for row in kept) == small.bare
    tiny = packed_calls(payload, 700)
    assert tiny.left_out + len(unpacked(tiny.text)["calls"]) == 200
    assert tiny.left_out > 0


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_ten_thousand_calls_stay_below_the_ceiling(lang: Lang) -> None:
    html = run_page(run_fixtures.run(lang), run_fixtures.calls(10_000, "x" * 2_000), lang)
    assert len(html.encode()) < MOST_BYTES / 8


def test_figures_put_values_where_they_belong() -> None:
    probe = run_fixtures.run().probes[1]
    found = forest(probe.estimates)
    assert found is not None
    (row,) = found.rows
    assert row.whisker is not None
    assert row.dot is not None
    assert found.zero < row.whisker.x < row.dot < row.whisker.x + row.whisker.width
    assert row.told == "4.0 [1.2, 6.9]"
    curve = rate_curve(probe.curves[0])
    assert curve is not None
    heights = [float(point.split(",")[1]) for point in curve.line.split()]
    assert heights[2] == max(heights), "the lowest rate is drawn lowest"
    assert [tick.label for tick in curve.x_ticks] == ["0", "1", "2", "3", "4"]
    names = rate_curve(probe.curves[0].model_copy(update={"axis": "edit"}))
    assert names is not None
    assert (names.line, names.dots) == ("", curve.dots), "kinds of edits have nothing between them"
    long = [point.model_copy(update={"label": "value-late"}) for point in probe.curves[0].points]
    wordy = rate_curve(probe.curves[0].model_copy(update={"points": tuple(long)}))
    assert wordy is not None
    assert (curve.x_lines, wordy.x_lines) == (1, 2), "labels that have no room side by side take two lines"


def test_words_have_the_same_blanks_in_both_languages() -> None:
    for key, (english, chinese) in RUN_PAGE.items():
        blanks = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, chinese)]
        assert blanks[0] == blanks[1], key
