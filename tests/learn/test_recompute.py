"""Every toy figure is what was recorded; statuses follow from the numbers; a broken record shows."""

import numpy as np
import pytest

from tests.learn.test_ledger import ONE
from whybox.errors import FormatError
from whybox.learn import recompute
from whybox.learn.figures import ON_MODEL, TOYS, scaling
from whybox.learn.ground import Ground
from whybox.learn.ledger import Claim, read, shipped
from whybox.learn.recompute import Entry, Number, planned_runs
from whybox.model import Model

TOY_CLAIMS = [claim for claim in shipped().claims if not planned_runs([claim])]


def closed() -> Model:
    raise AssertionError("no toy needs a model")


def of_toys(claims: list[Claim]) -> tuple[Entry, ...]:
    return recompute.recompute(claims, Ground(closed), lambda done, planned: None)


@pytest.fixture(scope="module")
def entries() -> dict[str, Entry]:
    return {entry.claim.id: entry for entry in of_toys(TOY_CLAIMS)}


@pytest.mark.parametrize("claim", TOY_CLAIMS, ids=lambda claim: claim.id)
def test_every_toy_figure_is_what_was_recorded(claim: Claim, entries: dict[str, Entry]) -> None:
    entry = entries[claim.id]
    assert entry.misfits == (), [(number.name, number.found) for number in entry.numbers]
    assert entry.status_follows


@pytest.mark.parametrize("name", TOYS)
def test_toys_beside_figures_of_a_model_are_what_was_recorded(name: str) -> None:
    """Those of claims that rest on a model as well."""
    found = TOYS[name]()
    values = found if isinstance(found, tuple) else (found,)
    for claim in shipped().claims:
        for rest in (rest for rest in claim.rests.values() if rest.figure == name):
            taken = values if rest.take is None else values[rest.take : rest.take + 1]
            assert Number("", rest, taken).fits, (claim.id, values)


def test_numbers_and_records_have_the_same_length(entries: dict[str, Entry]) -> None:
    for entry in entries.values():
        for number in entry.numbers:
            assert number.found is None or not number.rest.expected or len(number.found) == len(number.rest.expected)


def test_toys_open_no_model_and_models_count_their_runs() -> None:
    assert planned_runs(TOY_CLAIMS) == 0
    (c95,) = shipped().chosen(["C95"])
    (c74,) = shipped().chosen(["C74"])
    (c37,) = shipped().chosen(["C37"])
    assert planned_runs([c37]) == 3
    assert planned_runs([c74]) == planned_runs([c74, c74]) == 2
    assert planned_runs(shipped().claims) == 1 + sum(figure.runs for figure in ON_MODEL.values())
    assert planned_runs([c95]) > 0


def test_a_record_that_no_longer_fits_is_seen() -> None:
    (wrong,) = of_toys(list(read(ONE.replace("11.107", "11.109")).claims))
    assert (wrong.misfits, wrong.holds) == (("sum",), False)
    (right,) = of_toys(list(read(ONE).claims))
    assert (right.misfits, right.holds) == ((), True)


@pytest.mark.parametrize(
    ("status", "stated", "follows"),
    [("wrong", "12.08", True), ("wrong", "11.11", False), ("right", "12.08", False), ("right", "11.11", True),
     ("imprecise", "12.08", True), ("imprecise", "11.11", True)],
)  # fmt: skip
def test_a_status_follows_from_what_the_document_prints(status: str, stated: str, follows: bool) -> None:
    text = ONE.replace("status: wrong", f"status: {status}").replace("12.08", stated)
    (entry,) = of_toys(list(read(text).claims))
    assert entry.status_follows is follows
    assert entry.holds is follows


def test_a_figure_that_nobody_knows() -> None:
    with pytest.raises(FormatError, match=r"C1\.figure: expected the name of a figure, found 'worked.none'"):
        of_toys(list(read(ONE.replace("worked.two_one_zero_sum", "worked.none")).claims))


def test_too_few_and_too_many_numbers_do_not_fit() -> None:
    rest = read(ONE).claims[0].rests["sum"]
    assert Number("sum", rest, (11.107,)).fits
    assert Number("sum", rest, (11.107, 11.107)).fits is False
    assert Number("sum", rest, ()).fits is False
    assert Number("sum", rest, None).fits is None


def test_the_largest_slope_is_that_of_the_jacobian() -> None:
    weights = np.array([0.7, 0.2, 0.1])
    jacobian = np.diag(weights) - np.outer(weights, weights)
    assert scaling.largest_slope(weights) == pytest.approx(np.abs(jacobian).max(), abs=1e-15)
