"""Controls whose answer the limit cut: more of it is written, and what it says then decides."""

import pytest

from tests.cause.studies import studied
from whybox.cause.answers import Outcome
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
