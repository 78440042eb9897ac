"""llama.cpp through llama-cpp-python's C interface: the GGUF as it is, no Python sampler in the loop."""

import json
from pathlib import Path
from typing import Any

import llama_cpp as c
import numpy as np

from bench.peers.turns import Work, serve


class Runner:
    """A model and a context of `length` tokens."""

    def __init__(self, inputs: str, threads: int, length: int) -> None:
        given: dict[str, Any] = json.loads(Path(inputs).read_text())
        self.text: list[int] = given["text"]
        c.llama_backend_init()
        self._model = c.llama_model_load_from_file(given["model"].encode(), c.llama_model_default_params())
        settings = c.llama_context_default_params()
        settings.n_ctx = length
        settings.n_batch = length
        settings.n_threads = settings.n_threads_batch = threads
        self._context = c.llama_init_from_model(self._model, settings)
        self._vocab = c.llama_vocab_n_tokens(c.llama_model_get_vocab(self._model))

    def feed(self, ids: list[int]) -> int:
        """Computes the ids, with the logits of the last one only; the most probable next id."""
        tokens = (c.llama_token * len(ids))(*ids)  # the batch only points at it
        if c.llama_decode(self._context, c.llama_batch_get_one(tokens, len(ids))) != 0:
            raise RuntimeError("llama_decode failed")
        logits = c.llama_get_logits_ith(self._context, -1)
        return int(np.ctypeslib.as_array(logits, shape=(self._vocab,)).argmax())

    def forget(self) -> None:
        c.llama_memory_clear(c.llama_get_memory(self._context), True)


def prefill(inputs: str, threads: int, tokens: int) -> Work:
    """One batch, logits of the last row."""
    runner = Runner(inputs, threads, tokens)

    def work() -> dict[str, Any]:
        runner.forget()
        runner.feed(runner.text[:tokens])
        return {"units": tokens}

    return work


def decode(inputs: str, threads: int, tokens: int) -> Work:
    """Greedy decoding of one stream from a prompt of 16 tokens."""
    runner = Runner(inputs, threads, 16 + tokens)

    def work() -> dict[str, Any]:
        runner.forget()
        chosen = runner.feed(runner.text[:16])
        for _ in range(tokens - 1):
            chosen = runner.feed([chosen])
        return {"units": tokens}

    return work


if __name__ == "__main__":
    serve({"prefill": prefill, "decode": decode})
