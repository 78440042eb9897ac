"""Brought arrays are diagnosed as runs are: every code that weights alone support, and a reason for each other."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, T5Config, T5Model

import whybox
from whybox.errors import UsageError
from whybox.jobs.brought import BroughtLook
from whybox.jobs.look_brought import NO_DECISION, NO_MODEL
from whybox.measure.diagnosis import CODES, ELSEWHERE
from whybox.report.document import LookDocument, to_json
from whybox.report.draw import HeadAt

N, HEADS = 80, 4
WORDS = [f"w{i}" for i in range(N)]
PARTS = {
    "policy": (range(1, 21), "system"), "doc1": range(21, 36), "doc2": (range(36, 51), "evidence"),
    "doc3": range(51, 66), "question": range(66, 80),
}  # fmt: skip


def even() -> np.ndarray:
    """Even weights on all keys up to the query's own [h q k]."""
    rows = np.tril(np.ones((N, N))) / np.arange(1, N + 1)[:, None]
    return np.broadcast_to(rows, (HEADS, N, N)).copy()


def last_row(weights: np.ndarray) -> np.ndarray:
    pattern = even()
    pattern[:, -1] = weights
    return pattern


def codes(brought: BroughtLook, wrong: bool | None = None) -> set[str]:
    return {each.code for each in brought.look(wrong=wrong).diagnoses}


def test_even_attention_is_flat_with_the_rate_of_another_model() -> None:
    document = whybox.attention([even()] * 3, WORDS, segments=PARTS).look()
    (flat,) = [each for each in document.diagnoses if each.code == "FLAT"]
    assert {each.code for each in document.diagnoses} == {"FLAT", "DOCS_COMPETE"}
    assert flat.base_rate is not None
    assert (flat.base_rate.model, flat.base_rate.own, flat.base_rate.n) == ("smollm2", False, 200)
    assert flat.note == "base rate of `smollm2`, not of this model"


def test_patterns_in_the_weights_are_found_without_a_model() -> None:
    striped, own, sunk, hot = even(), even(), even(), np.zeros((HEADS, N, N))
    striped[:, 20:] = 0.5 * striped[:, 20:]
    striped[:, 20:, 5] += 0.5
    own[:, 40] = 0
    own[:, 40, 40] = 1
    sunk *= 0.2
    sunk[:, :, 0] += 0.8
    hot[:, np.arange(N), np.arange(N) // 2] = 1
    near = even()
    for row in range(N - 4, N):
        near[:, row] = 0
        near[:, row, row - 9 : row + 1] = 0.1
    assert "STRIPE" in codes(whybox.attention([striped] * 3, WORDS))
    assert "SELF_ROW" in codes(whybox.attention([own] * 3, WORDS))
    assert "SINK" in codes(whybox.attention([sunk] * 3, WORDS))
    assert "ONE_HOT" in codes(whybox.attention([even(), hot], WORDS))
    assert "RECENT" in codes(whybox.attention([near] * 3, WORDS))
    pauses = [*WORDS[:5], "[SEP]", *WORDS[6:]]
    assert "ANCHOR" in codes(whybox.attention([striped] * 3, pauses))


def test_named_parts_are_diagnosed_at_the_query_that_decides() -> None:
    unread = np.full(N, 1 / 44)
    unread[1:21] = 0
    unread[36:51] = 0
    unread[0] = 0
    unread /= unread.sum()
    brought = whybox.attention([last_row(unread)] * 3, WORDS, segments=PARTS)
    assert {"SYS_LOW", "MIDDLE"} <= codes(brought)
    assert "UNSEEN" in codes(brought, wrong=True)
    assert not {"UNSEEN", "SEEN_WRONG"} & codes(brought, wrong=False)
    loud = np.zeros(N)
    loud[36:51] = 1 / 15
    assert "SEEN_WRONG" in codes(whybox.attention([last_row(loud)] * 3, WORDS, segments=PARTS), wrong=True)
    written = {"prompt": range(36), "answer": (range(36, 80), "generated")}
    assert "INERTIA" in codes(whybox.attention([last_row(loud)] * 3, WORDS, segments=written))
    framed = {"text": range(36), "frame": (range(36, 51), "template"), "rest": range(51, 80)}
    assert "PAD_TEMPLATE" in codes(whybox.attention([last_row(loud)] * 3, WORDS, segments=framed))


def test_a_mask_behind_the_softmax_and_one_that_was_forgotten_stop_all_else() -> None:
    scores = np.random.default_rng(1).normal(size=(HEADS, N, N))
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    behind = whybox.attention([even(), np.tril(weights)], WORDS).look()
    assert [(each.code, each.where.layers) for each in behind.diagnoses] == [("MASK_BUG", (1,))]
    assert behind.diagnoses[0].evidence["row_sum_off"] > 0.9
    assert behind.diagnoses[0].action == "`diff` against reference. Stop."
    assert {each.code for each in behind.not_said} == {*CODES, *ELSEWHERE} - {"MASK_BUG"}
    assert codes(whybox.attention([weights], WORDS, causal=True)) == {"MASK_BUG"}
    assert "MASK_BUG" not in codes(whybox.attention([weights], WORDS))


@pytest.mark.parametrize("wrong", [None, True])
def test_each_code_is_decided_or_has_its_reason(wrong: bool | None) -> None:
    arrays = [even()] * 3
    for brought in (
        whybox.attention(arrays, WORDS),
        whybox.attention(arrays, WORDS, segments=PARTS),
        whybox.attention(arrays, WORDS, causal=False),
        whybox.attention(arrays, WORDS, keys=WORDS),
    ):
        document = brought.look(wrong=wrong)
        reasons = {each.code: each.reason for each in document.not_said}
        assert set(reasons) <= {*CODES, *ELSEWHERE}
        assert {"CANCEL", "OUT_OF_WINDOW", "COPIES_EXAMPLE", *ELSEWHERE} <= set(reasons)
        assert not set(reasons) & {each.code for each in document.diagnoses}
        assert all(reasons.values())
        if not brought.named:
            assert reasons["MIDDLE"] in ("needs parts with names", "no query decides, and none was named")
        assert ("RECENT" in reasons) == (not brought.causal)
        assert ("UNSEEN" in reasons) == (wrong is None or not brought.evidence)


def bert() -> BroughtLook:
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=31, num_hidden_layers=3, num_attention_heads=5, hidden_size=35, intermediate_size=37,
        max_position_embeddings=16, attn_implementation="eager",
    )  # fmt: skip
    with torch.no_grad():
        found = BertModel(config).eval()(torch.arange(3, 14)[None], output_attentions=True)
    return whybox.attention(found.attentions or (), ["[CLS]", *map(str, range(9)), "[SEP]"])


