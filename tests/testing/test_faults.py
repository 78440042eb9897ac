"""What planted faults do to a real model: published numbers on a text that anyone can rebuild, judged by position.

The right values come from transformers (float32, eager attention) on the dequantised weights.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.models import model_path
from tests.testing.signatures import Signature, ids_of_lines, signature
from whybox.engine.trace import log_softmax
from whybox.model import Model, open_model
from whybox.testing import faults

pytestmark = pytest.mark.model

CAPITAL = (504, 3575, 282, 4649, 314)  # The capital of France is
PAD = 2


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model(str(model_path("smollm2")), "numpy")


@pytest.fixture(scope="module")
def ids(model: Model) -> list[int]:
    found = ids_of_lines(model, 15)[:200]
    assert found[:8] == [11907, 216, 33, 42, 260, 26943, 3459, 216]
    return found


@pytest.fixture(scope="module")
def right(model: Model, ids: list[int]) -> np.ndarray:
    return model.engine.run(ids).logits


def near(value: float) -> object:
    return pytest.approx(value, rel=0.02)


def of(model: Model, ids: list[int], right: np.ndarray, fault: faults.Fault) -> Signature:
    return signature(ids, right, fault.of(model).engine.run(ids).logits)


def test_the_model_itself(ids: list[int], right: np.ndarray) -> None:
    assert signature(ids, right, right).nll == pytest.approx(1.2682, abs=5e-5)


def test_rope_rows_in_file_order(model: Model, ids: list[int], right: np.ndarray) -> None:
    found = of(model, ids, right, faults.ROPE_ROWS)
    assert found.largest == near(22.7)
    assert found.kl[0] == 0
    assert found.kl[1] == near(0.00129)
    assert (found.kl[50], found.kl[199]) == (near(2.1), near(3.0))
    assert found.nll == pytest.approx(4.0172, abs=1e-3)
    assert abs(found.flips - 146) <= 1
    assert found.first == 1


def test_rope_rows_of_keys_only(model: Model, ids: list[int], right: np.ndarray) -> None:
    found = of(model, ids, right, faults.ROPE_ROWS_OF_KEYS)
    assert found.largest == near(39.6)
    assert (found.kl[0], found.kl[1], found.kl[199]) == (0, near(3.35), near(4.16))
    assert found.nll == pytest.approx(7.5991, abs=1e-3)
    assert abs(found.flips - 196) <= 1
    assert found.first == 1


def test_a_wrong_theta_even_improves_the_likelihood(model: Model, ids: list[int], right: np.ndarray) -> None:
    found = of(model, ids, right, faults.theta(1e4))
    assert found.largest == near(10.6)
    assert (found.kl[0], found.kl.max(), found.kl.mean()) == (0, near(1.25), near(0.059))
    assert found.nll == pytest.approx(1.2139, abs=1e-4)
    assert abs(found.flips - 15) <= 1
    assert found.first == 1


def test_a_wrong_eps_flips_nothing(model: Model, ids: list[int], right: np.ndarray) -> None:
    found = of(model, ids, right, faults.eps(1e-6))
    assert found.largest == pytest.approx(0.020, abs=0.0005)
    assert found.kl.max() == pytest.approx(2.3e-6, abs=1e-7)  # two digits are published; rounding moves the third
    assert found.nll == pytest.approx(1.2682, abs=5e-5)
    assert found.flips == 0
    assert found.first == 0


def test_no_score_scale(model: Model, ids: list[int], right: np.ndarray) -> None:
    """Scores eight times too large are almost one-hot: rounding decides ties, so two implementations differ by 1 %,
    and two processors by 2."""
    found = of(model, ids, right, faults.NO_SCORE_SCALE)
    assert found.largest == pytest.approx(35.2, rel=0.04)
    assert (found.kl[0], found.kl.mean(), found.nll) == (0, near(3.58), near(4.8977))
    assert abs(found.flips - 141) <= 4


def test_final_gain_of_one(model: Model, ids: list[int], right: np.ndarray) -> None:
    found = of(model, ids, right, faults.FINAL_GAIN_ONE)
    assert found.largest == near(38.8)
    assert found.kl.mean() == near(12.3)
    assert found.nll == pytest.approx(13.4580, abs=1e-3)
    assert abs(found.flips - 191) <= 1
    assert found.first == 0


@dataclass(frozen=True)
class Short:
    fault: faults.Fault
    largest: float
    kl: float
    flips: bool


SHORT = [
    Short(faults.ROPE_ROWS, 6.0, 0.061, flips=False),
    Short(faults.theta(1e4), 0.79, 0.00267, flips=False),
    Short(faults.eps(1e-6), 0.013, 1.46e-6, flips=False),
    Short(faults.NO_SCORE_SCALE, 19.0, 7.0, flips=True),
    Short(faults.KV_HEADS_TILED, 21.6, 14.0, flips=True),
    Short(faults.FINAL_GAIN_ONE, 28.8, 9.3, flips=True),
]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.fault.name)
def test_the_last_position_of_a_short_prompt(model: Model, case: Short) -> None:
    base, faulty = (m.engine.run(CAPITAL, tail=1).logits[-1] for m in (model, case.fault.of(model)))
    assert np.abs(faulty - base).max() == near(case.largest)
    kl = float((np.exp(log_softmax(base)) * (log_softmax(base) - log_softmax(faulty))).sum())
    assert kl == near(case.kl)
    assert (int(faulty.argmax()) != int(base.argmax())) is case.flips


def test_left_padding_without_a_mask(model: Model) -> None:
    base = model.engine.run(CAPITAL, tail=1).logits
    padded = model.engine.run((PAD,) * 7 + CAPITAL, tail=1).logits
    assert np.abs(padded - base).max() == near(19.3)


def test_a_mask_after_the_softmax_is_felt_everywhere_but_in_the_last_row(model: Model, ids: list[int]) -> None:
    """Row sums fall below 1 wherever there is a future; in the first layer the last row alone has none."""
    faulty = faults.MASK_AFTER_SOFTMAX.of(model).engine.run(ids[:20], [("pattern", 0)])
    sums = faulty["pattern", 0].sum(axis=-1)
    assert sums[:, :-1].max() < 1 - 1e-4
    np.testing.assert_allclose(sums[:, -1], 1, atol=1e-5)


def test_a_cache_slot_too_early_shows_in_cached_steps_only(model: Model) -> None:
    broken = faults.CACHE_SLOT.of(model)
    np.testing.assert_array_equal(broken.engine.run(CAPITAL).logits, model.engine.run(CAPITAL).logits)
    stepped = {}
    for name, engine in (("sound", model.engine), ("broken", broken.engine)):
        before = engine.run(CAPITAL[:-1], cache=engine.fresh_cache(len(CAPITAL)))
        stepped[name] = engine.run(CAPITAL[-1:], cache=before.cache).logits[-1]
    whole = model.engine.run(CAPITAL, tail=1).logits[-1]
    assert np.abs(stepped["sound"] - whole).max() < 1e-3
    assert np.abs(stepped["broken"] - whole).max() > 1
