"""Reads: numbers worked by hand on a run whose logits are written down, and the same from torch with gradients."""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
import pytest
import torch

from tests.engine.random_models import IDS, engine, spec
from whybox.engine.read import Readable, Reading, divergence, log_prob_of, logit_difference, logits_at, site
from whybox.engine.trace import Cache, Trace
from whybox.errors import SiteError, UsageError

LN2 = log(2)
# Rows 3, 4 and 5 of a run that fed ids at positions 0 … 5; probabilities are 1/4 1/2 1/4, 1/8 1/8 3/4, 1/3 1/3 1/3.
LOGITS = np.array([[0, LN2, 0], [0, 0, log(6)], [5, 5, 5]])
FED = (2, 0, 1, 1, 1, 2)


def run(logits: np.ndarray = LOGITS, ids: tuple[int, ...] = FED) -> Trace:
    rows = range(len(ids) - len(logits), len(ids))
    kept = {("resid_post", 1): np.ones((6, 13)), ("final", None): np.zeros((6, 13))}
    cache = Cache((), len(ids), len(ids))
    return Trace(spec(), ids, 0, kept, logits, rows, (), (), cache, "by hand", "fp64", "none")


@dataclass(frozen=True)
class Graded:
    """A run in torch, as an engine of gradients would hand it to a read."""

    logits: torch.Tensor
    ids: tuple[int, ...] = FED

    @property
    def rows(self) -> range:
        return range(len(self.ids) - len(self.logits), len(self.ids))

    def log_probs(self, row: int = -1) -> torch.Tensor:
        return self.logits[row].log_softmax(-1)

    def constant(self, values: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(values)

    def __getitem__(self, key: Any) -> torch.Tensor:
        return self.logits * 2


def test_log_probability_of_an_answer_sums_the_rows_before_its_ids() -> None:
    assert log_prob_of((1, 2))(run()) == pytest.approx(log(1 / 2) + log(3 / 4), abs=1e-12)
    assert log_prob_of((2,))(run()) == pytest.approx(log(3 / 4), abs=1e-12)


def test_the_last_id_of_an_answer_need_not_be_fed() -> None:
    assert log_prob_of((2, 0), start=5)(run()) == pytest.approx(log(3 / 4) + log(1 / 3), abs=1e-12)
    assert log_prob_of((0,), start=6)(run()) == pytest.approx(log(1 / 3), abs=1e-12)
    assert log_prob_of((1,), start=4)(run()) == pytest.approx(log(1 / 2), abs=1e-12)


def test_an_answer_that_the_run_did_not_read_or_whose_rows_are_missing_is_refused() -> None:
    with pytest.raises(UsageError, match=r"from position 4 on the run reads \(1, 2\), the answer is \(1, 0\)"):
        log_prob_of((1, 0))(run())
    with pytest.raises(SiteError, match="row 2 was not computed; there are rows 3 … 5"):
        log_prob_of((1, 1, 2))(run())
    with pytest.raises(SiteError, match="row 6 was not computed"):
        log_prob_of((0, 1), start=6)(run())
    with pytest.raises(UsageError, match="no token before it"):
        log_prob_of(FED)(run())
    with pytest.raises(UsageError, match="no token before it"):
        log_prob_of((2,), start=0)(run())
    with pytest.raises(UsageError, match="at least one id"):
        log_prob_of(())


def test_logit_difference_is_in_logits() -> None:
    assert logit_difference(2, 0, row=4)(run()) == pytest.approx(log(6), abs=1e-12)
    assert logit_difference(0, 1, row=-3)(run()) == pytest.approx(-LN2, abs=1e-12)
    assert logit_difference(0, 1)(run()) == 0


def test_divergence_is_from_base_to_changed() -> None:
    """Row 3: ¼ ln(¼/⅛) + ½ ln(½/⅛) + ¼ ln(¼/¾) = ¼ ln 2 + ln 2 − ¼ ln 3."""
    changed = run(LOGITS[[1, 1, 2]])
    by_hand = 1.25 * LN2 - 0.25 * log(3)
    assert divergence(run(), 3)(changed) == pytest.approx(by_hand, abs=1e-12)
    assert divergence(run(), (3, 4))(changed) == pytest.approx(by_hand / 2, abs=1e-12)
    assert divergence(run())(changed) == 0
    backwards = 1 / 8 * log(1 / 2) + 1 / 8 * log(1 / 4) + 3 / 4 * log(3)
    assert divergence(changed, 3)(run()) == pytest.approx(backwards, abs=1e-12)


def test_a_row_from_the_end_is_found_in_a_text_of_another_length() -> None:
    longer = run(LOGITS[[1, 0, 2]], (*FED, 1))
    assert divergence(run(), -2)(longer) == pytest.approx(1 / 8 * log(1 / 2) + 1 / 8 * log(1 / 4) + 3 / 4 * log(3))


def test_logits_and_sites() -> None:
    assert np.array_equal(logits_at((5, 3))(run()), LOGITS[[2, 0]])
    assert np.array_equal(logits_at()(run()), LOGITS[[2]])
    assert site("resid_post", 1)(run()).sum() == 6 * 13
    assert site("final")(run()).sum() == 0
    with pytest.raises(SiteError, match="was not kept"):
        site("pattern", 0)(run())
    with pytest.raises(SiteError, match="row -4 was not computed"):
        logits_at(-4)(run())
    with pytest.raises(UsageError, match="at least one row"):
        logits_at(())


READS: list[Reading] = [
    log_prob_of((1, 2)),
    log_prob_of((2, 0), start=5),
    logit_difference(2, 0, row=4),
    divergence(run(LOGITS[[1, 1, 0]]), (3, 5)),
]


@pytest.mark.parametrize("read", READS, ids=repr)
def test_a_run_with_gradients_is_read_alike(read: Reading) -> None:
    graded = Graded(torch.tensor(LOGITS, requires_grad=True))
    assert isinstance(graded, Readable)
    value = read(graded)
    assert value.item() == pytest.approx(float(read(run())), abs=1e-12)
    value.backward()
    step = 1e-6
    for place in np.ndindex(LOGITS.shape):
        moved = [LOGITS.copy(), LOGITS.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slope = (read(run(moved[0])) - read(run(moved[1]))) / (2 * step)
        assert graded.logits.grad is not None
        assert graded.logits.grad[place].item() == pytest.approx(slope, abs=1e-8)


def test_they_show_what_they_are() -> None:
    assert repr(log_prob_of([7, 8])) == "LogProb(ids=(7, 8), start=None)"
    assert repr(logit_difference(7, 8)) == "LogitDifference(right=7, wrong=8, row=-1)"
    assert repr(divergence(run())) == "Divergence(base=<Trace of 6 tokens: resid_post, final>, rows=(-1,))"
    assert repr(logits_at(3)) == "Logits(rows=(3,))"
    assert repr(site("pattern", 5)) == "SiteValue(name='pattern', layer=5)"


def test_a_real_run_is_read_as_it_is() -> None:
    model = engine(spec())
    trace = model.run((*IDS, 7, 9), tail=3)
    assert isinstance(trace, Readable)
    whole = model.run((*IDS, 7, 9))
    expected = whole.log_probs(len(IDS) - 1)[7] + whole.log_probs(len(IDS))[9]
    assert log_prob_of((7, 9))(trace) == pytest.approx(expected, abs=1e-12)
