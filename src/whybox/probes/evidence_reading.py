"""What the calls of `evidence` say: accuracy by place and its shape, the four arms, citations, longer contexts."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.items.generate import CHARACTERS_ONLY, LENGTH_DIFFERS, Item
from whybox.items.instance import CaseInstance
from whybox.items.seeds import item_generator
from whybox.probes import leave_one_out
from whybox.probes.design import Curve, Deciding, Estimate, Finding, Grid, Plan, Record, Seen2, said
from whybox.probes.estimates import floor_of, of_means, of_null, of_rate, of_ratio, ranked, rate_part
from whybox.probes.table import Table
from whybox.statistics.behaviour import evidence as statistics
from whybox.statistics.calls import LOST, first, rate
from whybox.statistics.cochran import cochran
from whybox.statistics.designs import unbalanced
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Failure

CLOSED, ORACLE, NO_GOLD, CHANGED = "closed", "oracle", "no-gold", "changed"
_CITED = re.compile(r"[\[［【](\d{1,2})[\]］】]")
_SLACK = 1e-9

Facts = Mapping[str, str]


def read(plan: Plan, records: Sequence[Record], seed: int, left_out: bool = False) -> Finding:
    """The finding; `broken` where the places are not balanced, or a passage does not stand where it should.

    left_out: whether passages were to be left out in turn, so that what that says is shown even where it is nothing.
    """
    scores, records = leave_one_out.parted(records)
    seen = _Seen.of(plan, records)
    if seen.broken:
        return Finding((), {}, Rate(0, len(records)), broken=seen.broken)
    table, places = seen.table, seen.places
    marks = table.marks_of(*places)
    found = statistics.curve(marks, item_generator(seed, "evidence", "null"))
    by_place = list(zip(places, first(marks).T, strict=True))
    measured: dict[str, tuple[tuple[str, Seen2], ...]] = {
        "right": tuple((place, rate_part(column)) for place, column in by_place),
        "shortfall": tuple(
            (place, Seen2(whole, lossy))
            for place, whole, lossy in zip(
                places, statistics.shortfalls(marks), statistics.shortfalls_worst(marks), strict=True
            )
        ),
        **{
            name: ((arm, rate_part(table.first(arm))),)
            for name, arm in (("follows", CHANGED), ("declines", NO_GOLD))
            if table.has(arm)
        },
    }
    cited = _Citations.of(seen)
    if cited is not None:
        measured["cited"] = cited.by_place()
    return Finding(
        (
            *_shape_estimates(found),
            *_omnibus(marks, seed),
            *_arms(seen, seed),
            *(cited.estimates() if cited else ()),
            *(leave_one_out.estimates(scores) if left_out else ()),
        ),
        measured,
        table.lost,
        (
            Curve("right", "place", tuple((seen.depth(place), rate(column)) for place, column in by_place)),
            *_lengths(seen),
            _winners(seen),
        ),
        tuple(_deciding(seen)),
        seen.notes,
        words=(("shape", str(found.shape) if isinstance(found, statistics.Curve) else found.reason), *seen.words),
        grids=(cited.grid(),) if cited else (),
    )


@dataclass(frozen=True, eq=False)
class _Seen:
    """The calls with what was realised for each. apart: items whose prompts differ in length, left out."""

    table: Table
    items: tuple[Item, ...]
    facts: Mapping[tuple[str, str], Facts]
    places: tuple[str, ...]
    apart: tuple[str, ...]
    broken: str

    @classmethod
    def of(cls, plan: Plan, records: Sequence[Record]) -> "_Seen":
        whole = Table.of(plan, records)
        facts = {(record.call.item, record.call.arm): dict(record.call.facts) for record in records}
        places = tuple(arm for arm in whole.arms if arm.isdecimal())
        cells = ((r.call.item, int(r.call.arm), str(r.call.run)) for r in records if r.call.arm.isdecimal())
        broken = unbalanced(cells) or _misplaced(facts) or ("" if places else "no place was tried")
        apart = tuple(
            item for item in whole.items if _differs([facts[item, arm] for arm in places if (item, arm) in facts])
        )
        table = whole.without(apart)
        by_id = {item.id: item for item in plan.items}
        return cls(table, tuple(by_id[item] for item in table.items), facts, places, apart, broken)

    def depth(self, place: str) -> str:
        """A place with the depth that came out, in per cent, mean over items."""
        realised = [
            float(self.facts[item, place]["realised"]) for item in self.table.items if (item, place) in self.facts
        ]
        return f"{place} ({100 * float(np.mean(realised)):.0f} %)" if realised else place

    @property
    def verified(self) -> bool:
        return not any("counted" in facts for facts in self.facts.values())

    @property
    def notes(self) -> tuple[str, ...]:
        apart = (f"{LENGTH_DIFFERS}: {len(self.apart)} items left out",) if self.apart else ()
        return apart if self.verified else (*apart, CHARACTERS_ONLY)

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        return (("placement", "verified in ids" if self.verified else CHARACTERS_ONLY),)


def _misplaced(facts: Mapping[tuple[str, str], Facts]) -> str:
    """A passage further than one passage from where it was asked for, or there twice."""
    for (item, arm), each in facts.items():
        if "occur more than once" in each.get("flag", ""):
            return f"placement: item {item}, arm {arm}: {each['flag']}"
        if "requested" in each:
            off = abs(float(each["realised"]) - float(each["requested"]))
            if off > 1 / (int(each["length"]) - 1) + _SLACK:
                return f"placement: item {item}, arm {arm}: asked {each['requested']}, found {each['realised']}"
    return ""


def _differs(facts: Sequence[Facts]) -> bool:
    """Whether the prompts of one item, which differ in order alone, differ in length."""
    return len({each.get("ids") for each in facts}) > 1


def _shape_estimates(found: statistics.Curve | Unknown) -> list[Estimate]:
    if isinstance(found, Unknown):
        return [Estimate(name, found, None, 0, unit="difference") for name in ("ends", "lean")]
    named = (("ends", found.ends), ("lean", found.lean))
    return [
        Estimate(name, each.value, each.interval, found.items, null_95=null_95, p=p, unit="difference")
        for name, each in named
        for null_95, p in (of_null(each.null),)
    ]


def _omnibus(marks: np.ndarray, seed: int) -> Iterator[Estimate]:
    """Do the places differ at all?"""
    whole = first(statistics.complete_items(marks))
    if len(whole) == 0:
        return
    found = cochran(whole, item_generator(seed, "evidence", "omnibus"))
    if isinstance(found, Unknown):
        yield Estimate("places differ", found, None, len(whole), unit="number", primary=False)
    else:
        yield Estimate("places differ", found.q, None, len(whole), p=found.p, unit="number", primary=False)


def _arms(seen: _Seen, seed: int) -> Iterator[Estimate]:
    """Right at all places and in the arms; how much of what the passage could give is used, at every place."""
    table = seen.table
    floor = floor_of(table.codes)
    yield of_means("right", first(table.marks_of(*seen.places)))
    names = (("closed", CLOSED), ("oracle", ORACLE), ("declines", NO_GOLD), ("follows", CHANGED))
    for name, arm in names:
        if table.has(arm):
            yield of_rate(name, rate(table.first(arm)), floor)
    if table.has(CLOSED) and table.has(ORACLE):
        generator = item_generator(seed, "evidence", "gain")
        for place in seen.places:
            gain = statistics.gain(table.first(place), table.first(CLOSED), table.first(ORACLE), generator)
            yield of_ratio(f"gain at {place}", gain, len(table.items))
    if table.has(NO_GOLD):
        yield of_rate("unchanged without it", _unchanged(seen), floor)
    if table.has(NO_GOLD) and table.has(CHANGED):
        yield of_rate("grounded", _grounded(seen), floor)


def _homes(seen: _Seen) -> list[int]:
    """Column of the place at which an item's `no-gold` and `changed` arms were made."""
    columns = {place: seen.table.arms.index(place) for place in seen.places}
    made = [str(int(seen.facts.get((item, NO_GOLD), {}).get("place", 0)) + 1) for item in seen.table.items]
    return [columns.get(place, columns[seen.places[0]]) for place in made]


