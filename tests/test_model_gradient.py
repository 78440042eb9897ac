"""Gradients on the real model: a map that points where interventions have their effect."""

import numpy as np
import pytest

import whybox
from tests.real import real
from whybox.engine.read import log_prob_of, logit_difference
from whybox.errors import UsageError

pytestmark = pytest.mark.model
TEXT = "The capital of France is"


def test_a_small_step_along_the_gradient_moves_the_read_as_it_says() -> None:
    model = real("smollm2", "torch")
    paris, london = (model.tokenizer.encode(word)[0] for word in (" Paris", " London"))
    read = logit_difference(paris, london)
    trace = model.run(TEXT)
    found = model.gradient(trace, read, [("resid_post", 10), ("head_out", (20, 29))])
    assert found.value == pytest.approx(float(read(trace)), abs=1e-3)
    for (name, layer), grad in found.items():
        step = 0.05 * grad / np.square(grad).sum() ** 0.5
        up, down = (model.run(TEXT, edits=[whybox.add(name, sign * step, layer)]) for sign in (1, -1))
        expected = float(read(up) - read(down)) / 2
        assert float((grad * step).sum()) == pytest.approx(expected, rel=0.05), (name, layer)
        assert expected > 1e-3


def test_the_answer_of_several_tokens() -> None:
    model = real("smollm2", "torch")
    ids, start = model.join(model.prompt(TEXT), " Paris, France")
    trace = model.run(ids)
    found = model.gradient(trace, log_prob_of(ids[start:]), ["embed"])
    assert found.value == pytest.approx(model.score(TEXT, " Paris, France").log_prob, abs=1e-3)
    assert np.abs(found["embed"][start:-1]).max() > 0
    assert not found["embed"][-1].any()  # nobody reads behind the last id


@pytest.mark.parametrize("precision", ["bf16", "int8", "int4"])
def test_lower_precision_points_the_same_way(precision: str) -> None:
    model = real("smollm2", "torch")
    trace, read = model.run(TEXT), log_prob_of((model.tokenizer.encode(" Paris")[0],), start=5)
    exact = model.gradient(trace, read, [("resid_post", 15)])["resid_post", 15]
    rounded = model.variant(precision=precision).gradient(trace, read, [("resid_post", 15)])["resid_post", 15]
    cosine = (exact * rounded).sum() / np.sqrt(np.square(exact).sum() * np.square(rounded).sum())
    assert 0.9 < cosine < 0.99999


def test_what_gives_no_gradient_says_what_does() -> None:
    model = real("smollm2")
    with pytest.raises(UsageError, match="numpy engine computes no gradients"):
        model.gradient(model.run(TEXT), logit_difference(1, 2), ["embed"])
