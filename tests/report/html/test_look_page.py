"""The page of `look` as text: ceilings, policy, order, hostile text, what was left out."""

import json
import re
from typing import Any

import pytest

from tests.report import fixtures, look_fixtures
from tests.report.html.test_page import Counter
from whybox.report.document import LookDocument, LookPayload, Where
from whybox.report.html import look_page
from whybox.report.html.look import where_text
from whybox.report.html.look_data import exact_rows, grid, head_values
from whybox.report.html.look_figures import budget_figure, dilution_figure, drawn_segments
from whybox.report.html.page import MOST_BYTES

Made = tuple[LookDocument, LookPayload]


def many() -> Made:
    """12 layers of 3 heads, 640 tokens, 20 segments."""
    document, payload = look_fixtures.look(12, 640)
    first = document.segments[1]
    more = [first.model_copy(update={"name": f"passage {i}", "letter": chr(65 + i)}) for i in range(16)]
    zero = (0.0,) * 16
    shares = [(h, h.decision_segments + zero, h.value_segments + zero) for h in document.heads]
    heads = [h.model_copy(update={"decision_segments": d, "value_segments": v}) for h, d, v in shares]
    return document.model_copy(update={"segments": (*document.segments, *more), "heads": tuple(heads)}), payload


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("make", [look_fixtures.look, look_fixtures.hostile, many])
def test_every_page_keeps_its_ceiling_and_its_policy(make: Any, lang: str) -> None:
    html = look_page(*make(), lang)
    page = Counter(html)
    assert page.nodes <= 2_200  # scripts add the rows of the head table
    assert len(html.encode()) <= MOST_BYTES
    policy = next(value for tag, name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on") or name == "style"}


def test_hostile_text_appears_literally_and_starts_nothing() -> None:
    page = Counter(look_page(*look_fixtures.hostile(), "en"))
    text = "".join(page.text)
    assert text.count(fixtures.HOSTILE) >= 15
    assert "img" not in {tag for tag, _, _ in page.attributes}
    assert "<img" not in page.raw["script"]


def test_findings_come_first_and_the_rest_in_the_order_of_the_design() -> None:
    html = look_page(*look_fixtures.look(dilution=look_fixtures.DILUTION, dilution_reason=None), "en")
    names = ["findings", "prompt", "every", "head", "classes", "budget", "dilution", "table", "layers", "provenance"]
    places = [html.index(f'id="{name}"') for name in names]
    assert places == sorted(places)


def test_a_finding_has_its_numbers_base_rate_and_test_and_a_common_one_only_describes() -> None:
    text = " ".join("".join(Counter(look_page(*look_fixtures.look(), "en")).text).split())
    assert (
        "UNSEEN segments doc2 Not seen: a prompt or placement problem. Test Move, shorten, boost the edge; evidence."
        in text
    )
    assert "lift0.349share0.0472" in text
    assert "fires on 7 of 200 ordinary prompts (3.50 %)" in text
    assert "Common patterns: 2 · common, not a sign of trouble" in text
    assert "Usual softmax drain, not a data fault. heads182 heads 1.0, 2.0" in text


def test_without_a_rare_pattern_the_page_says_so() -> None:
    document, payload = look_fixtures.look(diagnoses=look_fixtures.DIAGNOSES[2:])
    page = look_page(document, payload, "en")
    assert "No pattern here that ordinary prompts do not show as well" in page
    assert 'class="card neutral"' in page


def test_no_word_calls_a_head_important() -> None:
    for lang in ("en", "zh"):
        text = "".join(Counter(look_page(*look_fixtures.look(), lang)).text).lower()
        assert not re.search(r"important|重要|the model thinks", text)


def test_exact_rows_are_held_as_far_as_there_is_room() -> None:
    document, payload = look_fixtures.look()
    size = len(payload.query_rows[0].rows.data)
    held = exact_rows(document, payload, 10 * (size + 200))
    assert [(q["layer"], q["head"]) for q in held["queries"]] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert [k["layer"] for k in held["keys"]] == [0, 1, 2]
    assert [rule["layer"] for rule in held["rules"]] == [0, 1, 2]
    assert exact_rows(document, payload, 0)["queries"] == []


def test_the_grid_keeps_shares_within_half_a_step() -> None:
    document, _ = look_fixtures.look()
    made = grid(document.maps, causal=True)
    data = __import__("base64").b64decode(made["bytes"])
    assert (made["rows"], made["columns"], made["blocks"]) == (29, 29, {"rows": 1, "columns": 1})
    assert len(data) == 12 * 29 * 29
    assert (data[0], data[1]) == (254, 255)
    value = document.maps.heads[4].values[20][3]
    assert (data[4 * 841 + 20 * 29 + 3] / 254) ** 2 == pytest.approx(value, abs=0.004)


def test_the_head_table_has_every_statistic_that_any_head_has() -> None:
    document, _ = look_fixtures.look()
    table = head_values(document, "en")
    names = [column.name for column in table.columns]
    assert names[:4] == ["head", "classes", "sink", "previous"]
    assert {"entropy", "local64", "anchor_tokens", "stripe_key", "decision doc2", "value doc2"} <= set(names)
    assert "next" not in names  # no head of a causal model has one
    assert len(table.rows) == 12
    assert table.rows[5][0] == "1.2"
    assert table.rows[5][names.index("sink")] == document.heads[5].sink
    assert all(len(row) == len(names) for row in table.rows)


def test_the_budget_stacks_to_one_in_every_layer() -> None:
    document, _ = look_fixtures.look()
    figure = budget_figure(document.segments, mean=False)
    assert [part.index for part in figure.parts] == [0, 1, 2, 3, 4]
    tops = [float(point.split(",")[1]) for point in figure.parts[-1].path[1:-1].split(" ")[:8]]
    assert tops == pytest.approx([0] * 8, abs=0.02)
    first = document.segments[0].share_by_layer[0]
    assert float(figure.parts[0].path[1:].split(" ")[0].split(",")[1]) == pytest.approx(100 - 100 * first, abs=0.01)


def test_beyond_eight_segments_the_smallest_are_put_together() -> None:
    document, _ = many()
    assert len(drawn_segments(document.segments)) == 7
    figure = budget_figure(document.segments, mean=True)
    assert (len(figure.parts), figure.parts[-1].index, figure.rest) == (8, None, 14)


def test_the_dilution_curve_is_logarithmic_and_marks_what_is_beyond_training() -> None:
    document, _ = look_fixtures.look(dilution=look_fixtures.DILUTION, dilution_reason=None)
    assert document.dilution is not None
    figure = dilution_figure(document.dilution)
    steps = [b.x - a.x for a, b in zip(figure.dots, figure.dots[1:], strict=False)]
    assert steps[0] == pytest.approx(steps[3], abs=0.01)  # 100 → 200 and 1,000 → 2,000
    assert [dot.beyond for dot in figure.dots] == [False] * 5 + [True]
    assert figure.trained is not None
    assert figure.dots[4].x < figure.trained < figure.dots[5].x
    assert [tick.label for tick in figure.x_ticks] == ["100", "200", "500", "1,000", "2,000", "5,000"]


def test_where_names_the_first_few() -> None:
    where = Where(layers=(3,), heads=tuple((1, h) for h in range(10)), tokens=(7,), segments=("doc2",))
    said = "layers 3 · heads 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7 and 2 more · tokens #7 · segments doc2"
    assert where_text(where, "en") == said


def test_the_data_block_holds_the_whole_document() -> None:
    document, payload = look_fixtures.look()
    html = look_page(document, payload, "en")
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])
    assert LookDocument.model_validate(data["document"]) == document
