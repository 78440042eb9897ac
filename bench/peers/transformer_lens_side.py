"""TransformerLens: each head zeroed at all positions, one run after another, read at the end of the prompt."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformer_lens.model_bridge import TransformerBridge
from transformers import PreTrainedTokenizerFast

from bench.peers.turns import Work, serve


def ablations(inputs: str, threads: int, tokens: int, heads: int | None = None) -> Work:
    """Effect of each head: log p of the model's own next token, with the head and without it. heads: only so many."""
    given: dict[str, Any] = json.loads(Path(inputs).read_text())
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    model = TransformerBridge.boot_transformers(
        given["folder"], device="cpu", dtype=torch.float32, tokenizer=_unused_tokenizer()
    )
    ids = torch.tensor([given["text"][:tokens]])
    every = [(layer, head) for layer in range(model.cfg.n_layers) for head in range(model.cfg.n_heads)][:heads]
    base = torch.log_softmax(model(ids)[0, -1], -1)
    likeliest = int(base.argmax())

    def effect(layer: int, head: int) -> float:
        def silence(value: torch.Tensor, hook: Any) -> torch.Tensor:
            value[:, :, head] = 0
            return value

        logits = model.run_with_hooks(ids, fwd_hooks=[(f"blocks.{layer}.attn.hook_z", silence)])
        return float(base[likeliest] - torch.log_softmax(logits[0, -1], -1)[likeliest])

    def work() -> dict[str, Any]:
        return {"units": len(every), "effects": [effect(layer, head) for layer, head in every]}

    return work


def _unused_tokenizer() -> PreTrainedTokenizerFast:
    """The bridge insists on one; the bench feeds ids."""
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")), unk_token="?")


if __name__ == "__main__":
    serve({"ablations": ablations})
