"""`look` on a terminal and as CSV, on planted models: quick, and known."""

import csv
import io
import re

import pytest
from rich.cells import cell_len

from tests.report.test_text import printed
from whybox.errors import UsageError
from whybox.jobs.look import LookOptions, look
from whybox.report.document import Diagnosis, LookDocument, Where
from whybox.report.look_words import WORDS
from whybox.report.text_look import Shown, chosen, heads_csv, render_look, require_column, sortable
from whybox.testing import context_rows

HOSTILE = "a\x1b[31m\u202eb[bold]"


@pytest.fixture(scope="module")
def document() -> LookDocument:
    planted = context_rows.blind_spot()
    return look(planted.model, planted.case, LookOptions(dilution="doc1", title=HOSTILE)).document


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("shown", [Shown(), Shown(sort="score_sd"), Shown(layer=3), Shown(layer=3, head=0)])
def test_everything_fits_80_columns(document: LookDocument, lang: str, terminal: bool, shown: Shown) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(render_look, document, lang, terminal, shown=shown))
    assert max(map(cell_len, text.splitlines())) <= 80


def test_the_order_is_patterns_segments_classes_heads(document: LookDocument) -> None:
    text = printed(render_look, document)
    places = [text.index(part) for part in ("short text", "UNSEEN", "The decision reads", "Classes of", "Share of")]
    assert places == sorted(places)
    assert "Weights are not causes" in text


def test_a_common_pattern_names_no_test_and_another_does(document: LookDocument) -> None:
    sample = next(each for each in document.diagnoses if each.code == "UNSEEN")
    rare = sample.model_copy(update={"common": False, "action": "Move it.", "action_reason": None})
    text = printed(render_look, document.model_copy(update={"diagnoses": (rare,)}))
    assert "Test: Move it." in text
    common = sample.model_copy(update={"common": True, "action": None, "action_reason": "common"})
    assert "Test:" not in printed(render_look, document.model_copy(update={"diagnoses": (common,)}))


def test_foreign_text_moves_no_cursor(document: LookDocument) -> None:
    named = Diagnosis(
        code="STRIPE",
        where=Where(segments=(HOSTILE,)),
        evidence={"heads": 3},
        base_rate=None,
        base_rate_reason="none",
        common=False,
        meaning="m",
        action="a",
    )
    text = printed(render_look, document.model_copy(update={"diagnoses": (named,)}))
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert "[bold]" in text


def test_heads_are_chosen_and_sorted(document: LookDocument) -> None:
    opened = [(each.layer, each.head) for each in document.opened]
    assert [(head.layer, head.head) for head in chosen(document, Shown())] == opened
    by_sink = [head.sink for head in chosen(document, Shown(sort="sink"))]
    assert by_sink == sorted(by_sink, reverse=True)
    assert {head.layer for head in chosen(document, Shown(layer=2))} == {2}
    with pytest.raises(UsageError, match="no column 'entropi'") as error:
        require_column("entropi")
    assert "did you mean 'entropy'?" in error.value.remedy


def test_csv_has_every_number_of_every_head(document: LookDocument) -> None:
    rows = list(csv.DictReader(io.StringIO(heads_csv(document))))
    assert len(rows) == len(document.heads)
    assert {"layer", "head", "classes", "decision doc1", "value question", *sortable()} == set(rows[0]) - {
        f"{kind} {segment.name}" for kind in ("decision", "value") for segment in document.segments
    } | {"decision doc1", "value question"}
    for row, head in zip(rows, document.heads, strict=True):
        assert float(row["entropy"]) == pytest.approx(head.entropy, rel=1e-5)
        assert row["induction"] == ("" if head.induction is None else f"{head.induction:.6g}")


def test_both_languages_have_the_same_blanks() -> None:
    from tests.report.test_words import blanks

    for key, (english, chinese) in WORDS.items():
        assert blanks(english) == blanks(chinese), key
