"""Controls whose answer the limit cut: more of it is written, and what it says then decides."""

from dataclasses import replace

import pytest

from tests.cause.studies import studied
from whybox.cause.answers import Outcome
from whybox.cause.stages import asks_form
from whybox.cause.study import Study
from whybox.cause.trials import WRITTEN_ON, Maker, Setting, Sham, Trial, with_control, with_shams
from whybox.items.scoring.cut import CUT
from whybox.items.scoring.score import Score
from whybox.model import Model
from whybox.testing.rows import ROWS

LIMIT = 4


@pytest.fixture(scope="module")
def study() -> Study:
    return studied(ROWS["not_looking"](0), "answer")


def answering(at: int) -> Maker:
    """Right, once it may write so many tokens; cut before."""

    async def trial(_: Model, setting: Setting) -> Trial:
        said, base = setting.asked.settings.limit >= at, setting.base
        found = Outcome("", Score("right") if said else CUT, base.reading, base.reading, said, earlier_fork=False)
        return Trial("", (), frozenset(), found, 0.0)

    return trial


@pytest.mark.parametrize(("at", "flipped", "cut"), [(LIMIT, 3, 0), (WRITTEN_ON * LIMIT, 3, 0), (1_000, 0, 3)])
def test_a_sham_that_was_cut_is_written_on(study: Study, at: int, flipped: int, cut: int) -> None:
    setting = study.decided
    bare = Trial("", (), frozenset(), Outcome("", Score("right"), setting.base.reading, None, True, False), 0.0)
    found = with_shams(study.bench, setting, bare, lambda _: [Sham(answering(at))] * 3).shams
    assert found is not None
    assert (found.flipped, found.cut, len(found.after)) == (flipped, cut, 3)
    assert with_control(study.bench, setting, bare, answering(at)).unread is (flipped > 0)


def test_a_value_that_the_answer_gives_as_it_is_was_made_by_no_boost(study: Study) -> None:
    def saying(text: str) -> Maker:
        async def trial(_: Model, setting: Setting) -> Trial:
            base = setting.base
            found = Outcome(text, Score("wrong"), base.reading, base.reading, False, earlier_fork=False)
            return Trial("", (), frozenset(), found, 0.0)

        return trial

    bare = Trial("", (), frozenset(), Outcome("", Score("right"), study.decided.base.reading, None, True, False), 0.0)
    shams = [Sham(saying("48 days"), ("48 days",)), Sham(saying("12 days"), ("12 days",))]
    setting = replace(study.decided, given="It takes 48 days.")
    found = with_shams(study.bench, setting, bare, lambda _: shams).shams
    assert found is not None
    assert (found.rivals, found.copied) == (2, 1)


@pytest.mark.parametrize(
    ("given", "asks"), [("7 days", True), ("Answer: 30 days", True), ("Answer: 7 days", True), ("30 days", False)]
)
def test_the_form_is_asked_of_changes_as_of_the_answer(study: Study, given: str, asks: bool) -> None:
    case = replace(study.asked.case, right="7 days", wrong="30 days", kind="number", contract_prefix="Answer: ")
    asked = replace(study.asked, case=case)
    own = replace(study.answered, text=given, score=asked.score(given, stopped=True))
    asked = replace(asked, in_form=asks_form(case, own))
    assert asked.in_form is asks
    assert asked.score("Answer: 7 days", stopped=True).right
    assert asked.score("7 days", stopped=True).right is not asks
