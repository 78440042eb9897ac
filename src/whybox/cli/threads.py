"""How many processor threads the arithmetic may take. NumPy's BLAS reads it once, when it is loaded."""

import os

from whybox.errors import UsageError

_NAMES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def limit_threads(threads: int | None) -> None:
    """At most this many; None leaves the choice to the library. To be called before anything loads NumPy.

    UsageError for more than this machine has processors.
    """
    most = os.cpu_count() or 1
    if threads is not None and threads > most:
        raise UsageError(f"--threads {threads}: this machine runs {most} at a time", "leave it out for all of them")
    if threads is not None:
        os.environ |= dict.fromkeys(_NAMES, str(threads))
