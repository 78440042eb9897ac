"""Precisions: what each computes in, what it costs, and where it is refused."""

import pytest
import torch

from whybox.engine.fast.precision import Precision, require_precision
from whybox.errors import UsageError

CPU = torch.device("cpu")


def test_float16_on_a_cpu_is_refused_with_the_reason() -> None:
    with pytest.raises(UsageError, match="100 times slower"):
        require_precision(Precision.FP16, CPU)
    require_precision(Precision.FP16, torch.device("cuda"))
    require_precision(Precision.BF16, CPU)


@pytest.mark.parametrize("precision", list(Precision))
def test_no_weight_has_more_bits_than_what_it_is_computed_in(precision: Precision) -> None:
    assert 4 < precision.bits <= 8 * precision.compute.itemsize
    assert precision.emulates
