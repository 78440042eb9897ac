"""Attention brought along: a BERT-shaped model of transformers, and what is refused."""

import numpy as np
import pytest
import torch
from transformers import BartConfig, BartModel, BertConfig, BertModel, GPT2Config, GPT2Model

import whybox
from whybox.errors import SiteError, UsageError
from whybox.measure.brought import _segments, _told

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


def test_the_arrays_are_those_that_bertviz_receives() -> None:
    """It stacks the tuple, the batch squeezed out: (layers, heads, q, k)."""
    arrays = bert("eager")
    stacked = torch.stack([array.squeeze(0) for array in arrays]).numpy()
    np.testing.assert_array_equal(np.stack(whybox.attention(arrays, TOKENS).patterns), stacked)


def test_an_encoder_a_decoder_and_what_is_between_them() -> None:
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=31, d_model=15, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3,
        decoder_attention_heads=3, encoder_ffn_dim=17, decoder_ffn_dim=17, max_position_embeddings=24,
        attn_implementation="eager",
    )  # fmt: skip
    with torch.no_grad():
        out = BartModel(config).eval()(IDS, decoder_input_ids=IDS[:, :7], output_attentions=True)
    encoder = whybox.attention(out.encoder_attentions, TOKENS)
    decoder = whybox.attention(out.decoder_attentions, TOKENS[:7])
    between = whybox.attention(out.cross_attentions, TOKENS[:7], keys=TOKENS)
    assert (encoder.direction, decoder.direction, between.direction) == ("both", "causal", "cross")
    assert between[1].shape == (3, 7, 11)
    table, other = encoder.heads(), between.heads()
    assert table["next"][0] == pytest.approx(np.diag(encoder[0][0], 1)[1:].sum() / 10, abs=1e-6)
    assert table["distance"][0] == pytest.approx(
        float((encoder[0][0] * np.abs(np.arange(11)[:, None] - np.arange(11)))[1:].sum(axis=1).mean()), abs=1e-5
    )
    for column in ("previous", "self", "local16", "distance", "stripe", "next"):
        assert other[column] == [None] * 6, column
    assert all(value is not None for value in other["entropy"])
    assert decoder.heads()["next"] == [None] * 6


def test_one_sequence_of_a_batch_is_chosen() -> None:
    generator = np.random.default_rng(0)
    arrays = [generator.dirichlet(np.ones(4), size=(3, 2, 4)) for _ in range(2)]
    chosen = whybox.attention(arrays, ["a", "b", "c", "d"], batch=2)
    np.testing.assert_allclose(chosen[1], arrays[1][2], rtol=1e-6)
    with pytest.raises(UsageError, match="no sequence 3, the batch holds 3"):
        whybox.attention(arrays, ["a", "b", "c", "d"], batch=3)


def test_delimiters_of_labels_are_anchors_and_like_labels_are_copies() -> None:
    pattern = np.zeros((1, 20, 20))
    pattern[0, :, 5] = 1
    labels = [f"w{i}" for i in range(20)]
    labels[5] = labels[12] = "[SEP]"
    brought = whybox.attention([pattern], labels)
    row = brought.heads().rows()[0]
    assert (row["anchor"], row["anchor_tokens"]) == (1, 2 / 20)
    assert row["duplicate_text"] == pytest.approx(1 / 12)  # the row of the second [SEP], of twelve that are judged
    assert "global anchor" in brought.classes()[0]


def test_layers_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SiteError, match="layers 0 … 2"):
        whybox.attention(bert("eager"), TOKENS)[3]


def test_segments_share_out_the_keys_and_a_row_of_choice_decides() -> None:
    arrays = bert("eager")
    named = {"answer": (range(6, 10), "evidence"), "question": range(1, 5)}
    brought = whybox.attention(arrays, TOKENS, segments=named, query=0)
    kinds = [(s.name, s.kind.value, s.start, s.end) for s in brought.segments]
    assert kinds == [
        ("unnamed 1", "template", 0, 1), ("question", "part", 1, 5), ("unnamed 2", "template", 5, 6),
        ("answer", "part", 6, 10), ("unnamed 3", "template", 10, 11),
    ]  # fmt: skip
    assert brought.evidence == ("answer",)
    document = brought.look()
    share = np.mean([array[0, :, 0, 6:10].sum(-1).mean() for array in arrays])
    assert document.segments[3].share == pytest.approx(share, abs=1e-6)
    assert sum(segment.share for segment in document.segments) == pytest.approx(1, abs=1e-5)
    assert sum(segment.mean_share for segment in document.segments) == pytest.approx(1, abs=1e-5)
    assert (document.decision.position, whybox.attention(arrays, TOKENS, query=-1).query) == (0, 10)


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ({"a": range(3, 12)}, "expected keys within 0 … 10, found range\\(3, 12\\)"),
        ({"a": range(3, 3)}, "at least one key"),
        ({"a": range(0, 9, 2)}, "expected keys within"),
        ({"a": range(5), "b": range(4, 8)}, "'b' begins at key 4, which another holds"),
    ],
)
def test_segments_that_are_none_are_refused(named: dict[str, range], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        whybox.attention(bert("eager"), TOKENS, segments=named)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ((3, 9), r"expected a range of keys, found \(3, 9\)"),
        (slice(3, 9), "expected a range of keys"),
        ((range(5), "tool"), "no role 'tool'"),
        ((range(5), "system", 3), "expected a range of keys"),
    ],
)
def test_what_names_no_keys_is_refused(found: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        list(_segments([_told("a", found)], 11))


@pytest.mark.parametrize("name", ["queries", "unnamed 1"])
def test_names_that_are_given_cannot_be_taken(name: str) -> None:
    with pytest.raises(UsageError, match="that name is given"):
        whybox.attention(bert("eager"), TOKENS, segments={name: range(4)})


def test_a_query_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no query 11: there are 11"):
        whybox.attention(bert("eager"), TOKENS, query=11)


def test_rows_that_see_nothing_are_left_out() -> None:
    pattern = np.full((2, 20, 20), 1 / 20)
    pattern[:, :3] = 0
    rows = whybox.attention([pattern], [f"w{i}" for i in range(20)]).attention[0]
    assert rows.defined.tolist() == [False] * 3 + [True] * 17
