"""What the calls of `edit` say: contrast consistency, changes by edits that must not matter, where texts part."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from whybox.items.generate import CHARACTERS_ONLY, LENGTH_DIFFERS
from whybox.items.seeds import item_generator
from whybox.probes import trajectories
from whybox.probes.design import Curve, Deciding, Estimate, Finding, Plan, Record, Seen2
from whybox.probes.estimates import floor_of, of_changes, of_rate, ranked
from whybox.probes.table import Table
from whybox.statistics.behaviour import edit as statistics
from whybox.statistics.calls import LOST, same
from whybox.statistics.changes import worst_effects
from whybox.statistics.designs import unbalanced
from whybox.statistics.intervals import Rate
from whybox.statistics.survival import median
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Reply, TokenLogprob

BASE, DIR = "base", "dir"
INV = ("inv-name", "inv-synonym", "inv-word")
MOST_APART = 0.05  # of the prompt, between the edit that matters and one that does not
NEITHER = "depth differs"

Facts = Mapping[str, str]


def read(plan: Plan, records: Sequence[Record], seed: int) -> Finding:
    """The finding; `broken` where an arm is missing. Items whose prompts do not match are counted and left out."""
    scores, records = trajectories.parted(records)
    whole = Table.of(plan, records)
    arms = (BASE, DIR, *INV)
    cells = ((record.call.item, arms.index(record.call.arm), str(record.call.run)) for record in records)
    broken = unbalanced(cells) or next((f"arm {arm} was not asked" for arm in arms if not whole.has(arm)), "")
    if broken:
        return Finding((), {}, Rate(0, len(records)), broken=broken)
    facts = {(record.call.item, record.call.arm): dict(record.call.facts) for record in records}
    apart = {item: facts[item, arm]["flag"] for item, arm in facts if "flag" in facts[item, arm]}
    table = whole.without(apart)
    codes, right = table.codes_of(*arms), (table.first(BASE), table.first(DIR))
    found = statistics.inv_flips(codes, item_generator(seed, "edit", "null"))
    kept = table.codes_of(BASE, *INV)
    compared = [(0, arm) for arm in range(1, kept.shape[1])]
    follows = statistics.contrast_consistency(codes, *right)
    forks = list(_forks(table))
    paths = trajectories.of_arms([record for record in scores if record.call.item not in apart], BASE)
    return Finding(
        (
            of_rate("follows", follows, floor_of(codes), primary=True),
            of_changes("flips", found, len(table.items)),
            _gap(codes),
            *_fork_estimate(forks),
            *trajectories.estimates(paths),
        ),
        {
            "follows": (("all items", Seen2(follows, statistics.contrast_consistency_worst(codes, *right))),),
            "flips": (("all edits", Seen2(statistics.inv_effects(codes), worst_effects(kept, compared))),),
        },
        whole.lost,
        (_changed(table), *_by_kind(table, facts), *trajectories.curves(paths)),
        tuple(_deciding(plan, table, forks)),
        tuple(_notes(apart, facts)),
    )


def _gap(codes: np.ndarray) -> Estimate:
    """G = P(change | DIR) − P(change | INV)."""
    found = statistics.sensitivity_gap(codes)
    if isinstance(found, Unknown):
        return Estimate("gap", found, None, 0, unit="difference", primary=False)
    floor, n = floor_of(codes), found.effects.size
    return Estimate("gap", found.gap, found.interval, n, floor, unit="difference", primary=False)


def _changed(table: Table) -> Curve:
    """Answers that differ from the base's, edit by edit."""
    base = table.codes[:, table.arms.index(BASE), 0]
    return Curve("changed", "edit", tuple((arm, _differing(base, table, arm)) for arm in (DIR, *INV)))


def _differing(base: np.ndarray, table: Table, arm: str) -> Rate:
    other = table.codes[:, table.arms.index(arm), 0]
    came = (base != LOST) & (other != LOST)
    return Rate(int((came & ~same(base, other)).sum()), int(came.sum()))


