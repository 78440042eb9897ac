"""What is no attention is refused, each with one line of what it looks like and what to do."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

import whybox
from whybox.errors import UsageError
from whybox.measure.arrays import patterns_of, require_labels

WORDS = ["a", "b", "c", "d"]
GENERATOR = np.random.default_rng(0)
WEIGHTS = GENERATOR.dirichlet(np.ones(4), size=(3, 4))


def refusal(array: object, tokens: Sequence[str] = WORDS, keys: Sequence[str] | None = None) -> UsageError:
    with pytest.raises(UsageError) as caught:
        patterns_of([array], tokens, tokens if keys is None else keys, None)
    return caught.value


def test_weights_pass_as_they_are_and_cannot_be_changed() -> None:
    (pattern,) = patterns_of([WEIGHTS], WORDS, WORDS, None)
    np.testing.assert_allclose(pattern, WEIGHTS, rtol=1e-6)
    assert not pattern.flags.writeable
    half = patterns_of([WEIGHTS.astype(np.float16)], WORDS, WORDS, None)
    np.testing.assert_allclose(half[0], WEIGHTS, atol=1e-3)


@pytest.mark.parametrize(
    ("array", "cause", "remedy"),
    [
        (np.full((2, 3, 4, 4), 0.25), "the batch holds 2 sequences", "batch=0 … 1"),
        (
            np.full((3, 5, 5), 0.2),
            r"expected (batch, heads, 4, 4) or (heads, 4, 4), found (3, 5, 5)",
            "without its pad",
        ),
        (np.full((3, 4, 4), 0.3), "sums lie in 1.2 … 1.2", "dropout changes them"),
        (np.full((3, 4, 4), np.nan), "holds NaN or infinity", "float16"),
        (WEIGHTS.swapaxes(-1, -2), "the columns sum to 1, the rows do not", "swapaxes(-1, -2)"),
        (np.log(WEIGHTS), "these look like scores", "after the softmax"),
        (np.zeros((3, 4, 4)), "nothing but zeros", "rows sum to 1"),
        (None, "layer 0 is None: the model ran with a kernel that keeps no weights", 'attn_implementation="eager"'),
        ("words", "not an array of numbers", ".detach()"),
        (torch.ones(3, 4, 4, requires_grad=True), "not an array of numbers", ".detach()"),
        (torch.ones(3, 4, 4, dtype=torch.bfloat16), "not an array of numbers", ".float()"),
    ],
)
def test_one_clear_message_each(array: object, cause: str, remedy: str) -> None:
    error = refusal(array)
    assert cause in error.cause
    assert error.remedy is not None
    assert remedy in error.remedy


def test_swapped_axes_of_unlike_texts() -> None:
    error = refusal(np.full((2, 4, 3), 1 / 3), WORDS[:3], WORDS)
    assert "expected (batch, heads, 3, 4) or (heads, 3, 4), found (2, 4, 3)" in error.cause
    assert error.remedy == "queries and keys seem swapped: array.swapaxes(-1, -2)"


@pytest.mark.parametrize(
    ("tokens", "cause", "remedy"),
    [
        (["a", "b", "[PAD]", "[PAD]"], "2 of 4 tokens are padding ([PAD])", "tokens[0:2]"),
        (["<pad>", "a", "b", "c"], "1 of 4 tokens are padding (<pad>)", "[..., 1:4, 1:4]"),
        (["<|padding|>"] * 4, "every label is padding", "batch=…"),
        ([1, 2, 3, 4], "expected a label for each token", "convert_ids_to_tokens"),
        ("abcd", "expected a label for each token", "a list of strings"),
        ([], "there is no token", "a label for each token"),
    ],
)
def test_labels_that_are_none(tokens: Sequence[object], cause: str, remedy: str) -> None:
    with pytest.raises(UsageError) as caught:
        require_labels(tokens)
    error = caught.value
    assert cause in error.cause
    assert error.remedy is not None
    assert remedy in error.remedy


def test_one_query_is_none() -> None:
    assert refusal(np.ones((2, 1, 1)), ["a"]).remedy == "run the model once on the whole text, not token by token"


def test_a_kernel_that_keeps_no_weights_is_named() -> None:
    with pytest.raises(UsageError, match='attn_implementation="eager"'):
        whybox.attention((), WORDS)


def test_the_whole_output_of_a_model_is_no_tuple_of_attentions() -> None:
    config = BertConfig(vocab_size=9, num_hidden_layers=1, num_attention_heads=2, hidden_size=8, intermediate_size=8)
    with torch.no_grad():
        out = BertModel(config).eval()(torch.arange(4)[None])
    with pytest.raises(UsageError, match=r"out\.attentions"):
        whybox.attention(out, WORDS)
