"""The shipped case on the default model: every figure that was measured by hand, two-sided."""

import time

import pytest

from tests.real import real
from whybox.cause.bench import Progress
from whybox.engine.edit import cut, zero
from whybox.items.case import Case
from whybox.jobs.why import WhyOptions, why
from whybox.report.document import SegmentRow, Tried, WhyDocument

pytestmark = pytest.mark.model

REFUND = {
    "id": "refund-window",
    "prompt": [
        {"role": "system", "parts": [{"name": "policy", "text": "You answer from the documents only."}]},
        {
            "role": "user",
            "parts": [
                {"name": "doc1", "text": "Exchanges are accepted for {other} days."},
                {"name": "doc2", "text": "Refunds are paid within {right} days."},
                {"name": "question", "text": "How long does a refund take?"},
            ],
        },
    ],
    "vary": {"right": [7, 5, 9], "other": [30, 20, 60]},
    "answer": {"right": "{right} days", "wrong": "{other} days", "kind": "number"},
    "evidence": ["doc2"],
}
PREFIX = "A refund is only available for "
NEAR = 0.02


@pytest.fixture(scope="module")
def timed() -> tuple[WhyDocument, float]:
    """The document and the processor seconds that it took."""
    model, case = real("smollm2", "torch"), Case.from_data(REFUND)
    before = time.process_time()
    found = why(model, case, WhyOptions(file="refund.yaml"))
    return found, time.process_time() - before


@pytest.fixture
def document(timed: tuple[WhyDocument, float]) -> WhyDocument:
    return timed[0]


def tried(document: WhyDocument, what: str) -> Tried:
    return next(row for row in document.tried if row.what == what)


def segment(document: WhyDocument, name: str) -> SegmentRow:
    return next(row for row in document.segments if row.name == name)


def test_the_verdict_is_context_not_looked_at_confirmed(document: WhyDocument) -> None:
    (cause,) = document.verdict.causes
    assert (cause.code, cause.detail, cause.about) == ("context-use", "not-looked-at", ("doc2",))
    assert cause.undone_by == "boost decision → doc2"
    assert cause.after == pytest.approx(0.176, abs=NEAR)
    assert cause.flips is not None
    assert (cause.flips.hits, cause.flips.n) == (9, 9)
    assert document.verdict.scope == "variants"


def test_21_shams_do_not_flip(document: WhyDocument) -> None:
    shams = document.verdict.causes[0].shams
    assert shams is not None
    assert (shams.n, shams.flipped) == (21, 0)
    assert shams.rivals is not None
    assert shams.p == pytest.approx(1 / 22)
    assert (min(shams.after), max(shams.after)) == pytest.approx((-4.58, -0.72), abs=NEAR)


def test_answer_prefix_and_metric(document: WhyDocument) -> None:
    assert document.answer.got == "A refund is only available for 30 days after the exchange."
    assert (document.answer.prefix.kind, document.answer.prefix.text) == ("own", PREFIX)
    assert document.answer.position == 56
    assert document.metric.base == pytest.approx(-1.9591, abs=NEAR)
    assert document.metric.definition == "z[7] − z[3] at the decision position"
    assert 0 < document.metric.noise < 1e-3


def test_other_prompts(document: WhyDocument) -> None:
    base = document.metric.base
    alone, moved = tried(document, "evidence alone"), tried(document, "order doc2 doc1")
    assert alone.flips is True
    assert base + (alone.effect or 0) == pytest.approx(1.590, abs=NEAR)
    assert moved.flips is False
    assert base + (moved.effect or 0) == pytest.approx(-1.369, abs=NEAR)
    closed = tried(document, "closed book")
    assert (closed.flips, closed.cut) == (None, True), "it wrote on to its limit and gave no value"
    forced = tried(document, "behind the prefix “Answer: ”")
    assert base + (forced.effect or 0) == pytest.approx(0.621, abs=NEAR)
    assert forced.flags == ("prefix not the model's own",)


def test_edges(document: WhyDocument) -> None:
    boost, without = tried(document, "boost decision → doc2"), tried(document, "cut decision → doc1")
    assert boost.answer is not None
    assert boost.answer.startswith("Refundries are paid within 7 days.")
    assert without.flips is True
    assert document.metric.base + (without.effect or 0) == pytest.approx(1.105, abs=NEAR)
    assert segment(document, "doc1").direct == pytest.approx(without.effect, abs=1e-3)


