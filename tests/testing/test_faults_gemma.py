"""The faults that only a model with sliding windows, two RoPE bases and Gemma's norms can have, on Gemma 3 270M."""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.models import model_path
from tests.testing.signatures import Signature, ids_of_lines, streamed
from whybox.engine.trace import log_softmax
from whybox.model import Model, open_model
from whybox.testing import faults

pytestmark = pytest.mark.gemma

CAPITAL = (2, 818, 5279, 529, 7001, 563)  # BOS, The capital of France is


@pytest.fixture(scope="module")
def model() -> Model:
    return open_model(str(model_path("gemma3-270m")), "numpy")


@pytest.fixture(scope="module")
def ids(model: Model) -> list[int]:
    found = ids_of_lines(model, 45)[:700]
    assert found[:8] == [2, 4539, 236743, 236770, 236787, 506, 27829, 5463]
    return found


@pytest.fixture(scope="module")
def right(model: Model, ids: list[int]) -> np.ndarray:
    return finals(model, ids)


def finals(model: Model, ids: list[int]) -> np.ndarray:
    """`final` at every position, without 700 rows of logits."""
    last = len(model.spec.layers) - 1
    residual = model.engine.run(ids, [("resid_post", last)], tail=1)["resid_post", last]
    scale = np.sqrt(np.mean(residual**2, axis=-1, keepdims=True) + model.spec.final_norm.eps)
    return residual / scale * model.weights["final_norm.gain"]


def near(value: float) -> object:
    return pytest.approx(value, rel=0.02)


@dataclass(frozen=True)
class Long:
    fault: faults.Fault
    largest: float
    first: int
    kl: float
    flips: int


LONG = [
    Long(faults.window(1), 0.73, 512, 1.2414e-5, 0),
    Long(faults.window(-1), 0.50, 511, 8.8e-7, 0),
    Long(faults.NO_WINDOW, 19.1, 512, 0.249, 56),
    Long(faults.local_theta(1e6), 20.7, 1, 0.999, 295),
    Long(faults.positions_divided(8), 16.0, 1, 0.116, 68),
]


@pytest.mark.parametrize("case", LONG, ids=lambda case: case.fault.what)
def test_the_position_names_the_cause(model: Model, ids: list[int], right: np.ndarray, case: Long) -> None:
    found: Signature = streamed(ids, right, finals(case.fault.of(model), ids), model.weights["embed"])
    assert found.first == case.first
    assert found.largest == near(case.largest)
    assert found.kl.mean() == near(case.kl)
    assert abs(found.flips - case.flips) <= (1 if case.flips else 0)


@dataclass(frozen=True)
class Short:
    fault: faults.Fault
    largest: float
    kl: float
    flips: bool


SHORT = [
    Short(faults.GAIN_TWICE, 29.2, 16.9, flips=True),
    Short(faults.GAIN_NEVER, 34.3, 15.7, flips=True),
    Short(faults.ERF_GELU, 0.0104, 3.57e-6, flips=False),
    Short(faults.embed_scale(25.25), 0.0137, 2.39e-6, flips=False),
    Short(faults.EMBEDDING_UNSCALED, 42.0, 11.2, flips=True),
    Short(faults.score_scale(160**-0.5), 2.6, 0.1135, flips=False),
]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.fault.what)
def test_the_last_position_of_a_short_prompt(model: Model, case: Short) -> None:
    assert_last(model, case.fault.of(model), CAPITAL, case.largest, case.kl, case.flips)


@pytest.mark.parametrize(
    ("ids", "largest", "kl", "flips"), [(CAPITAL[1:], 16.7, 2.31, True), ((2, *CAPITAL), 4.76, 0.178, False)]
)
def test_no_bos_and_two(model: Model, ids: tuple[int, ...], largest: float, kl: float, flips: bool) -> None:
    assert_last(model, model, ids, largest, kl, flips)


def assert_last(model: Model, other: Model, ids: tuple[int, ...], largest: float, kl: float, flips: bool) -> None:
    base, faulty = model.engine.run(CAPITAL, tail=1).logits[-1], other.engine.run(ids, tail=1).logits[-1]
    assert np.abs(faulty - base).max() == near(largest)
    found = float((np.exp(log_softmax(base)) * (log_softmax(base) - log_softmax(faulty))).sum())
    assert found == near(kl)
    assert (int(faulty.argmax()) != int(base.argmax())) is flips
