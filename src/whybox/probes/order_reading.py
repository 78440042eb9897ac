"""What the calls of `order` say: answers that change with the order, which place is favoured, and which label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Integer

from whybox.items.generate import Item
from whybox.items.generate.kinds import LABELS
from whybox.items.scoring import Score
from whybox.items.seeds import item_generator
from whybox.probes.design import (
    AnyOutcome,
    Curve,
    Deciding,
    Estimate,
    Finding,
    Plan,
    Record,
    Seen2,
)
from whybox.probes.estimates import of_changes, of_effects, of_mean, of_rate, ranked, rate_part
from whybox.probes.forks import first_divergent
from whybox.probes.order_units import order_of, unit_of, variant_of
from whybox.probes.table import Table
from whybox.statistics.behaviour.order import most_distinct, pair_shares, place_counts, slope, tau_to_first
from whybox.statistics.calls import LOST, Calls, complete, first, rate
from whybox.statistics.changes import changes, item_effects, worst_effects
from whybox.statistics.designs import unbalanced
from whybox.statistics.divergence import jensen_shannon
from whybox.statistics.intervals import Rate
from whybox.statistics.permutation import spread, within_items
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Reply

ALL = "all orders"
MOVE = "labels move"
OTHER_CODES = ("abstain", "hedged", "invalid")


def read(plan: Plan, records: Sequence[Record], seed: int) -> Finding:
    """The finding; `broken` where the places are not balanced. Every variant is read by itself."""
    cells = ((r.call.item, int(dict(r.call.facts)["place"]), f"{variant_of(r.call.arm)}/{r.call.run}") for r in records)
    if (broken := unbalanced(cells)) is not None or not records:
        return Finding((), {}, Rate(0, len(records)), broken=broken or "no item was asked")
    names = dict.fromkeys(variant_of(record.call.arm) for record in records)
    seen = [_Variant.of(name, plan, [r for r in records if variant_of(r.call.arm) == name]) for name in names]
    lost = [each.table.lost for each in seen]
    return Finding(
        tuple(estimate for each in seen for estimate in each.estimates(seed)),
        {
            "changed": tuple((each.name or ALL, each.effects()) for each in seen),
            "right": tuple((arm, rate_part(column)) for each in seen for arm, column in each.by_order()),
        },
        Rate(sum(each.hits for each in lost), sum(each.n for each in lost)),
        tuple(curve for each in seen for curve in each.curves()),
        tuple(_deciding(seen)),
    )


def _deciding(seen: Sequence["_Variant"]) -> Iterator[Deciding]:
    """The items with the most different answers; behind them those that are wrong at every order alike."""
    changed = {item: each for each in reversed(seen) for item in each.changed()}
    wrong = {item: each for each in reversed(seen) for item in each.wrong() if item not in changed}
    found = [(each, item) for item, each in (*changed.items(), *wrong.items())]
    for at in ranked(range(len(found))):
        each, item = found[at]
        yield each.deciding(item)


@dataclass(frozen=True, eq=False)
class _Variant:
    """All orders under one variant. name: empty where there is but one.

    orders: of every arm. asked: the unit that is right, by item. units: which unit each call took, LOST for none.
    """

    name: str
    plan: Plan
    table: Table
    orders: Integer[np.ndarray, "arm k"]
    asked: Integer[np.ndarray, "item"]
    units: Calls

    @classmethod
    def of(cls, name: str, plan: Plan, records: Sequence[Record]) -> "_Variant":
        table = Table.of(plan, records)
        orders = np.array([order_of(arm) for arm in table.arms])
        facts = {record.call.item: (record.call.arm, int(dict(record.call.facts)["place"])) for record in records}
        asked = [orders[table.arms.index(arm), place] for arm, place in map(facts.__getitem__, table.items)]
        units = np.full(table.codes.shape, LOST)
        for (row, arm, run), score in table.scores.items():
            item = plan.asked[table.items[row], table.arms[arm]]
            found = _unit(score, item, int(asked[row]), name, orders[arm].tolist())
            units[row, arm, run] = LOST if found is None else found
        return cls(name, plan, table, orders, np.array(asked), units)

    @property
    def is_choice(self) -> bool:
        return self.name.startswith("labels")

    @property
    def codes(self) -> Calls:
        """Equal numbers are equal answers; of options equal contents, whatever their labels."""
        if not self.is_choice:
            return self.table.codes
        codes = self.units.copy()
        for at, score in self.table.scores.items():
            if codes[at] == LOST and score.outcome in OTHER_CODES:
                codes[at] = self.orders.shape[1] + OTHER_CODES.index(score.outcome)
        return codes

    @property
    def places(self) -> Calls:
        """Where the unit stood that each call took."""
        stands = np.argsort(self.orders, axis=1)
        found = stands[np.arange(len(self.orders))[None, :, None], np.maximum(self.units, 0)]
        return np.where(self.units == LOST, LOST, found)

    @property
    def right_places(self) -> Integer[np.ndarray, "item arm"]:
        """Where the right unit stands."""
        return np.argsort(self.orders, axis=1)[:, self.asked].T

    def effects(self) -> Seen2:
        return Seen2(item_effects(self.codes), worst_effects(self.codes))

    def by_order(self) -> list[tuple[str, Integer[np.ndarray, "item"]]]:
        return list(zip(self.table.arms, first(self.table.marks).T, strict=True))

    def curves(self) -> Iterator[Curve]:
        yield Curve(self._named("right"), "order", tuple((arm, rate(column)) for arm, column in self.by_order()))
        wrong = self.places[(self.table.marks == 0) & (self.units != LOST)]
        counts = place_counts(wrong, self.orders.shape[1]) if wrong.size else []
        points = tuple((str(place + 1), Rate(count, wrong.size)) for place, count in enumerate(counts))
        yield Curve(self._named("place of a wrong answer"), "place", points)

    def estimates(self, seed: int) -> Iterator[Estimate]:
        """D first; behind it what stands beside it."""
        marks = first(self.table.marks)
        found = changes(self.codes, item_generator(seed, "order", self._named("null")))
        yield of_changes(self._named("changed"), found, len(self.table.items))
        yield of_rate(self._named("right"), rate(marks[:, 0]), primary=True)
        yield _spread(self._named("spread"), marks, seed)
        yield _slope(self._named("slope over order"), marks, self.orders)
        for name, place in (("gain where first", 0), ("gain where last", self.orders.shape[1] - 1)):
            yield of_effects(self._named(name), _gain(marks, self.right_places == place))
        yield first_divergent(self._named("first divergent token"), self._pairs(), len(self.table.items))
        if self.is_choice:
            yield from self._choices()

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """The texts of the first order, each with those of the others."""
        first, *others = self.table.arms
        for row in range(len(self.table.items)):
            one = self._text(row, first)
            for arm in others:
                other = self._text(row, arm)
                if one is not None and other is not None:
                    yield one, other

    def _text(self, row: int, arm: str) -> str | None:
        outcome = self.table.outcomes.get((row, self.table.arms.index(arm), 0))
        return outcome.text if isinstance(outcome, Reply) else None

    def _choices(self) -> Iterator[Estimate]:
        """What was taken, by content, place and label. A label that stays is a place, and is not told apart."""
        yield of_effects(self._named("same content"), pair_shares(self.units[:, :, 0]), "share")
        yield of_effects(self._named("same place"), pair_shares(self.places[:, :, 0]), "share")
        stands_first = self.right_places == 0
        yield of_effects(self._named("first place beyond right"), _beyond(self.places, stands_first))
        if self.name == MOVE:
            is_a = np.broadcast_to((self.asked == 0)[:, None], stands_first.shape)
            yield of_effects(self._named("label A beyond right"), _beyond(self.units, is_a))
        yield of_mean(self._named("JSD of choices"), list(self._divergences()), "nats")

    def _divergences(self) -> Iterator[float]:
        """Of each item, between all pairs of orders: how far the first token's choice among the options moves."""
        for row in range(len(self.table.items)):
            shares = [
                _shares(self.table.outcomes.get((row, arm, 0)), self.name, order.tolist())
                for arm, order in enumerate(self.orders)
            ]
            pairs = list(combinations([share for share in shares if share is not None], 2))
            if pairs:
                yield float(np.mean([jensen_shannon(one, other) for one, other in pairs]))

    def changed(self) -> list[str]:
        return [item for item, _ in most_distinct(self.codes, self.table.items)]

    def wrong(self) -> list[str]:
        return [self.table.items[row] for row in np.flatnonzero((first(self.table.marks) == 0).any(axis=1))]

    def deciding(self, item: str) -> Deciding:
        """An item with its different answers, a wrong one last, and the case of that order."""
        row = self.table.items.index(item)
        codes = self.codes[row, :, 0]
        firsts = [int(np.flatnonzero(codes == code)[0]) for code in dict.fromkeys(codes[codes != LOST].tolist())]
        firsts.sort(key=lambda arm: self.table.marks[row, arm, 0] == 0)
        arms = [self.table.arms[arm] for arm in firsts]
        return self.table.deciding(row, arms, self.plan.asked[item, arms[-1]].instance)

    def _named(self, statistic: str) -> str:
        return f"{statistic} · {self.name}" if self.name else statistic


