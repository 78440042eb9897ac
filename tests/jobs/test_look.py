"""`look` on real prompts: a document that is complete, reads back, and says what a run shows."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

import whybox
from tests.real import real
from whybox.errors import PromptError, SiteError
from whybox.items.case import Case
from whybox.jobs.look import LookOptions, LookResult, look
from whybox.jobs.look_brought import NO_MODEL, brought_payload, look_at_brought
from whybox.measure import dilution
from whybox.report.document import LookDocument, to_json

model_marks = pytest.mark.model


@pytest.fixture(scope="module")
def refund() -> LookResult:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(dilution, "LENGTHS", (40, 100, 400, 1000))
        return look(real("smollm2", "torch"), Case.load("examples/refund.yaml"), LookOptions(dilution="doc2"))


@model_marks
def test_the_document_is_complete_and_reads_back(refund: LookResult) -> None:
    document = refund.document
    assert LookDocument.model_validate(json.loads(to_json(document))) == document
    assert (len(document.heads), len(document.layers), len(document.maps.heads)) == (270, 30, 270)
    assert [segment.name for segment in document.segments] == [s.name for s in refund.looked.prompt.segments]
    assert sum(segment.share for segment in document.segments) == pytest.approx(1, abs=1e-5)
    assert sum(segment.mean_share for segment in document.segments) == pytest.approx(1, abs=1e-5)
    assert document.decision.position == len(document.tokens) - 1 == 49
    assert sum(document.decision.by_token) == pytest.approx(1, abs=1e-3)
    assert max(len(row) for each in document.maps.heads for row in each.values) <= 32
    assert all(layer.units == 1536 and layer.dead_units is not None for layer in document.layers)
    assert {each.name: each.count for each in document.classes}["induction"] >= 5


@model_marks
def test_numbers_are_those_of_the_run(refund: LookResult) -> None:
    trace = real("smollm2", "torch").run(refund.looked.prompt, see=["pattern", "scores"])
    for each in refund.document.heads[100:110]:
        pattern = trace["pattern", each.layer][each.head]
        assert each.sink == pytest.approx(pattern[1:, 0].mean(), abs=1e-5)
        assert each.self == pytest.approx(np.diag(pattern)[8:].mean(), abs=1e-5)
        visible = trace["scores", each.layer][each.head][np.tril_indices(50)]
        assert each.score_sd == pytest.approx(visible.std(), rel=1e-3)
        doc2 = [segment.name for segment in refund.document.segments].index("doc2")
        assert each.decision_segments[doc2] == pytest.approx(pattern[-1, 26:36].sum(), rel=2e-3, abs=1e-6)


@model_marks
def test_the_wrong_answer_was_not_looked_at(refund: LookResult) -> None:
    found = {each.code: each for each in refund.document.diagnoses}
    assert found["UNSEEN"].evidence["lift"] == pytest.approx(0.320, abs=0.005)
    assert found["UNSEEN"].where.segments == refund.document.evidence == ("doc2",)
    rate = found["UNSEEN"].base_rate
    assert rate is not None
    assert (rate.model, rate.own, rate.n) == ("smollm2", True, 200)
    for each in found.values():
        assert each.base_rate is not None
        assert each.common == (each.base_rate.hits > 20)
        assert (each.action is None) == each.common
    assert found["SINK"].common


@model_marks
def test_a_share_falls_as_filler_grows(refund: LookResult) -> None:
    curve = refund.document.dilution
    assert curve is not None
    assert [point.tokens for point in curve.points] == [50, 100, 400, 1000]
    assert not any(point.beyond_training for point in curve.points)
    segments = {segment.name: segment for segment in refund.document.segments}
    assert curve.points[0].share == pytest.approx(segments["doc2"].share, abs=1e-5)
    assert curve.points[-1].share < 0.2 * curve.points[0].share


@model_marks
def test_the_page_can_compute_exact_rows_from_the_payload(refund: LookResult) -> None:
    payload, model = refund.payload(), real("smollm2", "torch")
    keys = {(each.layer, each.group): each.rows for each in payload.key_rows}
    rules = {rule.layer: rule for rule in payload.rules}
    trace = model.run(refund.looked.prompt, see=["pattern"])
    assert len(payload.query_rows) == len(refund.document.opened) >= 5
    for each in payload.query_rows:
        query, key = unpacked(each.rows), unpacked(keys[each.layer, each.group])
        scores = query @ key.T * rules[each.layer].scale
        scores[np.triu_indices(50, 1)] = -np.inf
        pattern = np.exp(scores - scores.max(axis=1, keepdims=True))
        pattern /= pattern.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(pattern, trace["pattern", each.layer][each.head], atol=1e-5)


def unpacked(rows: whybox.report.document.Packed) -> np.ndarray:
    return np.frombuffer(base64.b64decode(rows.data), np.dtype(rows.dtype)).reshape(rows.shape).astype(np.float64)


@model_marks
def test_what_is_asked_for_must_exist() -> None:
    model = real("smollm2", "torch")
    case, prompt = Case.load("examples/refund.yaml"), model.prompt("a b c")
    with pytest.raises(PromptError, match="no segment 'doc9'; this prompt has template 1, policy"):
        look(model, case, LookOptions(dilution="doc9"))
    with pytest.raises(SiteError, match="layer 3 has no head 9"):
        look(model, prompt, LookOptions(open=((3, 9),)))
    with pytest.raises(SiteError, match="layers 0 … 29"):
        look(model, prompt, LookOptions(open=((30, 0),)))
    with pytest.raises(PromptError, match="one token"):
        look(model, model.prompt([504]))
    whole = Path("examples/refund.yaml").read_text("utf-8")
    long = Case.parse(whole.replace("Exchanges are", "word " * 9000 + "Exchanges are"))
    with pytest.raises(PromptError, match="'doc2' lies at tokens 9026 … 9035, outside the trained context"):
        look(model, long)


class TestBrought:
    def bert(self) -> tuple[torch.Tensor, ...]:
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=31,
            num_hidden_layers=3,
            num_attention_heads=5,
            hidden_size=35,
            intermediate_size=37,
            max_position_embeddings=16,
            attn_implementation="eager",
        )
        with torch.no_grad():
            found = BertModel(config).eval()(torch.arange(3, 14)[None], output_attentions=True)
        return tuple(found.attentions or ())

    def test_a_document_without_a_model(self) -> None:
        arrays = self.bert()
        brought = whybox.attention(arrays, ["[CLS]", *map(str, range(9)), "[SEP]"])
        document = look_at_brought(brought, "bert")
        assert LookDocument.model_validate(json.loads(to_json(document))) == document
        assert (document.direction, len(document.heads), document.probe_reason) == ("both", 15, NO_MODEL)
        first = document.heads[0]
        assert first.next == pytest.approx(float(np.diag(arrays[0][0, 0].numpy(), 1)[1:].sum() / 10), abs=1e-6)
        assert first.induction is None
        assert first.induction_reason == NO_MODEL
        payload = brought_payload(brought, document.opened)
        each = payload.patterns[0]
        np.testing.assert_array_equal(unpacked(each.rows), arrays[each.layer][0, each.head].numpy())

    def test_cross_attention_has_no_distances(self) -> None:
        uniform = np.full((2, 3, 4), 0.25)
        document = look_at_brought(whybox.attention([uniform], ["a", "b", "c"], keys=["w", "x", "y", "z"]))
        assert document.direction == "cross"
        assert [token.text for token in document.key_tokens] == ["w", "x", "y", "z"]
        head = document.heads[0]
        assert (head.previous, head.distance, head.stripe, head.induction_text) == (None, None, None, None)
        assert head.entropy == pytest.approx(np.log(4))
        assert [len(row) for row in document.maps.heads[0].values] == [4, 4, 4]