def _unchanged(seen: _Seen) -> Rate:
    """Answers that stay the same when the right passage is taken away."""
    codes = seen.table.codes[..., 0]
    home = codes[np.arange(len(codes)), _homes(seen)]
    gone = codes[:, seen.table.arms.index(NO_GOLD)]
    came = (home != LOST) & (gone != LOST)
    return Rate(int((came & (home == gone)).sum()), int(came.sum()))


def _grounded(seen: _Seen) -> Rate:
    """Right with the passage, another answer without it, and the new value where it states another."""
    table = seen.table
    rows, homes = np.arange(len(table.items)), _homes(seen)
    home, changed = table.marks[rows, homes, 0], table.first(CHANGED)
    codes, gone = table.codes[rows, homes, 0], table.codes[:, table.arms.index(NO_GOLD), 0]
    came = (home != LOST) & (changed != LOST) & (gone != LOST)
    return Rate(int((came & (home == 1) & (changed == 1) & (codes != gone)).sum()), int(came.sum()))


def _lengths(seen: _Seen) -> Iterator[Curve]:
    """Accuracy by depth in longer contexts, and the share of answers that change with the length, at the middle."""
    longer = [arm for arm in seen.table.arms if ":" in arm]
    if not longer:
        return
    yield Curve("right", "passages : depth in %", tuple((arm, rate(seen.table.first(arm))) for arm in longer))
    lengths = list(dict.fromkeys(arm.split(":")[0] for arm in longer))
    middle = seen.places[len(seen.places) // 2]
    arms = [middle, *(f"{length}:50" for length in lengths)]
    changed = statistics.flips_by_length(seen.table.codes_of(*arms)[..., 0])
    yield Curve("changed by length", "passages", tuple(zip(lengths, changed, strict=True)))


def _winners(seen: _Seen) -> Curve:
    """At which place the value stood that was wrongly given."""
    k = len(seen.places)
    counts = [0] * k
    for row, item in enumerate(seen.items):
        for place in seen.places:
            standing = _standing(item, seen.table.score(row, place).candidate, seen.facts.get((item.id, place), {}))
            if standing is not None and standing < k:
                counts[standing] += 1
    return Curve(
        "place of a wrong answer", "place", tuple((str(i + 1), Rate(n, sum(counts))) for i, n in enumerate(counts))
    )


def _standing(item: Item, candidate: str | None, facts: Facts) -> int | None:
    """The place of the passage whose value was given; None for the right one, and for what no passage says."""
    if candidate is None or item.asked is None or candidate not in item.others or "order" not in facts:
        return None
    unit = item.others.index(candidate)
    name, order = f"doc{unit + 1 + (unit >= item.asked)}", facts["order"].split(" ")
    return order.index(name) if name in order else None


@dataclass(frozen=True)
class _Citations:
    """Per place and item the places that an answer cites; None where the call was lost."""

    places: tuple[str, ...]
    cited: tuple[tuple[tuple[int, ...] | None, ...], ...]

    @classmethod
    def of(cls, seen: _Seen) -> "_Citations | None":
        if not all("labels" in facts for (_, arm), facts in seen.facts.items() if arm.isdecimal()):
            return None
        rows = range(len(seen.items))
        return cls(seen.places, tuple(tuple(_cited(seen, row, place) for row in rows) for place in seen.places))

    def by_place(self) -> tuple[tuple[str, Seen2], ...]:
        """How many answers cite the right passage, at every place."""
        return tuple(
            (place, rate_part(np.array([LOST if ids is None else int(i in ids) for ids in column], int)))
            for i, (place, column) in enumerate(zip(self.places, self.cited, strict=True))
        )

    def estimates(self) -> Iterator[Estimate]:
        """Answers that cite the right passage; right ones of all citations; whether places are cited alike."""
        pairs = [(ids, i) for i, column in enumerate(self.cited) for ids in column if ids is not None]
        found = statistics.citations([ids for ids, _ in pairs], [i for _, i in pairs], len(self.places))
        marks = [[LOST if ids is None else int(i in ids) for ids in column] for i, column in enumerate(self.cited)]
        yield of_means("cited", np.array(marks, int).T)
        yield of_rate("right among citations", found.precision)
        p = found.places_p
        known = None if isinstance(p, Unknown) else p
        yield Estimate("cited places alike", p, None, found.recall.n, p=known, unit="number", primary=False)

    def grid(self) -> Grid:
        """Right place × cited place."""
        k = len(self.places)
        counts = np.zeros((k, k), int)
        for i, column in enumerate(self.cited):
            for ids in column:
                for place in ids or ():
                    counts[i, place] += place < k
        return Grid("right place × cited place", self.places, self.places, tuple(map(tuple, counts.tolist())))


def _cited(seen: _Seen, row: int, place: str) -> tuple[int, ...] | None:
    outcome = seen.table.outcomes.get((row, seen.table.arms.index(place), 0))
    if outcome is None or isinstance(outcome, Failure):
        return None
    labels = [int(label) for label in seen.facts[seen.table.items[row], place]["labels"].split(" ")]
    named = dict.fromkeys(int(found) for found in _CITED.findall(said(outcome)))
    return tuple(labels.index(label) for label in named if label in labels)


def _deciding(seen: _Seen) -> Iterator[Deciding]:
    """Items that are right with the passage alone and wrong at some place; else items that are wrong at some place."""
    table = seen.table
    marks = first(table.marks_of(*seen.places))
    alone = table.first(ORACLE) == 1 if table.has(ORACLE) else np.zeros(len(marks), bool)
    wrong = [row for row in range(len(marks)) if (marks[row] == 0).any()]
    for row in ranked(sorted(wrong, key=lambda row: not alone[row])):
        place = seen.places[int(np.flatnonzero(marks[row] == 0)[0])]
        right = [p for p, mark in zip(seen.places, marks[row], strict=True) if mark == 1][:1]
        arms = [*(right or ([ORACLE] if table.has(ORACLE) else [])), place]
        yield table.deciding(row, arms, _case(seen, row, place))


def _case(seen: _Seen, row: int, place: str) -> CaseInstance:
    """The item with its passages as they stood in the arm."""
    item, order = seen.items[row], seen.facts[seen.table.items[row], place]["order"].split(" ")
    passages = [f"doc{i + 1}" for i in range(len(item.facts))] or order
    kept = [part.name for part in item.instance.parts if part.name not in passages or part.name in order]
    return item.instance.keeping(kept).reordered(order)
