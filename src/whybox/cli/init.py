"""`whybox init`: a commented suite that runs at once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class SizeName(StrEnum):
    """How large a suite is."""

    smoke = "smoke"
    full = "full"


Place = Annotated[Path, typer.Argument(metavar="FILE", help="Where the suite is written.")]
Size = Annotated[SizeName, typer.Option("--size", help="smoke: a first look; full: the designed sizes, with gates.")]
Model = Annotated[str, typer.Option("-m", "--model", metavar="MODEL", help="As -m takes it, or openai:NAME.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


def init(
    place: Place = Path("whybox.yaml"), size: Size = SizeName.smoke, model: Model = "smollm2", force: Force = False
) -> None:
    """Write a suite of behaviour tests: whybox init && whybox run."""
    from whybox.cli.telling import require_free, write_whole
    from whybox.suite.template import suite_text
    from whybox.targets.naming import require_known

    require_known(model)
    require_free(place, force)
    write_whole(place, suite_text(size.value, model))
    print(f"{place}: whybox run {place}")
