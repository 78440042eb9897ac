"""Prompts of generated items in chosen orders, and bots that are asked them in this process."""

import asyncio
from collections.abc import Sequence
from functools import cache

from whybox.items.generate import Item, generate
from whybox.items.generate.vocabulary import Language
from whybox.items.scoring import Score
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import NO_BANK, Bank
from whybox.targets.target import Chat, Outcome, Reply, Request, Sampling, Turn, chat, prompt_of


@cache
def items(kind: str, language: Language, count: int, size: int = 4, seed: int = 5) -> tuple[Item, ...]:
    """Items whose lengths are counted in characters."""
    return generate(kind, language, count, seed, len, size)  # type: ignore[arg-type]


def ordered(item: Item, order: Sequence[int] | None = None, keep: Sequence[int] | None = None) -> Chat:
    """The item's prompt with its documents in another order, or with only some of them."""
    names = [part.name for part in item.instance.parts if part.name.startswith("doc")]
    instance = item.instance
    if keep is not None:
        gone = {name for place, name in enumerate(names) if place not in keep}
        instance = instance.keeping([part.name for part in instance.parts if part.name not in gone])
        names = [name for name in names if name not in gone]
    if order is not None:
        instance = instance.reordered([names[place] for place in order])
    found = prompt_of(instance)
    assert isinstance(found, Chat)
    return found


def asked(target: BotTarget, requests: Sequence[Request]) -> list[Outcome]:
    """Outcomes in the order of the requests."""

    async def run() -> list[Outcome]:
        found = {index: outcome async for index, outcome in target.ask_all(requests)}
        return [found[index] for index in range(len(requests))]

    return asyncio.run(run())


def texts(bot: Bot, prompts: Sequence[Chat], bank: Bank = NO_BANK, repeat: int = 0, seed: int = 0) -> list[str]:
    """What a bot writes to each prompt."""
    requests = [Request(prompt, Sampling(max_tokens=64), repeat=repeat) for prompt in prompts]
    found = asked(BotTarget(bot, bank, seed), requests)
    assert all(isinstance(outcome, Reply) for outcome in found)
    return [outcome.text for outcome in found if isinstance(outcome, Reply)]


def scored(item: Item, text: str) -> Score:
    """The item's own judgement."""
    return item.scorer.score(text)


def dialogue(rule: str, fillers: int, question: str, inside: bool = False) -> Chat:
    """A rule, so many turns of small talk, and a question. inside: the small talk in one turn, with the question."""
    talk = [(f"The weather was fine on walk {number}.", "Indeed.") for number in range(fillers)]
    if inside:
        return chat("\n".join([*(said for said, _ in talk), question]), rule)
    turns = [Turn("system", rule)]
    for said, heard in talk:
        turns += [Turn("user", said), Turn("assistant", heard)]
    return Chat((*turns, Turn("user", question)))
