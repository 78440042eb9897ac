"""transformers on torch: the work of the bench, done as its users would, with SDPA attention."""

import json
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaForCausalLM

from bench.peers.turns import Work, serve

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def model_of(inputs: dict[str, Any], precision: str, threads: int) -> Any:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    model = LlamaForCausalLM.from_pretrained(inputs["folder"], dtype=TYPES[precision], attn_implementation="sdpa")
    model.generation_config.pad_token_id = 0
    return model.eval()


def read(inputs: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(inputs).read_text())
    return found


def prefill(inputs: str, threads: int, precision: str, tokens: int, all_rows: bool = False) -> Work:
    """One forward pass; logits of the last row, or of all rows as a plain call computes them."""
    given = read(inputs)
    model = model_of(given, precision, threads)
    ids = torch.tensor([given["text"][:tokens]])

    def work() -> dict[str, Any]:
        model(ids, logits_to_keep=0 if all_rows else 1)
        return {"units": tokens}

    return work


def decode(inputs: str, threads: int, precision: str, streams: int, tokens: int) -> Work:
    """Greedy `generate` from prompts of 16 tokens, all streams in one batch."""
    given = read(inputs)
    model = model_of(given, precision, threads)
    ids = torch.tensor([given["text"][16 * i : 16 * i + 16] for i in range(streams)])

    def work() -> dict[str, Any]:
        generate(model, ids, tokens)
        return {"units": streams * tokens}

    return work


def questions(inputs: str, threads: int, precision: str, tokens: int, sample: int) -> Work:
    """`generate` once per prompt, for the first `sample` prompts."""
    given = read(inputs)
    model = model_of(given, precision, threads)
    prompts = [torch.tensor([ids]) for ids in given["questions"]]
    chosen = prompts[:sample]
    generate(model, prompts[-1], tokens)

    def work() -> dict[str, Any]:
        for ids in chosen:
            generate(model, ids, tokens)
        return {"units": len(chosen) * tokens}

    return work


def generate(model: Any, ids: torch.Tensor, tokens: int) -> None:
    model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False
    )


if __name__ == "__main__":
    serve({"prefill": prefill, "decode": decode, "questions": questions})
