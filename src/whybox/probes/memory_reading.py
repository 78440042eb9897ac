"""What the calls of `memory` say: compliance by depth, its drop, chance, and what the other arms explain."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Integer

from whybox.items.generate.canary import Canary
from whybox.items.instance import CaseInstance
from whybox.items.seeds import item_generator
from whybox.probes.design import NO_REPEATS, Curve, Deciding, Estimate, Finding, Plan, Record, Seen2, said
from whybox.probes.estimates import floor_of, of_rate, of_ratio, ranked, rate_part
from whybox.probes.memory_live import TURN, case_of
from whybox.probes.table import Table
from whybox.statistics.behaviour import memory as statistics
from whybox.statistics.calls import Calls, first, rate, worst
from whybox.statistics.designs import unbalanced
from whybox.statistics.half_life import half_life
from whybox.statistics.intervals import Rate
from whybox.statistics.paired import Pairs, paired_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Failure

CANARY = "canary:"
NO_RULE = "no-rule"
GAINS: tuple[tuple[str, str, str], ...] = (
    ("rescue by restating", "restated", ""),
    ("turns beyond their tokens", "one-turn", "user"),
    ("one message", "concat", ""),
    ("talk on the topic", "competing", ""),
)


def read(plan: Plan, records: Sequence[Record], seed: int, home: str) -> Finding:
    """The finding; `broken` where depths are not balanced, or the canary shows that prompts are cut."""
    canaries = [record for record in records if record.call.arm.startswith(CANARY)]
    turns = [record for record in records if record.call.arm.startswith(TURN)]
    gone = {record.call.item for record in turns if isinstance(record.outcome, Failure)}
    asked = [r for r in records if not r.call.arm.startswith((CANARY, TURN)) and r.call.item not in gone]
    table = Table.of(plan, asked)
    arms = [arm for arm in table.arms if arm.split(":")[1] == home]
    cells = (
        (record.call.item, arms.index(record.call.arm), str(record.call.run))
        for record in asked
        if record.call.arm in arms
    )
    broken = _cut(canaries) or unbalanced(cells) or ("" if len(arms) > 1 else "fewer than two depths were asked")
    if broken:
        return Finding((), {}, Rate(sum(isinstance(r.outcome, Failure) for r in records), len(records)), broken=broken)
    marks = table.marks_of(*arms)
    depths = np.array([int(arm.split(":")[0]) for arm in arms], np.float64)
    lossy = worst(marks)
    return Finding(
        (
            _of_pairs("drop", statistics.drop(marks), floor_of(table.codes_of(*arms)), True),
            of_rate("obeyed", rate(first(marks)[:, -1]), floor_of(table.codes_of(*arms)), primary=True),
            *_beyond_chance(table, arms, seed),
            *_half_life(first(marks), depths),
            *_explained(table, arms[-1], home),
            *_unreliable(marks),
        ),
        {
            "obeyed": ((arms[-1], rate_part(first(marks)[:, -1])),),
            "drop": ((f"{arms[0]} to {arms[-1]}", Seen2(statistics.drop(marks), statistics.drop(lossy))),),
        },
        Rate(table.lost.hits + len(gone), table.lost.n + len(turns)),
        tuple(_curves(table, arms, marks, depths)),
        tuple(_deciding(plan, table, arms, asked)),
        (f"dialogues that broke off: {len(gone)}",) if gone else (),
    )


def _cut(canaries: Sequence[Record]) -> str:
    """What the canary says: the code words of the short dialogue come back, one of the long dialogue does not."""
    lost_ends: dict[str, tuple[str, ...]] = {}
    for record in canaries:
        if isinstance(record.outcome, Failure):
            return ""
        codes = dict(record.call.facts)["codes"].split(" ")
        lost_ends[record.call.arm] = Canary("", "", "", *codes).lost(said(record.outcome))
    whole, gone = lost_ends.get(f"{CANARY}short", ("",)), lost_ends.get(f"{CANARY}long", ())
    return f"the canary shows that prompts are cut at the {' and the '.join(gone)}" if gone and not whole else ""


def _of_pairs(name: str, seen: Pairs, floor: float | Unknown = NO_REPEATS, primary: bool = False) -> Estimate:
    if seen.harm is None:
        reason = Unknown("no item came back in both arms")
        return Estimate(name, reason, None, 0, floor, unit="difference", primary=primary)
    interval = paired_difference(seen)
    return Estimate(name, seen.harm, interval, seen.n, floor, unit="difference", primary=primary)


def _beyond_chance(table: Table, arms: Sequence[str], seed: int) -> Iterator[Estimate]:
    """(P − c)/(1 − c) at every depth, on the items that were also asked without the rule."""
    for arm in arms:
        bare = f"{arm.split(':')[0]}:{NO_RULE}"
        if table.has(bare):
            generator = item_generator(seed, "memory", f"chance/{arm}")
            found = statistics.beyond_chance(table.first(arm), table.first(bare), generator)
            yield of_ratio(f"beyond chance at {arm.split(':')[0]}", found, int((table.first(bare) >= 0).sum()))


def _half_life(marks: Integer[np.ndarray, "item depth"], depths: np.ndarray) -> Iterator[Estimate]:
    found = half_life(marks, depths)
    if isinstance(found, Unknown):
        yield Estimate("half-life", found, None, len(marks), unit="turns", primary=False)
    elif found.turns is None:
        shorter = Unknown(f"shorter than {depths.min():.0f} turns")
        bound = Unknown(f"longer than {found.deepest:.0f} turns") if found.beyond == "after" else shorter
        yield Estimate("half-life", bound, None, len(marks), unit="turns", primary=False)
    else:
        yield Estimate("half-life", found.turns, found.interval, len(marks), unit="turns", primary=False)


def _explained(table: Table, last: str, home: str) -> Iterator[Estimate]:
    """What the arms gain over the one that they explain, at the last depth."""
    depth = last.split(":")[0]
    for name, arm, over in GAINS:
        one, other = f"{depth}:{arm}", f"{depth}:{over or home}"
        if table.has(one) and table.has(other):
            yield _of_pairs(name, statistics.gained(table.first(one), table.first(other)))


def _unreliable(marks: Calls) -> Iterator[Estimate]:
    found = statistics.unreliability(marks[:, -1:])
    if not isinstance(found, Unknown):
        yield Estimate("unreliability", found.gap, None, len(marks), unit="difference", primary=False)


def _curves(table: Table, arms: Sequence[str], marks: Calls, depths: np.ndarray) -> Iterator[Curve]:
    """P(t) with and without the rule, S(t), and compliance in the other arms."""
    yield Curve("obeyed", "turns", tuple((arm.split(":")[0], rate(table.first(arm))) for arm in arms))
    steps = statistics.obeyed_until(first(marks), depths)
    watched = steps[0].at_risk if steps else 0
    held = tuple((f"{step.time:.0f}", Rate(round(step.share * watched), watched)) for step in steps)
    yield Curve("never failed until then", "turns", held)
    bare = [arm for arm in table.arms if arm.endswith(f":{NO_RULE}")]
    if bare:
        yield Curve("without the rule", "turns", tuple((arm.split(":")[0], rate(table.first(arm))) for arm in bare))
    others = [arm for arm in table.arms if arm not in arms and arm not in bare]
    if others:
        yield Curve("other arms", "arm", tuple((arm, rate(table.first(arm))) for arm in others))


def _deciding(plan: Plan, table: Table, arms: Sequence[str], asked: Sequence[Record]) -> Iterator[Deciding]:
    """Items that obey at the first depth and fail later, with the dialogue that was sent."""
    marks = np.stack([table.first(arm) for arm in arms], axis=1)
    failing = [row for row in range(len(marks)) if (marks[row] == 0).any()]
    for row in ranked(sorted(failing, key=lambda row: marks[row, 0] != 1)):
        arm = arms[int(np.flatnonzero(marks[row] == 0)[0])]
        kept = [each for each, mark in zip(arms, marks[row], strict=True) if mark == 1][:1]
        yield table.deciding(row, (*kept, arm), _case(plan, table.items[row], arm, asked))


def _case(plan: Plan, item: str, arm: str, asked: Sequence[Record]) -> CaseInstance:
    """The dialogue of an item at a depth; of a live one as it was sent."""
    if (item, arm) in plan.asked:
        return plan.asked[item, arm].instance
    plain = next(each.instance for each in plan.items if each.id == item)
    return next(case_of(record, plain) for record in asked if (record.call.item, record.call.arm) == (item, arm))
