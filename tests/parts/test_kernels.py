"""Linear attention: row form = running-sum form; and what it cannot do."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from whybox.parts.attention import one_head
from whybox.parts.kernels import feature, linear_attention, linear_attention_running


@given(st.integers(0, 2**32 - 1), st.integers(1, 17))
def test_rows_equal_running_sums(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    query, key, value = rng.normal(size=(n, 5)), rng.normal(size=(n, 5)), rng.normal(size=(n, 3))
    rows, running = linear_attention(query, key, value), linear_attention_running(query, key, value)
    np.testing.assert_allclose(rows, running, rtol=0, atol=1e-12)


def test_feature_is_elu_plus_one() -> None:
    x = np.linspace(-800, 5, 101)
    np.testing.assert_allclose(feature(x), torch.nn.functional.elu(torch.from_numpy(x)).numpy() + 1, atol=1e-15)
    assert (feature(x[x > -700]) > 0).all()


def test_it_is_another_lookup() -> None:
    """Scores × 40: softmax fetches the one matching value, the kernel still mixes neighbours in."""
    key, value = 40 * np.eye(5), np.arange(5.0)[:, None]
    exact, _ = one_head(key, key, value, np.tril(np.ones((5, 5), bool)))
    np.testing.assert_allclose(exact, value, atol=1e-12)
    assert abs(linear_attention(key, key, value)[4, 0] - 4) > 0.1
