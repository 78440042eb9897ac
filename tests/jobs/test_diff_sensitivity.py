"""`diff --sensitivity` as a document: what was measured, field by field, and why a number is missing."""

import pytest

from tests.compare.test_sensitivity import sides
from whybox.compare.comparison import Asked
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sensitivity import Sensitivity, sensitivity
from whybox.compare.sides import Live
from whybox.errors import UsageError
from whybox.jobs.diff_sensitivity import FEW_BLOCKS, diff_sensitivity
from whybox.report.document.diff import SensitivityDocument

TEXTS = (Text("ids", (5, 9, 3, 7, 11, 4, 8, 6, 10, 2), None),)
ASKED = Asked(TEXTS, 4)
__all__ = ["sides"]


@pytest.fixture(scope="module")
def found(sides: tuple[Live, Live]) -> Sensitivity:
    return sensitivity(*sides, TEXTS, ASKED.effort)


@pytest.fixture(scope="module")
def document(sides: tuple[Live, Live]) -> SensitivityDocument:
    return diff_sensitivity(*sides, ASKED, 7, "zh")


def test_the_document_is_what_was_measured(found: Sensitivity, document: SensitivityDocument) -> None:
    assert (document.seed, document.lang, document.texts) == (7, "zh", ("ids",))
    assert [side.name for side in document.sides] == ["ours", "theirs"]
    assert document.sides[1].precision == "int4"
    assert (document.kl, document.floor, document.runs) == (found.kl, found.floor, found.runs)
    assert [(row.kind, row.name, row.gain) for row in document.units] == [
        (each.unit.kind, each.unit.name, each.gain) for each in found.units
    ]
    assert len(document.units) > len({row.kind for row in document.units})
    kept = None if found.keep is None else found.keep.unit.name
    assert (document.keep and document.keep.name) == kept
    assert (document.keep is None) == (document.keep_reason is not None)


def test_one_block_of_positions_has_no_interval_and_says_so(document: SensitivityDocument) -> None:
    assert document.blocks == 1
    assert (document.interval, document.interval_reason) == (None, FEW_BLOCKS)
    assert {row.interval_reason for row in document.units} == {FEW_BLOCKS}


def test_a_side_without_weights_is_refused(sides: tuple[Live, Live]) -> None:
    recorded = Recorded("theirs.npz", (Recording(Observation(TEXTS[0].ids, {})),))
    with pytest.raises(UsageError, match=r"theirs\.npz holds no weights to give back"):
        diff_sensitivity(sides[0], recorded, ASKED)
