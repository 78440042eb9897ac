"""`whybox next PROMPT`: text → tokens → the next token's distribution, and what is written on from there."""

from dataclasses import dataclass
from typing import Annotated

import typer

from whybox.cli.options import Chat, Shared, with_shared
from whybox.cli.threads import limit_threads

Text = Annotated[str, typer.Argument(metavar="PROMPT", help="The text to go on from; - reads it from standard input.")]
Count = Annotated[int, typer.Option("-n", min=0, metavar="N", help="Write on for N tokens.")]
Top = Annotated[int, typer.Option("--top", min=1, help="How many next tokens to list.")]
Stages = Annotated[bool, typer.Option("--trace", help="Walk the pipeline stage by stage, with this model's numbers.")]
Temperature = Annotated[float, typer.Option("--temperature", min=0.0, help="0 is greedy.")]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, help="Draw from the K most probable.", show_default=False)]
TopP = Annotated[
    float | None, typer.Option("--top-p", min=0.0, max=1.0, help="Draw from the nucleus of P.", show_default=False)
]


@dataclass(frozen=True)
class Drawing:
    """How tokens are drawn from their distribution."""

    temperature: Temperature = 0.0
    top_k: TopK = None
    top_p: TopP = None


@with_shared
def next_(
    prompt: Text,
    n: Count = 0,
    top: Top = 10,
    trace: Stages = False,
    *,
    drawing: Drawing,
    chat: Chat = False,
    shared: Shared,
) -> None:
    """Show the tokens of a text and the distribution of the next one."""
    limit_threads(shared.threads)

    from whybox.cli.opening import model_of, prompt_of
    from whybox.cli.runs import Walk
    from whybox.cli.telling import Form
    from whybox.engine.sampling import Decoding
    from whybox.jobs.next import Wanted, next_token
    from whybox.report.text import render_next

    form = Form(render_next)
    form.check(shared.out)
    loaded = model_of(shared)
    decoding = Decoding(drawing.temperature, drawing.top_k, drawing.top_p, shared.seed)
    wanted = Wanted(top, n, trace, decoding, shared.language)
    with Walk(shared.language, shared.quiet) as bar:
        document = next_token(loaded, prompt_of(loaded, prompt, chat), wanted, bar.tell)
    form.deliver(document, shared.language, shared.out, shared.json)
    if document.generated is not None and document.generated.broken_off:
        raise KeyboardInterrupt(f"{len(document.generated.ids)} of {n} tokens were written, and are in the result.")
