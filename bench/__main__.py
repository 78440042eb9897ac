"""Ratios against peers, measured in one run.

    python -m bench [--json] [--only NAME…] [--rounds N] [--write]

Exit code 1 when a goal is missed and no note explains it.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import environments, table
from bench.contest import Absent, Contest, Shown, Side
from bench.environments import PEERS, Environments
from bench.harness import ProcessWorker, Unavailable, hold
from bench.rows import CONTESTS, EXPLAINED, NOTES, ROWS
from bench.table import ROOT, Outcome
from whybox.library.folders import own_models

PAGE = ROOT / "docs" / "benchmarks.md"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def main() -> None:
    options = _options()
    names = {contest.name for contest in CONTESTS}
    if unknown := set(options.only) - names:
        raise SystemExit(f"no contest {', '.join(sorted(unknown))}; there are {', '.join(sorted(names))}")
    if options.write and options.only:
        raise SystemExit("--write needs the whole bench: a page of one run has all rows")
    chosen = [contest for contest in CONTESTS if not options.only or contest.name in options.only]
    folder = own_models().parent / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    held = Environments(folder, environments.given(options.peer_env), _tell)
    outcomes = run(chosen, options.rounds, Bench(held, options.threads))
    show(outcomes, chosen, held, options)
    sys.exit(1 if any(each.state() == "missed" for each in outcomes) else 0)


class Bench:
    """Starts sides: each in its peer's environment, with the inputs that all share."""

    def __init__(self, held: Environments, threads: int) -> None:
        self._held, self._threads = held, threads
        self._prepared: set[bool] = set()

    def hold(self, contest: Contest, rounds: int) -> dict[str, Shown]:
        """One contest; where its inputs cannot be prepared, every side is absent for that reason."""
        try:
            inputs = self._inputs(contest.giant)
        except Unavailable as problem:
            return dict.fromkeys(contest.sides, Absent(f"inputs: {problem}"))
        return hold(contest, rounds, lambda side: self._start(side, inputs, contest.limit_s), _tell)

    def _inputs(self, giant: bool) -> Path:
        command = [sys.executable, "-m", "bench.inputs", str(self._held.folder)]
        if giant not in self._prepared:
            environments.run_quietly([*command, "--giant"] if giant else command, self._variables("whybox"))
            self._prepared.add(giant)
        return self._held.folder / "inputs.json"

    def _start(self, side: Side, inputs: Path, limit_s: float) -> ProcessWorker:
        python = self._held.python(side.environment)
        arguments: dict[str, object] = {"inputs": str(inputs), **side.arguments}
        if side.environment != "whybox":
            arguments["threads"] = self._threads
        command = [str(python), "-m", side.module, side.task, json.dumps(arguments)]
        return ProcessWorker(command, self._variables(side.environment), limit_s)

    def _variables(self, environment: str) -> dict[str, str]:
        """The caller's variables and the threads; a peer sees the bench, and nothing of ours."""
        paths = [str(ROOT), str(ROOT / "src")] if environment == "whybox" else [str(ROOT)]
        threads = dict.fromkeys(THREAD_VARIABLES, str(self._threads))
        return os.environ | threads | {"PYTHONPATH": os.pathsep.join(paths), "WHYBOX_QUIET": "1", "HF_HUB_OFFLINE": "1"}


def run(contests: Sequence[Contest], rounds: int, bench: Bench) -> list[Outcome]:
    """All rows of the contests, in the order of the table."""
    shown: dict[str, dict[str, Shown]] = {}
    for number, contest in enumerate(contests):
        _tell(f"contest {number + 1} of {len(contests)}: {contest.name}")
        try:
            shown[contest.name] = bench.hold(contest, rounds)
        except KeyboardInterrupt:
            _tell("stopped; what was measured follows")
            break
    return [table.outcome(row, shown[row.contest], EXPLAINED) for row in ROWS if row.contest in shown]


def show(
    outcomes: Sequence[Outcome], chosen: Sequence[Contest], held: Environments, options: argparse.Namespace
) -> None:
    """The table, or the document; and the page where it is asked for."""
    used = {side.environment for contest in chosen for side in contest.sides.values()}
    versions = {name: held.versions(name) for name in PEERS if name in used}
    if options.write:
        PAGE.write_text(table.markdown(outcomes, machine(options.threads), versions, NOTES), encoding="utf-8")
    if options.json:
        print(json.dumps(table.document(outcomes, machine(options.threads), versions), ensure_ascii=False, indent=1))
        return
    drawn = Table(*table.HEADINGS)
    for each in outcomes:
        drawn.add_row(*table.cells(each))
    Console().print(drawn)


def machine(threads: int) -> dict[str, object]:
    """Where the figures were taken."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GiB",
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    known = {flag for line in lines if line.startswith("flags") for flag in line.split()}
    return ", ".join(
        [name, *(flag for flag in ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16") if flag in known)]
    )


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    asked = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--json", action="store_true", help="one document on stdout")
    asked.add_argument(
        "--only", nargs="+", default=[], metavar="NAME", help="contests: " + ", ".join(c.name for c in CONTESTS)
    )
    asked.add_argument("--rounds", type=int, default=5, help="at most so many per contest (default 5)")
    asked.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked.add_argument(
        "--peer-env",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"a ready environment of {', '.join(PEERS)}",
    )
    asked.add_argument("--write", action="store_true", help="refresh docs/benchmarks.md")
    return asked.parse_args()


if __name__ == "__main__":
    main()
