"""whybox's side of every row."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import whybox
from bench.peers.turns import NotOffered, Work, serve
from whybox.errors import UsageError

FLOOR_SAMPLE = 30
EXACT = "fp64"
GIANT_BOUND = 12 * 10**9
FRESH_SAMPLE = 10
FP32_FLOOR = 1e-4
"""nats: what regrouping the same sums costs in float32."""


def shared(inputs: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(inputs).read_text())
    return found


def opened(path: str, precision: str, engine: str = "torch") -> Any:
    """The model, on the fast engine unless told."""
    try:
        return whybox.open(path, engine=engine, precision=precision, allow_long=True)
    except UsageError as problem:
        raise NotOffered(problem.cause) from None


def prefill(inputs: str, precision: str, tokens: int, statistics: bool = False) -> Work:
    """One run, logits of the last row; with statistics, those of every layer, head and query."""
    given = shared(inputs)
    model = opened(given["model"], precision)
    ids = given["text"][:tokens]
    asked: dict[str, Any] = {"statistics": True} if statistics else {}

    def work() -> dict[str, Any]:
        model.run(ids, tail=1, **asked)
        return {"units": tokens}

    return work


def decode(inputs: str, precision: str, streams: int, tokens: int, engine: str = "torch") -> Work:
    """Greedy decoding from prompts of 16 tokens, all streams together."""
    given = shared(inputs)
    model = opened(given["model"], precision, engine)
    prompts = [given["text"][16 * i : 16 * i + 16] for i in range(streams)]
    return lambda: {"units": _written(model, prompts, tokens)}


def questions(inputs: str, precision: str, tokens: int) -> Work:
    """All prompts in one call."""
    given = shared(inputs)
    model = opened(given["model"], precision)
    _written(model, given["questions"][:2], 2)
    return lambda: {"units": _written(model, given["questions"], tokens)}


def _written(model: Any, prompts: list[list[int]], tokens: int) -> int:
    decoding = whybox.Decoding(banned=tuple(model.tokenizer.stop_ids))
    if len(prompts) == 1:
        return len(model.generate(prompts[0], tokens, decoding).ids)
    return sum(len(each.ids) for each in model.generate_many(prompts, tokens, decoding))


def ablations(inputs: str, precision: str, tokens: int) -> Work:
    """Each head zeroed at all positions, read at the end: how much the likeliest next token's log p falls."""
    given = shared(inputs)
    model, ids = opened(given["model"], precision), given["text"][:tokens]
    changes = _heads(model)
    likeliest = _likeliest(model, ids)
    floor = _floor(model, given["model"], ids, changes, likeliest)
    return lambda: {"units": len(changes), "effects": _swept(model, ids, changes, likeliest), "floor": floor}


def exact_ablations(inputs: str, tokens: int, every: int) -> Work:
    """The same in float64, for every so many-th head; of the token that is likeliest there."""
    given = shared(inputs)
    model, ids = opened(given["model"], EXACT), given["text"][:tokens]
    changes = _heads(model)[::every]
    likeliest = _likeliest(model, ids)
    return lambda: {"units": len(changes), "effects": _swept(model, ids, changes, likeliest)}


def _heads(model: Any) -> list[Any]:
    heads = [(layer, head) for layer, each in enumerate(model.spec.layers) for head in range(each.attention.heads)]
    return [whybox.Change(edits=(whybox.zero("head_out", layer, h=head),)) for layer, head in heads]


def _likeliest(model: Any, ids: list[int]) -> int:
    return int(model.run(ids, tail=1).logits[-1].argmax())


def _swept(model: Any, ids: list[int], changes: list[Any], token: int) -> list[float]:
    trace, read = model.run(ids, tail=1), _log_prob(token)
    return [read(trace) - float(each) for each in model.sweep(trace, changes, read)]


