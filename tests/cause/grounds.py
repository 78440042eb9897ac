"""Grounds for the tests of experiments: planted models whose mechanism is known, and small random ones."""

from functools import cache

import numpy as np

from whybox.cause.ground import Ground, between
from whybox.testing import NONE, ROWS, Decoys, Planted


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


@cache
def planted(row: str, decoys: Decoys = NONE, engine: str = "numpy") -> tuple[Planted, Ground]:
    """A planted row and LD behind its prompt, in logits at a scale of 20."""
    found = ROWS[row](0, decoys)
    model = found.model if engine == "numpy" else found.model.variant(engine=engine)
    case = found.instance
    return found, between(model, case, case.right, case.wrong or "", floor=1e-5)
