"""Which of int8 and int4 is the coarser hangs on the weights: measured, and said only where it surprises."""

import numpy as np
import pytest

from whybox.compare.coded import moved, moved_by_codes
from whybox.compare.comparison import Asked
from whybox.compare.prompts import Text
from whybox.compare.sides import Live
from whybox.jobs.diff import diff
from whybox.model import Model
from whybox.parts.codes import four_bits
from whybox.report.document.diff import HeldRow
from whybox.report.text_diff import codes_line
from whybox.testing import faults
from whybox.testing.noise import noisy
from whybox.weights import Weights

IDS = (5, 9, 3, 7, 11, 4, 8, 6, 10, 2)
ASKED = Asked((Text("ids", IDS, None),), 0)


@pytest.fixture(scope="module")
def model() -> Model:
    return noisy(0).model


def matrix(rows: np.ndarray) -> dict[str, float]:
    return moved(Weights({"layers.0.gate": rows.astype(np.float32), "layers.0.attn_norm.gain": np.ones(64)}))


def test_bell_shaped_weights_lose_more_in_four_bits() -> None:
    found = matrix(np.random.default_rng(0).normal(size=(32, 640)))
    assert 0 < found["int8"] < found["int4"] / 5


def test_weights_of_four_bit_blocks_lose_more_in_eight_bits() -> None:
    """Blocks of 32 with scales of their own, as a Q4_1 file has them: one scale for a row is coarser than that."""
    drawn = np.random.default_rng(0).normal(size=(32, 20, 32)) * np.random.default_rng(1).uniform(0.02, 1, (32, 20, 1))
    found = matrix(four_bits(drawn.reshape(32, 640).astype(np.float32)))
    assert found["int4"] < found["int8"] / 2


def test_only_a_side_in_codes_of_the_same_weights_is_measured(model: Model) -> None:
    ours = Live("ours", model)
    assert moved_by_codes(ours, Live("bf16", model.variant(engine="torch", precision="bf16"))) == {}
    assert moved_by_codes(ours, Live("other", faults.GAIN_TWICE.of(model))) == {}
    assert set(moved_by_codes(ours, Live("int8", model.variant(engine="torch", precision="int8")))) == {"int8", "int4"}


def test_it_is_said_in_one_sentence_where_eight_bits_do_more(model: Model) -> None:
    found = diff(Live("ours", model), Live("theirs", model), ASKED)
    assert codes_line(found, "en") is None
    usual = replaced(found, 0.004, 0.08)
    assert codes_line(usual, "en") is None
    odd = replaced(found, 0.0071, 0.0013)
    said = codes_line(odd, "en")
    assert said is not None
    assert "int8 moves them by 0.710 %" in said
    assert "int4 by 0.130 %" in said
    assert "0.710 %" in str(codes_line(odd, "zh"))


def replaced(found, eight: float, four: float):  # type: ignore[no-untyped-def]
    held = (HeldRow(precision="int8", error=eight), HeldRow(precision="int4", error=four))
    return found.model_copy(update={"held": held})
