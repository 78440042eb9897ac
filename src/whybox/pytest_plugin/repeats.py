"""Does a target say the same when it is asked the same? The A/A floor of a run, judged as a gate of three parts."""

from pathlib import Path

from whybox.pytest_plugin.experiment import SUITE, Seen, Wish, experiment
from whybox.pytest_plugin.settings import Settings
from whybox.report.document import AaRow
from whybox.report.run_words import say
from whybox.statistics.gates import Gate, RateAtMost, judged
from whybox.statistics.intervals import Rate
from whybox.suite.gates import Measured, Verdict, verdicts

PROBE = "floor"


def repeated(settings: Settings, folder: Path, at_most: float, items: int) -> Seen:
    """Every item twice under each condition, so that each gives one pair and pairs are independent."""
    wish = Wish("order", (), {"items": items, "units": 2}, floor=items, limit=1)
    kept = experiment(wish, settings, folder)
    rows = kept.document.floor
    verdict = _verdict(rows, at_most)
    lines = [_line(row, settings) for row in rows]
    title = f"consistent · {settings.target}: {lines[0] if lines else '—'}"
    said = [*lines, _said(verdict, at_most), f"again by hand: whybox run {kept.folder / SUITE}"]
    numbers = {f"floor.{row.condition}": f"{row.differing}/{row.calls}" for row in rows}
    return Seen(verdict.state.value, title, "\n".join(said), numbers)


def _verdict(rows: tuple[AaRow, ...], at_most: float) -> Verdict:
    demand, lost = RateAtMost(at_most), sum(row.lost for row in rows)
    complete = tuple(judged(row.condition, demand, Rate(row.differing, row.calls)) for row in rows)
    worst = tuple(judged(row.condition, demand, Rate(row.differing + row.lost, row.calls + row.lost)) for row in rows)
    name = f"at most {at_most:.1%} of equal requests are answered otherwise"
    calls = Rate(lost, lost + 2 * sum(row.calls for row in rows))
    return verdicts([Measured(Gate(PROBE, name, complete), Gate(PROBE, name, worst), calls)])[0]


def _line(row: AaRow, settings: Settings) -> str:
    values = {"n": row.calls, "hits": row.differing, "condition": row.condition, "target": row.target}
    return say("run.floor", settings.lang, **values)


def _said(verdict: Verdict, at_most: float) -> str:
    p = (
        ""
        if verdict.p_holds is None
        else f" (p {verdict.p_holds:.3g} that it holds not, {verdict.p_broken:.3g} that it does)"
    )
    needs = f" About {verdict.needs} more items would settle it." if isinstance(verdict.needs, int) else ""
    return f"{verdict.state}: {verdict.gate}{p}.{needs}"
