"""Finished reports that pages show in frames: the last few, under names that nobody guesses."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from whybox.errors import UsageError
from whybox.web.reports import Report

MOST_REPORTS = 24


@dataclass
class Shelf:
    """Reports by name; the oldest goes when there are too many."""

    most: int = MOST_REPORTS
    _reports: OrderedDict[str, Report] = field(default_factory=OrderedDict)

    def put(self, report: Report) -> str:
        """Its name."""
        name = secrets.token_urlsafe(18)
        self._reports[name] = report
        while len(self._reports) > self.most:
            self._reports.popitem(last=False)
        return name

    def get(self, name: str) -> Report:
        """UsageError for one that is no longer kept."""
        if name not in self._reports:
            raise UsageError("this report is no longer kept", "make it again")
        return self._reports[name]
