"""What the calls of `knowledge` say: text against prior by dose, the boundary, the month from which knowledge fades."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer

from whybox.items.generate import Item
from whybox.items.instance import CaseInstance
from whybox.items.seeds import item_generator
from whybox.probes.design import Curve, Deciding, Estimate, Finding, Plan, Record, Seen2, answer_code, scored
from whybox.probes.estimates import of_rate, ranked, rate_part
from whybox.probes.knowledge_conflict import DOSES, UNTOLD
from whybox.probes.knowledge_dated import CONTROL, DATED
from whybox.probes.table import Table
from whybox.statistics.auroc import auroc
from whybox.statistics.behaviour import knowledge as statistics
from whybox.statistics.behaviour.cutoff import Dated, Fading, fading
from whybox.statistics.calls import LOST, rate
from whybox.statistics.designs import unbalanced
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Reply

CLOSED, CORRECTED, CEILING = "closed", "corrected", "ceiling"
BOUNDARY = ("answerable", "unanswerable", "false-premise")
TIER_LEAST = 0.8  # of right answers, up to which tier the boundary reaches
MAKES = {"right": "abstain"}  # a question that nothing answers is answered rightly by declining


def priors(plan: Plan, records: Sequence[Record]) -> Mapping[str, str] | None:
    """What every item is steadily answered with, without any text; None while a closed run is outstanding."""
    by_id = {item.id: item for item in plan.items}
    closed = [record for record in records if record.call.arm == CLOSED]
    if not closed or len(closed) < sum(call.arm == CLOSED and call.item in _items(closed) for call in plan.calls):
        return None
    runs: dict[str, list[str | None]] = {}
    for record in closed:
        code = answer_code(scored(by_id[record.call.item], record.outcome))
        runs.setdefault(record.call.item, []).append(code)
    held = {item: statistics.prior(codes) for item, codes in runs.items()}
    return {item: str(code)[1:] for item, code in held.items() if str(code).startswith("=")}


def _items(records: Sequence[Record]) -> set[str]:
    return {record.call.item for record in records}


def read(plan: Plan, records: Sequence[Record], seed: int) -> Finding:
    """The finding; `broken` where an item was not asked at every dose."""
    seen = _Seen(plan, records)
    told = [record for record in records if record.call.arm in DOSES]
    cells = ((record.call.item, DOSES.index(record.call.arm), str(record.call.run)) for record in told)
    broken = unbalanced(cells)
    if broken is not None:
        return Finding((), {}, Rate(0, len(records)), broken=broken)
    conflict, edge, dates = _Conflict(seen), _Edge(seen), _Dates(seen, seed)
    failed = sum(answer_code(scored(seen.item(record), record.outcome)) is None for record in records)
    return Finding(
        (*conflict.estimates(), *edge.estimates(seed), *dates.estimates()),
        {**conflict.measured(), **edge.measured()},
        Rate(failed, len(records)),
        (*conflict.curves(), *edge.curves(), *dates.curves()),
        (*conflict.deciding(), *edge.deciding()),
        conflict.notes(),
        words=(*edge.words(), *dates.words()),
    )


@dataclass(frozen=True)
class _Seen:
    """The records of a plan, arm by arm."""

    plan: Plan
    records: Sequence[Record]

    def item(self, record: Record) -> Item:
        """What a call asks."""
        return self.plan.asked[record.call.item, record.call.arm]

    def case(self, item: str, arm: str) -> CaseInstance:
        """The prompt of an item in an arm."""
        return self.plan.asked[item, arm].instance

    def table(self, *arms: str) -> Table | None:
        """The items that were asked in these arms; None where nobody was."""
        chosen = [record for record in self.records if record.call.arm in arms]
        return Table.of(self.plan, chosen) if chosen else None


class _Conflict:
    """The text says otherwise than what is known."""

    def __init__(self, seen: _Seen) -> None:
        self.seen = seen
        self.held = priors(seen.plan, seen.records)
        self.asked = any(record.call.arm == CLOSED for record in seen.records)
        self.tables = {arm: seen.table(arm) for arm in (*DOSES, *(f"{dose}{UNTOLD}" for dose in DOSES), CORRECTED)}

    def estimates(self) -> Iterator[Estimate]:
        """CB at every dose, told and untold; PB; M_R; the ceiling."""
        if not self.asked:
            return
        for arm, table in self.tables.items():
            name = "text over a wrong prior" if arm == CORRECTED else f"follows {arm}"
            if table is None:
                if arm in (*DOSES, CORRECTED):
                    reason = "no wrong prior is held" if arm == CORRECTED else "no prior is held that is right"
                    yield Estimate(name, Unknown(reason), None, 0, primary=arm in DOSES)
                continue
            codes = self._codes(table, arm)
            yield of_rate(name, statistics.followed(codes, statistics.FOLLOWS_TEXT), primary=arm in DOSES)
        if (table := self.tables[CORRECTED]) is not None:
            codes = self._codes(table, CORRECTED)
            yield of_rate("prior over a right text", statistics.followed(codes, statistics.FOLLOWS_PRIOR))
        told = [self._codes(table, arm) for arm in DOSES if (table := self.tables[arm]) is not None]
        if told:
            yield of_rate("from memory", statistics.memorised(np.concatenate(told)))
        if (ceiling := self.seen.table(CEILING)) is not None:
            yield of_rate("follows where nothing is known", rate(ceiling.first(CEILING)))

    def measured(self) -> dict[str, tuple[tuple[str, Seen2], ...]]:
        parts = [(arm, rate_part(table.first(arm))) for arm in DOSES if (table := self.tables[arm]) is not None]
        return {"follows": tuple(parts)} if parts else {}

    def curves(self) -> Iterator[Curve]:
        """Text and prior by dose."""
        for name, what in (
            ("follows the text", statistics.FOLLOWS_TEXT),
            ("keeps the prior", statistics.FOLLOWS_PRIOR),
        ):
            points = [
                (arm, statistics.followed(self._codes(table, arm), what))
                for arm, table in self.tables.items()
                if table is not None and arm != CORRECTED
            ]
            if points:
                yield Curve(name, "dose", tuple(points))

    def deciding(self) -> Iterator[Deciding]:
        """Items that were told to go by the text and did not, the nearest dose first."""
        for arm in DOSES:
            table = self.tables[arm]
            if table is not None and (wrong := np.flatnonzero(table.first(arm) == 0).tolist()):
                for row in ranked(wrong):
                    yield table.deciding(row, (arm,), self.seen.case(table.items[row], arm))
                return

    def notes(self) -> tuple[str, ...]:
        if self.held is None:
            return ()
        return (f"a steady answer without any text: {len(self.held)} items",)

    def _codes(self, table: Table, arm: str) -> Integer[np.ndarray, "item"]:
        """What each first answer follows."""
        held = self.held or {}
        codes = []
        for row, item in enumerate(table.items):
            score = table.score(row, arm)
            is_prior = score.outcome == "wrong" and score.candidate == held.get(item)
            kind = {"right": statistics.FOLLOWS_TEXT, "error": LOST}.get(score.outcome, statistics.NEITHER)
            codes.append(statistics.FOLLOWS_PRIOR if is_prior else kind)
        return np.array(codes, int)


class _Edge:
    """Questions that the text answers, that nothing answers, and that suppose what is not so."""

    def __init__(self, seen: _Seen) -> None:
        self.seen = seen
        self.tables = {kind: table for kind in BOUNDARY if (table := seen.table(kind)) is not None}
        self.facts = {record.call.item: dict(record.call.facts) for record in seen.records}

    def estimates(self, seed: int) -> Iterator[Estimate]:
        """Recall of declining, over-refusal, right ones of all and of those that were tried, and their balance."""
        if not self.tables:
            return
        found = statistics.boundary(self._outcomes(BOUNDARY[0]), [o for k in BOUNDARY[1:] for o in self._outcomes(k)])
        yield of_rate("declines", found.declined, primary=True)
        yield of_rate("refuses", found.over_refusal, primary=True)
        yield of_rate("right of all answerable", found.overall)
        yield of_rate("right of those tried", found.attempted)
        yield Estimate("balance", found.balance, None, found.overall.n, primary=False)
        yield from self._confidence(seed)

    def measured(self) -> dict[str, tuple[tuple[str, Seen2], ...]]:
        parts = {"declines": tuple((k, rate_part(t.first(k))) for k, t in self.tables.items() if k != BOUNDARY[0])}
        if BOUNDARY[0] in self.tables:
            outcomes = self._outcomes(BOUNDARY[0])
            refused, failed = outcomes.count("abstain"), outcomes.count("error")
            came = Rate(refused, len(outcomes) - failed)
            parts["refuses"] = ((BOUNDARY[0], Seen2(came, Rate(refused + failed, len(outcomes)))),)
        return {name: each for name, each in parts.items() if each}

    def curves(self) -> Iterator[Curve]:
        """Right answers from the shortest prompts to the longest; and kinds of question by domain."""
        if BOUNDARY[0] in self.tables:
            yield Curve("right by documents", "documents", tuple((str(k), rate) for k, rate in self._tiers()))
        for kind, table in self.tables.items():
            points = self._grouped(kind, table, "attribute")
            yield Curve(f"{kind} by domain", "domain", tuple(sorted(points.items())))

    def words(self) -> Iterator[tuple[str, str]]:
        """Up to which tier the questions are answered."""
        if BOUNDARY[0] in self.tables:
            tiers = self._tiers()
            hardest = statistics.hardest_tier([rate for _, rate in tiers], TIER_LEAST)
            yield "boundary", "before the first tier" if hardest is None else f"{tiers[hardest][0]} documents"

    def deciding(self) -> Iterator[Deciding]:
        """Of every kind, items that were not answered as they should be."""
        for kind, table in self.tables.items():
            for row in ranked(np.flatnonzero(table.first(kind) == 0).tolist(), most=2):
                yield table.deciding(row, (kind,), self.seen.case(table.items[row], kind))

    def _outcomes(self, kind: str) -> list[str]:
        """As scorers name them, but a question that nothing answers is declined, not right."""
        table = self.tables.get(kind)
        if table is None:
            return []
        found = [str(table.score(row, kind).outcome) for row in range(len(table.items))]
        return found if kind == BOUNDARY[0] else [MAKES.get(outcome, outcome) for outcome in found]

    def _tiers(self) -> list[tuple[int, Rate]]:
        points = self._grouped(BOUNDARY[0], self.tables[BOUNDARY[0]], "tier")
        return sorted((int(tier), rate) for tier, rate in points.items())

    def _grouped(self, kind: str, table: Table, by: str) -> dict[str, Rate]:
        groups: dict[str, list[int]] = {}
        for item, mark in zip(table.items, table.first(kind).tolist(), strict=True):
            groups.setdefault(self.facts[item][by], []).append(mark)
        return {name: rate(np.array(marks, int)) for name, marks in groups.items()}

    def _confidence(self, seed: int) -> Iterator[Estimate]:
        """Whether the log-probability of an answer tells right ones from wrong ones."""
        table = self.tables.get(BOUNDARY[0])
        replies = [] if table is None else [(row, table.outcomes.get((row, 0, 0))) for row in range(len(table.items))]
        numbers = [(row, sum(t.logprob for t in each.tokens)) for row, each in replies
                   if isinstance(each, Reply) and each.tokens]  # fmt: skip
        if table is None or not numbers:
            return
        rows, confidence = zip(*numbers, strict=True)
        right = table.first(BOUNDARY[0])[list(rows)] == 1
        found = auroc(np.array(confidence, np.float64), right, item_generator(seed, "knowledge", "auroc"))
        if isinstance(found, Unknown):
            yield Estimate("confidence tells right from wrong", found, None, len(rows), primary=False)
        else:
            yield Estimate("confidence tells right from wrong", found.area, found.interval, len(rows), primary=False)


class _Dates:
    """Right answers by month, and those of the controls."""

    def __init__(self, seen: _Seen, seed: int) -> None:
        self.months: dict[str, Rate] = {}
        self.controls = Rate(0, 0)
        self.found: Fading | Unknown | None = None
        if (table := seen.table(DATED)) is None:
            return
        marks: dict[str, list[int]] = {}
        for item, mark in zip(table.items, table.first(DATED).tolist(), strict=True):
            marks.setdefault(seen.plan.asked[item, DATED].variant, []).append(mark)
        self.months = {month: rate(np.array(marks[month], int)) for month in sorted(marks)}
        if (controls := seen.table(CONTROL)) is not None:
            self.controls = rate(controls.first(CONTROL))
        right, asked = (np.array(each, np.int64) for each in zip(*((r.hits, r.n) for r in self.months.values())))  # noqa: B905
        self.found = fading(Dated(right, asked, self.controls), item_generator(seed, "knowledge", "fading"))

    def estimates(self) -> Iterator[Estimate]:
        """How many months of the table are known, with the set; the guess rate."""
        if self.found is None:
            return
        n = sum(each.n for each in self.months.values())
        if isinstance(self.found, Unknown):
            yield Estimate("months known", self.found, None, n, unit="number", primary=False)
        else:
            low, high = self.found.span
            span = (float(low), float(high))
            yield Estimate("months known", float(self.found.step), span, n, unit="number", primary=False)
        yield of_rate("guess rate", self.controls)

    def curves(self) -> Iterator[Curve]:
        if self.months:
            yield Curve("right by month", "month", tuple(self.months.items()))

    def words(self) -> Iterator[tuple[str, str]]:
        """The months between which knowledge fades. Nothing is said of what a target was trained on."""
        if isinstance(self.found, Unknown):
            yield "knowledge fades", self.found.reason
        elif self.found is not None:
            names = list(self.months)
            low, high = (names[min(step, len(names) - 1)] for step in self.found.span)
            yield "knowledge fades about", low if low == high else f"{low} to {high}"
