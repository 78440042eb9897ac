"""NumPy engine beside transformers in float32, the same weights, one run: tokens per second of greedy decoding.

    python -m bench.first_light [--tokens 24] [--rounds 3]

Needs the test extra. Prints the ratio of the medians; rounds alternate, both warm.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch
from tests.real import real
from tests.rebuilt import llama_in_transformers

PROMPT = "The capital of France is"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tokens", type=int, default=24)
    asked.add_argument("--rounds", type=int, default=3)
    options = asked.parse_args()
    print(f"cold `whybox next`: {cold():.2f} s, peak memory {cold_peak() / 1e9:.2f} GB")
    mine, theirs = numpy_decoder(options.tokens), transformers_decoder(options.tokens)
    assert mine() == theirs(), "the two wrote different texts"
    rates: dict[str, list[float]] = {"numpy": [], "transformers fp32": []}
    for _ in range(options.rounds):
        for name, write in (("numpy", mine), ("transformers fp32", theirs)):
            begun = time.perf_counter()
            write()
            rates[name].append(options.tokens / (time.perf_counter() - begun))
    medians = {name: statistics.median(found) for name, found in rates.items()}
    for name, rate in medians.items():
        print(f"{name}: {rate:.1f} tokens/s")
    print(f"ratio: {medians['numpy'] / medians['transformers fp32']:.2f} (goal 1.0)")


def cold() -> float:
    """Seconds from the start of the process to its printed result, the best of three."""
    return min(_timed([sys.executable, "-m", "whybox", "next", PROMPT]) for _ in range(3))


def cold_peak() -> int:
    """Peak resident bytes of the largest child so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def _timed(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def numpy_decoder(tokens: int) -> Callable[[], list[int]]:
    model = real("smollm2")
    return lambda: [chosen for chosen, _ in model.steps(PROMPT, tokens)]


def transformers_decoder(tokens: int) -> Callable[[], list[int]]:
    model = llama_in_transformers(real("smollm2"))
    ids = torch.tensor([real("smollm2").prompt(PROMPT).ids])

    def write() -> list[int]:
        with torch.no_grad():
            out = model.generate(ids, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False)
        return [int(token) for token in out[0, ids.shape[1] :]]

    return write


if __name__ == "__main__":
    main()
