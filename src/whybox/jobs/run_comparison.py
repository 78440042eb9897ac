"""Two kept runs, paired by the prompts that were sent: right answers, texts, settings, items that changed."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from whybox.errors import UsageError
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
from whybox.statistics.equivalence import p_same
from whybox.statistics.multiplicity import holm
from whybox.statistics.paired import Pairs, mcnemar_exact, paired_difference
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
    rows = _rows(_groups(one, other, shared), margin)
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
        rows=rows,
        settings=tuple(_settings(one.document, other.document)),
        changed=tuple(_changed(one, other, key) for key in ranked[:MOST_CHANGED]),
        changed_more=max(0, len(ranked) - MOST_CHANGED),
        shown=_overall(rows),
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
    return Kept(document, calls)


def _side(folder: Path, kept: Kept) -> SideInfo:
    names = ", ".join(target.name for target in kept.document.targets)
    return SideInfo(run=str(folder), suite=kept.document.suite, target=names, calls=kept.document.calls.finished)


def _outcome(run: Kept, key: Key) -> str:
    return run.calls[key].score.outcome or ""


@dataclass(frozen=True)
class Group:
    """One arm of one probe: pairs of calls that came back, how many were lost, how many texts differ."""

    probe: str
    arm: str
    pairs: Pairs
    lost: int
    texts: int


def _groups(one: Kept, other: Kept, shared: Iterable[Key]) -> list[Group]:
    by_arm: dict[tuple[str, str, str], list[Key]] = {}
    for key in shared:
        by_arm.setdefault((key[0], key[1], key[3]), []).append(key)
    groups = []
    for (target, probe, arm), keys in sorted(by_arm.items()):
        outcomes = [(_outcome(one, key), _outcome(other, key)) for key in keys]
        whole = [(a == "right", b == "right") for a, b in outcomes if "error" not in (a, b)]
        pairs = Pairs(sum(a and not b for a, b in whole), sum(b and not a for a, b in whole), len(whole))
        texts = sum(one.calls[key].answer != other.calls[key].answer for key in keys)
        name = f"{probe} · {target}" if target else probe
        groups.append(Group(name, arm, pairs, len(keys) - len(whole), texts))
    return groups


def _rows(groups: Sequence[Group], margin: float | None) -> tuple[DifferenceRow, ...]:
    p = [mcnemar_exact(group.pairs) for group in groups]
    same = None if margin is None else holm([_p_same(group.pairs, margin) for group in groups])
    adjusted = holm(p)
    alike = [None] * len(groups) if same is None else same
    return tuple(starmap(_row, zip(groups, p, adjusted, alike, strict=True)))


def _p_same(pairs: Pairs, margin: float) -> float:
    return p_same(pairs, margin) if pairs.n else 1.0


def _row(group: Group, p: float, adjusted: float, same: float | None) -> DifferenceRow:
    harm, interval = group.pairs.harm, paired_difference(group.pairs)
    return DifferenceRow(
        probe=group.probe,
        arm=group.arm,
        n=group.pairs.n,
        worse=group.pairs.worse,
        better=group.pairs.better,
        lost=group.lost,
        texts_changed=group.texts,
        difference=None if harm is None else -harm or 0.0,
        difference_reason=NO_ITEMS if harm is None else None,
        interval=None if interval is None else (-interval[1], -interval[0]),
        interval_reason=NO_ITEMS if interval is None else None,
        p=p,
        p_adjusted=adjusted,
        p_same=same,
        p_same_reason=NO_MARGIN if same is None else None,
        shown=_shown(group.pairs, adjusted, same),
    )


def _shown(pairs: Pairs, adjusted: float, same: float | None) -> Shown:
    """Within the margin comes first: a difference may be real and small enough."""
    if same is not None and same <= ALPHA:
        return "same"
    if adjusted <= ALPHA:
        return "worse" if pairs.worse > pairs.better else "better"
    return "open"


def _overall(rows: Sequence[DifferenceRow]) -> Shown:
    shown = {row.shown for row in rows}
    if shown == {"same"}:
        return "same"
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
