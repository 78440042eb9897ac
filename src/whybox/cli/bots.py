"""`whybox bots`: bots whose truth is known, behind an OpenAI-compatible address, for the tests of anyone."""

import json as jsons
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from whybox.cli.options import Json
from whybox.cli.verb import Verb
from whybox.targets.bots.kinds import KINDS, bot_of, described, settings_of_all

bots = typer.Typer(no_args_is_help=True, help="Bots with known faults, to try a test suite on.")

Name = Annotated[str, typer.Option("--bot", metavar="NAME", help="Which bot; whybox bots list shows them.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")]
Host = Annotated[str, typer.Option("--host", help="Where it listens.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of its draws.")]
Latency = Annotated[float, typer.Option("--latency", min=0, help="Milliseconds that each answer takes.")]
Cases = Annotated[
    list[Path] | None,
    typer.Option("--case", metavar="FILE", help="A case file whose answers the bot knows; may be repeated."),
]


def _with_settings(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with one option for every setting that any bot has."""
    own = signature(verb)
    texts = {name: f"Of {whose}." for name, (_, whose) in settings_of_all().items()}
    made = {
        name: Parameter(
            f"set_{name}",
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                str | None, typer.Option(f"--{name.replace('_', '-')}", help=text, show_default=False, metavar="VALUE")
            ],
        )
        for name, text in texts.items()
    }
    parameters = [each for name, each in own.parameters.items() if name != "settings"] + list(made.values())

    @wraps(verb)
    def told(**given: Any) -> None:
        settings = {name: value for name in made if (value := given.pop(f"set_{name}")) is not None}
        verb(**given, settings=settings)

    told.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    told.__annotations__ = {each.name: each.annotation for each in parameters}
    return told


@bots.command(cls=Verb)
@_with_settings
def serve(
    bot: Name = "honest",
    port: Port = 0,
    host: Host = "127.0.0.1",
    seed: Seed = 0,
    latency: Latency = 0.0,
    case: Cases = None,
    *,
    settings: dict[str, Any],
) -> None:
    """Serve one bot until Ctrl-C. The first line on stdout is its address, the second the name of its model."""
    import asyncio

    from whybox.items.case import Case
    from whybox.targets.bots.reading import Bank
    from whybox.targets.bots.server import BotServer
    from whybox.targets.until_done import until_done

    made = bot_of(bot, settings)
    bank = Bank.of(Case.load(path).filled() for path in case or ())
    server = BotServer(made, bank, seed, latency / 1e3)

    async def run() -> None:
        async with server.serving(host, port) as url:
            print(url, f"openai:{server.model}", sep="\n", flush=True)
            await asyncio.Event().wait()

    until_done(run())


@bots.command(name="list", cls=Verb)
def list_(json: Json = False) -> None:
    """List the bots: what each does, and what must be recovered from it."""
    from whybox.targets.bots.truth import truth

    rows = [{"bot": name, "does": kind.__doc__, "truth": truth(kind())} for name, kind in KINDS.items()]
    if json:
        print(jsons.dumps(rows, ensure_ascii=False, indent=1))
        return
    for kind in KINDS.values():
        print(described(kind()), (kind.__doc__ or "").strip(), sep="\n    ")
