"""pytest and whybox: assertions about how a language model behaves, with their statistics. See docs/pytest.md.

Inert unless used: at the start of pytest nothing is imported but this folder's few hooks; models, NumPy and torch come
with the first assertion.
"""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, no_type_check

import pytest

from whybox.errors import WhyboxError
from whybox.pytest_plugin import settings as wished
from whybox.pytest_plugin.assertions import (
    assert_consistent,
    assert_gate,
    assert_order_invariant,
    assert_survives_turns,
    assert_uses_evidence,
)
from whybox.pytest_plugin.subject import TOLD, NotHeld, Subject, Undecided, load_prompt

if TYPE_CHECKING:
    from whybox.items.case import Case
    from whybox.pytest_plugin.regressions import SuiteFile

__all__ = [
    "NotHeld",
    "Subject",
    "Undecided",
    "assert_consistent",
    "assert_gate",
    "assert_order_invariant",
    "assert_survives_turns",
    "assert_uses_evidence",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    wished.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", wished.MARKER)


@pytest.fixture(scope="session")
def whybox_folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """Where experiments are kept: one folder for all workers of a test run."""
    return shared_folder(tmp_path_factory.getbasetemp(), request.config)


@pytest.fixture
def whybox_target(request: pytest.FixtureRequest, whybox_folder: Path) -> Subject:
    """Who is asked in this test: what the assertions take."""
    return Subject(wished.of_item(request.node), whybox_folder, request.node.user_properties)


@pytest.fixture
def whybox_prompt(request: pytest.FixtureRequest) -> "Case":
    """The case that the marker names: `@pytest.mark.whybox(prompt="refund.yaml")`."""
    return load_prompt(wished.of_item(request.node), request.node.nodeid)


def shared_folder(base: Path, config: pytest.Config) -> Path:
    """Workers of xdist have a folder each, in one that they share."""
    return (base.parent if hasattr(config, "workerinput") else base) / "whybox"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "SuiteFile | None":
    """Suites of `whybox why --test-out`: those named on the command line, and those that `whybox_files` names."""
    if file_path.suffix not in (".yaml", ".yml") or not _is_wanted(file_path, parent):
        return None
    from whybox.pytest_plugin.regressions import SuiteFile

    return SuiteFile.from_parent(parent, path=file_path)


def _is_wanted(path: Path, parent: pytest.Collector) -> bool:
    patterns: list[str] = parent.config.getini("whybox_files")
    beneath = path.relative_to(parent.config.rootpath) if path.is_relative_to(parent.config.rootpath) else path
    return parent.session.isinitpath(path) or any(beneath.match(pattern) for pattern in patterns)


@no_type_check  # pytest wants the generator itself; whatever checks types at run time would wrap it
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the world did not allow is an error, not a failure, and no expected failure either.

    pytest knows errors in setup and teardown alone, so the report says setup.
    """
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, WhyboxError):
        report.outcome, report.when = "failed", "setup" if report.when == "call" else report.when
        report.longrepr = f"{type(call.excinfo.value).__name__}: {call.excinfo.value}"
        vars(report).pop("wasxfail", None)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for every assertion: an open question is never silent."""
    reports = [report for each in terminalreporter.stats.values() for report in each]
    lines = [
        str(value)
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == TOLD and report.when != "teardown"
    ]
    if lines:
        terminalreporter.section("whybox")
        for line in dict.fromkeys(lines):
            terminalreporter.write_line(line)
