"""The table of docs/diff.md: every planted fault, where, what was reported, and why it is right."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from bench.mutations.row import Judged
from bench.table import ROOT
from whybox.statistics.intervals import Rate, clopper_pearson

PAGE = ROOT / "docs" / "diff.md"
BEGIN, END = "<!-- mutations: written by python -m bench.mutations --write -->", "<!-- mutations: end -->"
SOURCES = {"ours": "", "transformers": "†", "file": "", "feeding": "", "range": "", "nothing": ""}
REAL = ("smollm2", "gemma3-270m")


def write(found: Sequence[Judged]) -> None:
    """Puts the table between its marks."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{markdown(found)}\n{END}{after}", "utf-8")


def markdown(found: Sequence[Judged]) -> str:
    """Counts, then single faults, pairs and identical sides."""
    told = [row for row in found if row.state != "no effect"]
    parts = [
        "\n".join(summary(told)),
        "**Single faults**\n\n" + _table(_grouped([row for row in told if row.kind == "single"])),
        "**Two faults at once**\n\n" + _table(_grouped([row for row in told if row.kind == "pair"])),
        "**Identical sides**\n\n" + "\n".join(_alike([row for row in told if row.kind == "self"])),
    ]
    return "\n\n".join(parts) + "\n"


def summary(found: Sequence[Judged]) -> Iterator[str]:
    """How many of each kind are right, in part, not determined, wrong."""
    yield "| | rows | right | in part | not determined | wrong | wrong at most (95 %) |"
    yield "|---|---|---|---|---|---|---|"
    for title, rows in _classes(found):
        states = Counter(row.state for row in rows)
        bounds = clopper_pearson(Rate(states["wrong"], len(rows)))
        most = "–" if bounds is None else f"{100 * bounds[1]:.2g} %"
        counts = [states[state] for state in ("right", "part", "not-determined", "wrong")]
        yield f"| {title} | {len(rows)} | {' | '.join(map(str, counts))} | {most} |"


def _classes(found: Sequence[Judged]) -> Iterator[tuple[str, list[Judged]]]:
    single = [row for row in found if row.kind == "single"]
    yield "single faults", single
    yield "· in SmolLM2 and Gemma 3 270M", [row for row in single if row.subject in REAL]
    yield "· planted in transformers (†)", [row for row in single if row.by == "transformers"]
    yield "· that leave the answer text unchanged (★)", [row for row in single if row.silent]
    yield "two at once", [row for row in found if row.kind == "pair"]
    yield "identical sides", [row for row in found if row.kind == "self"]


Group = tuple[str, str, str, list[Judged]]


def _grouped(found: Sequence[Judged]) -> list[Group]:
    """Rows of one fault that were seen in one way and ended in one state: one line of the table."""
    groups: dict[tuple[str, str, str, str], list[Judged]] = {}
    for row in found:
        groups.setdefault((row.what, row.seen, row.state, row.by), []).append(row)
    ordered = sorted(groups.items(), key=lambda group: (list(SOURCES).index(group[0][3]), group[1][0].named, group[0]))
    return [(what, seen, state, rows) for (what, seen, state, _), rows in ordered]


def _table(groups: Iterable[Group]) -> str:
    lines = ["| planted | in | seen | reported | why that is right |", "|---|---|---|---|---|"]
    lines += [_line(what, seen, state, rows) for what, seen, state, rows in groups]
    return "\n".join(lines)


def _line(what: str, seen: str, state: str, rows: Sequence[Judged]) -> str:
    first = rows[0]
    marks = SOURCES[first.by] + ("★" if any(row.silent for row in rows) else "")
    models = ", ".join(dict.fromkeys(row.subject for row in rows))
    return (
        "| "
        + " | ".join(map(_cell, (f"{what} {marks}".strip(), models, seen, _reported(state, rows), _why(state, first))))
        + " |"
    )


def _reported(state: str, rows: Sequence[Judged]) -> str:
    said = "; ".join(dict.fromkeys(", ".join(row.said) for row in rows if row.said))
    if state == "not-determined":
        places = ", ".join(dict.fromkeys(str(row.place) for row in rows))
        return f"*not determined*: first at {places}"
    return said if state == "right" else f"*{state}*: {said}"


def _why(state: str, row: Judged) -> str:
    if state == "not-determined":
        return "What was seen does not tell it from others: nothing is named."
    return row.why


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def _alike(found: Sequence[Judged]) -> Iterator[str]:
    """By way: in how many models, and whether any was accused."""
    ways = dict.fromkeys(row.what.removeprefix("none: ") for row in found)
    yield "| run as | pairs | identical | rounding | accused |"
    yield "|---|---|---|---|---|"
    for way in ways:
        rows = [row for row in found if row.what.removeprefix("none: ") == way]
        counts = Counter(row.verdict for row in rows)
        accused = sum(row.state != "right" for row in rows)
        yield f"| {way} | {len(rows)} | {counts['identical']} | {counts['rounding']} | {accused} |"
