"""Generators of random numbers: one per item, named by suite seed, probe and item, so that no draw is shared."""

from hashlib import blake2b

import numpy as np


def item_generator(suite_seed: int, probe: str, item_id: str) -> np.random.Generator:
    """A generator that depends on all three names and on nothing else."""
    name = f"{suite_seed}/{probe}/{item_id}".encode()
    return np.random.default_rng(int.from_bytes(blake2b(name, digest_size=8).digest(), "big"))
