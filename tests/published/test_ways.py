"""The ways to the published numbers, walked on a tiny random GPT-2 that transformers saved: each against an oracle."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel

from tests.oracle import tiny
from tests.published import ioi, test_gpt2
from tests.published.weights import at_hand, folder_named
from tests.text.tiny import folder_of
from whybox.cause.components import Head, Mlp, Selection
from whybox.measure.probe import Probed, probe
from whybox.model import Model, open_model

LAYERS, HEADS = 3, 3
BOS = "<|endoftext|>"


def library() -> tokenizers.Tokenizer:
    """Byte-level BPE that knows the sentences, so that each name is one token."""
    found = tokenizers.Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=[BOS], initial_alphabet=alphabet, show_progress=False)
    texts = [form.format(a=a, b=b, s=a) for form in ioi.FORMS for a, b in ioi.NAMES]
    found.train_from_iterator([*texts, *(text.replace("When", "") for text in texts)], trainer)
    return found


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, GPT2LMHeadModel]:
    """A folder named gpt2, and the model in it."""
    words = library()
    config = GPT2Config(
        vocab_size=words.get_vocab_size(), n_layer=LAYERS, n_head=HEADS, n_embd=33, n_positions=128,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("models") / "gpt2"
    oracle = tiny(config)
    oracle.save_pretrained(folder)
    folder_of(words, folder, bos_token=BOS, eos_token=BOS)
    return folder, oracle


@pytest.fixture(scope="module")
def model(saved: tuple[Path, GPT2LMHeadModel]) -> Model:
    return open_model(str(saved[0]), "torch")


def logits(oracle: GPT2LMHeadModel, ids: tuple[int, ...]) -> torch.Tensor:
    with torch.no_grad():
        return oracle(torch.tensor([ids])).logits[0].double()


def test_the_loss_is_that_of_transformers(saved: tuple[Path, GPT2LMHeadModel], model: Model) -> None:
    ids = ioi.with_bos(model, "Hello world!")
    assert ids[0] == 0
    with torch.no_grad():
        oracle = saved[1](torch.tensor([ids]), labels=torch.tensor([ids])).loss.item()
    assert ioi.loss(model, "Hello world!") == pytest.approx(oracle, abs=1e-5)


def test_the_eight_prompts_and_their_turned_twins(saved: tuple[Path, GPT2LMHeadModel], model: Model) -> None:
    asked = ioi.prompts(model)
    texts = [model.tokenizer.text(each.ids[1:]) for each in asked]
    assert texts[:2] == [
        "When John and Mary went to the shops, John gave the bag to",
        "When John and Mary went to the shops, Mary gave the bag to",
    ]
    assert texts[6] == "After Martin and Amy went to the park, Amy gave a drink to"
    assert [(a.right, a.wrong) for a in asked[::2]] == [(b.wrong, b.right) for b in asked[1::2]]
    oracle = np.mean([float((last := logits(saved[1], a.ids)[-1])[a.right] - last[a.wrong]) for a in asked])
    clean, corrupted = ioi.clean_and_corrupted(model)
    assert clean == pytest.approx(oracle, abs=1e-4)
    assert corrupted == pytest.approx(-clean, abs=1e-5)


def test_folded_attribution_is_that_of_folded_weights(
    saved: tuple[Path, GPT2LMHeadModel], model: Model, tmp_path: Path
) -> None:
    """Value biases moved into the output bias: the same model, whose heads write what `folded` says."""
    folder, oracle = saved
    moved = deepcopy(oracle)
    with torch.no_grad():
        for block in moved.transformer.h:
            width = moved.config.n_embd
            bias = block.attn.c_attn.bias[2 * width :]
            block.attn.c_proj.bias += bias @ block.attn.c_proj.weight
            bias.zero_()
    moved.save_pretrained(tmp_path)
    for file in folder.glob("*token*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    other, asked = open_model(str(tmp_path), "torch"), ioi.prompts(model)[0]
    plain, folded = ioi.attributed(model, asked), ioi.attributed(other, asked)
    assert folded.ld == pytest.approx(plain.ld, abs=1e-4)
    assert plain.total == pytest.approx(plain.ld, abs=1e-4)
    np.testing.assert_allclose(np.stack(plain.folded), np.stack(folded.heads), atol=1e-5)
    assert np.abs(np.stack(plain.heads) - np.stack(folded.heads)).max() > 1e-3
    assert np.abs(np.stack(folded.value_biases)).max() == 0


def test_a_mean_over_other_names_takes_the_place_of_a_head(model: Model) -> None:
    ground = ioi.grounds(model)[0]
    replaced = ioi.averaged(ground, 0)
    assert len(replaced.others) > 10
    (edit,) = replaced((Head(1, 2),))
    rows = [other.trace["head_out", 1][-1, 2] for other in replaced.others]
    np.testing.assert_allclose(np.asarray(edit.action.value).reshape(-1), np.mean(rows, axis=0), atol=1e-6)
    joint, single = ioi.without(model, [ioi.heads([(1, 2), (2, 0)]), ioi.heads([(1, 2)])])
    assert joint != single


def test_estimates_between_the_turned_twins(model: Model) -> None:
    parts = [Selection("query", 1, (("h", 1),)), Mlp(0), Selection("resid_pre", 0)]
    query, first, stream = ioi.estimated(model, parts)
    assert (first.low_confidence, stream.low_confidence) == (True, True)
    assert np.isfinite([each.value for each in (query, first, stream)]).all()
    assert stream.value != 0


def test_scores_of_induction_are_brute_force(saved: tuple[Path, GPT2LMHeadModel], model: Model) -> None:
    found = probe(model, draws=2, length=20)
    assert isinstance(found, Probed)
    generator = np.random.default_rng(0)
    usable = np.arange(min(1000, model.spec.vocab // 10), model.spec.vocab)
    scores = []
    for _ in range(2):
        ids = generator.choice(usable, 40, replace=False)
        text = torch.tensor([[0, *ids[:20], *ids[:20]]])
        with torch.no_grad():
            pattern = saved[1](text, output_attentions=True).attentions[1][0, 1].numpy()
        scores.append(np.mean([pattern[q, q - 19] for q in range(21, 41)]))
    assert found.induction[1][1] == pytest.approx(np.mean(scores), abs=1e-5)


def test_the_rank_of_chosen_ones() -> None:
    chosen = np.array([True, False, True, False])
    assert ioi.auc(np.array([4.0, 1.0, 3.0, 2.0]), chosen) == 1
    assert ioi.auc(np.array([1.0, 4.0, 2.0, 3.0]), chosen) == 0
    assert ioi.auc(np.array([1.0, 1.0, 1.0, 1.0]), chosen) == 0.5


@pytest.fixture
def as_if_at_hand(saved: tuple[Path, GPT2LMHeadModel], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WHYBOX_MODELS", str(saved[0].parent))
    at_hand.cache_clear()
    yield
    at_hand.cache_clear()


@pytest.mark.usefixtures("as_if_at_hand")
@pytest.mark.parametrize(
    "check",
    [
        lambda: test_gpt2.test_the_loss_of_two_words("gpt2", 5.33186),
        test_gpt2.test_who_gets_the_bag,
    ],
)
def test_with_weights_at_hand_numbers_are_compared(check: object) -> None:
    """A folder named gpt2 is enough, and random weights fail the comparison."""
    assert callable(check)
    with pytest.raises(AssertionError, match="±"):
        check()


def test_without_weights_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_MODELS", str(tmp_path))
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path))
    assert folder_named("gpt2") is None
    at_hand.cache_clear()
    with pytest.raises(pytest.skip.Exception, match="put its safetensors folder, named gpt2"):
        at_hand("gpt2")
