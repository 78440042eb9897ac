"""What runs need in memory: predicted before they start, and how much a real process grew. One process for each line.

python -m bench.needs [MODEL] [--only WORD]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEGA = 1e6
WORKS = (
    ("run, 500 tokens", "run", {"tokens": 500}),
    ("run, 500 tokens, see resid_post, mlp_hidden", "run", {"tokens": 500, "see": ["resid_post", "mlp_hidden"]}),
    ("run, 500 tokens, see pattern, last row", "run", {"tokens": 500, "see": ["pattern"], "tail": 1}),
    ("run, 8,000 tokens, last row", "run", {"tokens": 8000, "tail": 1}),
    ("statistics, 2,000 tokens", "run", {"tokens": 2000, "tail": 1, "statistics": True}),
    ("statistics, 8,000 tokens", "run", {"tokens": 8000, "tail": 1, "statistics": True}),
    ("16 streams of 16 + 64 tokens", "write", {"streams": 16, "tokens": 16, "count": 64}),
    ("16 streams of 300 + 32 tokens", "write", {"streams": 16, "tokens": 300, "count": 32}),
    ("16 streams of 1,000 + 16 tokens", "write", {"streams": 16, "tokens": 1000, "count": 16}),
    ("64 answers of 6 tokens, one prompt of 300", "score", {"answers": 64, "tokens": 300, "own": 6}),
    ("32 texts of 200 tokens, 6 read", "score", {"answers": 32, "tokens": 20, "own": 180}),
    ("200 heads silenced, 128 tokens", "sweep", {"tokens": 128, "count": 200}),
    ("200 heads silenced, 1,000 tokens, last row changed", "sweep", {"tokens": 1000, "count": 200, "last": True}),
    ("gradient at resid_post, head_out, 300 tokens", "gradient", {"tokens": 300}),
    ("gradient at resid_post, head_out, 1,000 tokens", "gradient", {"tokens": 1000}),
    ("run, 200 tokens, one of 16 rows", "beside", {"tokens": 200, "rows": 16}),
)  # fmt: skip


def status(row: str) -> int:
    """Bytes, of this process. Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(row))


@contextmanager
def noted() -> Iterator[list[int]]:
    """The totals of all needs that an engine asks room for in the meantime."""
    from whybox.engine.fast import FastEngine

    found: list[int] = []
    reckoned = FastEngine.need_of

    def noting(*asked: Any, **more: Any) -> Any:
        need = reckoned(*asked, **more)
        found.append(need.total)
        return need

    FastEngine.need_of = noting  # type: ignore[method-assign]
    try:
        yield found
    finally:
        FastEngine.need_of = reckoned  # type: ignore[method-assign]


def measured(model: Any, kind: str, given: Mapping[str, Any]) -> tuple[int, int]:
    """(bytes that the process grew by at most, bytes predicted)."""
    work = KINDS[kind](model, **given)
    model.run([1, 2, 3])
    model.generate_many([[1, 2, 3], [1, 2, 4]], 2)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    with noted() as needs:
        kept = work()
    assert kept is not None
    return status("VmHWM") - before, max(needs)


def _ids(tokens: int, seed: int = 0) -> list[int]:
    return [(7 * i + 1009 * seed + i * i) % 40_000 + 100 for i in range(tokens)]


def run(model: Any, tokens: int, **asked: Any) -> Callable[[], Any]:
    return lambda: model.run(_ids(tokens), **asked)


def write(model: Any, streams: int, tokens: int, count: int) -> Callable[[], Any]:
    import whybox

    decoding = whybox.Decoding(banned=tuple(model.tokenizer.stop_ids))
    return lambda: model.generate_many([_ids(tokens, i + 1) for i in range(streams)], count, decoding)


def score(model: Any, answers: int, tokens: int, own: int) -> Callable[[], Any]:
    from whybox.engine.trace import Answer

    asked = [Answer(tuple(_ids(tokens) + _ids(own, i + 1)), tokens + own - 6) for i in range(answers)]
    return lambda: [float(rows.max()) for _, rows in model.engine.answer_rows(asked)]


def sweep(model: Any, tokens: int, count: int, last: bool = False) -> Callable[[], Any]:
    import whybox

    heads = [(layer, head) for layer, each in enumerate(model.spec.layers) for head in range(each.attention.heads)]
    where = {"q": tokens - 1} if last else {}
    step = max(len(heads) // count, 1)
    changes = [whybox.Change(edits=(whybox.zero("head_out", layer, h=head, **where),)) for layer, head in heads]

    def work() -> Any:
        trace = model.run(_ids(tokens), tail=1)
        return model.sweep(trace, changes[::step][:count], lambda each: float(each.log_probs()[0]))

    return work


def gradient(model: Any, tokens: int) -> Callable[[], Any]:
    from whybox.engine.read import logit_difference

    trace = model.run(_ids(tokens), tail=1)
    return lambda: model.gradient(trace, logit_difference(5, 9), ["resid_post", "head_out"])


def beside(model: Any, tokens: int, rows: int) -> Callable[[], Any]:
    among = model.variant(batch=rows)
    return lambda: among.run(_ids(tokens), tail=1)


KINDS: Mapping[str, Callable[..., Callable[[], Any]]] = {
    "run": run, "write": write, "score": score, "sweep": sweep, "gradient": gradient, "beside": beside,
}  # fmt: skip


def _one(path: str, precision: str, number: int) -> None:
    import whybox

    _, kind, given = WORKS[number]
    model = whybox.open(path, engine="torch", precision=precision, allow_long=True)
    print(json.dumps(measured(model, kind, given)))


def _table(path: str, precisions: list[str], only: str) -> None:
    for number, (name, _, _) in enumerate(WORKS):
        for precision in precisions:
            if only not in f"{name} {precision}":
                continue
            command = [sys.executable, "-m", "bench.needs", path, "--one", str(number), "--precision", precision]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode:
                print(f"| {name} | {precision} | failed: {ended.stderr.strip().splitlines()[-1]} |", flush=True)
                continue
            grew, predicted = json.loads(ended.stdout)
            shown = f"{predicted / MEGA:,.0f} | {grew / MEGA:,.0f} | {predicted / grew:.2f}"
            print(f"| {name} | {precision} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="smollm2")
    parser.add_argument("--precision", action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--one", type=int)
    asked = parser.parse_args()
    if asked.one is not None:
        _one(asked.model, asked.precision[0], asked.one)
    else:
        print("| work | precision | predicted, MB | grew by, MB | ratio |\n|---|---|---|---|---|")
        _table(asked.model, asked.precision or ["fp32", "bf16"], asked.only)


if __name__ == "__main__":
    main()
