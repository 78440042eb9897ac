"""What callers may write, and what is refused by name: before anything runs, in one family of errors."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import IDS
from whybox.engine.edit import Edit, Set, add, edits_of, scale, set_to, zero
from whybox.engine.fast.engine import device
from whybox.engine.trace import Change
from whybox.engine.wishes import number, real, whole, whole_numbers
from whybox.errors import SiteError, UsageError


def test_whole_numbers_of_any_kind() -> None:
    assert (whole("n", np.int64(5)), whole("n", 0, 0), whole("n", True)) == (5, 0, 1)
    assert whole_numbers("n", np.array([3, 1])) == (3, 1)
    assert {type(each) for each in whole_numbers("n", np.array([3, 1]))} == {int}
    for strange in (1.5, "a", None, [1, 2]):
        with pytest.raises(UsageError, match="n: expected a whole number"):
            whole("n", strange)
    with pytest.raises(UsageError, match="n: expected at least 1, found 0"):
        whole("n", 0, 1)
    with pytest.raises(SiteError, match=r"n: .*found \[1, 'a'\]"):
        whole_numbers("n", [1, "a"], SiteError)


def test_real_numbers_of_any_kind() -> None:
    assert real("x", [1, 2.5]).tolist() == [1.0, 2.5]
    assert (number("x", np.float32(0.5)), number("x", 3)) == (0.5, 3.0)
    assert np.isnan(real("x", np.nan))
    for strange in (None, "a", 1j, [[1], [1, 2]], {}):
        with pytest.raises(UsageError, match="x: expected"):
            real("x", strange)
    with pytest.raises(UsageError, match=r"x: expected one number, found an array of shape \(2,\)"):
        number("x", [1, 2])


def test_lists_and_arrays_are_held_as_tuples() -> None:
    edit = zero("mlp_out", 1)
    change = Change([edit], np.array([3, 4]), [5])  # type: ignore[arg-type]
    assert change == Change((edit,), (3, 4), (5,))
    assert change.text((1,)) == (3, 4, 5)
    assert edits_of(each for each in [edit]) == (edit,)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Change(ids=[1.5]),
        lambda: Change(ids="abc"),
        lambda: Change(continuation=[None]),
        lambda: Change(edits=["zero"]),
        lambda: Change(edits=zero("mlp_out")),
        lambda: set_to("resid_post", None, 1),
        lambda: set_to("resid_post", 1j, 1),
        lambda: add("resid_post", "a", 1),
        lambda: scale("resid_post", None, 1),
        lambda: scale("resid_post", 1j, 1),
        lambda: scale("resid_post", [1, 2], 1),
        lambda: device("cpu:3"),
        lambda: device("meta"),
    ],
)
def test_what_cannot_be_meant_is_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match=r"expected|not supported"):
        ask()


def test_edits_hold_what_they_were_given() -> None:
    assert set_to("mlp_out", [1, 2], 1).action.value.tolist() == [1, 2]  # type: ignore[union-attr]
    assert isinstance(set_to("mlp_out", np.nan).action, Set)
    assert scale("mlp_out", np.float32(0.5)) == Edit("mlp_out", None, (), scale("mlp_out", 0.5).action)


@pytest.mark.parametrize("make", [fast, reference])
def test_layers_and_rows_of_a_trace(make: Callable[..., object]) -> None:
    engine = make(KINDS["plain"])
    trace = engine.run(IDS, see=[("pattern", np.int64(1)), ("mlp_out", np.array([0, 2])), ["key", 1]], tail=3)
    assert set(trace.sites) == {("pattern", 1), ("mlp_out", 0), ("mlp_out", 2), ("key", 1)}
    for strange in (3, ("pattern", 1.5), ("pattern", "a"), None):
        with pytest.raises(SiteError, match=r"see: expected|layers of pattern: expected"):
            engine.run(IDS, see=[strange])
    assert np.array_equal(trace.log_probs(2), trace.log_probs())
    for row in (3, -4, 9):
        with pytest.raises(SiteError, match=f"row {row}: this run has 3 rows of logits, 0 … 2"):
            trace.log_probs(row)
    with pytest.raises(UsageError, match="count: expected at least 0, found -1"):
        trace.next(-1)
    assert len(trace.next(0)) == 0


@pytest.mark.parametrize(("ids", "chunk"), [(IDS[:1], 9), (IDS[:5], 1), (IDS[:5], 9), (IDS, 2)])
def test_statistics_of_one_of_a_batch(ids: tuple[int, ...], chunk: int) -> None:
    """Whatever the lengths of its neighbours, which may all be one."""
    from whybox.statistics.rows import AttentionWish

    mine = fast(KINDS["plain"])
    alone = mine.run(ids, statistics=AttentionWish())
    among = replace(mine, neighbours=2, chunk=chunk).run(ids, statistics=AttentionWish())
    for one, other in zip(alone.attention, among.attention, strict=True):
        np.testing.assert_allclose(one.entropy, other.entropy, rtol=0, atol=1e-9)
