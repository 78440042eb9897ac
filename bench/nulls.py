"""Null calibration: interventions that mean nothing, and how often they are called more than chance.

    python -m bench.nulls [--interventions N] [--seed N] [--json]

Filler spans are hidden from the decision row, and heads of a crowd are set to zero, one at a time; each is ranked
among its matched others exactly as `why` does it. Exit code 1 when more than the bound of tests/calibration.yaml have
p ≤ α.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bench.calibration import NullCell, null_cell
from whybox.cause.spans import SHAMS, other_spans
from whybox.engine.edit import Edit, cut, zero
from whybox.engine.trace import Change, Trace
from whybox.statistics.ranks import rank_p
from whybox.testing.noise import LAYERS, NOISY, noisy
from whybox.testing.planted import Planted

LENGTH = 4  # tokens of a span, as many as a document has
OF_EACH = 5  # interventions of either kind on one prompt


@dataclass(frozen=True)
class Found:
    """One meaningless intervention: its effect (nats) and its p among matched others."""

    kind: str
    effect: float
    p: float


def interventions(count: int, seed: int) -> list[Found]:
    """`count` of them, prompt after prompt."""
    found: list[Found] = []
    while len(found) < count:
        planted = noisy(seed)
        generator = np.random.default_rng(seed)
        found += [*_spans(planted, generator), *_heads(planted, generator)]
        seed += 1
    return found[:count]


def _spans(planted: Planted, generator: np.random.Generator) -> Iterator[Found]:
    """Spans of fillers, each among the other spans of fillers that touch it nowhere, nearest first."""
    prompt = planted.model.prompt(planted.instance)
    question = prompt.segment("question")
    fillers = range(question.start, question.end - 2)
    starts = [int(start) for start in generator.choice(len(fillers) - LENGTH, OF_EACH, replace=False)]
    for start in starts:
        taken = range(fillers[start], fillers[start] + LENGTH)
        others = [span for span in other_spans(LENGTH, taken, fillers.stop) if span.start >= fillers.start]
        edits = [cut(q=len(prompt) - 1, k=span) for span in (taken, *others)]
        yield _ranked("span", _effects(planted, edits))


def _heads(planted: Planted, generator: np.random.Generator) -> Iterator[Found]:
    """Heads of the crowd, each among the others of its layer, then of the nearest layers."""
    places = [(layer, head) for layer in range(1, LAYERS) for head in range(NOISY)]
    last = len(planted.model.prompt(planted.instance)) - 1
    for number in generator.choice(len(places), OF_EACH, replace=False):
        own = places[int(number)]
        others = sorted((place for place in places if place != own), key=lambda place: abs(place[0] - own[0]))[:SHAMS]
        edits = [zero("head_out", layer, q=last, h=head) for layer, head in (own, *others)]
        yield _ranked("head", _effects(planted, edits))


def _effects(planted: Planted, edits: Sequence[Edit]) -> list[float]:
    """LD effect of each edit."""
    model, case = planted.model.variant(engine="auto"), planted.instance
    right, wrong = (model.tokenizer.encode(answer)[0] for answer in (case.right, case.wrong or ""))

    def ld(trace: Trace) -> float:
        return float(trace.logits[-1, right] - trace.logits[-1, wrong])

    base = model.run(case, tail=1)
    swept = model.sweep(base, [Change((edit,)) for edit in edits], ld)
    return [float(value) - ld(base) for value in swept]


def _ranked(kind: str, effects: Sequence[float]) -> Found:
    own, *others = effects
    return Found(kind, own, rank_p(own, others))


def summary(found: Sequence[Found], cell: NullCell) -> dict[str, object]:
    """The document of a run."""
    kinds = dict.fromkeys(one.kind for one in found)
    alarms = {kind: [one.p <= cell.alpha for one in found if one.kind == kind] for kind in kinds}
    share = sum(map(sum, alarms.values())) / len(found)
    return {
        "interventions": len(found),
        "alarms": {kind: f"{sum(hits)} of {len(hits)}" for kind, hits in alarms.items()},
        "share": share,
        "bound": cell.alarms,
        "median_effect": float(np.median([abs(one.effect) for one in found])),
        "broken": share > cell.alarms,
    }


def main() -> None:
    cell = null_cell()
    asked = argparse.ArgumentParser(
        prog="python -m bench.nulls", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--interventions", type=int, default=cell.interventions)
    asked.add_argument("--seed", type=int, default=cell.seed)
    asked.add_argument("--json", action="store_true", help="one document on stdout")
    options = asked.parse_args()
    found = summary(interventions(options.interventions, options.seed), cell)
    print(
        json.dumps(found, indent=1) if options.json else "\n".join(f"{name}: {value}" for name, value in found.items())
    )
    sys.exit(1 if found["broken"] else 0)


if __name__ == "__main__":
    main()
