"""The same chromium as the reports' tests have."""

from tests.report.conftest import browser

__all__ = ["browser"]
