"""Probes that ask again because of what came back, played on bots round by round."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from tests.probes.playing import ground_of
from whybox.items.generate import Item
from whybox.probes.design import AnyOutcome, Call, Design, Finding, Ground, Plan, Record
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.target import AnswerRequest, Sampling, Target


def ground(bot: Bot, data: Mapping[str, tuple[Item, ...]] | None = None, temperature: float = 0.0) -> Ground:
    """What a plan on this bot is made on."""
    made = ground_of(BotTarget(bot))
    return replace(made, data=dict(data or {}), sampling=Sampling(temperature))


def asked(target: Target, calls: list[Call]) -> list[Record]:
    """Every call, made at once."""

    async def one(call: Call) -> AnyOutcome:
        is_score = isinstance(call.request, AnswerRequest)
        return await (target.score(call.request) if is_score else target.ask(call.request))  # type: ignore[arg-type]

    async def run() -> list[Record]:
        outcomes = await asyncio.gather(*map(one, calls))
        return [Record(call, outcome) for call, outcome in zip(calls, outcomes, strict=True)]

    return asyncio.run(run())


def all_rounds(
    design: Design, targets: Mapping[str, Target], made: Ground, seed: int = 0, plan: Plan | None = None
) -> tuple[Plan, list[Record]]:
    """The plan with the calls of every round, and their records. targets: by the name that calls give them."""
    plan = plan or design.plan(design.NAME, made)
    records: list[Record] = []
    left = list(plan.calls)
    while left:
        for name, target in targets.items():
            records += asked(target, [call for call in left if call.target == name])
        known = {record.call.cell for record in records}
        left = [call for call in design.more(design.NAME, plan, records, made) if call.cell not in known]
        plan = replace(plan, calls=(*plan.calls, *left))
    return plan, records


def played_out(
    design: Design,
    bot: Bot,
    seed: int = 0,
    data: Mapping[str, tuple[Item, ...]] | None = None,
    temperature: float = 0.0,
) -> Finding:
    """What the probe finds of a bot that knows the items and not the arms."""
    made = ground(bot, data, temperature)
    plan = design.plan(design.NAME, made)
    target = BotTarget(bot, Bank.of(plan.items), seed)
    return design.read(*all_rounds(design, {made.target: target}, made, plan=plan), seed)
