"""What a row of the table of experiments says of its answer."""

from dataclasses import replace

import pytest

from tests.cause.studies import studied
from whybox.cause.answers import Outcome
from whybox.cause.study import Study
from whybox.cause.trials import Trial
from whybox.items.scoring.score import Score
from whybox.jobs.why_verdict import tried_rows
from whybox.testing.rows import ROWS
from whybox.verdict.reading import facts_of


@pytest.fixture(scope="module")
def study() -> Study:
    return studied(ROWS["not_looking"](0), "answer")


def trial(study: Study, text: str, right: bool) -> Trial:
    reading = study.decided.base.reading
    score = Score("right" if right else "invalid")
    return Trial("a change", (), frozenset({"prefix"}), Outcome(text, score, reading, None, right, False), None)


@pytest.mark.parametrize(
    ("text", "right", "flips"), [("7 days", True, True), ("No.", False, False), (" \n", False, None)]
)
def test_an_empty_answer_is_none(study: Study, text: str, right: bool, flips: bool | None) -> None:
    study.trials = {"one": trial(study, text, right)}
    facts = replace(facts_of(study, None, None), right=False)
    row = next(iter(tried_rows(study, facts)))
    assert (row.flips, row.flips_reason) == (flips, "no answer was written" if flips is None else None)


def test_where_only_the_form_is_wrong_what_turns_it_right_flips(study: Study) -> None:
    study.trials = {"one": trial(study, "7 days", True)}
    wrong = replace(facts_of(study, None, None), right=False)
    assert next(iter(tried_rows(study, wrong))).flips is True
    assert next(iter(tried_rows(study, replace(wrong, right=True)))).flips is False
