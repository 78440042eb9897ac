import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.report import fixtures
from whybox.report.document import Lang
from whybox.report.findings import pair_sentences
from whybox.report.text import bar, render_next, render_why, sparkline


def printed(render, document, lang="en", terminal=False, **more) -> str:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system="truecolor" if terminal else None)
    render(document, console, lang, **more)
    return out.getvalue()


def test_the_verdict_comes_first_and_the_path_last() -> None:
    lines = printed(render_why, fixtures.why(), path="refund.html").splitlines()
    assert lines[2].startswith("The model looked too little at doc2:")
    assert lines[-1] == "Report: refund.html"
    text = "\n".join(lines)
    assert "LD −1.96 → +0.176 nats · effect +2.13\n" in text
    assert "over 9 variants that fail alike: mean +2.16 [1.79, 2.52]" in text
    assert "−3.51 [−4.06, −2.96]" in text
    assert "0 of 21 flip · p\u00a0=\u00a00.0455" in text


def test_an_answer_that_its_limit_cut_is_shown_with_the_limit() -> None:
    document = fixtures.why()
    cut = document.model_copy(update={"answer": document.answer.model_copy(update={"cut_at": 8})})
    assert "cut at the limit of 8 tokens" in " ".join(printed(render_why, cut).split())
    assert "在 8 个 token 的上限处被截断" in "".join(printed(render_why, cut, "zh").split("\n"))
    assert "cut at the limit" not in printed(render_why, document)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("terminal", [True, False])
def test_everything_fits_80_columns(lang: str, terminal: bool) -> None:
    documents = (fixtures.why(), fixtures.full(), fixtures.not_determined())
    texts = [printed(render_why, document, lang) for document in documents]
    for text in (*texts, printed(render_next, fixtures.next_document(), lang)):
        assert max(map(cell_len, text.splitlines())) <= 80


def test_parts_and_full_effort_are_told_in_a_few_lines() -> None:
    text = " ".join(printed(render_why, fixtures.full()).split())
    for told in (
        "Without MLP 28 at the decision LD changes most: −1.12 nats at zero, −0.840 ± 0.210 with",
        "MLP 0 +0.310 −0.260 ± 0.210 0.0333 (29) depends on the",
        "log P of the wrong answer “30 days” rests most on doc1: +3.40 in log-odds",
        "For 1 of 2 parts the direction depends on the ablation: MLP 0",
        "head 20.1 act once others are gone (backup)",
        "together: −1.90 nats",
        "head 22.4 and head 23.2 cancel each other: alone +0.440 nats and −0.450 nats, together ≈ 0 (below",
        "(p = 0.900 among 199 matched pairs). Read the pair",
        "boosted to doc2: head 18.7, head 18.8, head 20.1, head 22.4 · 4 parts are enough: LD −1.96 → +0.166",
        "Spearman ρ 0.840; signs agree in 36 of 39",
    ):
        assert told in text
    quick = printed(render_why, fixtures.why())
    assert "MLP 28" in quick
    assert "backup" not in quick


@pytest.mark.parametrize(
    ("lang", "flag", "told", "among", "alone"),
    [
        ("en", "only together", "act only together", "p = 0.900 among 199 matched pairs", "no matched pair"),
        ("en", "more together", "do more together", "p = 0.900 among 199 matched pairs", "no matched pair"),
        ("zh", "only together", "只在一起时起作用", "在 199 对匹配部件中 p = 0.900", "没有匹配的部件对"),
        ("zh", "more together", "大于各自单独之和", "在 199 对匹配部件中 p = 0.900", "没有匹配的部件对"),
    ],
)
def test_a_pair_is_told_with_its_p_among_pairs(lang: Lang, flag: str, told: str, among: str, alone: str) -> None:
    found = fixtures.full()
    assert found.full is not None
    pair = found.full.pairs[0].model_copy(update={"flag": flag})
    unmatched = pair.model_copy(update={"joint": pair.joint.model_copy(update={"p": None, "draws": 0})})
    full = found.full.model_copy(update={"pairs": (pair, unmatched)})
    first, second = pair_sentences(full, found, lang)
    assert told in first
    assert told in second
    assert among in first
    assert alone in second


