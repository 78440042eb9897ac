"""How many processor threads the arithmetic may take. NumPy's BLAS reads it once, when it is loaded."""

import os

_NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def limit_threads(threads: int | None) -> None:
    """At most this many; None leaves the choice to the library. To be called before anything loads NumPy."""
    if threads is not None:
        os.environ |= dict.fromkeys(_NAMES, str(threads))
