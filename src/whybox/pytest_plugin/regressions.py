"""Suites of `whybox why --test-out` as tests: one item for each test of the file."""

from collections.abc import Iterator
from typing import Any

import pytest

from whybox.errors import WhyboxError
from whybox.pytest_plugin.settings import of_config
from whybox.pytest_plugin.subject import NotHeld, Subject
from whybox.suite.config import AnyTest, Suite


class SuiteFile(pytest.File):
    """A suite file. The target is the one that the command line or the ini file names, else the one of the finding."""

    def collect(self) -> Iterator["SuiteItem"]:
        """Its tests, in order. CollectError for a file that is no such suite."""
        try:
            suite = Suite.load(self.path)
        except WhyboxError as fault:
            raise self.CollectError(str(fault)) from fault
        for test in suite.tests:
            yield SuiteItem.from_parent(self, name=test.name, suite=suite, test=test)


class SuiteItem(pytest.Item):
    """One test of a suite."""

    def __init__(self, *, suite: Suite, test: AnyTest, **more: Any) -> None:
        super().__init__(**more)
        self.suite, self.test = suite, test
        if test.known_failing:
            self.add_marker(pytest.mark.xfail(reason="known failing", raises=NotHeld))

    def runtest(self) -> None:
        """Asks, and judges as the assertions do."""
        from whybox.pytest_plugin.experiment import Seen, opened
        from whybox.suite.regression import check

        settings = of_config(self.config)
        name = self.config.getoption("whybox_target") or self.suite.model
        found = check(self.test, self.suite, opened(name, self.suite.seed))
        title = f"{self.test.probe} · {name}: {self.test.name}: {found.said}"
        text = "\n".join([title, *found.shown])
        Subject(settings, self.path.parent, self.user_properties).judge(Seen(found.state.value, title, text))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """The finding alone: the code of this file is not what failed."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Where pytest says that it stands."""
        return self.path, None, self.name
