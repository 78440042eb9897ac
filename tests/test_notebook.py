"""What results show of themselves in a notebook: HTML in which foreign text is text."""

from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import whybox
from tests.real import real
from tests.report import fixtures
from tests.report.fixtures import HOSTILE
from whybox.errors import UsageError
from whybox.jobs.asked import WhyResult
from whybox.report.document import WhyDocument
from whybox.report.document.explore import Lens, LensLayer
from whybox.report.draw import lens_picture, svg_text
from whybox.report.draw.scene import Box
from whybox.statistics.head_table import MOST_SHOWN, HeadTable


def test_brought_attention_shows_its_page_in_a_frame_of_its_own() -> None:
    uniform = np.tril(np.ones((4, 4))) / np.arange(1, 5)[:, None]
    brought = whybox.attention([uniform[None]], [HOSTILE, "b", "c", "d"])
    shown = brought._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert "<img" not in shown
    page = unescape(shown.split('srcdoc="')[1].removesuffix('"></iframe>'))
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>")
    assert "Content-Security-Policy" in page
    assert '"patterns":[{"layer":0,"head":0' in page
    assert "sink is the most frequent class: 1 of 1 heads" in page


def test_a_table_of_heads_shows_its_first_rows() -> None:
    count = MOST_SHOWN + 3
    table = HeadTable({"head": list(range(count)), "<b>": [None, -0.12345, *([1.0] * (count - 2))]})
    shown = table._repr_html_()
    assert shown.count("<tr>") == MOST_SHOWN + 1
    assert "<th>&lt;b&gt;</th>" in shown
    assert "<td>—</td>" in shown
    assert "<td>−0.123</td>" in shown
    assert "3 more rows" in shown
    assert "more rows" not in HeadTable({"head": [1]})._repr_html_()


@pytest.mark.model
def test_a_trace_shows_its_next_tokens_and_its_heads() -> None:
    trace = real("smollm2").run("The capital of France is", see=["pattern"])
    shown = trace._repr_html_()
    assert "&lt;Trace of 5 tokens: pattern&gt;" in shown
    assert "<code> Paris</code> 0.773" in shown
    assert "<th>entropy</th>" in shown
    assert "<table>" not in real("smollm2").run("The capital of France is")._repr_html_()


@pytest.mark.model
def test_a_prompt_shows_its_tokens_as_text() -> None:
    model = real("smollm2")
    prompt = model.prompt(f"{HOSTILE}<img src=x>")
    shown = prompt._repr_html_()
    assert "<img" not in shown
    assert f'<code title="id {prompt.ids[0]}">' in shown
    assert shown.count("<code") == len(prompt.ids)
    assert "more tokens" in model.prompt("word " * 400)._repr_html_()


@pytest.mark.model
def test_look_shows_its_page_in_a_frame_of_its_own() -> None:
    shown = whybox.look(real("smollm2"), HOSTILE)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert "<img" not in shown


def test_why_shows_its_page_in_a_frame_and_is_saved_by_suffix(tmp_path: Path) -> None:
    found = WhyResult(fixtures.why())
    assert repr(found).startswith("<why ")
    assert found._repr_html_().startswith('<iframe sandbox="allow-scripts"')
    found.save(tmp_path / "why.html")
    found.save(tmp_path / "why.json")
    assert (tmp_path / "why.html").read_text(encoding="utf-8") == found.page
    assert WhyDocument.model_validate_json((tmp_path / "why.json").read_bytes()) == found.document
    with pytest.raises(UsageError, match="cannot write"):
        found.save(tmp_path / "why.txt")


def a_lens(then: bool = True) -> Lens:
    rows = tuple(LensLayer(layer=i, top="x", ld=value) for i, value in enumerate((-1.0, 0.5, 2.0)))
    other = tuple(LensLayer(layer=i, top="x", ld=-value) for i, value in enumerate((-1.0, 0.5, 2.0)))
    return Lens(
        first="</svg><script>", second=" b", base=rows, then=other if then else None, then_reason="" if then else "none"
    )


def test_a_lens_is_a_picture_of_its_numbers_in_which_text_is_text() -> None:
    both, alone = (lens_picture(a_lens(then), "en") for then in (True, False))
    dots = [mark for mark in both.marks if isinstance(mark, Box) and mark.width == mark.height == 6]
    assert len(dots) == 6
    assert len([mark for mark in alone.marks if isinstance(mark, Box) and mark.width == mark.height == 6]) == 3
    first, second = dots[:3], dots[3:]
    assert first[0].y > first[1].y > first[2].y
    assert [a.y - b.y for a, b in zip(first, second, strict=True)] == pytest.approx(
        [4 * 33.0, -2 * 33.0, -8 * 33.0], rel=0.02
    )
    text = svg_text(both)
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "<script" not in text


@pytest.mark.model
def test_one_lens_and_one_head_show_themselves(tmp_path: Path) -> None:
    model = real("smollm2")
    found = whybox.lens(model, "The capital of France is", edits=[whybox.zero("mlp_out", 0)], lang="zh")
    assert found.document.first == " Paris"
    assert len(found.document.then) == len(model.spec.layers)
    assert found._repr_svg_().startswith("<svg")
    assert whybox.lens(model, "The capital of France is").document.then is None
    seen = whybox.look(model, "The capital of France is", heads=[(1, 0)])
    for layer, number in ((1, 0), (5, 3)):
        head = seen.head(layer, number)
        assert head.scene.title.endswith(f"layer {layer}, head {number}")
        head.save(tmp_path / "head.png")
        assert (tmp_path / "head.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="no layer 99"):
        seen.head(99, 0)
    with pytest.raises(UsageError, match="cannot write"):
        found.save(tmp_path / "lens.pdf")