def test_every_segment_has_its_effects_or_a_reason(document: WhyDocument) -> None:
    names = [row.name for row in document.segments]
    assert names == ["template", "policy", "doc1", "doc2", "question", "answer so far"]
    assert sum(row.share or 0 for row in document.segments) == pytest.approx(1, abs=1e-5)
    doc2 = segment(document, "doc2")
    assert doc2.direct_sides is not None
    assert doc2.direct == pytest.approx(doc2.direct_sides.right - doc2.direct_sides.wrong, abs=1e-4)
    assert doc2.null is not None
    assert doc2.null.p == pytest.approx(1 / 22)
    # The removed document leaves the evidence alone.
    assert segment(document, "doc1").removed == pytest.approx(tried(document, "evidence alone").effect, abs=1e-3)


def test_lift_and_agreement_of_share_and_effect(document: WhyDocument) -> None:
    notes = " · ".join(document.provenance.notes)
    assert "lift of the evidence at the decision row: 0.35" in notes
    assert "over 56 keys: 0.79" in notes
    assert document.agreement is not None
    assert (document.agreement.n, document.agreement.segment) == (270, "doc2")
    assert abs(document.agreement.signed) < 0.4


def test_the_lens_ends_in_the_logits(document: WhyDocument) -> None:
    assert len(document.lens) == 30
    assert document.lens[-1].ld == pytest.approx(document.metric.base, abs=1e-4)
    assert document.lens[-1].right == pytest.approx(-2.250, abs=NEAR)


def test_the_map_is_a_lower_triangle_of_rows_that_sum_to_one(document: WhyDocument) -> None:
    assert document.pattern is not None
    rows = [[value for value in row if value is not None] for row in document.pattern.values]
    assert [len(row) for row in rows] == list(range(1, 58))
    assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in rows)


def test_the_regression_test_is_python_and_names_the_case(document: WhyDocument) -> None:
    assert document.regression_test is not None
    compile(document.regression_test, "regression", "exec")
    assert "refund.yaml" in document.regression_test
    assert "xfail" not in document.regression_test


def test_single_edges_and_a_head_as_measured_by_hand(document: WhyDocument) -> None:
    """Cutting id 33 lowers LD by 3.305, id 21 raises it by 3.238; zeroing head 23.0 lowers it by .575."""
    model = real("smollm2")
    ids = tuple(token.id for token in document.prompt.tokens)
    right, wrong = (model.tokenizer.encode(digit)[0] for digit in "73")

    def ld(*edits: object) -> float:
        logits = model.engine.run(ids, edits=edits, tail=1).logits[-1]
        return float(logits[right] - logits[wrong])

    base = ld()
    assert ld(cut(q=56, k=33)) - base == pytest.approx(-3.305, abs=NEAR)
    assert ld(cut(q=56, k=21)) - base == pytest.approx(3.238, abs=NEAR)
    assert ld(zero("head_out", 23, q=56, h=0)) - base == pytest.approx(-0.575, abs=NEAR)


def test_ctrl_c_keeps_what_is_done_and_says_what_is_missing() -> None:
    def stop_at_the_edges(progress: Progress) -> None:
        if progress.stage == "attention edges":
            raise KeyboardInterrupt

    found = why(
        real("smollm2"), Case.from_data(REFUND | {"vary": {"right": [7], "other": [30]}}), tell=stop_at_the_edges
    )
    assert found.verdict.causes[0].code == "not-determined"
    assert any("ended during “attention edges”" in note for note in found.provenance.notes)
    assert found.broken_off == "attention edges"
    assert tried(found, "evidence alone").flips is True
    assert found.segments[2].direct is None
    assert found.segments[2].direct_reason


def test_ctrl_c_before_the_answer_passes_on() -> None:
    def stop(progress: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        why(real("smollm2", "torch"), Case.from_data(REFUND), tell=stop)


def test_quick_takes_less_than_90_seconds_on_two_cores(timed: tuple[WhyDocument, float]) -> None:
    """Processor time, which a busy machine does not change, is twice the wall clock at most."""
    assert timed[1] < 2 * 90
