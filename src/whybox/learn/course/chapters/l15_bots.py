"""A suite played on planted bots in this process, and five failures of bots with what every step made of them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from whybox.learn.ground import Ground
from whybox.probes.design import Call, Design, Finding, Plan, Record
from whybox.probes.design import Ground as Asked
from whybox.probes.encoding import encoder_of
from whybox.probes.failure import FailureProbe
from whybox.probes.failure_reading import Case, failing_cases
from whybox.suite.behaviour import Behaviour
from whybox.suite.judgement import Judged, judge
from whybox.targets.bots.kinds import bot_from
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.bots.text import split
from whybox.targets.target import Request

SIX = (
    "always_first", "brittle(r=0.3)", "forgets_at(t0=7, q=0.2)", "middle_blind(d=0.6)", "misattributes(q=0.4)",
    "stubborn(s=0.8)",
)  # fmt: skip
HONEST = "honest"
FAILING = ("always_first", "closed_book", "format_drift(r=0.9)", "tie_flipper(epsilon=0.4)", "honest(p=0.5)")
NAME = "bot"
ROUNDS = 3


def planned(suite: Behaviour) -> dict[str, Plan]:
    """The calls of every probe; no plan depends on what a bot does."""
    return {name: design.plan(name, _ground(suite.file.seed)) for name, design in suite.probes.items()}


def _ground(seed: int) -> Asked:
    anyone = BotTarget(bot_from(HONEST))
    return Asked(
        NAME, anyone.abilities, seed, count=lambda text: len(split(text)), counted=True, encode=encoder_of(anyone)
    )


def played(suite: Behaviour, plans: Mapping[str, Plan], bot: str) -> tuple[dict[str, Finding], list[Judged]]:
    """What the probes find of one bot, and the verdict of every gate."""
    findings = {name: _found(name, design, plans[name], bot, suite.file.seed) for name, design in suite.probes.items()}
    measures = {name: design.MEASURES for name, design in suite.probes.items()}
    return findings, judge(suite.file.gates, measures, {(name, NAME): found for name, found in findings.items()})


def _found(name: str, design: Design, plan: Plan, bot: str, seed: int) -> Finding:
    target, ground = BotTarget(bot_from(bot), Bank.of(plan.items), seed), _ground(seed)
    plan, records = _rounds(name, design, plan, target, ground)
    return design.read(plan, records, seed)


def _rounds(name: str, design: Design, plan: Plan, target: BotTarget, ground: Asked) -> tuple[Plan, list[Record]]:
    """The planned calls, and those that follow from their answers."""
    records: list[Record] = []
    calls = plan.calls
    for _ in range(ROUNDS):
        records += asyncio.run(_asked(target, calls))
        known = {record.call.cell for record in records}
        calls = tuple(call for call in design.more(name, plan, records, ground) if call.cell not in known)
        plan = replace(plan, calls=(*plan.calls, *calls))
    return plan, records


async def _asked(target: BotTarget, calls: Sequence[Call]) -> list[Record]:
    requests = [call.request for call in calls if isinstance(call.request, Request)]
    found = {index: outcome async for index, outcome in target.ask_all(requests)}
    return [Record(call, found[index]) for index, call in enumerate(calls)]


def failures(_: Ground) -> tuple[Case, ...]:
    """One failing case of each of five bots, with everything that was tried on it."""
    return tuple(_failure(bot) for bot in FAILING)


def _failure(bot: str) -> Case:
    design, ground = FailureProbe(items=6), _ground(0)
    plan = design.plan("failure", ground)
    target = BotTarget(bot_from(bot), Bank.of(plan.items), 0)
    plan, records = _rounds("failure", design, plan, target, ground)
    return failing_cases(plan, records)[0]
