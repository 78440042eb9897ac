"""A Hugging Face folder from text to the next token: weights, tokenizer and template as transformers reads them."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, LlamaConfig

from tests.cli.test_next import run
from tests.oracle import tiny
from tests.text.tiny import CHATML, byte_level, folder_of

TEXT = "天氣很好 and 12 apples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("folder")
    library = byte_level()
    config = LlamaConfig(
        vocab_size=library.get_vocab_size(),
        hidden_size=42,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=10,
        max_position_embeddings=64,
    )
    tiny(config).save_pretrained(path)
    return folder_of(library, path, eos_token="<|im_end|>", chat_template=CHATML)


@pytest.mark.parametrize("chat", [False, True])
def test_next_from_a_folder_is_that_of_transformers(folder: Path, chat: bool) -> None:
    ended = run("next", "-m", str(folder), TEXT, "--json", *(["--chat"] if chat else []))
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)

    tokenizer = AutoTokenizer.from_pretrained(folder)
    messages = [{"role": "user", "content": TEXT}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) if chat else TEXT
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert [token["id"] for token in document["tokens"]] == ids

    from transformers import AutoModelForCausalLM

    with torch.no_grad():
        logits = AutoModelForCausalLM.from_pretrained(folder)(torch.tensor([ids])).logits[0, -1].double()
    probabilities = torch.softmax(logits, -1).numpy()
    assert document["next"][0]["id"] == int(probabilities.argmax())
    for row in document["next"]:
        assert row["prob"] == pytest.approx(probabilities[row["id"]], rel=1e-4)
    assert np.isclose(sum(row["prob"] for row in document["next"]), np.sort(probabilities)[-10:].sum(), rtol=1e-4)
