"""Amounts as they are typed, types of numbers, and the largest that fits: found by brute force, too."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size.test_cache_and_work import toy
from whybox.errors import UsageError
from whybox.size import fit
from whybox.size.load import Load
from whybox.size.outline import Block, Grouped
from whybox.size.units import DTYPES, Quantity, amount, dtype_named, whole_option


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("24GB", "memory", 24 * 10**9),
        ("24 gb", "memory", 24 * 10**9),
        ("24G", "memory", 24 * 10**9),
        ("80GiB", "memory", 80 << 30),
        ("0.5TB", "memory", 5 * 10**11),
        ("1000", "memory", 1000),
        ("3.35TB/s", "bandwidth", 3_350_000_000_000),
        ("47.7GB/s", "bandwidth", 47_700_000_000),
        ("989T", "flops", 989 * 10**12),
        ("312 TFLOP/s", "flops", 312 * 10**12),
        ("1.5e12", "flops", 1_500_000_000_000),
    ],
)
def test_amounts(text: str, quantity: Quantity, value: int) -> None:
    assert amount(text, quantity) == value


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("24 gigs", "memory"),
        ("24GB/s", "memory"),
        ("-24GB", "memory"),
        ("0", "memory"),
        ("", "memory"),
        ("nan", "memory"),
        ("1e30", "memory"),
        ("3TB", "bandwidth"),
        ("989TB", "flops"),
        ("1e999999999", "flops"),
    ],
)
def test_amounts_that_mean_something_else(text: str, quantity: Quantity) -> None:
    with pytest.raises(UsageError, match=f"--{quantity} .* is no amount") as caught:
        amount(text, quantity)
    assert caught.value.remedy.startswith("write ")


def test_types_of_numbers() -> None:
    bits = {"fp32": 32, "bf16": 16, "fp8": 8, "int4": 4, "q8_0": 8.5, "q4_0": 4.5, "q4_k": 4.5, "q6_k": 6.5625}
    assert {name: DTYPES[name].bits for name in bits} == bits
    assert dtype_named("Float16") == DTYPES["fp16"]
    assert dtype_named("Q4_K").name == "Q4_K"
    with pytest.raises(UsageError, match="--kv-dtype 'fp12' is no type of numbers"):
        dtype_named("fp12", "--kv-dtype")


def test_options_within_their_bounds() -> None:
    assert whole_option("--batch", 3, 1, 9) == 3
    for value in (0, -1, 10):
        with pytest.raises(UsageError, match=f"--batch {value} cannot be"):
            whole_option("--batch", value, 1, 9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40_000), st.integers(1, 50), st.integers(0, 50), st.sampled_from([None, 5, 20]))
def test_the_largest_batch_by_trying_all(memory: int, context: int, shared: int, window: int | None) -> None:
    of, load = toy(window=window), Load(context, shared=min(shared, context), block=4)
    found = fit.largest_batch(of, load, 100, memory)
    tried = [b for b in range(1, 2100) if fit.held(of, replace(load, batch=b), 100) <= memory]
    if found is None:  # a further request needs nothing: its whole context is shared
        assert fit.held(of, replace(load, batch=10**6), 100) == fit.held(of, replace(load, batch=2), 100) <= memory
    else:
        assert found.value == max(tried, default=0)


@pytest.mark.parametrize("batch", [1, 3])
def test_the_longest_context_by_trying_all(batch: int) -> None:
    of, memory = toy(window=20), 20_000
    found = fit.longest_context(of, Load(1, batch), 100, memory)
    assert found is not None
    assert found.value == max(n for n in range(1, 2000) if fit.held(of, Load(n, batch), 100) <= memory)


def test_nothing_fits_and_everything_fits() -> None:
    of = toy()
    none = fit.largest_batch(of, Load(50), 100, 50)
    assert none is not None
    assert none.value == 0
    assert none.numbers.endswith("> 50")
    windows = replace(of, blocks=(Block(Grouped(3, 1, 5), (), 0, 8),) * 2)
    assert fit.longest_context(windows, Load(50), 100, 10**6) is None
    assert fit.largest_batch(of, Load(48, shared=48), 100, 10**6) is None
