"""Shapes in signatures are enforced in every test: jaxtyping with beartype, on the whole package."""

from jaxtyping import install_import_hook

install_import_hook("whybox", "beartype.beartype")
