"""Planted faults, and what `whybox diff` says of them: `python -m bench.mutations`."""