def test_where_no_query_decides_means_stand_for_it() -> None:
    document = bert().look("bert")
    assert LookDocument.model_validate(json.loads(to_json(document))) == document
    assert (document.decision.position, document.decision.position_reason) == (None, NO_DECISION)
    assert document.heads[0].decision_sink is None
    assert document.segments[0].share == pytest.approx(document.segments[0].mean_share)
    assert sum(document.decision.by_token) == pytest.approx(1, abs=1e-3)
    page = bert().page()
    assert "decision query" not in page.casefold()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_direction_has_a_page(lang: whybox.report.document.Lang) -> None:
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=31, d_model=16, d_kv=4, d_ff=17, num_layers=2, num_heads=3, attn_implementation="eager"
    )
    ids = torch.arange(3, 14)[None]
    with torch.no_grad():
        out = T5Model(config).eval()(ids, decoder_input_ids=ids[:, :7], output_attentions=True)
    words = [f"▁{i}" for i in range(10)] + ["</s>"]
    looks = [
        whybox.attention(out.encoder_attentions, words),
        whybox.attention(out.decoder_attentions, words[:7]),
        whybox.attention(
            out.cross_attentions, words[:7], keys=words, segments={"first": range(4), "second": range(4, 9)}
        ),
    ]
    assert [look.direction for look in looks] == ["both", "causal", "cross"]
    for look in looks:
        page = look.page("t5", lang)
        assert page.startswith("<!doctype html>")
        assert "smollm2" in page
    assert looks[2].look().segments[-1].name == "queries"


def test_files_by_suffix(tmp_path: Path) -> None:
    brought = bert()
    for suffix, start in ((".html", b"<!doctype html>"), (".json", b"{"), (".csv", b"layer,head"), (".svg", b"<svg")):
        path = tmp_path / f"bert{suffix}"
        brought.save(path)
        assert path.read_bytes().lstrip().startswith(start), suffix
    lines = (tmp_path / "bert.csv").read_text().splitlines()
    assert len({len(line.split(",")) for line in lines}) == 1
    brought.save(tmp_path / "one.png", picture=HeadAt(1, 2))
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match=r"cannot write bert\.pdf"):
        brought.save(tmp_path / "bert.pdf")


def test_whole_patterns_of_opened_heads_are_in_the_page() -> None:
    brought = bert()
    document = brought.look()
    assert document.opened
    assert document.heads[0].induction_reason == NO_MODEL
    at = document.opened[0]
    raw = np.ascontiguousarray(brought.patterns[at.layer][at.head], "<f4").tobytes()
    assert base64.b64encode(raw).decode() in brought.page()