def _by_kind(table: Table, facts: Mapping[tuple[str, str], Facts]) -> Iterator[Curve]:
    """Contrast consistency by what is edited and where."""
    kinds = [facts[item, BASE]["kind"] for item in table.items]
    points = []
    for kind in dict.fromkeys(kinds):
        part = table.without([item for item, each in zip(table.items, kinds, strict=True) if each != kind])
        codes = part.codes_of(BASE, DIR, *INV)
        points.append((kind, statistics.contrast_consistency(codes, part.first(BASE), part.first(DIR))))
    if points:
        yield Curve("follows", "edit and place", tuple(points))


class _Fork(NamedTuple):
    """Where the texts of base and DIR part. tokens: of both there; gap: nats between the two best of the base's."""

    row: int
    fork: statistics.Fork
    tokens: tuple[str, str]
    gap: float | None


def _forks(table: Table) -> Iterator[_Fork]:
    """For the items whose tokens came back in both arms."""
    for row in range(len(table.items)):
        one, other = (_tokens(table, row, arm) for arm in (BASE, DIR))
        if one and other:
            numbers = {text: i for i, text in enumerate(dict.fromkeys(t.text for t in (*one, *other)))}
            fork = statistics.fork([numbers[t.text] for t in one], [numbers[t.text] for t in other])
            at = fork.first if fork.parted else None
            pair = ("", "") if at is None else (one[at].text, other[at].text)
            yield _Fork(row, fork, pair, None if at is None else _gap_at(one[at]))


def _tokens(table: Table, row: int, arm: str) -> tuple[TokenLogprob, ...]:
    outcome = table.outcomes.get((row, table.arms.index(arm), 0))
    return (outcome.tokens or ()) if isinstance(outcome, Reply) else ()


def _gap_at(token: TokenLogprob) -> float | None:
    """A small one means that the fork is a near tie: whatever follows it says little."""
    best = sorted((logprob for _, logprob in token.top), reverse=True)
    return best[0] - best[1] if len(best) > 1 else None


def _fork_estimate(forks: Sequence[_Fork]) -> Iterator[Estimate]:
    """The token, counted from 0, by which half of the texts have parted."""
    if not forks:
        return
    half = median(statistics.fork_curve([each.fork for each in forks]))
    value = Unknown("fewer than half of the texts part") if half is None else half
    yield Estimate("first divergent token", value, None, len(forks), unit="tokens", primary=False)


def _deciding(plan: Plan, table: Table, forks: Sequence[_Fork]) -> Iterator[Deciding]:
    """Items right on the base whose answer does not follow the keyword, or follows something else."""
    by_row = {fork.row: fork for fork in forks}
    base = table.first(BASE) == 1
    failing: list[tuple[int, str]] = []
    for row in np.flatnonzero(base).tolist():
        if table.first(DIR)[row] == 0:
            failing.append((row, DIR))
        else:
            codes = {arm: table.codes[row, table.arms.index(arm), 0] for arm in (BASE, *INV)}
            moved = [arm for arm in INV if LOST != codes[arm] != codes[BASE]]
            failing += [(row, moved[0])] if moved else []
    for at in ranked(range(len(failing))):
        row, arm = failing[at]
        yield table.deciding(row, (BASE, arm), plan.asked[table.items[row], arm].instance, _seen(by_row.get(row)))


def _seen(fork: _Fork | None) -> tuple[tuple[str, str], ...]:
    if fork is None or not fork.fork.parted:
        return ()
    gap = "" if fork.gap is None else f"{fork.gap:.3g} nats"
    return (("fork", str(fork.fork.first)), ("tokens", " | ".join(fork.tokens)), ("gap at the fork", gap))


def _notes(apart: Mapping[str, str], facts: Mapping[tuple[str, str], Facts]) -> Iterator[str]:
    for flag in (LENGTH_DIFFERS, NEITHER):
        if count := sum(flag in each for each in apart.values()):
            yield f"{flag}: {count} items left out"
    if any("counted" in each for each in facts.values()):
        yield CHARACTERS_ONLY
