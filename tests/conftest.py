"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

import os

# One thread of arithmetic per worker: two libraries that wait for each other by spinning take ten times as long.
# The workers are started after this line and inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


from collections.abc import Iterable

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

import tests.typechecked  # noqa: F401  (the hook looks it up by name)

install_import_hook("whybox", "tests.typechecked.checked")

# A busy machine is no fault of the code: what is slow is measured by tests of its own.
settings.register_profile("whybox", deadline=None)
settings.load_profile("whybox")

THOROUGH = (
    "tests/bench/test_verdicts.py",
    "tests/bench/test_coverage.py",
    "tests/jobs/test_why_refund.py",
    "tests/jobs/test_why_claims.py",
    "tests/jobs/test_why_batched.py",
    "tests/jobs/test_why_full.py",
    "tests/jobs/test_run_suite.py",
    "tests/jobs/test_doctor.py",
    "tests/cli/test_run_verb.py",
    "tests/cli/test_doctor",
    "tests/cause/test_findings.py",
    "tests/cause/test_repair.py",
    "tests/engine/test_memory.py",
    "tests/engine/test_writing.py",
    "tests/measure/test_findings.py",
    "tests/probes/",
    "tests/published/",
    "tests/suite/",
    "tests/targets/",
    "tests/test_model_gradient.py::test_a_gradient_grows_as_predicted",
    "tests/test_streamed.py",
    "tests/testing/test_context_rows.py",
    "tests/testing/test_faults_gemma.py",
)
"""What takes long: `pytest -m thorough` runs it, `pytest -m ""` everything."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(THOROUGH):
            item.add_marker("thorough")
