"""From what a person types to a target: `openai:NAME`, `bot:position_biased(b=0.3)`, else a model of this machine."""

import os
from collections.abc import Callable
from pathlib import Path

from whybox.errors import UsageError
from whybox.library import ALIASES, PREFIX, locate
from whybox.model import Model
from whybox.targets.bots.kinds import bot_from
from whybox.targets.bots.process import BotTarget
from whybox.targets.local import LocalTarget
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.secrets import Key
from whybox.targets.target import Target

OPENAI, BOT = "openai:", "bot:"


def is_remote(name: str) -> bool:
    """Whether the name stands for something that is not opened from a file."""
    return name.startswith((OPENAI, BOT))


def endpoint_of(name: str, base_url: str | None = None) -> Endpoint:
    """The endpoint of `openai:NAME`: address from `base_url`, else from OPENAI_BASE_URL, key from OPENAI_API_KEY,
    certificates from SSL_CERT_FILE. UsageError without an address: prompts go nowhere that nobody named.
    """
    certificates = os.environ.get("SSL_CERT_FILE")
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    if not address:
        raise UsageError(
            f"{name}: no address is given",
            "set OPENAI_BASE_URL, for instance to http://127.0.0.1:8000/v1 or to https://api.openai.com/v1",
        )
    return Endpoint(
        name.removeprefix(OPENAI),
        address,
        Key.from_environment(),
        ca_file=Path(certificates) if certificates else None,
    )


def require_known(name: str) -> None:
    """UsageError, ModelNotFound for a name under which nothing can be asked. Nothing is opened, obtained or called."""
    if name.startswith(BOT):
        bot_from(name.removeprefix(BOT))
    elif not name.startswith(OPENAI) and name not in ALIASES and not name.startswith(PREFIX):
        locate(name, download=False)


def target_of(name: str, opened: Callable[[str], Model], seed: int = 0) -> Target:
    """The target of a name. opened: how a model of this machine is opened. seed: of a bot."""
    if name.startswith(OPENAI):
        return OpenAITarget(endpoint_of(name))
    if name.startswith(BOT):
        return BotTarget(bot_from(name.removeprefix(BOT)), seed=seed)
    return LocalTarget(opened(name))
