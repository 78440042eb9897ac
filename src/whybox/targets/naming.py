"""From what a person types to a target: `openai:NAME`, `bot:position_biased(b=0.3)`, else a model of this machine."""

import os
from collections.abc import Callable
from pathlib import Path

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


def endpoint_of(name: str) -> Endpoint:
    """The endpoint of `openai:NAME`: address and key from OPENAI_BASE_URL and OPENAI_API_KEY, certificates from
    SSL_CERT_FILE.
    """
    certificates = os.environ.get("SSL_CERT_FILE")
    return Endpoint(
        name.removeprefix(OPENAI),
        os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1",
        Key.from_environment(),
        ca_file=Path(certificates) if certificates else None,
    )


def target_of(name: str, opened: Callable[[str], Model], seed: int = 0) -> Target:
    """The target of a name. opened: how a model of this machine is opened. seed: of a bot."""
    if name.startswith(OPENAI):
        return OpenAITarget(endpoint_of(name))
    if name.startswith(BOT):
        return BotTarget(bot_from(name.removeprefix(BOT)), seed=seed)
    return LocalTarget(opened(name))
