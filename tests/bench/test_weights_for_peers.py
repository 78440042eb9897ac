"""The 8B writer and the exporter on a small shape: transformers reads what we read."""

from pathlib import Path

import numpy as np
import torch
from transformers import LlamaForCausalLM

from bench import export, giant
from whybox.model import open_model

SMALL = giant.Shape(layers=3, width=160, hidden=96, heads=5, kv_heads=1, vocab=293, context=64)
IDS = [5, 17, 210, 257, 3, 99, 31]


def test_a_written_file_opens_and_its_export_computes_the_same(tmp_path: Path) -> None:
    giant.write(tmp_path / "small.gguf", SMALL)
    model = open_model(str(tmp_path / "small.gguf"))
    export.save(model, tmp_path / "twin")
    twin = LlamaForCausalLM.from_pretrained(tmp_path / "twin")
    with torch.no_grad():
        theirs = twin(torch.tensor([IDS])).logits[0].numpy()
    ours = model.run(IDS).logits
    assert np.abs(theirs).max() > 0.1
    assert np.abs(ours - theirs).max() <= 5e-5 * np.abs(theirs).max()


def test_the_file_opens_with_a_tokenizer_for_any_text(tmp_path: Path) -> None:
    giant.write(tmp_path / "small.gguf", SMALL)
    model = open_model(str(tmp_path / "small.gguf"))
    assert model.prompt("the é").data == "the é".encode()
    assert list(tmp_path.iterdir()) == [tmp_path / "small.gguf"]


def test_blocks_hold_weights_of_the_stated_spread() -> None:
    stored = giant.blocks(np.random.default_rng(1), 7, 320)
    assert stored.shape == (7, 180)
    scales = stored.reshape(7, 10, 18)[:, :, :2].copy().view(np.float16)
    assert np.all(scales == np.float16(giant.SCALE))


def test_the_real_shape_is_eight_billion_weights_in_four_and_a_half_gigabytes() -> None:
    weights = sum(rows * columns for _, rows, columns in giant.matrices(giant.Shape()))
    assert weights == 8_029_995_008
    assert weights / giant.BLOCK * giant.BLOCK_BYTES == 4_516_872_192