def test_plain_when_piped_and_coloured_on_a_terminal() -> None:
    assert "\x1b[" not in printed(render_why, fixtures.why())
    assert "─" not in printed(render_why, fixtures.why())
    assert "\x1b[" in printed(render_why, fixtures.why(), terminal=True)


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    render_why(fixtures.why(), Console(file=out, width=80, force_terminal=True, color_system="truecolor"), "en")
    assert "\x1b[3" not in out.getvalue()
    assert "\x1b[9" not in out.getvalue()


def test_characters_cut_across_tokens_are_named_by_part() -> None:
    text = printed(render_next, fixtures.next_document())
    assert "part 2 of 3 of “氣”" in text
    assert "e5 a4" in text
    assert "�" not in text
    assert "“天”的第 1/2 部分" in printed(render_next, fixtures.next_document(), "zh")


def test_next_tokens_show_probability_bar_and_the_rest() -> None:
    text = printed(render_next, fixtures.next_document())
    row = next(line for line in text.splitlines() if line.startswith("，"))
    assert "22.1 %" in row
    assert row.count("█") == 6
    assert "67.3 %" in text
    assert "rms 0.138 · largest 1.52" in text


def test_layers_of_the_walk_are_one_table_and_counts_are_exact() -> None:
    layers = [
        {"name": f"layer {n}", "site": "resid_post", "shape": "[q c]", "layer": n, "numbers": {"mlp_writes": n + 0.5}}
        for n in (0, 1)
    ]
    last = {"name": "logits", "site": "logits", "shape": "[q v]", "numbers": {"vocabulary": 49152}}
    lines = printed(render_next, fixtures.next_document(stages=[*layers, last])).splitlines()
    start = next(i for i, line in enumerate(lines) if "MLP writes" in line)
    assert [line.split() for line in lines[start + 1 : start + 3]] == [["0", "0.500"], ["1", "1.50"]]
    assert "vocabulary 49,152" in "\n".join(lines[start:])


def test_foreign_text_can_neither_colour_nor_move_the_cursor() -> None:
    evil = "\x1b[2J\x1b]0;title\x07[red]x[/red]\u202e\r"
    data = fixtures.why_data()
    tried = [data["tried"][0] | {"what": evil, "answer": evil}]
    model = data["model"] | {"name": evil}
    text = printed(render_why, fixtures.why(tried=tried, model=model))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert "[red]x[/red]" in text


def test_foreign_text_is_shown_in_every_place_of_next() -> None:
    evil = fixtures.HOSTILE + "\x1b[2J\u202e[red]x[/red]"
    token = {"id": 7, "text": evil, "bytes": evil.encode().hex(), "part": 1, "of": 1, "span": [0, len(evil)]}
    stage = {"name": "embedding", "site": "embed", "shape": "q 1 × c 2", "numbers": {"rms": 0.1}, "note": evil}
    document = fixtures.next_document(
        model=fixtures.MODEL | {"name": evil, "family": evil},
        text=evil,
        tokens=[token],
        next=[{"id": 7, "text": evil, "prob": 0.5, "logprob": -0.69}],
        generated={"ids": [7], "text": evil},
        stages=[stage],
        notes=[evil],
    )
    for lang in ("en", "zh"):
        text = printed(render_next, document, lang)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "".join(text.split()).count("<imgsrc=x") >= 3


def test_bars_and_sparklines() -> None:
    assert bar(0.5, 4) == "██"
    assert bar(0.0, 4) == ""
    assert bar(1.5, 2) == "██"
    assert bar(1 / 16, 2) == "▏"
    assert sparkline([0.0, 1.0, 0.5]) == "▁█▅"
    assert sparkline([2.0, 2.0]) == "▄▄"
