"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

import os

# One thread of arithmetic per worker: two libraries that wait for each other by spinning take ten times as long.
# The workers are started after this line and inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")


from hypothesis import settings
from jaxtyping import install_import_hook

import tests.typechecked  # noqa: F401  (the hook looks it up by name)

install_import_hook("whybox", "tests.typechecked.checked")

# A busy machine is no fault of the code: what is slow is measured by tests of its own.
settings.register_profile("whybox", deadline=None)
settings.load_profile("whybox")
