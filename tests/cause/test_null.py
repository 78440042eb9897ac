"""Matched nulls: what may be drawn, how much of it exists, and the ranks by hand."""

import numpy as np
import pytest

from tests.cause.grounds import generator
from tests.engine.random_models import spec
from whybox.cause.components import Head, Layer, Mlp, Positions, Selection
from whybox.cause.null import DRAWS, Edge, Null, other_edges, other_groups

SPEC = spec(layers=5, heads=7, kv_heads=7)


def test_heads_of_the_same_layers_and_number_and_never_the_claims_own() -> None:
    claim = (Head(1, 0), Head(1, 4), Head(3, 2))
    drawn = other_groups(claim, SPEC, 20, generator(), 40)
    assert drawn.distinct == 10 * 6  # two of five others, one of six
    assert len(set(drawn.draws)) == 40
    for group in drawn.draws:
        assert sorted(head.layer for head in group if isinstance(head, Head)) == [1, 1, 3]
        assert not set(group) & set(claim)
        assert len(set(group)) == 3


def test_few_draws_are_all_listed() -> None:
    drawn = other_groups((Head(1, 0),), SPEC, 20, generator())
    assert drawn.draws == tuple((Head(1, head),) for head in range(1, 7))
    null = Null((0.1, -0.2, 0.3, 0.0, 0.5, -0.4), drawn.distinct)
    assert null.few
    assert null.smallest_p == pytest.approx(1 / 7)
    assert null.p(9) == pytest.approx(1 / 7)
    assert null.p(-0.4) == pytest.approx(3 / 7)
    assert null.percentile(0.35) == pytest.approx(100 * 4 / 6)
    assert null.bound == 0.5
    assert null.beyond(-0.51)
    assert not null.beyond(0.5)


def test_mlps_layers_and_pairs_of_kinds() -> None:
    assert other_groups((Mlp(2),), SPEC, 9, generator()).draws == tuple((Mlp(layer),) for layer in (0, 1, 3, 4))
    assert other_groups((Layer(0), Layer(4)), SPEC, 9, generator()).distinct == 3
    both = other_groups((Mlp(2), Head(0, 0)), SPEC, 9, generator())
    assert both.distinct == 4 * 6 == len(both.draws)


def test_positions_are_matched_by_spans_of_their_length() -> None:
    drawn = other_groups((Positions((4, 5)),), SPEC, 9, generator())
    assert drawn.draws == tuple((Positions((start, start + 1)),) for start in (1, 2, 6, 7))


def test_what_has_no_match_says_so() -> None:
    assert other_groups((Selection("resid_post", 1, (("q", 3),)),), SPEC, 9, generator()).draws == ()
    lone = spec(layers=1, heads=1, kv_heads=1)
    assert other_groups((Head(0, 0),), lone, 9, generator()).draws == ()
    queries = other_groups((Selection("query", 1, (("h", 3),)),), SPEC, 9, generator()).draws
    assert [group[0] for group in queries] == [Selection("query", 1, (("h", h),)) for h in (0, 1, 2, 4, 5, 6)]


def test_other_claims_stay_out_while_enough_remain() -> None:
    wide = spec(layers=1, heads=24, kv_heads=24)
    apart = tuple(Head(0, head) for head in range(4))
    drawn = {group[0] for group in other_groups((Head(0, 0),), wide, 9, generator(), apart=apart).draws}
    assert drawn == {Head(0, head) for head in range(4, 24)}
    narrow = {group[0] for group in other_groups((Head(1, 0),), SPEC, 9, generator(), apart=(Head(1, 1),)).draws}
    assert Head(1, 1) in narrow


def test_edges_have_the_number_and_the_mass() -> None:
    rng = np.random.default_rng(3)
    pattern = rng.dirichlet(np.ones(30), size=7)
    pool = [Edge(0, head, 29, key) for head in range(7) for key in range(1, 30)]
    claim = [Edge(0, 2, 29, key) for key in (5, 6, 7, 8)]
    mass = lambda edge: float(pattern[edge.head, edge.key])  # noqa: E731
    total = sum(map(mass, claim))
    drawn = other_edges(claim, pool, mass, generator(), 50)
    assert len(set(drawn.draws)) == 50
    for edges in drawn.draws:
        assert len(set(edges)) == 4
        assert not set(edges) & set(claim)
        assert abs(sum(map(mass, edges)) - total) <= 0.25 * total


def test_an_edge_with_all_the_mass_has_no_match() -> None:
    pool = [Edge(0, 0, 9, key) for key in range(10)]
    mass = lambda edge: 1.0 if edge.key == 4 else 0.0  # noqa: E731
    assert other_edges([Edge(0, 0, 9, 4)], pool, mass, generator()).draws == ()
    assert len(other_edges([Edge(0, 0, 9, 3)], pool, mass, generator()).draws) == 8


def test_a_null_is_uniform_where_the_claim_is_one_of_the_draws() -> None:
    """p of a claim drawn from the null itself: at most α of claims fall below α."""
    rng = np.random.default_rng(0)
    below = [Null(tuple(rng.normal(size=DRAWS)), DRAWS).p(float(rng.normal())) <= 0.05 for _ in range(600)]
    assert 0.02 < np.mean(below) < 0.085
