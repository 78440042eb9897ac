"""Two kept runs, paired by the prompts that were sent: right answers, texts, settings, items that changed."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

import numpy as np
from jaxtyping import Float

from whybox.errors import UsageError
from whybox.items.seeds import item_generator
from whybox.jobs.run import RUN, kept_document
from whybox.jobs.run_calls import PromptText, sent
from whybox.probes.design import said
from whybox.report.document import (
    ChangedRow,
    ComparisonDocument,
    DifferenceRow,
    Lang,
    RunDocument,
    SettingRow,
    Shown,
    SideInfo,
)
from whybox.statistics.effects import effect_interval
from whybox.statistics.equivalence import p_mean_same, p_same
from whybox.statistics.intervals import Interval
from whybox.statistics.multiplicity import holm
from whybox.statistics.paired import Pairs, mcnemar_exact, paired_difference
from whybox.statistics.ranks import sign_flip_p
from whybox.suite import scores
from whybox.suite.scores import ScoredCall
from whybox.suite.store import Store

ALPHA = 0.05
MOST_CHANGED = 200
NO_MARGIN, NO_ITEMS = "not asked for: --margin", "every pair was lost"

Key = tuple[str, str, str, str, int, PromptText]


@dataclass(frozen=True)
class Seen:
    """A scored call with its text."""

    score: ScoredCall
    answer: str


@dataclass(frozen=True)
class Kept:
    """A run: its document and its scored calls, by what was asked."""

    document: RunDocument
    calls: dict[Key, Seen]
    name: str


def compare_runs(first: Path, second: Path, margin: float | None = None, lang: Lang = "en") -> ComparisonDocument:
    """How the second run differs from the first. UsageError for runs without one prompt in common."""
    begun = time.perf_counter()
    one, other = _kept(first), _kept(second)
    shared = [key for key in one.calls if key in other.calls]
    if not shared:
        raise UsageError(
            f"{first} and {second} have no prompt with a score in common",
            "compare runs of one suite with the same data and seed",
        )
    itself = one.name == other.name and one.calls == other.calls
    groups = [] if itself else _groups(one, other, shared)
    rows = _rows([*_probes(groups, other.document.seed), *groups], margin)
    differing = [key for key in shared if _outcome(one, key) != _outcome(other, key)]
    ranked = sorted(differing, key=lambda key: (_outcome(one, key) != "right", key[:4]))
    return ComparisonDocument(
        schema=ComparisonDocument.identity(),
        lang=lang,
        model=other.document.model,
        seed=other.document.seed,
        took_s=time.perf_counter() - begun,
        first=_side(first, one),
        second=_side(second, other),
        margin=margin,
        margin_reason=NO_MARGIN if margin is None else None,
        matched=len(shared),
        only_first=len(one.calls) - len(shared),
        only_second=len(other.calls) - len(shared),
        probes=tuple(row for row in rows if not row.arm),
        rows=tuple(row for row in rows if row.arm),
        settings=tuple(_settings(one.document, other.document)),
        changed=tuple(_changed(one, other, key) for key in ranked[:MOST_CHANGED]),
        changed_more=max(0, len(ranked) - MOST_CHANGED),
        shown=_overall(rows),
        same_run=itself,
    )


def _kept(folder: Path) -> Kept:
    """First runs only: further ones are for the floor. Where the run has one target, its name is no part of the key."""
    document = kept_document(folder)
    alone = len(document.targets) == 1
    with Store.existing(folder / RUN) as store:
        scored = scores.kept(store)
        calls = {}
        for found in store.finished():
            score = scored.get(found.call.cell)
            if score is not None and score.outcome is not None and score.run == 0:
                target = "" if alone else score.target
                key = (target, score.probe, score.item, score.arm, score.run, sent(found.call.request))
                calls[key] = Seen(score, said(found.outcome))
        name = store.note("run") or ""
    return Kept(document, calls, name)


def _side(folder: Path, kept: Kept) -> SideInfo:
    names = ", ".join(target.name for target in kept.document.targets)
    return SideInfo(run=str(folder), suite=kept.document.suite, target=names, calls=kept.document.calls.finished)


def _outcome(run: Kept, key: Key) -> str:
    return run.calls[key].score.outcome or ""


@dataclass(frozen=True)
class Group:
    """One arm of one probe. changes: in right answers, by item, None where a call was lost. texts: that differ."""

    probe: str
    arm: str
    changes: Mapping[str, int | None]
    texts: int

    @property
    def pairs(self) -> Pairs:
        """Items that came back in both runs."""
        known = [change for change in self.changes.values() if change is not None]
        return Pairs(known.count(-1), known.count(1), len(known))

    @property
    def worse(self) -> int:
        return self.pairs.worse

    @property
    def better(self) -> int:
        return self.pairs.better

    @property
    def n(self) -> int:
        return self.pairs.n

    @property
    def lost(self) -> int:
        return len(self.changes) - self.n

    @property
    def difference(self) -> float | None:
        """Second − first."""
        return None if self.pairs.harm is None else -self.pairs.harm or 0.0

    @property
    def interval(self) -> Interval | None:
        return paired_difference(self.pairs.turned)

    @property
    def p(self) -> float:
        return mcnemar_exact(self.pairs)

    def p_same(self, margin: float) -> float:
        return p_same(self.pairs, margin) if self.n else 1.0


@dataclass(frozen=True, eq=False)
class Together:
    """All arms of one probe: of every item its mean change over the arms, so that each item counts once."""

    probe: str
    effects: Float[np.ndarray, "item"]
    lost: int
    texts: int
    seed: int
    arm: str = ""

    @property
    def worse(self) -> int:
        return int((self.effects < 0).sum())

    @property
    def better(self) -> int:
        return int((self.effects > 0).sum())

    @property
    def n(self) -> int:
        return self.effects.size

    @property
    def difference(self) -> float | None:
        return float(self.effects.mean()) if self.n else None

    @property
    def interval(self) -> Interval | None:
        return effect_interval(self.effects)

    @property
    def p(self) -> float:
        found = sign_flip_p(self.effects.tolist(), item_generator(self.seed, "comparison", self.probe))
        return 1.0 if found is None else found

    def p_same(self, margin: float) -> float:
        return p_mean_same(self.effects, margin) if self.n else 1.0


def _groups(one: Kept, other: Kept, shared: Iterable[Key]) -> list[Group]:
    by_arm: dict[tuple[str, str, str], list[Key]] = {}
    for key in shared:
        by_arm.setdefault((key[0], key[1], key[3]), []).append(key)
    return [
        Group(
            f"{probe} · {target}" if target else probe,
            arm,
            {key[2]: _change(_outcome(one, key), _outcome(other, key)) for key in keys},
            sum(one.calls[key].answer != other.calls[key].answer for key in keys),
        )
        for (target, probe, arm), keys in sorted(by_arm.items())
    ]


def _change(first: str, second: str) -> int | None:
    return None if "error" in (first, second) else (second == "right") - (first == "right")


def _probes(groups: Sequence[Group], seed: int) -> Iterator[Together]:
    for probe in dict.fromkeys(group.probe for group in groups):
        arms = [group for group in groups if group.probe == probe]
        items: dict[str, list[int]] = {item: [] for arm in arms for item in arm.changes}
        for arm in arms:
            for item, change in arm.changes.items():
                items[item] += [] if change is None else [change]
        means = [float(np.mean(changes)) for changes in items.values() if changes]
        effects = np.array(means, np.float64)
        yield Together(probe, effects, len(items) - len(means), sum(arm.texts for arm in arms), seed)


def _rows(groups: Sequence[Group | Together], margin: float | None) -> list[DifferenceRow]:
    p = [group.p for group in groups]
    same = None if margin is None else holm([group.p_same(margin) for group in groups])
    alike = [None] * len(groups) if same is None else same
    return list(starmap(_row, zip(groups, p, holm(p), alike, strict=True)))


def _row(group: Group | Together, p: float, adjusted: float, same: float | None) -> DifferenceRow:
    difference, interval = group.difference, group.interval
    return DifferenceRow(
        probe=group.probe,
        arm=group.arm,
        n=group.n,
        worse=group.worse,
        better=group.better,
        lost=group.lost,
        texts_changed=group.texts,
        difference=difference,
        difference_reason=NO_ITEMS if difference is None else None,
        interval=interval,
        interval_reason=NO_ITEMS if interval is None else None,
        p=p,
        p_adjusted=adjusted,
        p_same=same,
        p_same_reason=NO_MARGIN if same is None else None,
        shown=_shown(group, adjusted, same),
    )


def _shown(group: Group | Together, adjusted: float, same: float | None) -> Shown:
    """Within the margin comes first: a difference may be real and small enough."""
    if same is not None and same <= ALPHA:
        return "same"
    if adjusted <= ALPHA and group.difference:
        return "worse" if group.difference < 0 else "better"
    return "open" if group.texts or group.lost or group.worse or group.better else "alike"


def _overall(rows: Sequence[DifferenceRow]) -> Shown:
    shown = {row.shown for row in rows}
    if shown == {"same"}:
        return "same"
    if shown <= {"same", "alike"}:
        return "alike"
    return "worse" if "worse" in shown else "better" if "better" in shown else "open"


def _settings(one: RunDocument, other: RunDocument) -> Iterable[SettingRow]:
    first, second = _described(one), _described(other)
    for name in dict.fromkeys([*first, *second]):
        a, b = first.get(name, "—"), second.get(name, "—")
        if a != b:
            yield SettingRow(name=name, first=a, second=b)


def _described(document: RunDocument) -> dict[str, str]:
    model, alone = document.model, len(document.targets) == 1
    told = {"suite": document.suite, "suite digest": document.suite_digest, "seed": str(document.seed)}
    told |= {"whybox": document.whybox, "model": model.name, "model digest": model.digest, "engine": model.engine}
    told |= {"precision": model.precision, "kernel": model.kernel}
    for target in document.targets:
        name = "target" if alone else target.name
        told |= {f"{name}: kind": target.kind, f"{name}: model": target.model}
        told |= {f"{name}: {key}": value for key, value in target.details.items()}
    return told


def _changed(one: Kept, other: Kept, key: Key) -> ChangedRow:
    first, second = one.calls[key], other.calls[key]
    return ChangedRow(
        probe=key[1],
        item=key[2],
        arm=key[3],
        prompt="\n\n".join(f"{role}: {text}" if role else text for role, text in key[5]),
        right=first.score.right,
        first=first.answer,
        second=second.answer,
        first_outcome=first.score.outcome or "",
        second_outcome=second.score.outcome or "",
    )
