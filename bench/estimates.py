"""Gradient estimates against brute force: how far a map by attribution patching can be trusted, on both real models.

    python -m bench.estimates [--pairs N] [--models smollm2 gemma3-270m]

Prints the table of docs/decisions/attribution-estimates.md. Needs torch.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from whybox.cause.components import Component, all_heads, all_mlps
from whybox.cause.estimates import estimates
from whybox.cause.experiment import effects
from whybox.cause.ground import Ground, between
from whybox.cause.patching import Pair, pair
from whybox.cause.replacement import Replacement, Zeroed
from whybox.model import Model, open_model

PLACES = (
    ("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Germany", "Berlin"),
    ("Japan", "Tokyo"), ("China", "Beijing"), ("Egypt", "Cairo"), ("Russia", "Moscow"),
)  # fmt: skip
TOP = 10


@dataclass(frozen=True)
class Row:
    """One prompt pair: estimates beside effects over all heads and MLPs."""

    spearman: float
    recall: float
    signs: float
    flagged: float
    sure: float
    worst: float


def rows(model: Model, replaced: str, count: int) -> Iterator[Row]:
    """One row for each pair of capitals, in turn."""
    components: list[Component] = [*all_heads(model.spec), *all_mlps(model.spec)]
    floor: float | None = None
    for i in range(count):
        (bad_place, wrong), (good_place, right) = PLACES[i % len(PLACES)], PLACES[(i + 1) % len(PLACES)]
        bad = between(model, f"The capital of {bad_place} is", f" {right}", f" {wrong}", floor=floor)
        floor = bad.floor
        both = pair(bad, f"The capital of {good_place} is")
        match replaced:
            case "patched":
                yield row(bad, both.patch(components), components, both)
            case _:
                yield row(bad, Zeroed(), components, None)


def row(ground: Ground, replacement: Replacement, components: Sequence[Component], both: Pair | None) -> Row:
    """All components estimated by one gradient, and each of them replaced."""
    found = estimates(ground, replacement, components, both)
    measured = effects(ground, replacement, [(one,) for one in components])
    truth = np.array([measured[one,].effect for one in components])
    guess = np.array([one.value for one in found])
    clear = np.abs(truth) > 5 * ground.floor
    sure = np.array([not one.low_confidence for one in found])
    return Row(
        spearman=float(stats.spearmanr(guess, truth).statistic),
        recall=len(_top(guess) & _top(truth)) / TOP,
        signs=float((np.sign(guess) == np.sign(truth))[clear].mean()),
        flagged=float(1 - sure.mean()),
        sure=_spearman(guess[sure], truth[sure]),
        worst=float((np.abs(truth) - np.abs(guess)).max()),
    )


def _top(values: np.ndarray) -> set[int]:
    return set(np.argsort(-np.abs(values))[:TOP].tolist())


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(stats.spearmanr(x, y).statistic) if len(x) > 2 else float("nan")


def markdown(name: str, replaced: str, found: Sequence[Row], components: int) -> str:
    """One line of the table: means, and the worst pair in brackets."""
    cells = [_mean([vars(one)[field] for one in found], worst) for field, worst in COLUMNS.items()]
    return f"| {name}, {replaced} | {len(found)} × {components} | " + " | ".join(cells) + " |"


COLUMNS = {"spearman": min, "recall": min, "signs": min, "flagged": max, "sure": min, "worst": max}


def _mean(values: Sequence[float], worst: object) -> str:
    assert callable(worst)
    return f"{np.nanmean(values):.2f} ({worst(values):.2f})"


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.estimates", description=__doc__)
    asked.add_argument("--pairs", type=int, default=len(PLACES))
    asked.add_argument("--models", nargs="+", default=["smollm2", "gemma3-270m"])
    options = asked.parse_args()
    print(
        "| model, replacement | pairs × parts | Spearman | top-10 recall | signs | flagged | unflagged ρ | worst miss |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.models:
        model = open_model(name, "torch")
        parts = sum(layer.attention.heads for layer in model.spec.layers) + len(model.spec.layers)
        for replaced in ("patched", "zeroed"):
            print(markdown(name, replaced, list(rows(model, replaced, options.pairs)), parts), flush=True)


if __name__ == "__main__":
    main()
