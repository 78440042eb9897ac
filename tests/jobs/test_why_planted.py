"""`why` on planted models: what it must not name. Every row's own cause is tested over drawn cases in `bench`."""

from functools import cache
from html import escape

import pytest

from whybox.jobs.why import WhyOptions, why
from whybox.report.document import WhyDocument
from whybox.report.html import why_page
from whybox.testing import ROWS
from whybox.testing.decoys import NONE


@pytest.mark.parametrize("row", ["suppressed", "memoriser", "mixed"])
def test_without_enough_others_to_compare_with_nothing_is_named(row: str) -> None:
    found = explained(row)
    assert found.verdict.causes[0].code == "not-determined"
    assert "Candidate" in found.verdict.because


def test_a_flip_that_any_other_place_gives_as_well_names_nothing() -> None:
    planted = ROWS["hanging"](1, NONE)
    found = why(planted.model, planted.case, WhyOptions(limit=4))
    assert [cause.code for cause in found.verdict.causes] == ["not-determined"]
    assert "shams turn the answer right as well" in found.verdict.because
    boost = next(row for row in found.tried if row.what.startswith("boost"))
    assert boost.flips


def test_a_named_cause_carries_its_proof() -> None:
    planted = ROWS["not_looking"](1, NONE)
    (cause,) = why(planted.model, planted.case, WhyOptions(limit=4)).verdict.causes
    assert cause.undone_by == f"boost decision → {planted.instance.evidence[0]}"
    assert cause.flips is not None
    assert cause.flips.hits == cause.flips.n >= 8
    assert cause.shams is not None
    assert cause.shams.p <= 0.05
    assert cause.shams.rivals is not None
    assert 0 < cause.shams.rivals < cause.shams.n


@pytest.mark.parametrize(
    ("row", "candidate", "lacks"),
    [
        ("misled", "context-use · looked-at-not-used", "so the answer does not rest on it"),
        ("averse", "knowledge · overruled", "with another value in the evidence the answer moves to it"),
        ("suggested", "knowledge · overruled", "so that it was remembered is not shown"),
    ],
)
def test_a_trap_is_a_candidate_that_says_why_it_is_not_named(row: str, candidate: str, lacks: str) -> None:
    found = explained(row)
    assert [(cause.code, cause.detail) for cause in found.verdict.causes] == [("not-determined", None)]
    said = [part for part in found.verdict.because.split(". ") if part.startswith(f"Candidate {candidate}")]
    assert said
    assert all(lacks in sentence for sentence in said)


def test_a_verdict_is_said_in_both_languages_whichever_the_document_is_in() -> None:
    planted = ROWS["averse"](1)
    english = why(planted.model, planted.case, WhyOptions(limit=4, lang="en")).verdict
    document = why(planted.model, planted.case, WhyOptions(limit=4, lang="zh"))
    chinese, back = document.verdict, document.verdict.said("en")
    assert back.because == english.because
    assert english.said("zh").because == chinese.because != english.because
    assert english.said("zh").would_change_my_mind == chinese.would_change_my_mind
    assert english.said("zh").next_step == chinese.next_step
    assert document.verdict.said("zh") is chinese
    assert escape(back.would_change_my_mind) in why_page(document, "en")


def test_the_appendix_lists_what_was_screened_and_what_the_evidence_was_made_to_say() -> None:
    rows = {row.what: row for row in explained("averse").tried}
    (screened,) = [row for what, row in rows.items() if what.startswith("each MLP")]
    assert screened.what.endswith("most by MLP 3")
    assert screened.effect == pytest.approx(40, abs=0.1)
    changed = [row for what, row in rows.items() if what.startswith("the evidence says ")]
    assert len(changed) == 3
    for row in changed:
        assert row.answer is not None
        assert row.what.removeprefix("the evidence says ") in row.answer
        assert row.flags == ("the answer follows",)
    assert "with the evidence hidden: does not flip" in rows["MLP 3 set to zero"].flags


@cache
def explained(row: str) -> WhyDocument:
    planted = ROWS[row](1, NONE)
    return why(planted.model.variant(engine="torch"), planted.case, WhyOptions(limit=4))
