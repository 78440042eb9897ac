"""Weights in 8 and 4 bits against the codes that the torch engine packs."""

import numpy as np
import torch

from whybox.engine.fast.products import dense, quantised, quantised_4bit
from whybox.parts.codes import eight_bits, four_bits

W = np.random.default_rng(0).standard_normal((32, 64)).astype(np.float32)


def test_eight_bits_are_those_of_the_torch_engine() -> None:
    packed = quantised(torch.from_numpy(W), None)
    np.testing.assert_array_equal(eight_bits(W), (packed.codes.float() * packed.scale.float()[:, None]).numpy())


def test_a_row_of_zeros_stays_one() -> None:
    assert not eight_bits(np.zeros((2, 32), np.float32)).any()


def test_four_bits_are_those_of_the_torch_engine() -> None:
    theirs = dense(quantised_4bit(torch.from_numpy(W), None)).float().numpy()
    np.testing.assert_allclose(four_bits(W), theirs, atol=2**-7 * np.abs(W).max())
