import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from tests.report import fixtures, full_fixtures
from whybox.report.document import WhyDocument
from whybox.report.html import why_page
from whybox.report.html.page import MOST_BYTES, MOST_NODES, script_json
from whybox.report.words import say


class Counter(HTMLParser):
    """Elements, attributes and visible text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.nodes, self.attributes, self.text, self.raw = 0, [], [], {}
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.nodes += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.inside = tag

    def handle_data(self, data: str) -> None:
        if self.inside in ("script", "style"):
            self.raw[self.inside] = self.raw.get(self.inside, "") + data
        else:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def hostile() -> WhyDocument:
    """The hostile string wherever text from elsewhere can stand."""
    evil = fixtures.HOSTILE
    data = fixtures.why_data()
    token = {"id": 5, "text": evil, "bytes": evil.encode().hex(), "span": [0, len(evil)], "segment": 0}
    segment = {"name": evil, "kind": "part", "letter": "A"}
    row = data["segments"][1] | {"name": evil, "removed_reason": evil, "share": None, "share_reason": evil}
    cause = data["verdict"]["causes"][0] | {"about": [evil], "undone_by": evil, "detail": evil}
    verdict = data["verdict"] | {"causes": [cause], "because": evil, "would_change_my_mind": evil, "next_step": evil}
    block = [{"start": 0, "end": 1, "label": evil}]
    return WhyDocument.model_validate(
        data
        | {
            "model": data["model"] | {"name": evil, "family": evil, "kernel": evil},
            "case": {"id": evil, "file": evil},
            "answer": data["answer"] | {"got": evil, "right": {"text": evil, "logprob": None, "logprob_reason": evil}},
            "prompt": {"text": evil, "tokens": [token], "segments": [segment], "evidence": [evil]},
            "segments": [row],
            "verdict": verdict,
            "tried": [fixtures.tried(evil, None, None, evil, flags=[evil])],
            "heads": [],
            "heads_reason": evil,
            "pattern": {"layer": 0, "head": 1, "rows": block, "columns": block, "values": [[1.0]]},
            "provenance": data["provenance"] | {"command": evil, "notes": [evil], "versions": {evil: evil}},
        }
    )


def huge() -> WhyDocument:
    """4,000 tokens in 60 segments, every head, 400 experiments, a map of 512 × 512."""
    data = fixtures.why_data()
    tokens = [
        {"id": i, "text": " word", "bytes": "20776f7264", "span": [5 * i, 5 * i + 5], "segment": i * 60 // 4000}
        for i in range(4000)
    ]
    segments = [{"name": f"passage {i}", "kind": "part", "letter": chr(65 + i % 26)} for i in range(60)]
    rows = [data["segments"][i % 4 + 1] | {"name": f"passage {i}"} for i in range(60)]
    blocks = [{"start": 8 * i, "end": 8 * i + 8, "label": f"{8 * i}"} for i in range(512)]
    values = [[round(1 / (1 + q), 5) if k <= q else None for k in range(512)] for q in range(512)]
    return fixtures.why(
        prompt={"text": " word" * 4000, "tokens": tokens, "segments": segments, "evidence": ["passage 3"]},
        segments=rows,
        heads=fixtures.heads(270),
        lens=[fixtures.MEASURED["lens"][i % 30] | {"layer": i} for i in range(126)],
        tried=fixtures.TRIED * 40,
        pattern={"layer": None, "head": None, "rows": blocks, "columns": blocks, "values": values},
        **many_runs(),
    )


def many_runs() -> dict[str, Any]:
    """Full effort with as many rows as it can have, and 5,000 runs."""
    full, runs = full_fixtures.full(), full_fixtures.runs()
    several = {name: full[name] * 10 for name in ("ablations", "repairs", "pairs", "segments", "sets")}
    mapped = full["gradients"] | {"rows": full["gradients"]["rows"] * 20}
    sources = [full["context"]["sources"][0] | {"name": f"passage {i}"} for i in range(60)]
    parts = full_fixtures.parts() | {"rows": full_fixtures.parts()["rows"] * 50}
    further = {"gradients": mapped, "context": full["context"] | {"sources": sources}}
    stages = [{"name": f"stage {i}", "announced": 9, "made": 3} for i in range(24)]
    texts = runs["texts"] * 40
    return {
        "full": full | several | further,
        "full_reason": None,
        "parts": parts,
        **runs,
        "stages": stages,
        "texts": texts,
        "runs": runs["runs"] * 1700,
    }


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("make", [fixtures.why, fixtures.full, fixtures.not_determined, hostile, huge])
def test_every_page_keeps_its_ceiling_and_its_policy(make: Any, lang: str) -> None:
    html = why_page(make(), lang)
    page = Counter(html)
    assert page.nodes <= MOST_NODES
    assert len(html.encode()) <= MOST_BYTES
    policy = next(value for tag, name, value in page.attributes if name == "content" and "default-src" in value)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert policy.count("sha256-") == 2


def test_hostile_text_appears_literally_and_starts_nothing() -> None:
    page = Counter(why_page(hostile(), "en"))
    text = "".join(page.text)
    assert text.count(fixtures.HOSTILE) >= 20
    titles = [value for tag, name, value in page.attributes if fixtures.HOSTILE in value]
    assert "img" not in {tag for tag, _, _ in page.attributes}
    assert titles == []
    assert page.raw["script"].count("onerror=alert(1)") > 0
    assert "<img" not in page.raw["script"]


@pytest.mark.parametrize("make", [fixtures.why, hostile])
def test_no_handlers_no_inline_style_nothing_from_elsewhere(make: Any) -> None:
    page = Counter(why_page(make(), "en"))
    names = {name for _, name, _ in page.attributes}
    assert not {name for name in names if name.startswith("on")}
    assert "style" not in names
    links = [value for _, name, value in page.attributes if name in ("src", "href", "action", "srcset")]
    assert links == ["#main"]
    assert "url(#hatch)" in page.raw["style"]
    assert not re.search(r"url\((?!#)|@import|https?:", page.raw["style"])


def test_json_in_a_script_block_cannot_end_it() -> None:
    text = str(script_json({"a": "</script><!-- & \u2028\u2029"}))
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {"a": "</script><!-- & \u2028\u2029"}


def test_what_was_left_out_is_said() -> None:
    text = "".join(Counter(why_page(huge(), "en")).text)
    assert "48 segments with smaller effects are in the table." in text
    left_out = [int(found) for found in re.findall(r"Rows left out on this page: (\d+); the copy holds them.", text)]
    assert 3_900 < max(left_out) < 5_100
    assert "12 of 270 heads, largest changes first" in text
    assert "more tokens, not drawn here" in text


def test_a_document_beyond_the_limit_is_left_out_and_the_map_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whybox.report.html.page.MOST_BYTES", 70_000)
    html = why_page(fixtures.why(), "en")
    assert "is not embedded; use --json" in html
    assert '"document":null' in html
    assert '"pattern":{"layer"' in html
    assert "Copy the whole document" not in html


def test_the_page_is_the_same_for_the_same_document() -> None:
    assert why_page(fixtures.why(), "en") == why_page(fixtures.why(), "en")


def test_numbers_are_written_for_readers() -> None:
    text = "".join(Counter(why_page(fixtures.why(), "en")).text)
    written = [
        "−3.51",
        "[−4.06, −2.96]",
        "+2.13 nats",
        "over 9 variants that fail alike: mean +2.16 [1.79, 2.52]",
        "p\u00a0=\u00a00.0455",
        "log P = −2.25 nats · P = 10.5 %",
        "n = 9",
    ]
    for told in written:
        assert told in text
    assert "not obtained" in text
    assert " nan" not in text.lower()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_answer_comes_first(lang: str) -> None:
    html = why_page(fixtures.why(), lang)
    order = [
        html.index(f'id="{name}"')
        for name in ["verdict", "prompt", "evidence", "lens", "map", "heads", "test", "tried", "provenance"]
    ]
    assert order == sorted(order)
    assert f'<html lang="{"zh-Hans" if lang == "zh" else "en"}">' in html


def colours(name: str) -> tuple[str, str]:
    style = files("whybox.report.html").joinpath("assets/base.css").read_text()
    found = re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", style)
    assert found
    return found[1], found[2]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", ["ground", "surface"])
@pytest.mark.parametrize("ink", ["ink", "quiet", "accent", "hurts-ink", "helps-ink", "warn", "seg-none"])
def test_text_has_aa_contrast_in_light_and_dark(ink: str, ground: str) -> None:
    for one, other in zip(colours(ink), colours(ground), strict=True):
        assert contrast(one, other) >= 4.5


@pytest.mark.parametrize("segment", [f"seg-{i}" for i in range(8)])
def test_letters_have_aa_contrast_on_their_segment(segment: str) -> None:
    light, dark = colours(segment)
    assert contrast(light, "#ffffff") >= 4.5
    assert contrast(dark, "#14171b") >= 4.5


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_full_effort_has_its_sections_and_every_run_its_row_in_the_copy(lang: str) -> None:
    html = why_page(fixtures.full(), lang)
    text = " ".join("".join(Counter(html).text).split())
    titles = ("parts.title", "context.title", "ablations.title", "repairs.title", "sets.title", "gradients.title")
    for title in titles:
        assert say(title, lang) in text
    assert ("512 runs, announced at most 274" if lang == "en" else "共运行 512 次，事先公布上限 274 次") in text
    assert say("flag.backup", lang) in text
    assert "boost" in html
    data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])
    assert data["tables"]["runs"].count("\r\n") == 1 + 3
    assert "scores 3 h=5 cut" in data["tables"]["runs"]


def test_quick_effort_says_what_full_would_add() -> None:
    text = " ".join("".join(Counter(why_page(fixtures.why(), "en")).text).split())
    assert "Ablation in three ways, self-repair, pairs" in text
    assert "run with --effort full" in text
    assert say("repairs.title", "en") not in text
