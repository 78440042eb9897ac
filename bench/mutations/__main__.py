"""Planted faults, and what `whybox diff` says of them.

    python -m bench.mutations [--only TEXT…] [--again] [--write] [--json] [--list]

Every row is kept as soon as it is judged (bench/mutations/found.json): a run that was stopped goes on where it was.
Exit code 1 when a fault is named wrong, identical sides are accused, or fewer than 95 % of single faults are named.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from bench.mutations import alike, feeding, foreign, held, ours, store, table
from bench.mutations.judge import judged
from bench.mutations.row import Judged, Row

LEAST_RIGHT = 0.95


def rows() -> Iterator[Row]:
    """The whole benchmark, model by model."""
    every = (*ours.real_rows(), *held.rows(), *feeding.rows(), *foreign.rows(), *ours.tiny_rows(), *alike.rows())
    yield from sorted(every, key=lambda row: row.subject)


def run(chosen: Sequence[Row], known: dict[str, Judged]) -> None:
    """Row by row; each is kept before the next."""
    for number, row in enumerate(chosen, 1):
        try:
            found = judged(row)
        except Exception:
            traceback.print_exc()
            print(f"{number}/{len(chosen)} FAILED {row.key}", file=sys.stderr, flush=True)
            continue
        known |= store.read() | {row.key: found}
        store.write(known)
        print(
            f"{number}/{len(chosen)} {found.state} {found.took_s:.1f} s  {row.key}: {_short(found)}",
            file=sys.stderr,
            flush=True,
        )


def _short(found: Judged) -> str:
    return "; ".join(found.said) or f"{found.verdict} {found.place or ''}"


def told(found: Sequence[Judged]) -> list[Judged]:
    """Without faults that change nothing in a model."""
    return [row for row in found if row.state != "no effect"]


def broken(found: Sequence[Judged]) -> Iterator[str]:
    """Bounds that do not hold."""
    shown = told(found)
    single = [row for row in shown if row.kind == "single"]
    right = sum(row.state == "right" for row in single)
    yield from (f"wrong: {row.key}: {', '.join(row.said) or row.verdict}" for row in shown if row.state == "wrong")
    if single and right < LEAST_RIGHT * len(single):
        yield f"{right} of {len(single)} single faults named, {LEAST_RIGHT:.0%} are due"
    yield from (
        f"leaves the text unchanged, and was not named: {row.key}"
        for row in single
        if row.silent and row.state != "right"
    )


def main() -> None:
    options = _options()
    known = store.read()
    every = list(rows())
    chosen = [row for row in every if all(word in row.key for word in options.only)]
    if options.list:
        print("\n".join(row.key for row in chosen))
        return
    run([row for row in chosen if options.again or row.key not in known], known)
    found = [replace(known[row.key], why=row.planted.why) for row in every if row.key in known]
    store.write({row.key: row for row in found})
    if options.write:
        table.write(found)
    print(
        json.dumps([asdict(row) for row in found], ensure_ascii=False)
        if options.json
        else "\n".join(table.summary(told(found)))
    )
    problems = list(broken(found))
    print("bounds: " + ("; ".join(problems) or "all hold"), file=sys.stderr)
    sys.exit(1 if problems else 0)


def _options() -> argparse.Namespace:
    asked = argparse.ArgumentParser(
        prog="python -m bench.mutations", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    asked.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose name holds all of these")
    asked.add_argument("--again", action="store_true", help="rows that were judged before, too")
    asked.add_argument("--write", action="store_true", help="the table of docs/diff.md")
    asked.add_argument("--list", action="store_true", help="names of the rows, and nothing else")
    asked.add_argument("--json", action="store_true", help="every row on stdout")
    return asked.parse_args()


if __name__ == "__main__":
    main()
