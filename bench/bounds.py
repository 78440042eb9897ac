"""How far logits move when the same run is computed another way, by precision: behind a cache, in chunks, in a batch.

python -m bench.bounds MODEL… [--precision bf16 …]
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import whybox

Array = np.ndarray
PROMPTS = (
    "The capital of France is",
    "In the year of our Lord, the old king of the northern islands wrote a long letter to his three daughters, who had "
    "left the castle before the winter came. The letter said that the harbour was frozen, that the fish were gone, and "
    "that 7 of the 30 ships had not come home. It said that the door would stay open until the last day of spring. "
    "The eldest daughter read it twice, put it into the fire, and went on with her work as if nothing had happened.",
    "天氣很好，我想出去走走，可是外面的風很大，媽媽說最好明天再去公園，今天就在家裡看書。",
)


def ways(model: Any, ids: Sequence[int]) -> Iterator[tuple[str, Array, Array]]:
    """(way, logits [n v] when computed that way, the same rows of one whole run)."""
    whole, half = model.run(ids).logits, len(ids) // 2
    yield "token by token", _one_by_one(model, ids, half), whole[half:]
    yield "in chunks", model.variant(chunk=max(half // 2, 1)).run(ids).logits, whole
    yield "beside others", model.variant(batch=4).run(ids).logits, whole
    base = model.run([*ids[:-1], ids[0]])
    (last,) = model.sweep(base, [whybox.Change(ids=tuple(ids))], lambda run: run.logits[-1])
    yield "as a counterfactual", last[None], whole[-1:]
    yield "with plain attention", model.variant(kernel="plain").run(ids).logits, whole


def _one_by_one(model: Any, ids: Sequence[int], start: int) -> Array:
    trace, rows = model.engine.run(ids[:start], cache=model.engine.fresh_cache(len(ids)), tail=1), []
    for token in ids[start:]:
        trace = model.engine.run([token], cache=trace.cache)
        rows.append(trace.logits[-1])
    return np.array(rows)


def apart(found: Array, expected: Array) -> tuple[float, float, float]:
    """Largest |Δ logit|, largest KL in nats, share of rows with the same first choice."""
    p, q = (_log_softmax(rows) for rows in (expected, found))
    divergence = (np.exp(p) * (p - q)).sum(axis=-1)
    same = (found.argmax(axis=-1) == expected.argmax(axis=-1)).mean()
    return float(np.abs(found - expected).max()), float(divergence.max()), float(same)


def _log_softmax(rows: Array) -> Array:
    wide = rows.astype(np.float64)
    wide = wide - wide.max(axis=-1, keepdims=True)
    return np.asarray(wide - np.log(np.exp(wide).sum(axis=-1, keepdims=True)))


def table(path: str, precisions: Sequence[str], tell: Callable[[str], None]) -> None:
    """A line for each precision and way, the largest over the prompts; and how far the precision is from fp32."""
    single = whybox.open(path, engine="torch")
    for precision in precisions:
        model = single.variant(precision=precision)
        found: dict[str, list[tuple[float, float, float]]] = {}
        for text in PROMPTS:
            ids = model.prompt(text).ids
            for way, rows, expected in ways(model, ids):
                found.setdefault(way, []).append(apart(rows, expected))
            away = apart(model.run(ids).logits, single.run(ids).logits)
            found.setdefault("(from fp32)", []).append(away)
        largest = float(np.abs(single.run(ids).logits).max())
        for way, each in found.items():
            logit, divergence = (max(values) for values in list(zip(*each, strict=True))[:2])
            same = np.mean([values[2] for values in each])
            shown = f"| {path} | {precision} | {way} | {logit:.3g} | {divergence:.2g} | {same:.3f} | {largest:.3g} |"
            tell(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["smollm2"])
    parser.add_argument("--precision", action="append")
    asked = parser.parse_args()
    print("| model | precision | way | Δ logit | KL, nats | same first choice | largest logit |")
    print("|---|---|---|---|---|---|---|")
    for path in asked.models:
        table(path, asked.precision or ["fp32", "bf16", "int8", "int4"], lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
