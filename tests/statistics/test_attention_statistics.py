"""Attention statistics against values worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.statistics import attention as a

CAUSAL3 = np.tril(np.ones((3, 3), bool))
UNIFORM3 = np.array([[[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]])


def test_entropies_of_uniform_causal_rows_are_zero_ln2_and_ln3() -> None:
    found = a.entropy(UNIFORM3, CAUSAL3)
    assert found.tolist() == [pytest.approx([0.0, 0.6931472, 1.0986123], abs=1e-7)]
    assert not np.isnan(found.data).any()


def test_normalised_entropy_of_a_row_with_one_key_is_undefined_and_left_out_of_the_mean() -> None:
    found = a.normalised_entropy(UNIFORM3, CAUSAL3)
    assert found.mask.tolist() == [[True, False, False]]
    assert found[0, 1:].tolist() == pytest.approx([1, 1], abs=1e-12)
    assert float(found.mean()) == pytest.approx(1, abs=1e-12)


def test_worked_example_of_three_tokens() -> None:
    """Rows (1), (.3302 .6698), (.0743 .3057 .6200): entropies 0, .6343, .8519 nats."""
    pattern = np.array([[[1, 0, 0], [0.33024, 0.66976, 0], [0.0743, 0.3057, 0.6200]]])
    assert a.entropy(pattern, CAUSAL3).tolist() == [pytest.approx([0, 0.6343, 0.8519], abs=1e-4)]


def test_mass_on_future_keys_is_never_counted() -> None:
    leaky = np.full((1, 3, 3), 1 / 3)
    assert a.entropy(leaky, CAUSAL3)[0, 0] == pytest.approx(math.log(3) / 3, abs=1e-12)
    assert a.mean_distance(leaky, CAUSAL3)[0].tolist() == pytest.approx([0, 1 / 3, 1], abs=1e-12)


def test_shares_by_hand() -> None:
    pattern = np.array([[[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.2, 0.3]]])
    assert a.sink_share(pattern, CAUSAL3).mask.tolist() == [[True, False, False]]
    assert a.sink_share(pattern, CAUSAL3)[0, 1:].tolist() == pytest.approx([0.25, 0.5])
    assert a.previous_share(pattern, CAUSAL3)[0, 1:].tolist() == pytest.approx([0.25, 0.2])
    assert a.self_share(pattern, CAUSAL3)[0].tolist() == pytest.approx([1, 0.75, 0.3])
    assert a.local_mass(pattern, CAUSAL3, 1)[0].tolist() == pytest.approx([1, 1, 0.5])
    assert a.mean_distance(pattern, CAUSAL3)[0].tolist() == pytest.approx([0, 0.25, 1.2])


def test_effective_keys_are_those_of_an_even_spread() -> None:
    assert a.effective_keys(UNIFORM3, CAUSAL3)[0].tolist() == pytest.approx([1, 2, 3])


def test_a_row_that_sees_nothing_is_undefined() -> None:
    visible = CAUSAL3.copy()
    visible[1] = False
    pattern = UNIFORM3.copy()
    pattern[0, 1] = 0
    assert a.entropy(pattern, visible).mask.tolist() == [[False, True, False]]
    assert a.judged(visible).tolist() == [False, False, True]


def test_without_the_first_key_rows_are_renormalised() -> None:
    found = a.without_first_key(UNIFORM3)
    assert found[0].tolist() == [[0, 0, 0], [0, 1, 0], pytest.approx([0, 1 / 2, 1 / 2])]


def test_summary_of_a_single_row_says_undefined_not_zero() -> None:
    table = a.summary(np.ones((2, 1, 1)), np.ones((1, 1), bool))
    assert table["sink"] == [None, None]
    assert table["entropy_norm"] == [None, None]


def test_long_texts_are_judged_from_the_ninth_query_on() -> None:
    visible = np.tril(np.ones((17, 17), bool))
    assert int(a.judged(visible).argmax()) == 8


@given(st.integers(2, 24), st.integers(0, 2**32 - 1))
def test_bounds_that_hold_for_any_pattern(n: int, seed: int) -> None:
    visible = np.tril(np.ones((n, n), bool))
    raw = np.random.default_rng(seed).exponential(size=(2, n, n)) * visible
    pattern = raw / raw.sum(-1, keepdims=True)
    seen = visible.sum(-1)
    assert (a.entropy(pattern, visible) >= -1e-12).all()
    assert (a.entropy(pattern, visible) <= np.log(seen) + 1e-12).all()
    assert np.allclose(a.local_mass(pattern, visible, n), 1)
