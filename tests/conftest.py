"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

from jaxtyping import install_import_hook

import tests.typechecked  # noqa: F401  (the hook looks it up by name)

install_import_hook("whybox", "tests.typechecked.checked")
