"""The sensitivity of a quantised model as it is shown: advice with numbers, tables, the page."""

from io import StringIO

import pytest
from rich.console import Console

from whybox.report.diff_sensitivity_lines import advice
from whybox.report.document import Lang, ModelInfo, SensitivityDocument
from whybox.report.document.base import obtained
from whybox.report.document.diff import RestoredRow, SideRow
from whybox.report.html.diff_sensitivity import sensitivity_page
from whybox.report.text_diff_sensitivity import render_sensitivity


def row(kind: str, name: str, gain: float, more: int | None = 1_000_000) -> RestoredRow:
    return RestoredRow(
        kind=kind,
        name=name,
        parameters=500_000,
        **obtained("not known", bytes_more=more),
        kl=0.2 - gain,
        gain=gain,
        interval=(gain / 2, gain * 2),
    )  # type: ignore[arg-type]


def document(keep: RestoredRow | None) -> SensitivityDocument:
    return SensitivityDocument(
        schema=SensitivityDocument.identity(),
        model=ModelInfo(name="<b>m", family="llama", digest="0" * 64, engine="numpy", precision="fp32", kernel="plain"),
        seed=0,
        took_s=1.0,
        sides=(SideRow(name="m", precision="fp32"), SideRow(name="m@int4", precision="int4")),
        texts=("english", "code"),
        positions=96,
        blocks=6,
        kl=0.2,
        interval=(0.15, 0.25),
        as_run=0.21,
        floor=1e-7,
        bytes_held=80_000_000,
        units=(row("part", "layer 0", 0.12), row("role", "down", 0.05), row("tensor", "0.down", 1e-8)),
        sets=(row("parts", "layer 0, layer 1", 0.15),),
        keep=keep,
        keep_reason=None if keep else "nothing",
        runs=42,
    )


def test_the_advice_is_said_with_numbers() -> None:
    found = document(row("part", "layer 0", 0.12))
    assert advice(found, "en") == "Keep layer 0 in 16 bits: KL 0.200 → 0.0800 nats, for 1.00 MB (1.25 %)."
    assert "takes away half" in advice(document(None), "en")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_terminal_shows_every_table(lang: Lang) -> None:
    written = StringIO()
    render_sensitivity(document(row("role", "down", 0.12)), Console(file=written, width=120), lang)
    told = written.getvalue()
    assert {"en": "every down", "zh": "所有 down"}[lang] in told
    assert {"en": "≈ 0 (below the floor)", "zh": "低于底噪"}[lang] in told
    assert "layer 0, layer 1" in told
    assert "42" in told


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_escapes_and_holds_all(lang: Lang) -> None:
    page = sensitivity_page(document(row("part", "layer 0", 0.12)), lang)
    assert "<b>m" not in page
    assert "layer 0, layer 1" in page
    assert '"whybox.diff-sensitivity"' in page
    assert len(page) < 200_000
