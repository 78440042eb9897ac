"""What chapter 14 computes: a weight among ever more keys, a passage in ever more filler, places, turns, gates.

On the model: case R (1 s), its evidence in up to 1,000 tokens (5 s), ten answers of the probe `evidence` (9 s).
Longer runs were made once: `l14_once`.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whybox.learn.course.chapters import l14_once as once
from whybox.learn.course.comparing import found
from whybox.learn.course.computed import Arrays, Computations, Remark, Rows, Task
from whybox.learn.figures.context import TOYS as CONTEXT
from whybox.learn.figures.figure import OnModel, OnModels, Toys, Value
from whybox.learn.ground import Ground
from whybox.measure.dilution import Diluted, dilute
from whybox.parts.softmax import softmax
from whybox.probes.design import Call
from whybox.probes.design import Ground as Asked
from whybox.probes.encoding import encoder_of
from whybox.probes.evidence import EvidenceProbe
from whybox.statistics.behaviour.evidence import Curve, curve
from whybox.statistics.gates import Demand, Gate, RateAtLeast, SameWithin, Seen, judged
from whybox.statistics.intervals import Interval, Rate, wilson
from whybox.statistics.paired import Pairs
from whybox.targets.local import LocalTarget
from whybox.targets.target import Reply, Request

Array = np.ndarray
KEYS = (100, 1_000, 10_000, 100_000)
LONGEST = 1_000
ITEMS, PLACES, TOKENS = 2, 5, 24
ALPHA = 0.05
SHAPES = {"U": "u", "inverted-U": "inverted_u"}


def _weights() -> tuple[float, ...]:
    """Of one key that stands ln 11 above equal others, for each number of keys."""
    advantage = CONTEXT["context.advantage"]()
    assert isinstance(advantage, float)
    return tuple(float(softmax(np.concatenate([[advantage], np.zeros(keys - 1)]))[0]) for keys in KEYS)


def _needed() -> tuple[float, ...]:
    """Nats that keep a tenth, for each number of keys: ln(.1 / .9 · (n − 1))."""
    return tuple(float(np.log((keys - 1) / 9)) for keys in KEYS)


def _calculator(_: Ground) -> Rows:
    return tuple((f"{keys:,}", *two) for keys, two in zip(KEYS, zip(_weights(), _needed(), strict=True), strict=True))


def _diluted(ground: Ground) -> tuple[Diluted, ...]:
    """The evidence of case R with more and more filler behind it, up to 1,000 tokens."""
    curve_of = dilute(ground.model, ground.case_r.study.path, "doc2", lambda done, of: None)
    return tuple(_up_to(curve_of, LONGEST))


def _up_to(points: Iterator[Diluted], tokens: int) -> Iterator[Diluted]:
    for point in points:
        yield point
        if point.tokens >= tokens:
            return


def _filler(ground: Ground) -> Rows:
    return tuple((point.tokens, point.share, point.lift or 0.0) for point in ground.once(_diluted))


@dataclass(frozen=True)
class Placed:
    """One answer of the probe: where the right passage stood, in ids, and whether the answer was right."""

    place: int
    depth: float
    right: bool


def _placed(ground: Ground) -> tuple[Placed, ...]:
    """Two questions, their right passage at each of five places."""
    target = LocalTarget(ground.model)
    tokenizer = ground.model.tokenizer
    asked = Asked(
        ground.model.name,
        target.abilities,
        count=lambda text: len(tokenizer.encode(text)),
        counted=True,
        encode=encoder_of(target),
    )
    plan = EvidenceProbe(items=ITEMS, passages=PLACES, max_tokens=TOKENS).plan("evidence", asked)
    scorers = {item.id: item.scorer for item in plan.items}
    calls = [call for call in plan.calls if call.arm.isdecimal()]
    replies = asyncio.run(_answers(target, calls))
    return tuple(
        Placed(int(call.arm), float(dict(call.facts)["realised"]), scorers[call.item].score(one.text, one.finish).right)
        for call, one in zip(calls, replies, strict=True)
    )


async def _answers(target: LocalTarget, calls: list[Call]) -> list[Reply]:
    requests = [call.request for call in calls if isinstance(call.request, Request)]
    found = {index: outcome async for index, outcome in target.ask_all(requests)}
    return [reply for index in range(len(requests)) if isinstance(reply := found[index], Reply)]


def _depths(ground: Ground) -> Rows:
    """Place, realised depth, right of two here, right of sixty once, each with its interval."""
    placed, rows = ground.once(_placed), []
    for place in range(1, PLACES + 1):
        here = [one for one in placed if one.place == place]
        now, long = Rate(sum(one.right for one in here), len(here)), _long(place - 1)
        rows.append((place, here[0].depth, str(now), _written(wilson(now)), str(long), _written(wilson(long))))
    return tuple(rows)


def _long(place: int) -> Rate:
    marks = once.places()
    return Rate(int(marks[:, place].sum()), len(marks))


def _written(interval: Interval | None) -> str:
    return "–" if interval is None else f"[{interval[0]:.2f}, {interval[1]:.2f}]"


def _curve() -> Curve:
    """Of the long run."""
    read = curve(once.places()[:, :, None], np.random.default_rng(0))
    assert isinstance(read, Curve)
    return read


def _ends() -> Value:
    """Q with its interval."""
    ends = _curve().ends
    return ends.value, *ends.interval


def _lean() -> Value:
    """L with its interval."""
    lean = _curve().lean
    return lean.value, *lean.interval


def _turns(_: Ground) -> Rows:
    """Turn, tokens, answers that kept the rule with it and without it."""
    rates = [[Rate(hits, once.DIALOGUES) for hits in arm] for arm in (once.WITH_RULE, once.WITHOUT_RULE)]
    return tuple(
        (turn, tokens, str(rule), _written(wilson(rule)), str(none), _written(wilson(none)))
        for turn, tokens, rule, none in zip(once.TURNS, once.TOKENS, *rates, strict=True)
    )


RESULTS: tuple[tuple[str, Demand, tuple[Seen, ...]], ...] = (
    ("r1", RateAtLeast(0.95), (Rate(59, 59),)),
    ("r2", RateAtLeast(0.95), (Rate(52, 52),)),
    ("r3", RateAtLeast(0.80), tuple(_long(place) for place in range(PLACES))),
    ("r4", SameWithin(0.02), (Pairs(1, 0, 60),)),
)


def _results(_: Ground) -> Rows:
    """The gate, what was seen, the interval of each part."""
    return tuple((name, _demanded(demand), _seen(seen), _intervals(demand, seen)) for name, demand, seen in RESULTS)


def _demanded(demand: Demand) -> str:
    return f"≥ {demand.least:.2f}" if isinstance(demand, RateAtLeast) else "± 0.02"


def _seen(seen: tuple[Seen, ...]) -> str:
    """Counts; of pairs those that became worse, those that became better, of how many."""
    told = []
    for one in seen:
        match one:
            case Rate():
                told.append(str(one))
            case Pairs(worse, better, n):
                told.append(f"−{worse} +{better} of {n}")
    return ", ".join(told)


def _intervals(demand: Demand, seen: tuple[Seen, ...]) -> str:
    return " ".join(_written(judged("", demand, one).interval) for one in seen)


def verdict(demand: Demand, seen: tuple[Seen, ...]) -> str:
    """As a gate is read: shown to hold, shown to be broken, or neither."""
    gate = Gate("", "", tuple(judged("", demand, one) for one in seen))
    return "pass" if gate.p_holds <= ALPHA else "fail" if gate.p_broken <= ALPHA else "inconclusive"


def _draw_plan(rng: np.random.Generator, _: Ground) -> Arrays:
    return {"k": np.array(rng.choice([5, 7, 11])), "items": np.array(rng.choice([13, 17, 19]))}


_DRIVE_PLAN = """
import numpy as np

