"""Gradients against torch.autograd on transformers' own Llama, in float64."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig

from tests.oracle import IDS, TrulyDouble, doubled, opened, tiny
from whybox.engine.fast import FastEngine, Precision, pack
from whybox.engine.gradient import Gradient
from whybox.engine.read import Reading, log_prob_of, logit_difference

LAYERS = 3
CONFIG = LlamaConfig(
    vocab_size=37,
    hidden_size=30,
    intermediate_size=23,
    num_hidden_layers=LAYERS,
    num_attention_heads=5,
    num_key_value_heads=1,
    head_dim=6,
    max_position_embeddings=64,
    tie_word_embeddings=False,
)


def answer(logits: torch.Tensor) -> torch.Tensor:
    """Log-probability of the last three ids, each from the row before it."""
    rows = logits[-4:-1].log_softmax(-1)
    return rows[range(3), IDS[-3:]].sum()


READS: list[tuple[Reading, Callable[[torch.Tensor], torch.Tensor]]] = [
    (logit_difference(3, 8), lambda logits: logits[-1, 3] - logits[-1, 8]),
    (log_prob_of(IDS[-3:]), answer),
]


@pytest.mark.parametrize(("read", "theirs"), READS, ids=["logit difference", "answer"])
def test_embeddings_hidden_states_and_patterns(
    read: Reading, theirs: Callable[[torch.Tensor], torch.Tensor], tmp_path: Path
) -> None:
    model = tiny(CONFIG)
    model.save_pretrained(tmp_path)
    with TrulyDouble():
        ids = torch.tensor([IDS])
        out = doubled(model)(ids, output_hidden_states=True, output_attentions=True, use_cache=False)
        for value in (*out.hidden_states, *out.attentions, out.logits):
            value.retain_grad()
        theirs(out.logits[0]).backward()
    found = mine(tmp_path, read)
    assert_close(found["embed"], out.hidden_states[0])
    assert_close(found["final"], out.hidden_states[LAYERS])
    assert_close(found["logits"], out.logits)
    for layer in range(LAYERS):
        assert_close(found["resid_pre", layer], out.hidden_states[layer])
        assert_close(found["pattern", layer], out.attentions[layer])


def mine(path: Path, read: Reading) -> Gradient:
    reference = opened(path).engine64
    engine = FastEngine(pack(reference.spec, reference.weights, Precision.FP64, torch.device("cpu")))
    return engine.gradient(engine.run(IDS), read, ["embed", "resid_pre", "pattern", "final", "logits"])


def assert_close(grad: np.ndarray, value: torch.Tensor) -> None:
    assert value.grad is not None
    expected = value.grad[0].numpy()
    assert np.abs(expected).max() > 1e-4, "too flat to prove anything"
    np.testing.assert_allclose(grad, expected, rtol=0, atol=1e-10 * max(1, np.abs(expected).max()))
