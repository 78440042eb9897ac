"""Minimal sets, against brute force over all subsets, and on planted models."""

from collections.abc import Sequence
from itertools import combinations

import pytest

from tests.cause.grounds import planted
from whybox.cause.components import Head, all_heads
from whybox.cause.flipping import Sets
from whybox.cause.minimal import NOT_UNIQUE, minimal
from whybox.cause.replacement import Zeroed
from whybox.errors import UsageError


def flips_with(*wanted: frozenset[str]):  # type: ignore[no-untyped-def]
    def margins(sets: Sequence[tuple[str, ...]]) -> list[float]:
        return [1.0 if any(one <= set(each) for one in wanted) else -1.0 for each in sets]

    return margins


def test_the_one_set_is_found() -> None:
    found = minimal("abcdefg", flips_with(frozenset("bf")))
    assert set(found.parts) == {"b", "f"}
    assert found.flags == ()
    assert found.margin == 1


def test_another_set_is_told_and_the_smaller_one_is_reported() -> None:
    wanted = (frozenset("abc"), frozenset("dg"))
    found = minimal("abcdefg", flips_with(*wanted))
    assert set(found.parts) == {"d", "g"}
    assert {frozenset(one) for one in found.others} == {frozenset("abc")}
    assert found.flags == (NOT_UNIQUE,)


@pytest.mark.parametrize("seed", range(6))
def test_every_set_reported_is_minimal_by_brute_force(seed: int) -> None:
    import numpy as np

    rng = np.random.default_rng(seed)
    wanted = tuple(frozenset(rng.choice(list("abcdef"), rng.integers(1, 4), replace=False).tolist()) for _ in range(3))
    margins = flips_with(*wanted)
    found = minimal("abcdef", margins)
    for one in (found.parts, *found.others):
        assert margins([one]) == [1.0]
        assert all(margins([smaller]) == [-1.0] for smaller in combinations(one, len(one) - 1) if smaller)
    truly = [one for one in wanted if not any(other < one for other in wanted)]
    assert (len(set(truly)) == 1) == (not found.others)
    assert found.tried <= 2**6


def test_no_flip_no_minimum() -> None:
    with pytest.raises(UsageError, match="does not flip"):
        minimal("abc", flips_with(frozenset("z")))


def test_the_suppressor_alone_is_the_minimal_set() -> None:
    found, ground = planted("suppressed")
    heads = [head for head in all_heads(ground.spec) if head.layer == found.heads["suppressor"][0]]
    got = minimal([*heads, Head(*found.heads["weak reader"])], Sets(ground, Zeroed()).margins)
    assert got.parts == (Head(*found.heads["suppressor"]),)
    assert got.flags == ()


def test_all_spares_of_an_or_are_needed() -> None:
    found, ground = planted("redundant_or")
    copiers = [Head(*found.heads[f"copier {i}"]) for i in range(3)]

    sets = Sets(ground, Zeroed())  # LD falls to 0 without all of them
    got = minimal([*copiers, Head(1, 0)], sets.margins)
    assert set(got.parts) == set(copiers)
    assert got.flags == ()
