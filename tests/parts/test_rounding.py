"""Rounding against torch, bit for bit, also where a format ends."""

import numpy as np
import pytest
import torch

from whybox.errors import UsageError
from whybox.parts.rounding import is_rounded, rounded

HARD = np.array(
    [
        0.0,
        -0.0,
        1.0,
        1 + 2**-9,
        1 + 2**-8,
        1 + 3 * 2**-9,
        65504.0,
        65519.9,
        65520.0,
        -7e4,
        1e-8,
        3.4e38,
        np.inf,
        -np.inf,
    ],
    np.float32,
)
KINDS = {"bf16": torch.bfloat16, "fp16": torch.float16}


@pytest.mark.parametrize("precision", KINDS)
def test_rounds_as_torch_does(precision: str) -> None:
    x = np.concatenate([HARD, np.random.default_rng(0).standard_normal(4096).astype(np.float32) * 300])
    theirs = torch.from_numpy(x).to(KINDS[precision]).float().numpy()
    np.testing.assert_array_equal(rounded(x, precision), theirs)


@pytest.mark.parametrize("precision", KINDS)
def test_nan_stays_nan(precision: str) -> None:
    bits = np.array([0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32)  # the last ones wrap when added to
    assert np.isnan(rounded(bits.view(np.float32), precision)).all()


@pytest.mark.parametrize("precision", KINDS)
def test_what_is_rounded_is_left_as_it_was(precision: str) -> None:
    x = np.random.default_rng(2).standard_normal((7, 11)).astype(np.float32)
    before = x.copy()
    every_other = rounded(x[:, ::2], precision)
    np.testing.assert_array_equal(every_other, rounded(x, precision)[:, ::2])
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(rounded(np.asarray(x[0, 0]), precision), every_other[0, 0])


def test_what_is_rounded_is_known_as_such() -> None:
    x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    assert is_rounded(rounded(x, "bf16"), "bf16")
    assert not is_rounded(x, "bf16")
    assert is_rounded(x, "fp32")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="no number format"):
        rounded(np.zeros(1, np.float32), "fp8")
