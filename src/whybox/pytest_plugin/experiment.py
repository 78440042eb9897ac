"""One assertion as one small suite: the same file, store, runner, gates and sentences as `whybox run` has.

An experiment lies in a folder of its own, under the digest of everything that it depends on. Whoever comes second, in
this process or in another, waits for the first and reads what it found; no call is made twice.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from whybox.errors import InfrastructureError, UsageError
from whybox.items.case import Case
from whybox.items.yaml_tree import parse_yaml
from whybox.jobs.run import RunOptions, kept_document, prepare, run_suite
from whybox.jobs.run_examined import once
from whybox.library.folders import own_answers
from whybox.model import Model, open_model
from whybox.pytest_plugin.settings import Settings
from whybox.report.document import GateRow, Lang, ProbeRow, RunDocument
from whybox.report.numbers import exact
from whybox.report.run_lines import estimate_of, why
from whybox.report.run_words import say
from whybox.suite.behaviour import Behaviour, TargetText
from whybox.suite.database import only_writer
from whybox.suite.whole import Choice, Prepared
from whybox.targets.naming import target_of
from whybox.targets.target import Failure, Request, Sampling, Target, chat
from whybox.targets.until_done import until_closed

SUITE, CASES, OUT, HELD = "whybox.yaml", "cases.jsonl", "run", "experiment"
FIELDS = "The fields of every probe are described in docs/run.md."
EXAMINED = "examined.sqlite"
"""What was found out of targets, for all experiments of a test run."""
PATIENCE_S = 3600.0
StateName = Literal["pass", "fail", "inconclusive", "error", "skipped"]


@dataclass(frozen=True)
class Wish:
    """What an assertion asks for: a probe with its fields, its gates, and items of one's own.

    floor: items of the A/A floor, each twice under every condition. limit: items of the probe that are asked.
    """

    probe: str
    gates: tuple[Mapping[str, Any], ...]
    fields: Mapping[str, Any] = field(default_factory=dict)
    prompt: Case | None = None
    floor: int = 2
    limit: int | None = None

    def suite(self, settings: Settings) -> str:
        """The suite file, as JSON, which is YAML. UsageError speaks of the assertion: nobody wrote that file."""
        text = self._written(settings)
        try:
            Behaviour.of(replace(parse_yaml(text, ""), source=f"an assertion on {self.probe}", lines={}), text)
        except UsageError as fault:
            raise UsageError(fault.cause.replace(f"probes.{self.probe}.", ""), FIELDS) from fault
        return text

    def _written(self, settings: Settings) -> str:
        own = {} if self.prompt is None else {"data": "mine"}
        whole: dict[str, Any] = {
            "suite": f"pytest {self.probe}",
            "version": 1,
            "seed": settings.seed,
            "targets": [settings.target],
            "data": {} if self.prompt is None else {"mine": {"file": CASES}},
            "probes": {self.probe: {**self.fields, **own}},
            "gates": [{"probe": self.probe, **gate} for gate in self.gates],
            "run": {"floor": {"items": self.floor, "times": 2}, "cache": settings.cache},
        }
        return json.dumps(whole, ensure_ascii=False, indent=1)


@dataclass(frozen=True)
class Seen:
    """What was found, as a test says it. numbers: for properties of the test."""

    state: StateName
    title: str
    text: str
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """A document, and the folder in which its suite and its calls lie."""

    document: RunDocument
    folder: Path


@cache
def _model(name: str) -> Model:
    """Once for a process: models are large."""
    return open_model(name)


def opened(name: str, seed: int) -> Target:
    """A target that nobody has used yet; models of this machine are shared within the process."""
    return target_of(name, _model, seed)


def experiment(wish: Wish, settings: Settings, folder: Path) -> Kept:
    """Runs it, unless somebody has. UsageError for a plan beyond the budget; EndpointError as `run_suite`."""
    text, cases = wish.suite(settings), _cases(wish.prompt)
    name = blake2b(f"{text}\n{cases}\n{wish.limit}".encode(), digest_size=8).hexdigest()
    home = folder / f"{wish.probe}-{name}"
    home.mkdir(parents=True, exist_ok=True)
    with only_writer(home / HELD, PATIENCE_S):
        out = home / OUT
        if not (out / "done").is_file():
            (home / CASES).write_text(cases, "utf-8")
            (home / SUITE).write_text(text, "utf-8")
            _run(wish, settings, home)
            (out / "done").touch()
        return Kept(kept_document(out), home)


def _run(wish: Wish, settings: Settings, home: Path) -> None:
    choice = Choice(limit=wish.limit, cache=own_answers() if settings.cache else None)
    options = RunOptions(choice, lang=settings.lang)
    know = partial(once, home.parent / EXAMINED)
    prepared = prepare(home / SUITE, options, lambda text: _opened(text, settings.seed), know)
    _within_budget(prepared, settings.budget)
    run_suite(prepared, options, home / OUT)


def _opened(text: TargetText, seed: int) -> Target:
    return opened(text.model, seed)


def _within_budget(prepared: Prepared, budget: int) -> None:
    planned = len(prepared.planned.calls)
    if planned > budget:
        raise UsageError(
            f"this assertion would make {planned} calls, the budget is {budget}",
            "lower its items, or raise whybox_budget",
        )


def _cases(case: Case | None) -> str:
    return "" if case is None else f"{case.line}\n"


def read(kept: Kept) -> Seen:
    """The worst of the gates, each with its sentence, its numbers and what would settle it."""
    document, rows = kept.document, kept.document.gates
    probe = _about(document.probes[0], rows)
    state = probe.verdict or "error"
    title = f"{probe.probe} · {probe.target}: {estimate_of(probe, document.lang)}{_missing(probe, document.lang)}"
    return Seen(state, title, _text(kept, probe, rows, title), _numbers(probe))


def _missing(probe: ProbeRow, lang: Lang) -> str:
    """What would settle an open question, in the one line that every summary shows."""
    if probe.verdict != "inconclusive":
        return ""
    return f" · {probe.needs_n_reason if probe.needs_n is None else say('run.needs', lang, n=probe.needs_n)}"


def _about(probe: ProbeRow, rows: Sequence[GateRow]) -> ProbeRow:
    """The probe with the statistic of its gate in front: that is the one which decides."""
    gated = {row.demand.split()[0] for row in rows}
    order = sorted(probe.estimates, key=lambda row: row.statistic not in gated)
    return probe.model_copy(update={"estimates": tuple(order)})


def _text(kept: Kept, probe: ProbeRow, rows: Sequence[GateRow], title: str) -> str:
    lines = [title]
    lines += [f"{row.verdict}: {row.says} {why(row, kept.document.lang)}" for row in rows]
    shown = [f"  {answer.arm}: {answer.answer!r}" for row in probe.deciding[:1] for answer in row.answers]
    if shown and probe.verdict == "fail":
        lines += [f"for instance {probe.deciding[0].item}, expected {probe.deciding[0].right!r}:", *shown]
    lines.append(f"again by hand: whybox run {kept.folder / SUITE} -o {kept.folder / OUT}")
    return "\n".join(lines)


def _numbers(probe: ProbeRow) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in probe.estimates[:1]:
        low, high = row.interval or (None, None)
        values = {"": row.estimate, ".low": low, ".high": high, ".n": row.n, ".p": row.p, ".floor": row.floor}
        found |= {f"{row.statistic}{key}": exact(value) for key, value in values.items() if value is not None}
    return found


def answer(target: Target, text: str, max_tokens: int) -> str:
    """One greedy answer."""
    outcome = until_closed(target.ask(Request(chat(text), Sampling(max_tokens=max_tokens))), [target])
    if isinstance(outcome, Failure):
        raise InfrastructureError(outcome.cause, outcome.remedy)
    return outcome.text
