"""Verdicts on models whose cause of failure is known: the confusion matrix over drawn cases of every row.

    python -m bench.verdicts [--rows NAME…] [--per-row N] [--seed N] [--engine torch] [--json]

Exit code 1 when a bound of tests/calibration.yaml is broken.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.calibration import VerdictCell, verdict_cell
from whybox.jobs.why import WhyOptions, why
from whybox.report.document import WhyDocument
from whybox.statistics.intervals import Rate, clopper_pearson
from whybox.testing.drawn import DRAWN, drawn
from whybox.testing.planted import Planted

TRAPS = ("hanging", "misled", "leaning", "two_memories", "averse", "bystanders", "suggested")
SEVERAL = ("mixed", "beyond", *TRAPS)  # rows in which a single cause would be wrong whatever its name
FURTHER = ("outvoted", "shared_memory", "usurper", *TRAPS[1:])  # rows for what the others leave open
OPEN = "not-determined"
RESAMPLES = 999


@dataclass(frozen=True)
class Judged:
    """One case: what it must get and what it got, as `code · detail`; several causes are joined by `+`."""

    row: str
    seed: int
    wanted: str
    found: str
    took_s: float

    @property
    def right(self) -> bool:
        return self.found == self.wanted

    @property
    def undetermined(self) -> bool:
        """A fault that was not named, which is no wrong cause."""
        return self.found.startswith(OPEN) and not self.right

    @property
    def wrong(self) -> bool:
        """A cause was named and it is not the one; or a right answer got a cause."""
        return not self.right and not self.found.startswith(OPEN)


def judged(row: str, seed: int, engine: str = "numpy") -> Judged:
    """One drawn case through the whole of `why`. Faulty engines stay what they are, whatever the engine."""
    planted = drawn(row, seed)
    began = time.perf_counter()
    found = explained(planted, engine)
    expected = label(planted.expected.code, planted.expected.detail)
    named = "+".join(label(cause.code, cause.detail) for cause in found.verdict.causes)
    return Judged(row, seed, expected, named, time.perf_counter() - began)


def explained(planted: Planted, engine: str = "numpy") -> WhyDocument:
    """The document of a planted case."""
    model = planted.model if planted.sound is not None else planted.model.variant(engine=engine)
    fact = planted.fact.text if planted.fact is not None else ""
    return why(model, planted.case, WhyOptions(limit=4, fact=fact), reference=planted.sound)


def label(code: str, detail: str | None) -> str:
    return code if detail is None else f"{code} · {detail}"


def judge(
    rows: Sequence[str], seeds: range, engine: str = "numpy", tell: Callable[[str], None] = print
) -> list[Judged]:
    """All cases of the rows, row by row."""
    found: list[Judged] = []
    for row in rows:
        cases = [judged(row, seed, engine) for seed in seeds]
        found += cases
        right, took = sum(case.right for case in cases), fmean(case.took_s for case in cases)
        tell(f"{row}: {right} of {len(cases)} right, {took:.2f} s each")
    return found


def broken(cases: Sequence[Judged], cell: VerdictCell) -> Iterator[str]:
    """The bounds that do not hold, in words."""
    if (wrong := sum(case.wrong for case in cases)) > cell.wrong_causes:
        yield f"{wrong} wrong causes named, {cell.wrong_causes} allowed"
    for row in SEVERAL:
        if single := [case.found for case in cases if case.row == row and case.wrong]:
            yield f"{row}: a single cause in {len(single)}: {single[0]}"
    faults = [case for case in cases if case.row not in SEVERAL and case.wanted != "none"]
    if faults and (share := fmean(case.undetermined for case in faults)) > cell.undetermined:
        yield f"{share:.1%} of single faults not determined, {cell.undetermined:.0%} allowed"
    if (score := macro_f1(cases)) < cell.macro_f1:
        yield f"macro-F1 {score:.3f}, at least {cell.macro_f1} wanted"


def macro_f1(cases: Sequence[Judged]) -> float:
    """Mean over the wanted labels of F1 = 2 · hits / (wanted + found)."""
    hits = Counter(case.wanted for case in cases if case.right)
    wanted, found = Counter(case.wanted for case in cases), Counter(case.found for case in cases)
    return fmean(2 * hits[name] / (wanted[name] + found[name]) for name in wanted)


def f1_interval(cases: Sequence[Judged], seed: int) -> tuple[float, float] | None:
    """95 % of the scores of samples with replacement, drawn within rows; None where every case is right."""
    if all(case.right for case in cases):
        return None
    generator = np.random.default_rng(seed)
    rows = [[case for case in cases if case.row == row] for row in dict.fromkeys(case.row for case in cases)]
    scores = [
        macro_f1([group[i] for group in rows for i in generator.integers(len(group), size=len(group))])
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(scores, [0.025, 0.975])
    return float(low), float(high)


def matrix(cases: Sequence[Judged]) -> list[tuple[str, dict[str, int]]]:
    """Row → how often each verdict was given."""
    rows = dict.fromkeys(case.row for case in cases)
    return [(row, dict(Counter(case.found for case in cases if case.row == row))) for row in rows]


def summary(cases: Sequence[Judged], cell: VerdictCell) -> dict[str, object]:
    """The document of a run."""
    wrong = sum(case.wrong for case in cases)
    bounds = clopper_pearson(Rate(wrong, len(cases)))
    return {
        "cases": len(cases),
        "right": sum(case.right for case in cases),
        "wrong_causes": wrong,
        "wrong_causes_at_most": None if bounds is None else bounds[1],
        "not_determined": sum(case.undetermined for case in cases),
        "macro_f1": macro_f1(cases),
        "macro_f1_interval": f1_interval(cases, cell.seed),
        "seconds_per_case": fmean(case.took_s for case in cases),
        "matrix": matrix(cases),
        "not_right": [[case.row, case.seed, case.found] for case in cases if not case.right],
        "broken": list(broken(cases, cell)),
    }


def main() -> None:
    cell, options = verdict_cell(), _options(verdict_cell())
    seeds = range(options.seed, options.seed + options.per_row)
    cases = judge(
        options.rows or list(DRAWN), seeds, options.engine, lambda text: print(text, file=sys.stderr, flush=True)
    )
    found = summary(cases, cell)
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        _show(cases, found)
    sys.exit(1 if found["broken"] else 0)


def _show(cases: Sequence[Judged], found: dict[str, object]) -> None:
    wanted = {case.row: case.wanted for case in cases}
    drawn_up = Table("row", "must be", "was")
    for row, given in matrix(cases):
        drawn_up.add_row(row, wanted[row], ", ".join(f"{name} × {count}" for name, count in given.items()))
    console = Console()
    console.print(drawn_up)
    for name in (
        "cases",
        "right",
        "wrong_causes",
        "wrong_causes_at_most",
        "not_determined",
        "macro_f1",
        "macro_f1_interval",
    ):
        console.print(f"{name}: {found[name]}")
    console.print("bounds: " + ("; ".join(broken(cases, verdict_cell())) or "all hold"))


def _options(cell: VerdictCell) -> argparse.Namespace:
    asked = argparse.ArgumentParser(
        prog="python -m bench.verdicts", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--rows", nargs="+", choices=list(DRAWN), metavar="NAME", help=", ".join(DRAWN))
    asked.add_argument("--per-row", type=int, default=cell.per_row)
    asked.add_argument("--seed", type=int, default=cell.seed)
    asked.add_argument("--engine", choices=("numpy", "torch"), default="numpy")
    asked.add_argument("--json", action="store_true", help="one document on stdout")
    return asked.parse_args()


if __name__ == "__main__":
    main()
