"""`why` on planted models: what it must not name. Every row's own cause is tested over drawn cases in `bench`."""

import pytest

from whybox.jobs.why import WhyOptions, why
from whybox.testing import ROWS
from whybox.testing.decoys import NONE


@pytest.mark.parametrize("row", ["suppressed", "memoriser", "mixed"])
def test_without_enough_others_to_compare_with_nothing_is_named(row: str) -> None:
    planted = ROWS[row](1, NONE)
    found = why(planted.model, planted.case, WhyOptions(limit=4))
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
