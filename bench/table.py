"""The outcome of the bench: as a document, on the terminal, and as docs/benchmarks.md."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import compare
from bench.compare import Figures
from bench.contest import Peak, Row, Shown, Taken

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Outcome:
    """A row and what came of it.

    explained: the note that says why the goal is missed, only if that file exists. took_s: the whole work's seconds,
    where the row judges memory.
    """

    row: Row
    figures: Figures
    met: bool | None
    explained: str | None
    took_s: float | None

    def state(self) -> str:
        """One word, or the reason why the row was not run."""
        if self.figures.ratio is None:
            return f"not run: {self.figures.reason}"
        if self.met is None:
            return "told"
        if self.met:
            return "met"
        return f"explained: {self.explained}" if self.explained else "missed"


def outcome(row: Row, shown: Mapping[str, Shown], explained: Mapping[str, str], root: Path = ROOT) -> Outcome:
    """The row judged."""
    figures = compare.figures(row, shown)
    met = compare.reaches(row, figures.ratio)
    note = explained.get(row.name)
    stands = met is False and note is not None and (root / note).is_file()
    return Outcome(row, figures, met, note if stands else None, _took(row, shown))


def _took(row: Row, shown: Mapping[str, Shown]) -> float | None:
    side = shown[row.ours[0]]
    return side.whole_s if isinstance(row.compare, Peak) and isinstance(side, Taken) else None


def document(
    outcomes: Sequence[Outcome], machine: Mapping[str, object], versions: Mapping[str, str]
) -> dict[str, object]:
    """What `--json` prints."""
    return {
        "schema": {"name": "whybox.bench", "version": 1},
        "machine": dict(machine),
        "versions": dict(versions),
        "rows": [_as_json(each) for each in outcomes],
    }


def _as_json(each: Outcome) -> dict[str, object]:
    row, figures = each.row, each.figures
    return {
        "name": row.name,
        "work": row.work,
        "peer": row.peer,
        "ours": figures.ours,
        "ours_reason": _reason(figures.ours, figures),
        "theirs": figures.theirs,
        "theirs_reason": _reason(figures.theirs, figures),
        "unit": figures.unit,
        "ratio": figures.ratio,
        "ratio_reason": figures.reason or None,
        "goal": row.goal,
        "goal_is": "at least" if compare.at_least(row) else "at most",
        "took_s": each.took_s,
        "met": each.met,
        "explained": each.explained,
    }


def _reason(value: float | None, figures: Figures) -> str | None:
    if value is not None:
        return None
    return figures.reason or "the row compares effects, which have no single figure"


HEADINGS = ("work", "ours", "peer", "ratio", "goal", "state")


def cells(each: Outcome) -> tuple[str, ...]:
    """A row as text."""
    row, figures = each.row, each.figures
    sign = "≥" if compare.at_least(row) else "≤"
    return (
        f"{row.work} ({each.took_s:.3g} s)" if each.took_s is not None else row.work,
        _measured(figures.ours, figures.unit),
        row.peer if isinstance(row.compare, Peak) else f"{row.peer}: {_measured(figures.theirs, figures.unit)}",
        "–" if figures.ratio is None else f"{figures.ratio:.2f}",
        "–" if row.goal is None else f"{sign} {row.goal:g}",
        each.state(),
    )


def markdown(
    outcomes: Sequence[Outcome], machine: Mapping[str, object], versions: Mapping[str, str], notes: Sequence[str]
) -> str:
    """docs/benchmarks.md."""
    lines = ["# Benchmarks", "", _INTRODUCTION, "", *(f"- {name}: {value}" for name, value in machine.items())]
    lines += [f"- {name}: {value}" for name, value in versions.items()]
    lines += ["", _line(HEADINGS), _line(["---"] * len(HEADINGS)), *(_line(cells(each)) for each in outcomes), ""]
    return "\n".join([*lines, *(f"- {note}" for note in notes), ""])


_INTRODUCTION = (
    "Written by `python -m bench --write`. Sides of a row ran in separate processes, warm, in turns, on the same "
    "machine and threads; figures are medians over rounds. Read the ratios: absolute figures belong to this machine."
)


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _measured(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f} {unit}" if abs(value) >= 100 else f"{value:.3g} {unit}"
