"""whybox's side of every row."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import whybox
from bench.peers.turns import NotOffered, Work, serve
from whybox.errors import UsageError

FLOOR_SAMPLE = 10


def read(inputs: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(inputs).read_text())
    return found


def opened(path: str, precision: str) -> Any:
    """The model on the fast engine."""
    try:
        return whybox.open(path, engine="torch", precision=precision, allow_long=True)
    except UsageError as problem:
        raise NotOffered(problem.cause) from None


def prefill(inputs: str, precision: str, tokens: int, statistics: bool = False) -> Work:
    """One run, logits of the last row; with statistics, those of every layer, head and query."""
    given = read(inputs)
    model = opened(given["model"], precision)
    ids = given["text"][:tokens]
    asked: dict[str, Any] = {"statistics": True} if statistics else {}

    def work() -> dict[str, Any]:
        model.run(ids, tail=1, **asked)
        return {"units": tokens}

    return work


def decode(inputs: str, precision: str, streams: int, tokens: int) -> Work:
    """Greedy decoding from prompts of 16 tokens, all streams together."""
    given = read(inputs)
    model = opened(given["model"], precision)
    prompts = [given["text"][16 * i : 16 * i + 16] for i in range(streams)]
    return lambda: {"units": _written(model, prompts, tokens)}


def questions(inputs: str, precision: str, tokens: int) -> Work:
    """All prompts in one call."""
    given = read(inputs)
    model = opened(given["model"], precision)
    _written(model, given["questions"][:2], 2)
    return lambda: {"units": _written(model, given["questions"], tokens)}


def _written(model: Any, prompts: list[list[int]], tokens: int) -> int:
    decoding = whybox.Decoding(banned=tuple(model.tokenizer.stop_ids))
    if len(prompts) == 1:
        return len(model.generate(prompts[0], tokens, decoding).ids)
    return sum(len(each.ids) for each in model.generate_many(prompts, tokens, decoding))


def ablations(inputs: str, precision: str, tokens: int) -> Work:
    """Each head zeroed at all positions, read at the end: how much the likeliest next token's log p falls.

    floor: the largest difference between the sweep and fresh runs, over some heads spread through the layers.
    """
    given = read(inputs)
    model = opened(given["model"], precision)
    ids = given["text"][:tokens]
    heads = [(layer, head) for layer, each in enumerate(model.spec.layers) for head in range(each.attention.heads)]
    changes = [whybox.Change(edits=(whybox.zero("head_out", layer, h=head),)) for layer, head in heads]
    likeliest = int(model.run(ids, tail=1).logits[-1].argmax())

    def log_prob(trace: Any) -> float:
        return float(trace.log_probs()[likeliest])

    def work() -> dict[str, Any]:
        trace = model.run(ids, tail=1)
        base = log_prob(trace)
        return {"units": len(heads), "effects": [base - float(each) for each in model.sweep(trace, changes, log_prob)]}

    effects, base = work()["effects"], log_prob(model.run(ids, tail=1))
    sample = np.linspace(0, len(changes) - 1, FLOOR_SAMPLE).astype(int)
    fresh = {int(i): base - log_prob(model.run(ids, tail=1, edits=changes[i].edits)) for i in sample}
    floor = max(abs(effects[i] - effect) for i, effect in fresh.items())
    return lambda: {**work(), "floor": max(floor, 1e-4)}


def interventions(inputs: str, precision: str, tokens: int, count: int, fresh: int | None = None) -> Work:
    """Edges, segments and heads changed at the last position, by a sweep; or some of them, a fresh run each."""
    given = read(inputs)
    model = opened(given["model"], precision)
    ids = given["text"][:tokens]
    changes = [whybox.Change(edits=(edit,)) for edit in _last_row_edits(model, tokens, count)]
    trace = model.run(ids, tail=1)
    likeliest = int(trace.logits[-1].argmax())

    def log_prob(trace: Any) -> float:
        return float(trace.log_probs()[likeliest])

    def swept() -> dict[str, Any]:
        model.sweep(trace, changes, log_prob)
        return {"units": count}

    def one_by_one() -> dict[str, Any]:
        for change in changes[:: count // (fresh or 1)]:
            log_prob(model.run(ids, tail=1, edits=change.edits))
        return {"units": len(changes[:: count // (fresh or 1)])}

    return swept if fresh is None else one_by_one


def _last_row_edits(model: Any, tokens: int, count: int) -> list[Any]:
    """A third each: one edge of one head, a segment of 20 keys in all layers, one head."""
    generator = np.random.default_rng(0)
    last = tokens - 1
    edits = []
    for number in range(count):
        layer = int(generator.integers(len(model.spec.layers)))
        head = int(generator.integers(model.spec.layers[layer].attention.heads))
        key = int(generator.integers(tokens - 20))
        edge = whybox.cut(layer, h=head, q=last, k=key)
        segment = whybox.cut(q=last, k=range(key, key + 20))
        edits.append((edge, segment, whybox.zero("head_out", layer, h=head, q=last))[number % 3])
    return edits


def cold(inputs: str, command: list[str]) -> Work:
    """A Python process from its start to its end; it finds the default model by itself, so `inputs` is not read."""

    def work() -> dict[str, Any]:
        ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise NotOffered((ran.stderr.strip().splitlines() or [f"exit {ran.returncode}"])[0])
        return {}

    return work


def giant(inputs: str, precision: str) -> Work:
    """Opens the 8B-shaped file and computes one next token."""
    given = read(inputs)

    def work() -> dict[str, Any]:
        opened(given["giant"], precision).run("the quick brown fox", tail=1).next(1)
        return {}

    return work


TASKS = {
    "prefill": prefill,
    "decode": decode,
    "questions": questions,
    "ablations": ablations,
    "interventions": interventions,
    "cold": cold,
    "giant": giant,
}

if __name__ == "__main__":
    serve(TASKS)
