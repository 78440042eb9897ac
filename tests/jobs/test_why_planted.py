"""`why` on models whose mechanism is known: every row of causes is named, and nothing else is.

Rows whose shams are heads or MLPs stand in a crowd of decoys, so that enough others exist.
"""

from collections.abc import Callable

import pytest

from whybox.jobs.why import WhyOptions, why
from whybox.testing import context_rows, form_rows, knowledge_rows
from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.planted import Planted

ROWS: dict[str, tuple[Callable[..., Planted], Decoys, tuple[str, str | None]]] = {
    "first_biased": (context_rows.first_biased, NONE, ("order", None)),
    "recency_biased": (context_rows.recency_biased, NONE, ("order", None)),
    "blind_spot": (context_rows.blind_spot, NONE, ("order", None)),
    "not_looking": (context_rows.not_looking, NONE, ("context-use", "not-looked-at")),
    "suppressed": (context_rows.suppressed, CROWD, ("context-use", "looked-at-not-used")),
    "near_tie": (form_rows.near_tie, NONE, ("decoding", None)),
    "format_derailer": (form_rows.format_derailer, NONE, ("format", None)),
    "memoriser": (knowledge_rows.memoriser, CROWD, ("knowledge", "overruled")),
    "missing_fact": (knowledge_rows.missing_fact, NONE, ("knowledge", "missing")),
    "beyond": (knowledge_rows.beyond, NONE, ("not-determined", "beyond-the-model")),
    "mixed": (knowledge_rows.mixed, CROWD, ("joint", "order+knowledge")),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_planted_cause_is_named_alone(row: str) -> None:
    make, decoys, expected = ROWS[row]
    planted = make(1, decoys)
    found = why(planted.model, planted.case, WhyOptions(limit=4, fact=planted.fact.text if planted.fact else ""))
    assert [(cause.code, cause.detail) for cause in found.verdict.causes] == [expected]
    if expected[0] != "not-determined":
        assert found.verdict.causes[0].flips is not None
        assert found.verdict.causes[0].flips.hits >= 1


@pytest.mark.parametrize("row", ["suppressed", "memoriser", "mixed"])
def test_without_enough_others_to_compare_with_nothing_is_named(row: str) -> None:
    planted = ROWS[row][0](1, NONE)
    found = why(planted.model, planted.case, WhyOptions(limit=4))
    assert found.verdict.causes[0].code == "not-determined"
    assert "Candidate" in found.verdict.because
