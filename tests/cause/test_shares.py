"""Shares of attention beside effects: a bright sink that does nothing, and ranks by hand."""

import numpy as np
import pytest
from scipy import stats

from tests.cause.grounds import generator, planted
from tests.testing.reading import near, place_of
from whybox.cause.components import Head
from whybox.cause.shares import decision_rows, shares_beside_effects
from whybox.errors import UsageError
from whybox.testing import CROWD


def test_the_sink_is_the_brightest_and_does_nothing() -> None:
    found, ground = planted("sink", CROWD, "torch")
    got = shares_beside_effects(ground, [0], generator())
    sink = Head(*found.heads["sink"])
    assert got.shares[sink] == pytest.approx(1, abs=1e-6)
    assert abs(got.effects[sink]) < 1e-3
    assert got.n == len(got.effects) == sum(layer.attention.heads for layer in ground.spec.layers)


def test_the_copier_on_its_evidence() -> None:
    found, ground = planted("cancel")
    value = place_of(ground.model, ground.prompt, found.instance.right)
    got = shares_beside_effects(ground, [value], generator())
    assert got.shares[Head(2, 0)] == pytest.approx(1, abs=1e-6)
    assert got.effects[Head(2, 0)] == near(-20)
    assert got.effects[Head(2, 2)] == near(20)
    shares, effects = list(got.shares.values()), list(got.effects.values())
    assert got.signed is not None
    assert got.absolute is not None
    assert got.signed.rho == pytest.approx(stats.spearmanr(shares, effects).statistic, abs=1e-9)
    assert got.absolute.rho == pytest.approx(stats.spearmanr(shares, np.abs(effects)).statistic, abs=1e-9)
    assert got.absolute.rho > got.signed.rho
    assert got.strongest in (Head(2, 0), Head(2, 1), Head(2, 2))


def test_rows_are_those_of_a_whole_run() -> None:
    _, ground = planted("recency_biased")
    whole = ground.model.run(ground.trace.ids, see=["pattern"])
    for layer, row in enumerate(decision_rows(ground)):
        np.testing.assert_allclose(row, whole["pattern", layer][:, ground.row], atol=1e-6)


def test_keys_are_some_positions_and_not_all() -> None:
    _, ground = planted("induction")
    for keys in ([], range(ground.length), [ground.length]):
        with pytest.raises(UsageError, match="keys: expected some of the positions"):
            shares_beside_effects(ground, keys, generator())
