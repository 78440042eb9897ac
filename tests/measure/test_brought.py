"""Attention brought along: a BERT-shaped model of transformers, and what is refused."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, GPT2Config, GPT2Model

import whybox
from whybox.errors import SiteError, UsageError

SIZES = {"vocab_size": 31, "num_hidden_layers": 3, "num_attention_heads": 5, "hidden_size": 35}
TOKENS = [f"t{i}" for i in range(11)]
IDS = torch.arange(3, 14)[None]


def bert(kernel: str) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    config = BertConfig(**SIZES, intermediate_size=37, max_position_embeddings=16, attn_implementation=kernel)
    model = BertModel(config).eval()
    with torch.no_grad():
        return tuple(model(IDS, output_attentions=True).attentions or ())


def test_bert_is_bidirectional_and_its_table_is_brute_force() -> None:
    arrays = bert("eager")
    brought = whybox.attention(arrays, TOKENS)
    assert not brought.causal
    table = brought.heads()
    assert (len(table["layer"]), table["layer"][5], table["head"][6]) == (15, 1, 1)
    for row in table.rows():
        a = arrays[int(row["layer"])][0, int(row["head"])].double().numpy()[1:]
        assert row["entropy"] == pytest.approx(-(a * np.log(a)).sum(-1).mean(), abs=1e-5)
        assert row["sink"] == pytest.approx(a[:, 0].mean(), abs=1e-6)
        assert row["self"] == pytest.approx(np.mean([a[i, i + 1] for i in range(10)]), abs=1e-6)


def test_gpt2_is_causal_and_rows_with_one_key_are_left_out() -> None:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=31, n_layer=2, n_head=3, n_embd=21, n_positions=16, attn_implementation="eager")
    with torch.no_grad():
        arrays = GPT2Model(config).eval()(IDS, output_attentions=True).attentions
    brought = whybox.attention(arrays, TOKENS)
    assert brought.causal
    assert not brought.visible[2, 3]
    assert all(0 < value <= 1 for value in brought.heads()["entropy_norm"])


def test_cross_attention_has_keys_of_its_own() -> None:
    uniform = np.full((2, 3, 4), 0.25)
    brought = whybox.attention([uniform], ["a", "b", "c"], keys=["w", "x", "y", "z"])
    assert brought.heads()["entropy"] == [pytest.approx(np.log(4))] * 2


def test_a_kernel_that_keeps_no_weights_is_named() -> None:
    with pytest.raises(UsageError, match='attn_implementation="eager"'):
        whybox.attention((), TOKENS)


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.full((2, 3, 4, 4), 0.25), r"found \(2, 3, 4, 4\)"),
        (np.full((3, 5, 5), 0.2), r"found \(3, 5, 5\)"),
        (np.full((3, 4, 4), 0.3), "sums lie in 1.2 … 1.2"),
        (np.full((3, 4, 4), np.nan), "sum to 1"),
        (None, "layer 0"),
        ("words", "not an array of numbers"),
    ],
)
def test_what_is_no_attention_is_refused(array: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        whybox.attention([array], ["a", "b", "c", "d"])


def test_layers_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SiteError, match="layers 0 … 2"):
        whybox.attention(bert("eager"), TOKENS)[3]
