"""Which passage carries the answer: log P of the right answer with all passages, and with each left out in turn."""

from collections.abc import Iterator, Sequence

from whybox.items.instance import CaseInstance
from whybox.probes.design import Call, Estimate, Ground, Record
from whybox.statistics.intervals import mean_interval
from whybox.statistics.unknown import Unknown
from whybox.targets.target import AnswerRequest, AnswerScore, prompt_of

WITHOUT, ALL = "without:", "without:nothing"


def calls(name: str, case: CaseInstance, passages: Sequence[str], ground: Ground) -> Iterator[Call]:
    """The prompt with all passages, and without each; nothing where answers behind such prompts are not scored."""
    if ground.abilities.scores_behind(prompt_of(case)).has is False:
        return
    names = [part.name for part in case.parts]
    cases = {ALL: case} | {f"{WITHOUT}{p}": case.keeping([n for n in names if n != p]) for p in passages}
    for arm, each in cases.items():
        facts = (("role", "all" if arm == ALL else "gold" if arm.removeprefix(WITHOUT) in case.evidence else "other"),)
        request = AnswerRequest(prompt_of(each), case.right)
        yield Call(ground.target, name, case.id, arm, 0, request, facts=facts)


def estimates(records: Sequence[Record]) -> Iterator[Estimate]:
    """What log P of the right answer loses without the right passage, and without one of the others, nats an item."""
    by_item: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if isinstance(record.outcome, AnswerScore):
            roles = by_item.setdefault(record.call.item, {})
            roles.setdefault(dict(record.call.facts)["role"], []).append(record.outcome.logprob)
    for role, name in (("gold", "log P lost without the right passage"), ("other", "log P lost without another one")):
        lost = [
            each["all"][0] - sum(each[role]) / len(each[role])
            for each in by_item.values()
            if {"all", role} <= each.keys()
        ]
        value = sum(lost) / len(lost) if lost else Unknown("no given answer was scored")
        yield Estimate(name, value, mean_interval(lost) if lost else None, len(lost), unit="nats", primary=False)


def parted(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The records of these calls, and the others."""
    ours = [record for record in records if record.call.arm.startswith(WITHOUT)]
    return ours, [record for record in records if not record.call.arm.startswith(WITHOUT)]
