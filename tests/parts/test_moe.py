"""Routing and mixture against a loop and against transformers' Mixtral rule."""

import numpy as np
import pytest
import torch

from whybox.errors import UsageError
from whybox.parts import moe
from whybox.parts.mlp import gated
from whybox.parts.softmax import softmax
from whybox.spec import Activation, Moe


@pytest.mark.parametrize("normalise", [False, True])
def test_routing_equals_torch(normalise: bool) -> None:
    logits = np.random.default_rng(0).normal(size=(11, 7)) * 2
    weights = moe.route(logits, 3, normalise)
    top, chosen = torch.topk(torch.softmax(torch.from_numpy(logits), -1), 3, dim=-1)
    top = top / top.sum(-1, keepdim=True) if normalise else top
    oracle = torch.zeros(11, 7, dtype=torch.float64).scatter(1, chosen, top)
    np.testing.assert_allclose(weights, oracle.numpy(), rtol=0, atol=1e-14)
    assert ((weights > 0).sum(axis=1) == 3).all()


def test_normalised_routing_is_the_softmax_of_the_kept_logits() -> None:
    logits = np.array([[0.3, 2.0, -1.0, 1.0]])
    np.testing.assert_allclose(moe.route(logits, 2, True)[0, [1, 3]], softmax(np.array([2.0, 1.0])), rtol=1e-14)


def test_ties_go_to_the_lower_expert() -> None:
    assert moe.route(np.zeros((1, 4)), 2, True).tolist() == [[0.5, 0.5, 0, 0]]


@pytest.mark.parametrize("active", [0, 5])
def test_impossible_counts_are_refused(active: int) -> None:
    with pytest.raises(UsageError, match="1 … 4 active experts"):
        moe.route(np.zeros((1, 4)), active, True)


@pytest.mark.parametrize("normalise", [False, True])
def test_mixture_equals_the_sum_over_experts(normalise: bool) -> None:
    rng = np.random.default_rng(1)
    x, router = rng.normal(size=(11, 5)), rng.normal(size=(7, 5))
    gate, up, down = (rng.normal(size=s) for s in ((7, 3, 5), (7, 3, 5), (7, 5, 3)))
    spec = Moe(experts=7, active=2, width=3, activation=Activation.SILU, normalise=normalise)
    got = moe.mixture(x, router, gate, up, down, spec)
    weights = moe.route(x @ router.T, 2, normalise)
    loop = sum(weights[:, [e]] * gated(x, gate[e], up[e], down[e], Activation.SILU) for e in range(7))
    np.testing.assert_allclose(got, loop, rtol=0, atol=1e-12)
    hidden = moe.experts_hidden(x, weights, gate, up, Activation.SILU)
    assert hidden.shape == (11, 7, 3)
    assert not hidden[weights == 0].any()
    assert hidden[weights > 0].all()
