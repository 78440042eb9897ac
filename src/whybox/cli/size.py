"""`whybox size MODEL|config.json [KEY=VALUE …]`: capacity on paper."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import DEFAULT_MODEL, AcceptKey, Delivered, Model, language, with_shared

if TYPE_CHECKING:
    from whybox.jobs.size import SizeQuestion

What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL|config.json|FAMILY [KEY=VALUE …]",
        help="A model as -m takes it, a config.json, or a family with its numbers; KEY=VALUE changes a configuration.",
        show_default=False,
    ),
]
Context = Annotated[
    int | None,
    typer.Option("--context", metavar="N", help="Tokens of a request (the trained context).", show_default=False),
]
Batch = Annotated[int, typer.Option("--batch", metavar="B", help="Requests at once.")]
SharedPrefix = Annotated[int, typer.Option("--shared-prefix", metavar="N", help="Tokens that all requests begin with.")]
BlockSize = Annotated[int, typer.Option("--block-size", metavar="N", help="Slots of a block of a paged cache.")]
WeightsType = Annotated[
    str | None,
    typer.Option(
        "--dtype", metavar="bf16|int8|q4_k|…", help="Type of the weights (what the file holds).", show_default=False
    ),
]
CacheType = Annotated[str, typer.Option("--kv-dtype", metavar="bf16|fp8|…", help="Type of keys and values.")]
Memory = Annotated[
    str | None,
    typer.Option("--memory", metavar="24GB", help="What has to hold it all (GB = 10⁹, GiB = 2³⁰).", show_default=False),
]
Bandwidth = Annotated[
    str | None, typer.Option("--bandwidth", metavar="3.35TB/s", help="Of the memory, for times.", show_default=False)
]
Rate = Annotated[
    str | None, typer.Option("--flops", metavar="989T", help="Operations a second, for times.", show_default=False)
]
MOST_TOKENS, MOST_BATCH, MOST_BLOCK = 10**9, 10**7, 10**5


@dataclass(frozen=True)
class Asked:
    """How long, how many, in which types."""

    context: Context = None
    batch: Batch = 1
    shared_prefix: SharedPrefix = 0
    block_size: BlockSize = 16
    dtype: WeightsType = None
    kv_dtype: CacheType = "bf16"


@dataclass(frozen=True)
class Hardware:
    """The machine that is thought of."""

    memory: Memory = None
    bandwidth: Bandwidth = None
    flops: Rate = None


@with_shared
def size(
    what: What = None,
    model: Model = DEFAULT_MODEL,
    accept_key: AcceptKey = None,
    *,
    asked: Asked,
    hardware: Hardware,
    told: Delivered,
) -> None:
    """Size a model before it runs: parameters, bytes, FLOPs, KV cache, roofline, what fits, each with its formula."""
    from whybox.cli.telling import Form, progress_for
    from whybox.jobs.size import size as reckon
    from whybox.report.draw import png_bytes, size_picture, svg_text
    from whybox.report.html import size_page
    from whybox.report.text_size import render_size, size_csv

    form = Form(
        render_size,
        size_page,
        size_csv,
        {
            ".png": lambda document, lang: png_bytes(size_picture(document, lang)),
            ".svg": lambda document, lang: svg_text(size_picture(document, lang)),
        },
    )
    form.check(told.out)
    name, *changes = what or [model]
    document = reckon(_question(name, changes, accept_key, asked, hardware, told), progress_for(told.quiet))
    form.deliver(document, document.lang, told.out, told.json)


def _question(
    name: str, changes: list[str], accept: list[str] | None, asked: Asked, hardware: Hardware, told: Delivered
) -> "SizeQuestion":
    """Every option within its bounds, said before a file is opened."""
    from whybox.jobs.size import SizeQuestion
    from whybox.size.load import Machine
    from whybox.size.source import Wish, changes_of
    from whybox.size.units import amount, dtype_named, whole_option

    machine = Machine(
        memory=None if hardware.memory is None else amount(hardware.memory, "memory"),
        bandwidth=None if hardware.bandwidth is None else amount(hardware.bandwidth, "bandwidth"),
        flops=None if hardware.flops is None else amount(hardware.flops, "flops"),
    )
    context = asked.context
    return SizeQuestion(
        wish=Wish(name, changes_of(changes), tuple(accept or ())),
        machine=machine,
        context=None if context is None else whole_option("--context", context, 1, MOST_TOKENS),
        batch=whole_option("--batch", asked.batch, 1, MOST_BATCH),
        shared=whole_option("--shared-prefix", asked.shared_prefix, 0, MOST_TOKENS),
        block=whole_option("--block-size", asked.block_size, 1, MOST_BLOCK),
        dtype=None if asked.dtype is None else dtype_named(asked.dtype),
        cache=dtype_named(asked.kv_dtype, "--kv-dtype"),
        lang=language(told.lang),
    )