def _floor(model: Any, path: str, ids: list[int], changes: list[Any], token: int) -> float:
    """How far an effect moves when it is computed another way; of a lower precision, beside that of float32.

    The other ways: float32 with attention that shows everything, for all heads; fresh runs and the NumPy engine, for a
    sample that is spread through the layers.
    """
    effects = _swept(model, ids, changes, token)
    single = model.variant(precision="fp32")
    another = _swept(single.variant(kernel="plain"), ids, changes, token)
    known = effects if model.way.precision == "fp32" else _swept(single, ids, changes, token)
    sample = np.linspace(0, len(changes) - 1, FLOOR_SAMPLE).astype(int)
    reference = whybox.open(path, engine="numpy")
    numpy, fresh = (_fresh(other, ids, [changes[i] for i in sample], token) for other in (reference, model))
    own = max(_farthest(known, another), _farthest([known[i] for i in sample], numpy))
    return own + max(_farthest(effects, known), _farthest([effects[i] for i in sample], fresh))


def _farthest(some: list[float], others: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(some, others, strict=True))


def _fresh(model: Any, ids: list[int], changes: list[Any], token: int) -> list[float]:
    """The effect of each change on log p of a token, by a run of its own."""
    read = _log_prob(token)
    base = read(model.run(ids, tail=1))
    return [base - read(model.run(ids, tail=1, edits=change.edits)) for change in changes]


def _log_prob(token: int) -> Callable[[Any], float]:
    return lambda trace: float(trace.log_probs()[token])


def interventions(inputs: str, precision: str, tokens: int, count: int) -> Work:
    """Edges, segments and heads changed at the last position, by one sweep; the effects of a sample."""
    model, ids, changes = _last_row(inputs, precision, tokens, count)
    trace = model.run(ids, tail=1)
    read = _log_prob(int(trace.logits[-1].argmax()))

    def work() -> dict[str, Any]:
        effects = [read(trace) - float(each) for each in model.sweep(trace, changes, read)]
        return {"units": count, "effects": effects[:: count // FRESH_SAMPLE], "floor": FP32_FLOOR}

    return work


def fresh_interventions(inputs: str, precision: str, tokens: int, count: int) -> Work:
    """The sample, a fresh run each."""
    model, ids, changes = _last_row(inputs, precision, tokens, count)
    likeliest = int(model.run(ids, tail=1).logits[-1].argmax())
    sample = changes[:: count // FRESH_SAMPLE]
    return lambda: {"units": len(sample) + 1, "effects": _fresh(model, ids, sample, likeliest)}


def _last_row(inputs: str, precision: str, tokens: int, count: int) -> tuple[Any, list[int], list[Any]]:
    given = shared(inputs)
    model = opened(given["model"], precision)
    changes = [whybox.Change(edits=(edit,)) for edit in _last_row_edits(model, tokens, count)]
    return model, given["text"][:tokens], changes


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
            raise NotOffered(_last_words(ran.stderr) or f"exit {ran.returncode}")
        return {}

    return work


def _last_words(text: str) -> str:
    """The last line that says something, out of its frame."""
    lines = [line.strip(" │") for line in text.splitlines()]
    return next((line for line in reversed(lines) if any(map(str.isalnum, line))), "")


def giant(inputs: str, engine: str) -> Work:
    """Opens the 8B-shaped file as anyone would, and computes one next token."""
    given = shared(inputs)
    _bounded(GIANT_BOUND)

    def work() -> dict[str, Any]:
        whybox.open(given["giant"], engine=engine).run("the quick brown fox", tail=1).next(1)
        return {}

    return work


def _bounded(size: int) -> None:
    """This process is refused memory beyond `size` bytes, so that a file that does not fit harms no other."""
    import resource  # not there on Windows

    resource.setrlimit(resource.RLIMIT_DATA, (size, size))


TASKS: dict[str, Callable[..., Work]] = {
    "prefill": prefill,
    "decode": decode,
    "questions": questions,
    "ablations": ablations,
    "exact ablations": exact_ablations,
    "interventions": interventions,
    "fresh interventions": fresh_interventions,
    "cold": cold,
    "giant": giant,
}

if __name__ == "__main__":
    serve(TASKS)
