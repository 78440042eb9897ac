"""Data and text of a test: the case file, seeded generators, deterministic scorers."""
