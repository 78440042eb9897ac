"""What `whybox run` does once its options are read. Imported when it is needed, since it opens models."""

import time
from dataclasses import asdict, replace
from pathlib import Path

from rich.console import Console

from whybox.cli.opening import model_of
from whybox.cli.options import EngineName, Shared
from whybox.cli.run_bar import RunBar, show_plan
from whybox.cli.telling import json_text, print_document, say_written, write_whole
from whybox.jobs.run import BrokenOff, RunOptions, is_unfinished, plan_rows, prepare, run_suite, seconds_of, target_from
from whybox.jobs.run_calls import calls_of
from whybox.jobs.run_examined import Know
from whybox.model import Model
from whybox.report.document import RunDocument
from whybox.report.html import run_page
from whybox.report.junit import junit
from whybox.report.markdown import markdown
from whybox.report.run_names import told
from whybox.report.text_run import render_run
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import TargetText
from whybox.suite.whole import Choice, Prepared
from whybox.targets.target import Target


def prepared_suite(suite: Path, options: RunOptions, shared: Shared, width: int | None, know: Know) -> Prepared:
    """The suite with its targets opened. width: calls at once, in place of what the suite says."""

    def opened(text: TargetText) -> Target:
        return target_from(text, lambda each: _model(each, shared), shared.seed, width)

    return prepare(suite, options, opened, know)


def ran(prepared: Prepared, options: RunOptions, folder: Path, shared: Shared) -> RunDocument:
    """Plan, progress, result, files. KeyboardInterrupt says where what was done is kept."""
    if not shared.quiet and is_unfinished(prepared, folder, options.choice):
        show_plan(plan_rows(prepared, options.choice), shared.language, Console(stderr=True))
    try:
        with RunBar(shared.language, shared.quiet) as bar:
            document = run_suite(prepared, options, folder, bar.tell, bar.tell_why)
    except KeyboardInterrupt as stop:
        if isinstance(stop, BrokenOff):
            _write_reports(stop.document, folder)
        raise KeyboardInterrupt(f"What was done is in {folder}; the same command goes on from there.") from stop
    _write_reports(document, folder)
    if shared.json:
        print(json_text(document))
    else:
        render_run(document, Console(), document.lang)
        say_written(folder)
    return document


def _write_reports(document: RunDocument, folder: Path) -> None:
    write_whole(folder / "report.json", json_text(document) + "\n")
    write_whole(folder / "report.html", run_page(document, calls_of(folder), document.lang))
    write_whole(folder / "junit.xml", junit(document))
    write_whole(folder / "summary.md", markdown(document))


def say_plan(prepared: Prepared, choice: Choice, shared: Shared, folder: Path) -> None:
    """What would be done, and nothing else."""
    begun = time.perf_counter()
    seconds = seconds_of(prepared, folder, choice)
    planned = plan_rows(prepared, choice)
    if not shared.json:
        show_plan(planned, shared.language, Console())
        print(told(seconds.reason, shared.language) if isinstance(seconds, Unknown) else f"≈ {seconds:.0f} s")
        return
    rows = [asdict(row) | _maybe("finds", row.finds) for row in planned]
    print_document("plan", begun, {"suite": prepared.suite.file.suite, "rows": rows, **_maybe("seconds", seconds)})


def _maybe(name: str, value: float | Unknown) -> dict[str, float | str | None]:
    """A number, or null beside the reason why there is none."""
    known = (None, value.reason) if isinstance(value, Unknown) else (value, None)
    return {name: known[0], f"{name}_reason": known[1]}


def _model(text: TargetText, shared: Shared) -> Model:
    """A model of this machine, as the suite says; the engine that was typed stands in for `auto`."""
    engine = shared.engine if text.engine == "auto" else EngineName(text.engine)
    return model_of(replace(shared, model=text.model, engine=engine, precision=text.precision))