def _unit(score: Score, item: Item, asked: int, variant: str, order: Sequence[int]) -> int | None:
    """Which unit an answer takes; None where it takes none, or a text of the user's own does not say which."""
    if score.outcome not in ("right", "wrong") or score.candidate is None:
        return None
    if item.kind == "choice":
        return unit_of(score.candidate, variant, order)
    if score.outcome == "right":
        return asked
    if score.candidate not in item.others:
        return None
    other = item.others.index(score.candidate)
    return other + (other >= asked)


def _shares(outcome: AnyOutcome | None, variant: str, order: Sequence[int]) -> Float[np.ndarray, "k"] | None:
    """The share of each option among the labels listed for the first token; None where none is."""
    if not isinstance(outcome, Reply) or not outcome.tokens:
        return None
    shares = np.zeros(len(order))
    for text, logprob in outcome.tokens[0].top:
        label = text.strip().strip("()")
        if len(label) == 1 and label in LABELS[: len(order)]:
            shares[unit_of(label, variant, order)] += np.exp(logprob)
    return shares / shares.sum() if shares.any() else None


def _gain(marks: Integer[np.ndarray, "item arm"], there: Bool[np.ndarray, "item arm"]) -> Float[np.ndarray, "some"]:
    """Of every item without a lost call: right answers where the asked unit stands there, minus elsewhere."""
    rows = [(row, at) for row, at in zip(marks, there, strict=True) if not (row == LOST).any()]
    return np.array([row[at].mean() - row[~at].mean() for row, at in rows], np.float64)


