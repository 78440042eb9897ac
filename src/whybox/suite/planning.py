"""What a run would do, before it does it: calls, tokens, time, and the smallest effect that it would find."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from whybox.probes.design import AnyRequest, Call, Cell, Design, Ground, Plan, missing
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.floor import FLOOR, floor_calls
from whybox.suite.judgement import Skipped, Where
from whybox.targets.target import AnswerRequest, Chat, Request

BYTES_A_TOKEN = 4


@dataclass(frozen=True)
class Planned:
    """A suite on its targets. probes: the plan of each, or why it is not run. floors: the A/A calls by target."""

    probes: Mapping[Where, Plan | Skipped]
    floors: Mapping[str, tuple[Call, ...]]

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, those of the floors first."""
        plans = (plan.calls for plan in self.probes.values() if isinstance(plan, Plan))
        return tuple(call for calls in (*self.floors.values(), *plans) for call in calls)


@dataclass(frozen=True)
class Row:
    """One line of the plan. tokens: read and at most written. finds: as `Plan.finds`."""

    probe: str
    target: str
    items: int
    arms: int
    calls: int
    tokens_read: int
    tokens_written: int
    finds: float | Unknown
    skipped: str = ""


def plan(suite: Behaviour, grounds: Mapping[str, Ground]) -> Planned:
    """The plan of every probe on every target; a probe that needs what a target lacks is skipped with the reason."""
    probes: dict[Where, Plan | Skipped] = {}
    for name, design in suite.probes.items():
        for target, ground in grounds.items():
            with suite.told_of("probes", name):
                probes[name, target] = _planned(name, design, ground)
    size = suite.file.run.floor
    floors = {target: tuple(floor_calls(_calls_of(probes, target), size.items, size.times)) for target in grounds}
    return Planned(probes, floors)


def _planned(name: str, design: Design, ground: Ground) -> Plan | Skipped:
    """The plan of one probe. Calls that choose by log-probability need it, whatever the probe needs."""
    if (lacking := missing(design.NEEDS, ground.abilities)) is not None:
        return Skipped(lacking)
    found = design.plan(name, ground)
    if found.calls and all(isinstance(call.request, Request) and call.request.choices for call in found.calls):
        lacking = missing(("logprobs",), ground.abilities)
    return _whole(found, ground) if lacking is None else Skipped(lacking)


def longest(calls: Iterable[Call]) -> int:
    """About how many tokens the longest prompt has, where nobody counts them: four bytes each."""
    return max((len(text_of(call.request).encode("utf-8", "replace")) for call in calls), default=0) // BYTES_A_TOKEN


def _whole(found: Plan, ground: Ground) -> Plan:
    """The plan, unless its prompts would be cut: what comes of a lost end is no decay."""
    tokens = longest(found.calls)
    if ground.cut is None or tokens <= ground.cut:
        return found
    said = f"its longest prompt has about {tokens} tokens, and the target silently cuts them at about {ground.cut}"
    return replace(found, calls=(), broken=said)


def rows(planned: Planned, grounds: Mapping[str, Ground], chosen: Collection[Cell]) -> list[Row]:
    """One line for every probe and target, those of the floors first. chosen: the calls of the probes that are made."""
    floors = [_row(FLOOR, grounds[target], calls, Unknown("a floor")) for target, calls in planned.floors.items()]
    return floors + [_probe_row(*where, found, grounds, chosen) for where, found in planned.probes.items()]


def _probe_row(
    probe: str, target: str, found: Plan | Skipped, grounds: Mapping[str, Ground], chosen: Collection[Cell]
) -> Row:
    if isinstance(found, Skipped):
        return Row(probe, target, 0, 0, 0, 0, 0, Unknown("skipped"), found.reason)
    if found.broken:
        return Row(probe, target, 0, 0, 0, 0, 0, Unknown("not asked"), found.broken)
    calls = [call for call in found.calls if call.cell in chosen]
    if not calls and found.calls:
        return Row(probe, target, 0, 0, 0, 0, 0, Unknown("not chosen"))
    finds = found.finds if len(calls) == len(found.calls) else Unknown("only a part of the plan is chosen")
    return _row(probe, grounds[target], calls, finds)


def _row(probe: str, ground: Ground, calls: Sequence[Call], finds: float | Unknown) -> Row:
    read = sum(ground.count(text_of(call.request)) for call in calls)
    written = sum(1 if isinstance(call.request, AnswerRequest) else call.request.sampling.max_tokens for call in calls)
    items, arms = {call.item for call in calls}, {call.arm for call in calls}
    return Row(probe, ground.target, len(items), len(arms), len(calls), read, written, finds)


def text_of(request: AnyRequest) -> str:
    """The text that a request sends, without its template."""
    if isinstance(request.prompt, Chat):
        return "\n".join(turn.content for turn in request.prompt.turns)
    return request.prompt.text


def _calls_of(probes: Mapping[Where, Plan | Skipped], target: str) -> list[Call]:
    """What is written by the target itself: calls to others, and scores of given answers, say nothing of its floor."""
    plans = (plan for (_, name), plan in probes.items() if name == target and isinstance(plan, Plan))
    return [
        call for each in plans for call in each.calls if call.target == target and isinstance(call.request, Request)
    ]
