"""What every verb writes: the JSON document on stdout, progress on stderr."""

import json
import os
import time
from collections.abc import Mapping

import whybox
from whybox.library.progress import Progress, Silent, Terminal


def progress_for(quiet: bool) -> Progress:
    """Who is told what happens: stderr, or nobody; the hub's own bars follow."""
    if quiet:
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        return Silent()
    return Terminal()


def print_document(name: str, begun: float, part: Mapping[str, object]) -> None:
    """Prints the document of a verb that runs no model. begun: `time.perf_counter()` when the verb began."""
    head = {"schema": {"name": f"whybox.{name}", "version": 1}, "whybox": whybox.__version__}
    document = head | dict(part) | {"took_s": round(time.perf_counter() - begun, 3)}
    print(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))
