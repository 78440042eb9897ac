"""`why` with runs made at once says what it says with every run made by itself, whichever engine makes them."""

from collections.abc import Callable
from functools import cache

import pytest

from tests.cause.twin import OneByOne
from whybox.cause.floor import runs as floor_runs
from whybox.compare.switches import REFERENCE
from whybox.jobs.otherwise import Otherwise
from whybox.jobs.why import WhyOptions, why
from whybox.report.document import WhyDocument
from whybox.testing import context_rows, knowledge_rows
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Planted

ROWS: dict[str, tuple[Callable[..., Planted], Decoys]] = {
    "not_looking": (context_rows.not_looking, NONE),
    "missing_fact": (knowledge_rows.missing_fact, NONE),
}
FLOOR = 1  # place of the stage in which the floor is measured
OF_THE_RUN = {"took_s", "engine", "precision", "kernel", "machine", "device", "runs", "made", "texts"}


def explained(planted: Planted, engine: str) -> WhyDocument:
    """Without the last stage, which computes the answer once more on the other engine."""
    fact = planted.fact.text if planted.fact else ""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("whybox.jobs.why.otherwise", lambda *_: Otherwise())
        return why(planted.model.variant(engine=engine), planted.case, WhyOptions(limit=4, fact=fact))


def assert_alike(mine: object, theirs: object, near: float, place: str = "") -> None:
    """Equal texts, counts and shapes; numbers within the floor."""
    match mine, theirs:
        case dict(), dict():
            assert set(mine) == set(theirs), place
            for key in set(mine) - OF_THE_RUN:
                assert_alike(mine[key], theirs[key], near, f"{place}.{key}")
        case ((list() | tuple()), (list() | tuple())):
            assert len(mine) == len(theirs), place
            for index, (one, other) in enumerate(zip(mine, theirs, strict=True)):
                assert_alike(one, other, near, f"{place}[{index}]")
        case float(), float():
            assert mine == pytest.approx(theirs, abs=near), place
        case _:
            assert mine == theirs, place


@cache
def alone(row: str) -> WhyDocument:
    make, decoys = ROWS[row]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("whybox.jobs.why.Bench", OneByOne)
        return explained(make(1, decoys), "numpy")


@pytest.mark.parametrize("engine", ["numpy", "torch"])
@pytest.mark.parametrize("row", ROWS)
def test_the_document_is_that_of_single_runs(row: str, engine: str) -> None:
    make, decoys = ROWS[row]
    planted = make(1, decoys)
    together, single = explained(planted, engine), alone(row)
    on_reference = floor_runs(planted.model.variant(engine=engine)) - floor_runs(planted.model)
    assert on_reference == (6 if engine == "torch" else 0)
    assert 0 < together.provenance.runs - on_reference <= single.provenance.runs
    floor = 5 * max(together.metric.noise, single.metric.noise)
    assert_alike(told(together, on_reference), told(single, 0), floor)


def told(document: WhyDocument, on_reference: int) -> dict[str, object]:
    """Without the stage that was left out, what the reference engine adds to torch's noise floor, and its name."""
    stages = [stage for stage in document.stages if stage.name != REFERENCE]
    stages[FLOOR] = stages[FLOOR].model_copy(update={"announced": stages[FLOOR].announced - on_reference})
    notes = tuple(note for note in document.provenance.notes if not note.startswith("noise floor"))
    assert len(notes) == len(document.provenance.notes) - 1
    kept = document.model_copy(
        update={"stages": tuple(stages), "provenance": document.provenance.model_copy(update={"notes": notes})}
    ).model_dump(mode="json")
    return kept | {"regression_test": kept["regression_test"].replace("engine='numpy'", "engine='torch'")}
