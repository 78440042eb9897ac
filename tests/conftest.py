"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

import os

# One thread of arithmetic per worker: two libraries that wait for each other by spinning take ten times as long.
# The workers are started after this line and inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


import pytest
from hypothesis import settings

from tests import sampled, typechecked

typechecked.install()

# A busy machine is no fault of the code: what is slow is measured by tests of its own.
settings.register_profile("whybox", deadline=None)
settings.load_profile("whybox")

THOROUGH = (
    "tests/published/",
    "tests/learn/test_faults_on_text_a.py",
    "tests/testing/test_faults_gemma.py::test_the_position_names_the_cause",
    "tests/test_model_gradient.py::test_a_gradient_grows_as_predicted[fp32-1500-",
    "tests/test_model_gradient.py::test_a_gradient_grows_as_predicted[fp32-512-sites0-",
    "tests/engine/test_memory.py::test_a_real_run_grows_as_predicted[2000-",
    "tests/test_docs.py::test_it_prints_what_the_page_shows[README.zh-CN.md look",
)
"""What takes long: `pytest -m thorough` runs it, `pytest -m ""` everything."""

FIRST = ("bench/", "test_docs.py", "cli/", "web/", "jobs/", "cause/", "learn/")
"""Where the longest files are: begun last, one of them would keep a single worker after the others have ended."""


@pytest.fixture(autouse=True)
def _shapes_are_checked_anew() -> None:
    sampled.began()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker("thorough")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    return next((turn for turn, of in enumerate(FIRST) if item.nodeid.startswith(f"tests/{of}")), len(FIRST))
