"""`whybox learn --claims [ID …]`: what the documents claim, recomputed."""

from dataclasses import dataclass
from typing import Annotated

import typer

from whybox.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_PRECISION,
    Delivered,
    Device,
    Engine,
    EngineName,
    Threads,
    language,
    with_shared,
)
from whybox.cli.threads import limit_threads
from whybox.errors import UsageError

What = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID …]", help="Claims by id, such as C20; all of them.", show_default=False),
]
Claims = Annotated[
    bool, typer.Option("--claims", help="Recompute what the documents claim, and say what is right, and what is not.")
]
BROKEN = 1


@dataclass(frozen=True)
class Computed:
    """How the default model runs; the records of the ledger are of its numbers, in fp32."""

    engine: Engine = EngineName.auto
    device: Device = "auto"
    threads: Threads = None


@with_shared
def learn(what: What = None, claims: Claims = False, *, computed: Computed, told: Delivered) -> None:
    """Recompute what the documents claim: what is right, what is not, and why. Ends with 1 where a record is broken."""
    if not claims:
        raise UsageError(
            "whybox learn needs to be told what", "whybox learn --claims recomputes what the documents claim"
        )
    limit_threads(computed.threads)

    from whybox.cli.opening import opened
    from whybox.cli.runs import Passes
    from whybox.cli.telling import Form
    from whybox.learn.claims import claims as recomputed
    from whybox.learn.claims import planned
    from whybox.report.html import claims_page
    from whybox.report.text_claims import render_claims

    form = Form(render_claims, claims_page)
    form.check(told.out)
    ids, lang = what or [], language(told.lang)
    engine, device = computed.engine, computed.device
    with Passes(lang, told.quiet) as passes:
        passes.announce(planned(ids))
        document = recomputed(
            ids,
            lang,
            lambda: opened(DEFAULT_MODEL, engine, DEFAULT_PRECISION, device, None, False, told.quiet),
            passes.tell,
        )
    form.deliver(document, lang, told.out, told.json)
    if document.broken:
        raise typer.Exit(BROKEN)
