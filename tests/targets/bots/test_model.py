"""The little language models of the bots: their numbers are log-probabilities, their noise diverges as stated."""

import math

import numpy as np
import pytest

from whybox.targets.bots import model
from whybox.targets.bots.answers import WORDS


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3])
def test_noise_gives_the_divergence_that_is_stated(sigma: float) -> None:
    """E KL ≈ ½ σ² (1 − Σ p²), over 400 contexts."""
    found, expected = [], []
    for place in range(400):
        behind = [WORDS[place % 20], WORDS[place // 20]]
        p = np.array([math.exp(logprob) for _, logprob in model.noisy(7, 0.0, behind)])
        q = np.array([math.exp(logprob) for _, logprob in model.noisy(7, sigma, behind)])
        assert p.sum() == pytest.approx(1)
        found.append(float((p * np.log(p / q)).sum()))
        expected.append(sigma**2 / 2 * (1 - float((p**2).sum())))
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.15)


def test_noise_is_fixed_and_has_its_own_seed() -> None:
    assert model.noisy(1, 0.2, ["a"]) == model.noisy(1, 0.2, ["a"])
    assert model.noisy(1, 0.2, ["a"]) != model.noisy(2, 0.2, ["a"])
    assert model.noisy(1, 0.0, ["a"]) == model.noisy(2, 0.0, ["a"])


def test_greedy_words_are_the_most_probable_and_forced_ones_cost_the_same() -> None:
    written = model.written(0, 0.1, "Hello there", 8, (0.0, 0))
    assert all(token.logprob == max(logprob for _, logprob in token.top) for token in written)
    tokens = ["Hello", " there", *(f" {token.text.strip()}" for token in written)]
    forced = model.forced(0, 0.1, tokens)[2:]
    assert [token.logprob for token in forced] == pytest.approx([token.logprob for token in written])


def test_a_repetition_is_likely_and_the_first_token_has_no_number() -> None:
    numbers = model.of_text(["one", "two", "three", "one", "two", "three"])
    assert numbers[0] is None
    first, again = numbers[1:4], numbers[4:]
    assert all(number is not None and number < -5 for number in first)
    assert all(number is not None and -0.25 <= number <= -0.05 for number in again)


def test_tokens_of_an_answer_are_probabilities() -> None:
    for top in (0, 1, 5, 20):
        for token in model.of_answer("17 days", "x", top, ["23 days"]):
            assert len(token.top) == top
            assert sum(math.exp(logprob) for _, logprob in token.top) <= 1 + 1e-9
            assert list(token.top) == sorted(token.top, key=lambda pair: -pair[1])
    first = model.of_answer("17 days", "x", 3, ["23 days"])[0]
    assert [text for text, _ in first.top[:2]] == ["17", "23"]
