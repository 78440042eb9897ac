"""What the calls of `consistency` say: a ladder of four rungs, each of which must hold before the next is read.

0 fingerprint: both read the same prompt. 1 repeats of the first side. 2 the same ids on both sides: ties, drift and
distances. 3 texts written freely. 4 answers.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from whybox.probes.design import NO_REPEATS, Curve, Deciding, Estimate, Finding, Plan, Record, Seen2, said, scored
from whybox.probes.estimates import of_rate
from whybox.probes.table import Table
from whybox.statistics.behaviour import consistency as statistics
from whybox.statistics.calls import pairs, worst
from whybox.statistics.divergence import kl_lower_bound
from whybox.statistics.intervals import Rate
from whybox.statistics.paired import Pairs, mcnemar_exact, paired_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import AnswerScore, Reply, TokenLogprob

FORCED, ANSWER, AGAIN = "forced", "answer", ":again"
SYSTEM, BARE, RAW = PRINTS = ("print:system", "print:plain", "print:raw")
ENGINE = f"{FORCED}:engine"
ENGINE_FACTOR = 2.0  # where repeats are bit-equal, δ is twice what lies between engines
FEWEST_FENCES = 3
PART = 0.999  # of the probability must be listed for the distance to be called whole

NOT_READ, NOTHING, NO_PAIRS = Unknown("not read"), Rate(0, 0), Pairs(0, 0, 0)

Outcomes = Mapping[tuple[str, str, str], Record]


@dataclass(frozen=True)
class Forced:
    """Both sides on the same ids. gap: z₁ − z₂ of the first side; moved: by how much it differs; kl, move: nats."""

    changed: Bool[np.ndarray, "item q"]
    gap: Float[np.ndarray, "item q"]
    moved: Float[np.ndarray, "item q"]
    kl: Float[np.ndarray, "item q"]
    move: Float[np.ndarray, "item q"]
    is_whole: bool


@dataclass(frozen=True)
class Side:
    """One side against the first, as far as the ladder holds. fault: what differs on rung 0."""

    name: str
    rung: int
    fault: str
    forced: Forced | Unknown
    exact: Rate
    answers: Pairs
    lossy: Pairs


def read(plan: Plan, records: Sequence[Record]) -> Finding:
    """The finding; `broken` where no side reads the same prompt as the first."""
    found: Outcomes = {(record.call.target, record.call.arm, record.call.item): record
                       for record in records if record.call.run == 0}  # fmt: skip
    base = plan.calls[0].target
    width = _tie_width(base, found)
    names = dict.fromkeys(call.target for call in plan.calls if call.arm == ANSWER and call.target != base)
    answered = [name for name in names if any(_paired(found, (base, ANSWER), (name, ANSWER)))]
    sides = [_side(plan, name, base, found) for name in answered]
    lost = _lost(plan, records)
    faults = [f"{side.name}: {side.fault}" for side in sides if side.fault]
    if sides and len(faults) == len(sides):
        return Finding((), {}, lost, broken="; ".join(faults), words=(("cause", "template"),))
    floor = _floor(plan, base, found)
    return Finding(
        (*(each for side in sides for each in _estimates(side, width, floor)), *_repeats(floor, width)),
        _measured(sides, width),
        lost,
        tuple(curve for side in sides for curve in _curves(side, width)),
        tuple(deciding for side in sides for deciding in _deciding(plan, side, base, found)),
        tuple(faults) or ("nothing to compare with: repeats alone",) * (not sides),
        words=tuple((f"rung reached, {side.name}", str(side.rung)) for side in sides),
    )


def _side(plan: Plan, name: str, base: str, found: Outcomes) -> Side:
    fault = _fault(name, base, found)
    if fault:
        return Side(name, 0, fault, NOT_READ, NOTHING, NO_PAIRS, NO_PAIRS)
    forced = _compared(found, (base, FORCED), (name, FORCED))
    texts = [(a, b) for a, b in _paired(found, (base, ANSWER), (name, ANSWER)) if _came(a) and _came(b)]
    exact = Rate(sum(said(a.outcome) == said(b.outcome) for a, b in texts), len(texts))
    asked = [tuple(record.call.item for record in _of(found, side)) for side in (base, name)]
    both = set(asked[0]) & set(asked[1])
    one, other = (Table.of(plan, _of(found, side, both)).first(ANSWER) for side in (base, name))
    return Side(name, 4, "", forced, exact, pairs(one, other), pairs(worst(one), worst(other)))


def _of(found: Outcomes, side: str, items: Container[str] | None = None) -> list[Record]:
    """The answers of a side, to these items."""
    chosen = [record for (target, arm, _), record in found.items() if (target, arm) == (side, ANSWER)]
    return [record for record in chosen if items is None or record.call.item in items]


def _fault(name: str, base: str, found: Outcomes) -> str:
    """Rung 0: what differs between what both sides read, or say around every answer."""
    counts = {side: [_counted(side, arm, found) for arm in PRINTS] for side in (base, name)}
    known = [(b - a) if a is not None and b is not None else None for a, b in zip(*counts.values(), strict=True)]
    system, bare, raw = known
    if any(each not in (None, 0) for each in known):
        return _named(system, bare, raw)
    fenced = [_fenced(side, found) for side in (base, name)]
    return "format: the answers of one side stand in a fence" if fenced[0] != fenced[1] else ""


def _named(system: int | None, bare: int | None, raw: int | None) -> str:
    """From the differences in tokens with a system message, without one, and without a template."""
    if raw:
        return f"template: {raw:+d} tokens in every prompt, also without a template (BOS or tokenizer)"
    if system and not bare:
        return f"template: the system message counts {system:+d} tokens (it is dropped, or other text is added)"
    if bare and not system:
        return f"template: {bare:+d} tokens where no system message was sent (a default system text)"
    return f"template: {bare or system:+d} tokens in every conversation (another template)"


def _counted(side: str, arm: str, found: Outcomes) -> int | None:
    """Tokens of the prompt, as the side counts them."""
    outcomes = [record.outcome for (target, each, _), record in found.items() if (target, each) == (side, arm)]
    reply = outcomes[0] if outcomes else None
    return reply.usage.prompt if isinstance(reply, Reply) and reply.usage is not None else None


def _fenced(side: str, found: Outcomes) -> bool:
    """Whether every answer of a side stands in a fence."""
    texts = [said(record.outcome) for record in _of(found, side) if _came(record)]
    return len(texts) >= FEWEST_FENCES and all(text.lstrip().startswith("```") for text in texts)


def _came(record: Record) -> bool:
    return isinstance(record.outcome, Reply)


def _paired(found: Outcomes, one: tuple[str, str], other: tuple[str, str]) -> Iterator[tuple[Record, Record]]:
    """The records of two sides for the same items."""
    for (target, arm, item), record in found.items():
        if (target, arm) == one and (second := found.get((*other, item))) is not None:
            yield record, second


def _compared(found: Outcomes, one: tuple[str, str], other: tuple[str, str]) -> Forced | Unknown:
    """Position by position; only texts of which both sides give the same tokens, each with its most probable ones."""
    rows = []
    for a, b in _paired(found, one, other):
        if isinstance(a.outcome, AnswerScore) and isinstance(b.outcome, AnswerScore):
            most = int(dict(a.call.facts)["positions"])
            rows.append((a.outcome.tokens[:most], b.outcome.tokens[:most]))
    rows = [(a, b) for a, b in rows if _same_ids(a, b)]
    if not rows:
        return Unknown("no side gives the most probable tokens of a given text")
    length = min(len(a) for a, _ in rows)
    cells = [[_cell(x, y) for x, y in zip(a[:length], b[:length], strict=True)] for a, b in rows]
    table = np.array(cells, np.float64)
    changed, gap, moved, kl, move, whole = np.moveaxis(table, -1, 0)
    return Forced(changed > 0, gap, moved, kl, move, bool(whole.all()))


def _same_ids(one: Sequence[TokenLogprob], other: Sequence[TokenLogprob]) -> bool:
    """Whether both sides read the same tokens, and gave at least the two most probable ones at each."""
    return [t.text for t in one] == [t.text for t in other] and all(len(t.top) > 1 for t in (*one, *other))


def _cell(one: TokenLogprob, other: TokenLogprob) -> tuple[float, ...]:
    """changed, z₁ − z₂, its move, KL, |Δ log P| of the given token, and whether the lists hold all there is."""
    p, q = dict(one.top), dict(other.top)
    first, second = (sorted(side.values(), reverse=True) for side in (p, q))
    gap, theirs = first[0] - first[1], second[0] - second[1]
    shares = [{text: float(np.exp(logprob)) for text, logprob in side.items()} for side in (p, q)]
    distance = kl_lower_bound(*shares)
    changed = max(p, key=p.__getitem__) != max(q, key=q.__getitem__)
    whole = min(sum(side.values()) for side in shares) > PART
    return changed, gap, abs(gap - theirs), distance, abs(one.logprob - other.logprob), whole


def _tie_width(base: str, found: Outcomes) -> float | Unknown:
    """δ from repeats; where they are equal to the bit, twice what lies between engines, where that was asked."""
    repeats = _compared(found, (base, FORCED), (base, FORCED + AGAIN))
    if isinstance(repeats, Unknown):
        return repeats
    width = statistics.tie_width(repeats.moved)
    engines = [target for target, arm, _ in found if arm == ENGINE]
    if width != 0 or not engines:
        return width
    between = _compared(found, (base, FORCED), (engines[0], ENGINE))
    if isinstance(between, Unknown):
        return width
    engine_width = statistics.tie_width(between.moved)
    return engine_width if isinstance(engine_width, Unknown) else ENGINE_FACTOR * engine_width


def _floor(plan: Plan, base: str, found: Outcomes) -> Rate:
    """Rung 1: answers of the first side that change when the same is asked again."""
    both = [(a, b) for a, b in _paired(found, (base, ANSWER), (base, ANSWER + AGAIN)) if _came(a) and _came(b)]
    return Rate(sum(said(a.outcome) != said(b.outcome) for a, b in both), len(both))


def _estimates(side: Side, width: float | Unknown, floor: Rate) -> Iterator[Estimate]:
    """Drift and ties, distances, texts, answers."""
    if side.fault:
        return
    name, again = side.name, NO_REPEATS if floor.share is None else floor.share
    yield from _of_forced(side, width)
    yield of_rate(f"same text, {name}", side.exact)
    if side.answers.harm is not None:
        p = mcnemar_exact(side.answers)
        interval = paired_difference(side.answers)
        yield Estimate(
            f"accuracy lost, {name}", side.answers.harm, interval, side.answers.n, again, p=p, unit="difference"
        )
    yield of_rate(f"right before, wrong after, {name}", Rate(side.answers.worse, side.answers.n))
    yield of_rate(f"wrong before, right after, {name}", Rate(side.answers.better, side.answers.n))


def _of_forced(side: Side, width: float | Unknown) -> Iterator[Estimate]:
    """What lies between the two on the same ids. A distance says nothing of which is worse."""
    name = f"drift per 1,000, {side.name}"
    if isinstance(side.forced, Unknown) or isinstance(width, Unknown):
        reason = side.forced if isinstance(side.forced, Unknown) else width
        yield Estimate(name, reason, None, 0, unit="number", primary=False)
        return
    forced = side.forced
    drift = statistics.drift(forced.changed, forced.gap, width)
    distances = statistics.distances(forced.kl)
    if isinstance(drift, Unknown) or isinstance(distances, Unknown):
        return
    items = len(forced.changed)
    yield Estimate(name, drift.drift, drift.interval, items, unit="number", primary=False)
    yield Estimate(f"ties per 1,000, {side.name}", drift.ties, None, items, unit="number", primary=False)
    bound = "" if forced.is_whole else ", at least"
    for what, value in (("mean", distances.mean), ("median", distances.median), ("99.9 %", distances.p999),
                        ("most", distances.most)):  # fmt: skip
        yield Estimate(f"KL {what}{bound}, {side.name}", value, None, items, unit="nats", primary=False)
    moved = float(np.abs(forced.move).mean())
    yield Estimate(f"mean move of log P, {side.name}", moved, None, items, unit="nats", primary=False)
    grows = statistics.growth(forced.move.mean(axis=0))
    if grows is not None:
        yield Estimate(f"growth with position, {side.name}", grows, None, items, unit="number", primary=False)


def _repeats(floor: Rate, width: float | Unknown) -> Iterator[Estimate]:
    yield of_rate("texts that differ when asked again", floor)
    yield Estimate("width of a tie", width, None, floor.n, unit="nats", primary=False)


def _measured(sides: Sequence[Side], width: float | Unknown) -> dict[str, tuple[tuple[str, Seen2], ...]]:
    """One part a side: the gate holds when it does for every one of them."""
    drifting, accuracy = [], []
    for side in [each for each in sides if not each.fault]:
        accuracy.append((side.name, Seen2(side.answers, side.lossy)))
        if isinstance(side.forced, Forced) and not isinstance(width, Unknown):
            drifts = (side.forced.changed & (side.forced.gap > width)).any(axis=1)
            seen = Rate(int(drifts.sum()), side.forced.changed.shape[0])
            drifting.append((side.name, Seen2(seen, seen)))
    found = {"drifting": tuple(drifting), "accuracy": tuple(accuracy)}
    return {name: parts for name, parts in found.items() if parts}


def _curves(side: Side, width: float | Unknown) -> Iterator[Curve]:
    """Drift by position: where it begins and whether it grows tells rotation from a window from a norm."""
    if isinstance(side.forced, Unknown) or isinstance(width, Unknown):
        return
    drifts = side.forced.changed & (side.forced.gap > width)
    places = np.array_split(np.arange(drifts.shape[1]), min(8, drifts.shape[1]))
    points = tuple(
        (f"{place[0]}–{place[-1]}", Rate(int(drifts[:, place].sum()), drifts[:, place].size)) for place in places
    )
    yield Curve(f"drift, {side.name}", "position", points)


def _deciding(plan: Plan, side: Side, base: str, found: Outcomes) -> Iterator[Deciding]:
    """Items that only one side answers rightly; then those whose texts differ."""
    by_id = {item.id: item for item in plan.items}
    rows = []
    for a, b in _paired(found, (base, ANSWER), (side.name, ANSWER)):
        item = by_id[a.call.item]
        outcomes = [scored(item, record.outcome).outcome for record in (a, b)]
        if _came(a) and _came(b) and said(a.outcome) != said(b.outcome):
            rows.append((outcomes[0] == outcomes[1], item, a, b))
    for _, item, a, b in sorted(rows, key=lambda row: row[0])[:100]:
        yield Deciding(item.id, (base, side.name), (said(a.outcome), said(b.outcome)), item.instance)


def _lost(plan: Plan, records: Sequence[Record]) -> Rate:
    """Lost calls. Where no given text was scored at all, the target cannot, and nothing was lost by it."""
    by_id = {item.id: item for item in plan.items}
    scores = [record for record in records if record.call.arm.startswith(FORCED)]
    can = any(isinstance(record.outcome, AnswerScore) for record in scores)
    others = [record for record in records if record.call.arm.startswith(ANSWER)]
    failed = sum(scored(by_id[record.call.item], record.outcome).undecided for record in others)
    if can:
        failed += sum(not isinstance(record.outcome, AnswerScore) for record in scores)
    return Rate(failed, len(others) + (len(scores) if can else 0))
