"""Coverage of every probe's interval, null alarms and planned power, on laws whose truth is known.

    python -m bench.coverage [--cells NAME…] [--runs N] [--exact] [--json]

Every cell, its parameters, the exact coverage of its method and its seed stand in tests/calibration.yaml, declared
beforehand. The count of runs whose interval holds the truth must lie in the two-sided binomial band around the exact
coverage, at .05 over the number of cells. --exact computes those coverages anew: by enumeration where the table of an
estimate is binomial or trinomial, else from 200,000 draws. Exit code 1 when a bound is broken.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from bench import laws
from bench.calibration import AlarmCell, CoverageCell, CoverageRules, alarm_cells, coverage_cells, coverage_rules
from bench.estimates_of_laws import ESTIMATES, Estimate
from whybox.statistics.changes import Changes, changes
from whybox.statistics.permutation import Permuted

DRAWS = 200_000
NULLS: dict[str, Callable[..., np.ndarray]] = {"honest": laws.honest, "tie_flipper": laws.tie_flipper}


@dataclass(frozen=True)
class Covered:
    """hits of runs whose interval held the truth; band: what chance allows around the exact coverage."""

    cell: str
    exact: float
    hits: int
    runs: int
    band: tuple[int, int]

    @property
    def broken(self) -> bool:
        return not self.band[0] <= self.hits <= self.band[1]


@dataclass(frozen=True)
class Alarms:
    """Null laws: how often p ≤ α, and how often it may."""

    cell: str
    alarms: int
    runs: int
    most: int

    @property
    def broken(self) -> bool:
        return self.alarms > self.most


def covered(cell: CoverageCell, runs: int, cells: int, alpha: float) -> Covered:
    """One cell: `runs` simulated runs, each through the product's own estimate and interval."""
    hits = int(sum(_holds(cell, runs, np.random.default_rng(cell.seed))))
    tail = alpha / cells / 2
    low, high = (int(stats.binom.ppf(q, runs, cell.exact)) for q in (tail, 1 - tail))
    return Covered(cell.name, cell.exact, hits, runs, (low, high))


def exact(cell: CoverageCell) -> float:
    """The method's coverage in this cell, enumerated where it can be."""
    estimate = ESTIMATES[cell.estimate]
    enumerated = estimate.enumerated(cell.n, **cell.law)
    if enumerated is not None:
        return enumerated
    return float(np.mean(list(_holds(cell, DRAWS, np.random.default_rng(cell.seed + 500_000)))))


def alarms(cell: AlarmCell, runs: int, resamples: int) -> Alarms:
    """One null law of the probe `order`: the permutation must not see an effect more often than α allows."""
    generator = np.random.default_rng(cell.seed)
    draw = NULLS[cell.draw]
    count = 0
    for _ in range(runs):
        found = changes(draw(generator, cell.n, **cell.law), generator, resamples=resamples)
        assert isinstance(found, Changes)
        count += isinstance(found.null, Permuted) and found.null.p <= cell.alpha
    return Alarms(cell.name, count, runs, int(stats.binom.ppf(0.99, runs, cell.alpha)))


def _holds(cell: CoverageCell, runs: int, generator: np.random.Generator) -> Iterator[bool]:
    estimate: Estimate = ESTIMATES[cell.estimate]
    return estimate.holds(generator, runs, cell.n, **cell.law)


def _options(cells: Sequence[CoverageCell], rules: CoverageRules) -> argparse.Namespace:
    asked = argparse.ArgumentParser(
        prog="python -m bench.coverage", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--cells", nargs="+", choices=[cell.name for cell in cells], metavar="NAME")
    asked.add_argument("--runs", type=int, default=rules.runs)
    asked.add_argument("--exact", action="store_true", help="compute the exact coverages, and nothing else")
    asked.add_argument("--json", action="store_true", help="one document on stdout")
    return asked.parse_args()


def _chosen(cells: Sequence[CoverageCell], names: Sequence[str] | None) -> list[CoverageCell]:
    return [cell for cell in cells if names is None or cell.name in names]


def _document(found: Sequence[Covered | Alarms]) -> list[Mapping[str, object]]:
    return [asdict(one) | {"broken": one.broken} for one in found]


def main() -> None:
    cells, rules = coverage_cells(), coverage_rules()
    options = _options(cells, rules)
    chosen = _chosen(cells, options.cells)
    if options.exact:
        for cell in chosen:
            print(f"{cell.name}: {exact(cell):.4f}", flush=True)
        return
    found: list[Covered | Alarms] = []
    for cell in chosen:
        found.append(covered(cell, options.runs, len(cells), rules.alpha))
        print(found[-1], file=sys.stderr, flush=True)
    if options.cells is None:
        found += [alarms(cell, options.runs, rules.resamples) for cell in alarm_cells()]
    print(json.dumps(_document(found), indent=1) if options.json else "\n".join(map(str, found)))
    sys.exit(1 if any(one.broken for one in found) else 0)


if __name__ == "__main__":
    main()
