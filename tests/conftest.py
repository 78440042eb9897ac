"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

import os

# One thread of arithmetic per worker: two libraries that wait for each other by spinning take ten times as long.
# The workers are started after this line and inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


from collections.abc import Iterable

import pytest
from hypothesis import settings

from tests import typechecked

typechecked.install()

# A busy machine is no fault of the code: what is slow is measured by tests of its own.
settings.register_profile("whybox", deadline=None)
settings.load_profile("whybox")

THOROUGH = (
    "tests/published/",
    "tests/learn/test_faults_on_text_a.py",
    "tests/testing/test_faults_gemma.py::test_the_position_names_the_cause",
)
"""What takes long: `pytest -m thorough` runs it, `pytest -m ""` everything."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker("thorough")
