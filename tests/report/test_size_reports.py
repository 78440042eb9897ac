"""Sizes on a terminal, as a page, a picture and a table; both languages; hostile names."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.size.published import DEEPSEEK_V3, GPT_OSS_20B, LLAMA_2_70B
from whybox.jobs.size import SizeQuestion, size
from whybox.report.document import Lang, SizeDocument
from whybox.report.draw import png_bytes, size_picture, svg_text
from whybox.report.html import size_page
from whybox.report.size_chart import charts
from whybox.report.size_lines import amount, headline, rows_of, scaled, seconds, verdict
from whybox.report.text_size import render_size, size_csv
from whybox.size.load import Machine
from whybox.size.source import Wish

H100 = Machine(80 * 10**9, 3_350 * 10**9, 989 * 10**12)
BOTH = pytest.mark.parametrize("lang", ["en", "zh"])


def document(
    folder: Path, values: dict[str, object] = LLAMA_2_70B, machine: Machine = H100, **more: object
) -> SizeDocument:
    (folder / "config.json").write_text(json.dumps(values))
    return size(SizeQuestion(Wish(str(folder / "config.json")), machine, **more))  # type: ignore[arg-type]


def shown(of: SizeDocument, lang: Lang = "en") -> str:
    written = StringIO()
    render_size(of, Console(file=written, width=80), lang)
    return written.getvalue()


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (23_040, "bytes", "23,040 bytes"),
        (1_342_177_280, "bytes", "1.34 GB"),
        (268_959_744, "FLOP", "269 MFLOP"),
        (134_515_008, "parameters", "134,515,008"),
        (8_390_656, "rows", "8,390,656 rows"),
        (3.0, "FLOP/byte", "3.00 FLOP/byte"),
        (0.00069, "s", "690 µs"),
        (12.5, "s", "12.5 s"),
        (1737.2, "×", "1,740 ×"),
        (256, "×", "256"),
        (5.7437, "bits", "5.74"),
        (11_600.4, "tokens/s", "11,600 a second"),
    ],
)
def test_amounts_with_their_units(value: float, unit: str, said: str) -> None:
    assert amount(value, unit, "en") == said


def test_powers_of_ten() -> None:
    values = {0: "0 B", 999: "999 B", 1000: "1.00 kB", 999_600: "1.00 MB", 2 * 10**15: "2.00 PB"}
    assert {value: scaled(value, "B") for value in values} == values
    assert [seconds(v) for v in (3e-9, 1.5e-3, 90.0)] == ["3.00 ns", "1.50 ms", "90.0 s"]


@BOTH
def test_the_terminal_fits_80_columns_and_says_every_section(lang: Lang, tmp_path: Path) -> None:
    text = shown(document(tmp_path, batch=4, shared=64), lang)
    assert max(len(line) for line in text.splitlines()) <= 80
    for number in ("1.34 GB", "327,680", "68,976,648,192", "8.00 FLOP/byte", "5.31 GB"):
        assert number in text
    assert ("waits for memory" if lang == "en" else "受内存带宽限制") in text


def test_what_fits_is_the_headlines_second_half(tmp_path: Path) -> None:
    assert verdict(document(tmp_path), "en") == "80.0 GB do not hold the weights (138 GB)"
    room = document(tmp_path, machine=Machine(139 * 10**9))
    assert verdict(room, "en") == "139 GB hold the weights (138 GB), and not one request of 4,096 tokens beside them"
    assert verdict(document(tmp_path, machine=Machine(160 * 10**9)), "en") == (
        "160 GB hold the weights and 16 requests of 4,096 tokens at once"
    )
    assert verdict(document(tmp_path, machine=Machine(160 * 10**9), batch=32), "en") == (
        "160 GB do not hold the 32 requests asked for: the weights and 16 of 4,096 tokens at once"
    )
    assert verdict(document(tmp_path, machine=Machine()), "en") is None
    assert "69.0 B parameters in 138 GB" in headline(room, "en")


def test_rows_that_say_nothing_here_are_left_out(tmp_path: Path) -> None:
    plain = [row.path for _, _, row in rows_of(document(tmp_path), "cache", "en")]
    assert "kv_cache.bytes" not in plain
    assert "kv_cache.bytes_saved" not in plain
    assert "kv_cache.bytes_reserved" not in plain
    windows = document(tmp_path, GPT_OSS_20B, batch=2, shared=10_000)
    told = [row.path for _, _, row in rows_of(windows, "cache", "en")]
    assert {"kv_cache.bytes", "kv_cache.bytes_saved", "kv_cache.bytes_reserved"} <= set(told)
    assert "parameters.active" in [row.path for _, _, row in rows_of(windows, "parameters", "en")]


@BOTH
def test_the_page_holds_every_number_and_loads_nothing(lang: Lang, tmp_path: Path) -> None:
    html = size_page(document(tmp_path, DEEPSEEK_V3, batch=8), lang)
    for number in ("671,026,419,200", "70,272", "37,552,297,472"):
        assert number in html
    assert html.count("<") < 2 * 3000
    assert len(re.findall(r"<[a-z]", html)) <= 3000
    assert "http" not in html.replace("http://www.w3.org", "").replace("http-equiv", "")
    assert ("FLOPs of one written token" if lang == "en" else "写出一个 token 的 FLOPs") in html


def test_a_hostile_name_is_text(tmp_path: Path) -> None:
    folder = tmp_path / 'a<b"><img src=x onerror=alert(1)>'
    folder.mkdir()
    of = document(folder)
    for written in (size_page(of, "en"), svg_text(size_picture(of, "en"))):
        assert "<img" not in written
    assert "onerror=alert(1)" in shown(of).replace("\n", "")


def test_the_table_is_the_curve_in_exact_numbers(tmp_path: Path) -> None:
    of = document(tmp_path)
    lines = size_csv(of).splitlines()
    assert lines[0] == "context,kv_bytes,total_bytes,decode_flops,prefill_flops,scores_bytes,decode_s,prefill_s,batch"
    assert len(lines) == 1 + len(of.curve)
    assert lines[-1].startswith("4096,1342177280,139295473664,148163788800,")
    assert lines[-1].endswith(",0")


@BOTH
def test_the_picture_has_both_curves(lang: Lang, tmp_path: Path) -> None:
    of = document(tmp_path, machine=Machine(200 * 10**9))
    scene = size_picture(of, lang)
    assert png_bytes(scene).startswith(b"\x89PNG")
    assert svg_text(scene).count("<polygon") == 4
    assert {mark.fill for mark in scene.marks}


def test_areas_lie_on_one_another(tmp_path: Path) -> None:
    memory, flops = charts(document(tmp_path, machine=Machine(200 * 10**9), context=10_000), "en")
    for chart in (memory, flops):
        weights, kept = chart.areas
        assert weights.high == kept.low
        assert all(0 <= y <= 1 for _, y in (*weights.outline, *kept.outline))
        assert [x for x, _ in kept.high] == sorted(x for x, _ in kept.high)
    assert memory.limit is not None
    assert memory.limit.at == pytest.approx(1 / 1.04, abs=1e-9)
    assert memory.trained is not None
    assert flops.limit is None
