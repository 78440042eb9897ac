"""The same chromium as the reports' tests have; a server for the course, that has no model of its own."""

from collections.abc import Iterator

import pytest

from tests.report.conftest import browser

__all__ = ["browser", "course"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A `Running`. Its model cannot be opened, and progress is kept in a file that the tests may delete."""
    from tests.web.serving import no_model, running  # which needs fastapi

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WHYBOX_PROGRESS", str(tmp_path_factory.mktemp("course") / "course.json"))
        with running(no_model) as found:
            yield found
