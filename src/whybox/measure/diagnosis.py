"""Patterns that are said by name, each with the numbers that made it so. A likely meaning is not a verdict.

What one run can decide is decided here, of the last query unless said. `ELSEWHERE` are the codes that need more runs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float

from whybox.measure import thresholds as t
from whybox.measure.anchors import anchors
from whybox.measure.budget import Budget
from whybox.measure.heads import Heads, decision_budget
from whybox.measure.looking import Looked
from whybox.text.prompt import Segment, SegmentKind

HeadAt = tuple[int, int]
MOST_NAMED = 8  # tokens or heads that a finding singles out

ELSEWHERE: Mapping[str, str] = {
    "SYS_FADES": "a rule over many turns: the probe `memory`",
    "UNUSED": "what the answer cites: the probe `evidence`",
    "ONE_WORD": "two prompts and what is written on: the probe `edit`",
    "NOT_ATTENTION": "a right and a wrong run side by side: `why`",
}


@dataclass(frozen=True)
class Finding:
    """A code, what it speaks of, and the numbers that triggered it."""

    code: str
    evidence: Mapping[str, float]
    layers: tuple[int, ...] = ()
    heads: tuple[HeadAt, ...] = ()
    tokens: tuple[int, ...] = ()
    segments: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Subject:
    """What is diagnosed. evidence: names of segments that hold it. wrong: whether the answer is; None: not known."""

    looked: Looked
    heads: Heads
    evidence: tuple[str, ...] = ()
    wrong: bool | None = None
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", decision_budget(self.looked))

    @property
    def parts(self) -> list[Segment]:
        """Content of the turns that the user wrote, in order."""
        return [s for s in self.looked.prompt.segments if _is_content(s) and s.role != "system"]

    @property
    def documents(self) -> list[Segment]:
        """All of it but the last part, which asks."""
        return self.parts[:-1]

    @property
    def reading(self) -> Bool[np.ndarray, "n"]:
        """Heads that give the sink at most .3 of this row."""
        return np.concatenate(self.budget.drained) <= t.SINK

    def lift(self, names: Sequence[str]) -> Float[np.ndarray, "n"]:
        """Of several segments together, for every head: each by its length."""
        lengths = [self.budget.lengths[self.budget.names.index(name)] for name in names]
        lifts = [np.concatenate(self.budget.lift(name)) for name in names]
        return np.asarray(np.average(lifts, axis=0, weights=lengths))

    def at(self, number: int) -> HeadAt:
        """Layer and head of a row of the table."""
        row = self.heads.table
        return int(row["layer"][number] or 0), int(row["head"][number] or 0)

    def over(self, column: str) -> Float[np.ndarray, "n"]:
        """A column of the table; what is undefined counts as 0."""
        return np.array([value or 0.0 for value in self.heads.table[column]])


def diagnose(subject: Subject) -> list[Finding]:
    """Every code that fires. A fault of the mask stops the rest: nothing else can be believed then."""
    faults = list(_mask_bug(subject))
    if faults:
        return faults
    return [found for rule in _RULES for found in rule(subject)]


def _mask_bug(subject: Subject) -> Iterator[Finding]:
    """Rows that do not sum to 1 over the keys that they may see."""
    bound = t.ROW_SUM if subject.looked.model.engine.precision in ("fp32", "fp64") else t.ROW_SUM_ROUNDED
    worst = {}
    for layer, rows in enumerate(subject.looked.attention):
        sums = rows.shares.sum(axis=-1, dtype=np.float64) + rows.sink_mass
        worst[layer] = float(np.abs(sums[:, rows.defined] - 1).max(initial=0))
    off = {layer: size for layer, size in worst.items() if size > bound}
    if off:
        yield Finding("MASK_BUG", {"row_sum_off": max(off.values()), "bound": bound}, layers=tuple(off))


def _one_hot(subject: Subject) -> Iterator[Finding]:
    entropy, layers = subject.over("entropy_norm"), subject.over("layer")
    sharp = [layer for layer in np.unique(layers) if (entropy[layers == layer] < t.ONE_HOT).all()]
    if sharp:
        worst = max(float(entropy[layers == layer].max()) for layer in sharp)
        yield Finding("ONE_HOT", {"entropy_norm": worst, "layers": len(sharp)}, layers=tuple(map(int, sharp)))


def _system_low(subject: Subject) -> Iterator[Finding]:
    system = [s for s in subject.looked.prompt.segments if _is_content(s) and s.role == "system"]
    last = subject.looked.prompt.segments[-1].end - 1
    sees = np.concatenate(
        [[any(s.end > row.places[0] for s in system)] * len(row.pattern) for row in subject.looked.decision]
    )
    reading = subject.reading & sees
    if not system or not reading.any() or last < 1:
        return
    names = tuple(segment.name for segment in system)
    lift = subject.lift(names)[reading]
    below = float((lift < t.SYSTEM_LIFT).mean())
    if below >= t.SYSTEM_HEADS:
        evidence = {"lift": float(lift.mean()), "heads_below": below, "heads": len(lift)}
        yield Finding("SYS_LOW", evidence, segments=names)


def _self_row(subject: Subject) -> Iterator[Finding]:
    """Of any judged query."""
    own = np.concatenate([rows.own for rows in subject.looked.attention])
    heads = np.where(subject.looked.attention[0].judged, (own >= t.SELF_ROW).mean(axis=0), 0)
    alone = np.flatnonzero(heads >= t.SELF_ROW_HEADS)
    if alone.size:
        worst = sorted(alone, key=lambda q: -heads[q])[:MOST_NAMED]
        evidence = {"heads": float(heads[worst[0]]), "self": float(own[:, worst[0]].mean()), "tokens": len(alone)}
        yield Finding("SELF_ROW", evidence, tokens=tuple(map(int, worst)))


def _flat(subject: Subject) -> Iterator[Finding]:
    late = subject.over("layer") >= t.EARLY * len(subject.looked.attention)
    flat = _has(subject, "flat")[late]
    if flat.mean() > t.FLAT_HEADS:
        yield Finding(
            "FLAT", {"heads": float(flat.mean()), "entropy_norm": float(subject.over("entropy_norm")[late].mean())}
        )


def _recent(subject: Subject) -> Iterator[Finding]:
    """Of the last four rows, where a text is long enough for 16 tokens to be few."""
    even = 17 / len(subject.looked.prompt)
    near = np.concatenate([rows.local[:, -t.RECENT_ROWS :, 1] for rows in subject.looked.attention])
    if even <= t.RECENT / 2 and near.mean() > t.RECENT:
        yield Finding("RECENT", {"local16": float(near.mean()), "even": even})


def _stripe(subject: Subject) -> Iterator[Finding]:
    pauses, prompt = anchors(subject.looked.prompt), subject.looked.prompt
    content = {place for s in prompt.segments if _is_content(s) for place in range(s.start, s.end)} - pauses
    keys = [int(key) for key in subject.over("stripe_key")]
    striped = [n for n in np.flatnonzero(_has(subject, "vertical stripe")) if keys[n] in content]
    if striped:
        key, count = Counter(keys[n] for n in striped).most_common(1)[0]
        heads = tuple(subject.at(int(n)) for n in striped if keys[n] == key)
        share = max(subject.over("stripe")[n] for n in striped if keys[n] == key)
        yield Finding("STRIPE", {"heads": count, "stripe": float(share)}, heads=heads[:MOST_NAMED], tokens=(key,))


def _anchor(subject: Subject) -> Iterator[Finding]:
    number = [name for name, _ in subject.looked.attention[0].wish.marks].index("anchor")
    mass = float(np.concatenate([rows.marked[:, -1, number] for rows in subject.looked.attention]).mean())
    places = anchors(subject.looked.prompt)
    tokens = len(places) / len(subject.looked.prompt)
    if mass > max(t.ANCHOR, t.ANCHOR_OVER_TOKENS * tokens):
        yield Finding("ANCHOR", {"anchor": mass, "anchor_tokens": tokens}, tokens=tuple(sorted(places))[-MOST_NAMED:])


def _sink(subject: Subject) -> Iterator[Finding]:
    sink = subject.over("sink")
    if sink.mean() > t.SINK:
        yield Finding("SINK", {"sink": float(sink.mean()), "heads": float((sink > t.SINK).mean())}, tokens=(0,))


def _short_range(subject: Subject) -> Iterator[Finding]:
    early = subject.over("layer") < t.EARLY * len(subject.looked.attention)
    near = early & (_has(subject, "diagonal") | _has(subject, "previous") | _has(subject, "local"))
    if near.any():
        heads = tuple(subject.at(int(n)) for n in np.flatnonzero(near)[:MOST_NAMED])
        yield Finding("SHORT_RANGE", {"heads": int(near.sum())}, heads=heads)


def _evidence(subject: Subject) -> Iterator[Finding]:
    """Whether the evidence was looked at; said only of a wrong answer."""
    lift = evidence_lift(subject)
    if subject.wrong and lift is not None:
        code = "UNSEEN" if lift < t.UNSEEN else "SEEN_WRONG"
        yield Finding(code, {"lift": lift}, segments=subject.evidence)


def evidence_lift(subject: Subject) -> float | None:
    """Mean lift of the evidence over the heads that read; None without evidence or such heads."""
    if not subject.evidence or not subject.reading.any():
        return None
    return float(subject.lift(subject.evidence)[subject.reading].mean())


def _middle(subject: Subject) -> Iterator[Finding]:
    lifts = [(s.name, subject.budget.mean_lift(s.name)) for s in subject.documents]
    known = [(name, lift) for name, lift in lifts if lift is not None]
    if len(known) < 3:
        return
    lowest = min(range(len(known)), key=lambda n: known[n][1])
    if 0 < lowest < len(known) - 1:
        name, lift = known[lowest]
        yield Finding("MIDDLE", {"lift": lift, "first": known[0][1], "last": known[-1][1]}, segments=(name,))


def _documents_compete(subject: Subject) -> Iterator[Finding]:
    shares = subject.budget.mean()
    ranked = sorted(((shares[s.name], s.name) for s in subject.documents), reverse=True)
    if len(ranked) < 2:
        return
    (most, first), (less, second) = ranked[:2]
    if most > 0 and (most - less) / most <= t.DOCUMENTS_APART:
        yield Finding("DOCS_COMPETE", {"most": most, "next": less}, segments=(first, second))


def _copies_example(subject: Subject) -> Iterator[Finding]:
    copying = np.flatnonzero(_has(subject, "induction"))
    if not copying.size:
        return
    number = [name for name, _ in subject.looked.attention[0].wish.marks].index("induction_text")
    mass = np.concatenate([rows.marked[:, -1, number] for rows in subject.looked.attention])[copying]
    if mass.mean() > t.EXAMPLE:
        heads = tuple(subject.at(int(n)) for n in copying)
        yield Finding("COPIES_EXAMPLE", {"mass": float(mass.mean()), "heads": len(heads)}, heads=heads[:MOST_NAMED])


def _inertia(subject: Subject) -> Iterator[Finding]:
    """Share without the sink, over the heads that read."""
    names = [s.name for s in subject.looked.prompt.segments if s.kind is SegmentKind.GENERATED and s.end > s.start]
    if not names or not subject.reading.any():
        return
    share = np.sum([np.concatenate(subject.budget.per_head(name)) for name in names], axis=0)
    free = (share / (1 - np.concatenate(subject.budget.drained)))[subject.reading]
    if free.mean() > t.INERTIA:
        yield Finding("INERTIA", {"share": float(free.mean())}, segments=tuple(names))


def _cancel(subject: Subject) -> Iterator[Finding]:
    """Two heads that look at one key behind the first, and write there in opposite directions."""
    bright: dict[int, list[tuple[HeadAt, float]]] = {}
    for layer, row in enumerate(subject.looked.decision):
        for head, column in np.argwhere((row.pattern >= t.BRIGHT) & (row.places > 0)):
            at = (layer, int(head))
            bright.setdefault(int(row.places[column]), []).append((at, float(row.pattern[head, column])))
    found = [pair for key, heads in bright.items() for pair in _opposed(subject, key, heads)]
    if found:
        cosine, key, (first, one), (second, other) = min(found)
        evidence = {"cosine": cosine, "share": one, "other_share": other, "pairs": len(found)}
        yield Finding("CANCEL", evidence, heads=(first, second), tokens=(key,))


_Pair = tuple[float, int, tuple[HeadAt, float], tuple[HeadAt, float]]


def _opposed(subject: Subject, key: int, heads: Sequence[tuple[HeadAt, float]]) -> Iterator[_Pair]:
    if len(heads) < 2:
        return
    writes = np.stack([_write(subject, at, key) for at, _ in heads])
    sizes = np.linalg.norm(writes, axis=1, keepdims=True)
    units = np.divide(writes, sizes, out=np.zeros_like(writes), where=sizes > 0)
    cosines = units @ units.T
    for a, b in np.argwhere(np.triu(cosines <= t.OPPOSITE, 1)):
        yield float(cosines[a, b]), key, heads[a], heads[b]


def _write(subject: Subject, at: HeadAt, key: int) -> Float[np.ndarray, "c"]:
    """value · W_O of one head at one key."""
    layer, head = at
    row, out = subject.looked.decision[layer], subject.looked.model.weights[f"layers.{layer}.out"]
    group = head // (out.shape[1] // row.values.shape[1])
    return np.asarray(out[:, head] @ row.values[int(np.searchsorted(row.places, key)), group])


def _out_of_window(subject: Subject) -> Iterator[Finding]:
    segments = [s for s in subject.looked.prompt.segments if s.name in subject.evidence]
    row = len(subject.looked.prompt) - 1
    for segment in segments:
        windows = {
            layer: spec.attention.window
            for layer, spec in enumerate(subject.looked.spec.layers)
            if spec.attention.window is not None and segment.end <= row - spec.attention.window + 1
        }
        if windows:
            evidence = {"window": max(windows.values()), "distance": row - segment.end + 1, "layers": len(windows)}
            yield Finding("OUT_OF_WINDOW", evidence, layers=tuple(windows), segments=(segment.name,))


def _template(subject: Subject) -> Iterator[Finding]:
    """Template tokens behind the first key, which is a sink."""
    kinds = (SegmentKind.TEMPLATE, SegmentKind.BOS)
    places = [p for s in subject.looked.prompt.segments if s.kind in kinds for p in range(max(s.start, 1), s.end)]
    share = float(
        np.concatenate(
            [row.pattern[:, np.isin(row.places, places)].sum(axis=1) for row in subject.looked.decision]
        ).mean()
    )
    if share > t.TEMPLATE:
        names = tuple(s.name for s in subject.looked.prompt.segments if s.kind in kinds)
        yield Finding("PAD_TEMPLATE", {"share": share, "tokens": len(places)}, segments=names)


def _has(subject: Subject, name: str) -> Bool[np.ndarray, "n"]:
    return np.array([name in classes for classes in subject.heads.classes])


def _is_content(segment: Segment) -> bool:
    return segment.kind is SegmentKind.PART and segment.end > segment.start


_RULES = (
    _one_hot,
    _evidence,
    _out_of_window,
    _system_low,
    _middle,
    _documents_compete,
    _copies_example,
    _inertia,
    _cancel,
    _template,
    _flat,
    _recent,
    _self_row,
    _stripe,
    _anchor,
    _sink,
    _short_range,
)
CODES = (
    "MASK_BUG", "ONE_HOT", "UNSEEN", "SEEN_WRONG", "OUT_OF_WINDOW", "SYS_LOW", "MIDDLE", "DOCS_COMPETE",
    "COPIES_EXAMPLE", "INERTIA", "CANCEL", "PAD_TEMPLATE", "FLAT", "RECENT", "SELF_ROW", "STRIPE", "ANCHOR", "SINK",
    "SHORT_RANGE",
)  # fmt: skip
