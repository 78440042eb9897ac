"""`whybox next PROMPT`: text → tokens → the next token's distribution, and what is written on from there."""

from typing import Annotated

import typer

from whybox.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_PRECISION,
    AcceptKey,
    AllowLong,
    Chat,
    Device,
    Engine,
    EngineName,
    Json,
    Language,
    Model,
    Out,
    Precision,
    Quiet,
    Seed,
    Threads,
    language,
)
from whybox.cli.threads import limit_threads

Text = Annotated[str, typer.Argument(metavar="PROMPT", help="The text to go on from; - reads it from standard input.")]
Count = Annotated[int, typer.Option("-n", min=0, metavar="N", help="Write on for N tokens.")]
Top = Annotated[int, typer.Option("--top", min=1, help="How many next tokens to list.")]
Walk = Annotated[bool, typer.Option("--trace", help="Walk the pipeline stage by stage, with this model's numbers.")]
Temperature = Annotated[float, typer.Option("--temperature", min=0.0, help="0 is greedy.")]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, help="Draw from the K most probable.", show_default=False)]
TopP = Annotated[
    float | None, typer.Option("--top-p", min=0.0, max=1.0, help="Draw from the nucleus of P.", show_default=False)
]


def next_(
    prompt: Text,
    model: Model = DEFAULT_MODEL,
    n: Count = 0,
    top: Top = 10,
    trace: Walk = False,
    temperature: Temperature = 0.0,
    top_k: TopK = None,
    top_p: TopP = None,
    seed: Seed = 0,
    chat: Chat = False,
    allow_long: AllowLong = False,
    accept_key: AcceptKey = None,
    engine: Engine = EngineName.auto,
    precision: Precision = DEFAULT_PRECISION,
    device: Device = "auto",
    threads: Threads = None,
    lang: Language = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show the tokens of a text and the distribution of the next one."""
    limit_threads(threads)

    from whybox.cli.opening import opened, prompt_of
    from whybox.cli.telling import Form, json_text
    from whybox.engine.sampling import Decoding
    from whybox.jobs.next import Wanted, next_token
    from whybox.report.text import render_next

    asked, form = language(lang), Form(render_next)
    form.check(out)
    loaded = opened(model, engine, precision, device, accept_key, allow_long, quiet)
    decoding = Decoding(temperature, top_k, top_p, seed)
    wanted = Wanted(top, n, trace, decoding, asked)
    document = next_token(loaded, prompt_of(loaded, prompt, chat), wanted)
    if out is not None:
        form.save(document, asked, out)
    if json:
        print(json_text(document))
    elif out is None:
        form.show(document, asked)
