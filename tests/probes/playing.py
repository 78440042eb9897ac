"""Probes played on bots in this process: plan, ask, read."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from whybox.probes.design import Call, Design, Estimate, Finding, Ground, Plan, Record
from whybox.probes.encoding import encoder_of
from whybox.statistics.intervals import Rate
from whybox.targets.bots.kinds import Bot, Honest
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.bots.text import split
from whybox.targets.target import Request


def ground_of(target: BotTarget, seed: int = 0) -> Ground:
    """A bot as what plans are made on: tokens counted and prompts encoded as it reads them."""
    count: Callable[[str], int] = lambda text: len(split(text))  # noqa: E731
    return Ground("bot", target.abilities, seed, count=count, counted=True, encode=encoder_of(target))


def planned(design: Design, seed: int = 0) -> Plan:
    """The plan on any bot: no bot's plan depends on what it does."""
    return design.plan(design.NAME, ground_of(BotTarget(_anyone()), seed))


def recorded(plan: Plan, bot: Bot, seed: int = 0) -> list[Record]:
    """Every call of the plan, answered by the bot, which knows the items and not the arms."""
    target = BotTarget(bot, Bank.of(plan.items), seed)

    async def run() -> list[Record]:
        asked = [call.request for call in plan.calls]
        assert all(isinstance(request, Request) for request in asked)
        found = {i: outcome async for i, outcome in target.ask_all([r for r in asked if isinstance(r, Request)])}
        return [Record(call, found[i]) for i, call in enumerate(plan.calls)]

    return asyncio.run(run())


def played(design: Design, bot: Bot, seed: int = 0, plan: Plan | None = None) -> Finding:
    """What the probe finds of a bot."""
    made = plan or planned(design, seed)
    return design.read(made, recorded(made, bot, seed), seed)


def estimate(finding: Finding, statistic: str) -> Estimate:
    """The estimate of that name."""
    return next(each for each in finding.estimates if each.statistic == statistic)


def holds(finding: Finding, statistic: str, truth: float) -> bool:
    """Whether the interval of an estimate holds the truth."""
    found = estimate(finding, statistic)
    assert found.interval is not None, found
    return found.interval[0] - 1e-9 <= truth <= found.interval[1] + 1e-9


def shares(finding: Finding, statistic: str, lossy: bool = False) -> dict[str, float | None]:
    """By part of a gate the share of right answers. lossy: with lost calls counted as not right."""
    found = {}
    for part, seen in finding.measured[statistic]:
        rate = seen.worst if lossy else seen.complete
        assert isinstance(rate, Rate)
        found[part] = rate.share
    return found


def changed_calls(records: Sequence[Record], change: Callable[[Call], Call]) -> list[Record]:
    """The records as if other calls had been made."""
    return [replace(record, call=change(record.call)) for record in records]


def _anyone() -> Bot:
    return Honest(1.0)
