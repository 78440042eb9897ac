"""What the calls of `documents` say: credit at every order, changed credits, confusion of sources and of places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

from whybox.items.generate import LENGTH_DIFFERS, Item
from whybox.items.scoring import Score
from whybox.items.seeds import item_generator
from whybox.probes.design import Curve, Deciding, Estimate, Finding, Grid, Plan, Record, Seen2
from whybox.probes.estimates import of_changes, of_means, of_null, of_rate, ranked, rate_part
from whybox.probes.table import Table
from whybox.statistics.behaviour import documents as statistics
from whybox.statistics.calls import LOST, Calls, rate
from whybox.statistics.changes import changes, item_effects, worst_effects
from whybox.statistics.designs import unbalanced
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown

ANY = "any:"


def read(plan: Plan, records: Sequence[Record], seed: int) -> Finding:
    """The finding; `broken` where the orders are not balanced. Items of unequal prompts are counted and left out."""
    whole = Table.of(plan, records)
    arms = [arm for arm in whole.arms if not arm.startswith(ANY)]
    asked = [record for record in records if record.call.arm in arms]
    cells = ((record.call.item, arms.index(record.call.arm), str(record.call.run)) for record in asked)
    broken = unbalanced(cells) or ("" if arms else "no order was asked")
    if broken:
        return Finding((), {}, Rate(0, len(records)), broken=broken)
    apart = _apart(asked)
    seen = _Seen.of(plan, whole.without(apart), arms)
    found = changes(seen.credited, item_generator(seed, "documents", "null"))
    marks = seen.marks[..., 0]
    by_order = list(zip(arms, marks.T, strict=True))
    changed = Seen2(item_effects(seen.credited), worst_effects(seen.credited))
    right = of_means("right", marks)
    return Finding(
        (
            Estimate("right", right.value, right.interval, right.items),
            of_changes("changed", found, len(seen.items)),
            _primacy(seen, seed),
            of_rate("blend", statistics.blend(seen.named_values)),
            *_swaps(seen),
        ),
        {
            "right": tuple((arm, rate_part(column)) for arm, column in by_order),
            "changed": (("all orders", changed),),
        },
        whole.lost,
        (Curve("right", "order", tuple((arm, rate(column)) for arm, column in by_order)), *_preferred(seen)),
        tuple(_deciding(seen, arms)),
        (f"{LENGTH_DIFFERS}: {len(apart)} items left out",) if apart else (),
        grids=_grids(seen),
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """credited, named_values [item order run]: as the statistics have them; orders: which source stands where."""

    table: Table
    items: tuple[Item, ...]
    orders: Integer[np.ndarray, "order place"]
    asked: Integer[np.ndarray, "item"]
    credited: Calls
    named_values: Calls

    @classmethod
    def of(cls, plan: Plan, table: Table, arms: Sequence[str]) -> "_Seen":
        by_id = {item.id: item for item in plan.items}
        items = tuple(by_id[item] for item in table.items)
        shape = len(items), len(arms), table.codes.shape[2]
        credited, named = np.full(shape, LOST), np.full(shape, LOST)
        columns = table.columns(arms)
        for row, item in enumerate(items):
            for order, column in enumerate(columns):
                for run in range(shape[2]):
                    score = table.scores.get((row, column, run), Score("error"))
                    credited[row, order, run] = source_of(item, score)
                    named[row, order, run] = _values_of(score)
        standing = np.array([[int(unit) - 1 for unit in arm.split("-")] for arm in arms])
        asked = np.array([item.asked for item in items], int)
        return cls(table, items, standing, asked, credited, named)

    @property
    def marks(self) -> Calls:
        return statistics.attributed(self.credited, self.asked)


def source_of(item: Item, score: Score) -> int:
    """Which source an answer credits; NONE where it names none, LOST where the call failed."""
    assert item.asked is not None, "a claim is asked of one source"
    match score.outcome:
        case "error":
            return LOST
        case "right":
            return item.asked
        case "wrong" if score.candidate in item.others:
            unit = item.others.index(score.candidate)
            return unit + (unit >= item.asked)
        case _:
            return statistics.NONE


def _values_of(score: Score) -> int:
    """How many claims an answer asserts: none, one, or two and more."""
    return {"error": LOST, "right": 1, "wrong": 1, "hedged": 2}.get(score.outcome, 0)


def _apart(records: Sequence[Record]) -> list[str]:
    """Items whose prompts, which differ in order alone, differ in length."""
    lengths: dict[str, set[str]] = {}
    for record in records:
        lengths.setdefault(record.call.item, set()).add(dict(record.call.facts).get("ids", ""))
    return [item for item, found in lengths.items() if len(found) > 1]


def _primacy(seen: _Seen, seed: int) -> Estimate:
    """How much oftener than 1/k the first document is credited wrongly."""
    generator = item_generator(seed, "documents", "primacy")
    found = statistics.primacy(seen.credited, seen.asked, seen.orders, generator)
    if isinstance(found, Unknown):
        return Estimate("primacy", found, None, 0, unit="difference", primary=False)
    null_95, p = of_null(found.null)
    n = len(seen.items)
    return Estimate("primacy", found.value, None, n, null_95=null_95, p=p, unit="difference", primary=False)


def _swaps(seen: _Seen) -> Iterator[Estimate]:
    """How often an item and its mirror are both right, or both not."""
    rows = {item.id: row for row, item in enumerate(seen.items)}
    pairs = []
    for item, row in rows.items():
        stem, number = item.rsplit("-", 1)
        if int(number) % 2 == 0 and (mirror := f"{stem}-{int(number) + 1}") in rows:
            pairs.append((row, rows[mirror]))
    if pairs:
        one, other = np.array(pairs, int).T
        marks = seen.marks[..., 0]
        agree, _ = statistics.swap_consistency(marks[one], marks[other])
        yield of_rate("mirrors agree", agree)


def _preferred(seen: _Seen) -> Iterator[Curve]:
    """Where no source is asked for: at which place the claim stood that was given."""
    arms = [arm for arm in seen.table.arms if arm.startswith(ANY)]
    k = seen.orders.shape[1]
    counts = [0] * k
    for arm in arms:
        standing = [int(unit) - 1 for unit in arm.removeprefix(ANY).split("-")]
        for row, item in enumerate(seen.items):
            source = source_of(item, seen.table.score(row, arm))
            if source >= 0:
                counts[standing.index(source)] += 1
    if arms:
        yield Curve("preferred claim", "place", tuple((str(i + 1), Rate(n, sum(counts))) for i, n in enumerate(counts)))


def _grids(seen: _Seen) -> tuple[Grid, ...]:
    k = seen.orders.shape[1]
    rows = tuple(str(i + 1) for i in range(k))
    counted = {
        "right source × credited source": statistics.sources(seen.credited, seen.asked, k),
        "place of the right source × place of the credited one": statistics.places(
            seen.credited, seen.asked, seen.orders
        ),
    }
    return tuple(Grid(name, rows, (*rows, "none"), tuple(map(tuple, c.tolist()))) for name, c in counted.items())


def _deciding(seen: _Seen, arms: Sequence[str]) -> Iterator[Deciding]:
    """Items that are credited rightly at one order and wrongly at another; else those wrong at some order."""
    marks = seen.marks[..., 0]
    wrong = [row for row in range(len(marks)) if (marks[row] == 0).any()]
    for row in ranked(sorted(wrong, key=lambda row: not (marks[row] == 1).any())):
        worse = arms[int(np.flatnonzero(marks[row] == 0)[0])]
        better = [arm for arm, mark in zip(arms, marks[row], strict=True) if mark == 1][:1]
        case = seen.items[row].instance.reordered([f"doc{unit}" for unit in worse.split("-")])
        yield seen.table.deciding(row, (*better, worse), case)