def _beyond(taken: Calls, is_right: Bool[np.ndarray, "item arm"]) -> Float[np.ndarray, "some"]:
    """Of every item: calls that take number 0, minus those for which it is right."""
    taken_first = np.where(taken == LOST, np.nan, (taken == 0) - is_right[:, :, None].astype(float))
    return np.array([np.nanmean(item) for item in taken_first if np.isfinite(item).any()], np.float64)


def _spread(name: str, marks: Integer[np.ndarray, "item arm"], seed: int) -> Estimate:
    """Best order minus worst. Far above 0 without any effect, so it has no interval: its null is what it is read by."""
    whole = complete(marks)
    found = within_items(whole, spread, item_generator(seed, "order", name))
    if isinstance(found, Unknown):
        return Estimate(name, found, None, len(whole), null_95=found, unit="difference", primary=False)
    return Estimate(
        name, found.observed, None, len(whole), null_95=found.null_95, p=found.p, unit="difference", primary=False
    )


def _slope(name: str, marks: Integer[np.ndarray, "item arm"], arranged: Integer[np.ndarray, "arm k"]) -> Estimate:
    """How right answers change from the first order (τ = 1) to its reverse (τ = −1), per unit of Kendall's τ."""
    found = slope(marks, tau_to_first(arranged))
    items = len(complete(marks))
    if found is None:
        return Estimate(name, Unknown("no item is whole"), None, items, unit="difference", primary=False)
    return Estimate(name, *found, items, unit="difference", primary=False)