def drive(code, inputs):
    k, items = int(inputs["k"]), int(inputs["items"])
    return {"plan": np.array([[code.order(item, run, k) for run in range(k)] for item in range(items)])}
"""


def _judge_plan(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    """plan [item run place]: which passage stands there; 0 is the right one."""
    k, items, plan = int(inputs["k"]), int(inputs["items"]), outputs["plan"]
    shape = found(
        ("one order of k passages for every item and run", "每个样本每次运行给出 k 段的一个顺序"),
        plan.shape == (items, k, k),
        (f"shape {(items, k, k)}", f"为形状 {(items, k, k)}"),
        (str(plan.shape), str(plan.shape)),
    )
    if not shape.holds:
        return (shape,)
    whole = bool((np.sort(plan, axis=2) == np.arange(k)).all())
    complete = found(
        ("each order", "每个顺序"),
        whole,
        ("to hold every passage once", "恰好包含每段一次"),
    )
    if not whole:
        return shape, complete
    return shape, complete, _balanced(plan, k), _latin(plan, k), _same_neighbours(plan, k)


def _balanced(plan: Array, k: int) -> Remark:
    counts = [int((plan[:, :, place] == 0).sum()) for place in range(k)]
    told = f"{min(counts)} … {max(counts)}"
    return found(
        ("the right passage over all runs", "所有运行中的正确段落"),
        len(set(counts)) == 1,
        ("to stand at every place equally often", "在每个位置出现同样多次"),
        (f"{told} times", f"{told} 次"),
    )


def _latin(plan: Array, k: int) -> Remark:
    """Within an item every place holds every passage once."""
    odd = (np.sort(plan, axis=1) != np.arange(k)[:, None]).any(axis=(1, 2))
    worst = int(odd.argmax())
    return found(
        ("within an item", "同一个样本之内"),
        not odd.any(),
        ("every passage at every place exactly once", "每段在每个位置恰好一次"),
        (f"item {worst} without it", f"样本 {worst} 不满足") if odd.any() else ("", ""),
    )


def _same_neighbours(plan: Array, k: int) -> Remark:
    """The other passages follow each other in the same cyclic order, so that only the place of the right one varies."""
    kept = True
    for runs in plan:
        rounds = {_from_smallest([int(one) for one in order if one != 0]) for order in runs}
        kept = kept and len(rounds) == 1
    return found(
        ("the other passages", "其余各段"),
        kept,
        ("to keep their cyclic order within an item", "在同一样本内保持循环次序"),
    )


def _from_smallest(order: list[int]) -> tuple[int, ...]:
    start = order.index(min(order))
    return tuple(order[start:] + order[:start])


FIGURES: Toys = {
    "l14.weights": _weights,
    "l14.needed": _needed,
    "l14.ends": _ends,
    "l14.lean": _lean,
}
ON_MODEL: OnModels = {
    "l14.diluted": OnModel(lambda ground: tuple(point.share for point in ground.once(_diluted)), runs=5),
    "l14.lifts": OnModel(lambda ground: tuple(point.lift or 0.0 for point in ground.once(_diluted)), runs=0),
}

COMPUTED = Computations(
    figures=FIGURES,
    on_model=ON_MODEL,
    tables={"calculator": _calculator, "filler": _filler, "depths": _depths, "turns": _turns, "results": _results},
    answers={
        "shape": lambda _: (SHAPES.get(_curve().shape, str(_curve().shape)),),
        "obeyed": lambda _: ("rises",),
        "late": lambda _: ("learned", "no_row", "own_output"),
        "verdicts": lambda _: tuple(verdict(demand, seen) for _, demand, seen in RESULTS),
    },
    tasks={"placement": Task(("order",), _draw_plan, _DRIVE_PLAN, _judge_plan)},
)
