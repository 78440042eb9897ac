"""Patterns that are said by name, each with the numbers that made it so. A likely meaning is not a verdict.

What one run can decide is decided here, of the query that decides unless said. `ELSEWHERE` are the codes that need more
runs.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.measure import thresholds as t
from whybox.measure.looking import Looked
from whybox.measure.subject import HeadAt, Need, Subject, is_content
from whybox.text.prompt import SegmentKind

MOST_NAMED = 8  # tokens or heads that a finding singles out
ELSEWHERE = ("SYS_FADES", "UNUSED", "ONE_WORD", "NOT_ATTENTION")


@dataclass(frozen=True)
class Finding:
    """A code, what it speaks of, and the numbers that triggered it. counted: parts that were taken for documents."""

    code: str
    evidence: Mapping[str, float]
    layers: tuple[int, ...] = ()
    heads: tuple[HeadAt, ...] = ()
    tokens: tuple[int, ...] = ()
    segments: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()


def diagnose(subject: Subject) -> list[Finding]:
    """Every code that fires. A fault of the mask stops the rest: nothing else can be believed then."""
    faults = list(_mask_bug(subject))
    if faults:
        return faults
    return [found for rule in _RULES if rule.needs <= subject.known for found in rule.found(subject)]


def unsaid(subject: Subject) -> dict[str, Need]:
    """Codes that cannot be said of this subject, each with the first thing that is missing; none can behind a fault of
    the mask.
    """
    if any(_mask_bug(subject)):
        return dict.fromkeys(CODES[1:], Need.ROWS)
    lacking = {rule: [need for need in Need if need in rule.needs - subject.known] for rule in _RULES}
    return {code: missing[0] for rule, missing in lacking.items() if missing for code in rule.codes}


def _mask_bug(subject: Subject) -> Iterator[Finding]:
    """Rows that do not sum to 1 over the keys that they may see."""
    worst = {}
    for layer, rows in enumerate(subject.attention):
        sums = rows.shares.sum(axis=-1, dtype=np.float64) + rows.sink_mass
        worst[layer] = float(np.abs(sums[:, rows.defined] - 1).max(initial=0))
    off = {layer: size for layer, size in worst.items() if size > subject.bound}
    if off:
        yield Finding("MASK_BUG", {"row_sum_off": max(off.values()), "bound": subject.bound}, layers=tuple(off))


def _one_hot(subject: Subject) -> Iterator[Finding]:
    entropy, layers = subject.over("entropy_norm"), subject.over("layer")
    sharp = [layer for layer in np.unique(layers) if (entropy[layers == layer] < t.ONE_HOT).all()]
    if sharp:
        worst = max(float(entropy[layers == layer].max()) for layer in sharp)
        yield Finding("ONE_HOT", {"entropy_norm": worst, "layers": len(sharp)}, layers=tuple(map(int, sharp)))


def _system_low(subject: Subject) -> Iterator[Finding]:
    system = [s for s in subject.segments if is_content(s) and s.role == "system"]
    sees = np.concatenate([[any(s.end > row.places[0] for s in system)] * len(row.pattern) for row in subject.decision])
    reading = subject.reading & sees
    if not system or not reading.any() or subject.keys < 2:
        return
    names = tuple(segment.name for segment in system)
    lift = subject.lift(names)[reading]
    below = float((lift < t.SYSTEM_LIFT).mean())
    if below >= t.SYSTEM_HEADS:
        evidence = {"lift": float(lift.mean()), "heads_part": below, "heads": len(lift)}
        yield Finding("SYS_LOW", evidence, segments=names)


def _self_row(subject: Subject) -> Iterator[Finding]:
    """Of any judged query."""
    own = np.concatenate([rows.own for rows in subject.attention])
    heads = np.where(subject.attention[0].judged, (own >= t.SELF_ROW).mean(axis=0), 0)
    alone = np.flatnonzero(heads >= t.SELF_ROW_HEADS)
    if alone.size:
        worst = sorted(alone, key=lambda q: -heads[q])[:MOST_NAMED]
        evidence = {"heads_part": float(heads[worst[0]]), "self": float(own[:, worst[0]].mean()), "tokens": len(alone)}
        yield Finding("SELF_ROW", evidence, tokens=tuple(map(int, worst)))


def _flat(subject: Subject) -> Iterator[Finding]:
    late = subject.over("layer") >= t.EARLY * len(subject.attention)
    flat = subject.has("flat")[late]
    if flat.any() and flat.mean() > t.FLAT_HEADS:
        yield Finding(
            "FLAT", {"heads_part": float(flat.mean()), "entropy_norm": float(subject.over("entropy_norm")[late].mean())}
        )


def _recent(subject: Subject) -> Iterator[Finding]:
    """Of the last four rows, where a text is long enough for 16 tokens to be few."""
    even = 17 / subject.keys
    near = np.concatenate([rows.local[:, -t.RECENT_ROWS :, 1] for rows in subject.attention])
    if even <= t.RECENT / 2 and near.mean() > t.RECENT:
        yield Finding("RECENT", {"local16": float(near.mean()), "even": even})


def _stripe(subject: Subject) -> Iterator[Finding]:
    content = {p for s in subject.segments if is_content(s) for p in range(s.start, s.end)} - subject.anchors
    keys = [int(key) for key in subject.over("stripe_key")]
    striped = [n for n in np.flatnonzero(subject.has("vertical stripe")) if keys[n] in content]
    if striped:
        key, count = Counter(keys[n] for n in striped).most_common(1)[0]
        heads = tuple(subject.at(int(n)) for n in striped if keys[n] == key)
        share = max(subject.over("stripe")[n] for n in striped if keys[n] == key)
        yield Finding("STRIPE", {"heads": count, "stripe": float(share)}, heads=heads[:MOST_NAMED], tokens=(key,))


def _anchor(subject: Subject) -> Iterator[Finding]:
    mass = float(subject.marked("anchor").mean())
    places, tokens = subject.anchors, len(subject.anchors) / subject.keys
    if mass > max(t.ANCHOR, t.ANCHOR_OVER_TOKENS * tokens):
        yield Finding("ANCHOR", {"anchor": mass, "anchor_tokens": tokens}, tokens=tuple(sorted(places))[-MOST_NAMED:])


def _sink(subject: Subject) -> Iterator[Finding]:
    sink = subject.over("sink")
    if sink.mean() > t.SINK:
        yield Finding("SINK", {"sink": float(sink.mean()), "heads_part": float((sink > t.SINK).mean())}, tokens=(0,))


def _short_range(subject: Subject) -> Iterator[Finding]:
    early = subject.over("layer") < t.EARLY * len(subject.attention)
    near = early & (subject.has("diagonal") | subject.has("previous") | subject.has("local"))
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
    read = any(subject.budget.behind_first(name) for name in subject.evidence)
    if not read or not subject.reading.any():
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
        yield Finding(
            "MIDDLE",
            {"lift": lift, "first": known[0][1], "last": known[-1][1]},
            segments=(name,),
            counted=tuple(each for each, _ in known),
        )


def _documents_compete(subject: Subject) -> Iterator[Finding]:
    shares = subject.budget.mean()
    ranked = sorted(((shares[s.name], s.name) for s in subject.documents), reverse=True)
    if len(ranked) < 2:
        return
    (most, first), (less, second) = ranked[:2]
    if most > 0 and (most - less) / most <= t.DOCUMENTS_APART:
        counted = tuple(s.name for s in subject.documents)
        yield Finding("DOCS_COMPETE", {"most": most, "next": less}, segments=(first, second), counted=counted)


def _copies_example(subject: Subject) -> Iterator[Finding]:
    copying = np.flatnonzero(subject.has("induction"))
    if not copying.size:
        return
    mass = subject.marked("induction_text")[copying]
    if mass.mean() > t.EXAMPLE:
        heads = tuple(subject.at(int(n)) for n in copying)
        yield Finding("COPIES_EXAMPLE", {"mass": float(mass.mean()), "heads": len(heads)}, heads=heads[:MOST_NAMED])


def _inertia(subject: Subject) -> Iterator[Finding]:
    """Share without the sink, over the heads that read."""
    names = [s.name for s in subject.segments if s.kind is SegmentKind.GENERATED and s.end > s.start]
    if not names or not subject.reading.any():
        return
    share = np.sum([np.concatenate(subject.budget.per_head(name)) for name in names], axis=0)
    left = 1 - np.concatenate(subject.budget.drained)
    free = share[subject.reading] / left[subject.reading]
    if free.mean() > t.INERTIA:
        yield Finding("INERTIA", {"share": float(free.mean())}, segments=tuple(names))


def _cancel(subject: Subject) -> Iterator[Finding]:
    """Two heads that look at one key behind the first, and write there in opposite directions."""
    looked = _run(subject)
    bright: dict[int, list[tuple[HeadAt, float]]] = {}
    for layer, row in enumerate(looked.decision):
        for head, column in np.argwhere((row.pattern >= t.BRIGHT) & (row.places > 0)):
            at = (layer, int(head))
            bright.setdefault(int(row.places[column]), []).append((at, float(row.pattern[head, column])))
    found = [pair for key, heads in bright.items() for pair in _opposed(looked, key, heads)]
    if found:
        cosine, key, (first, one), (second, other) = min(found)
        evidence = {"cosine": cosine, "share": one, "other_share": other, "pairs": len(found)}
        yield Finding("CANCEL", evidence, heads=(first, second), tokens=(key,))


_Pair = tuple[float, int, tuple[HeadAt, float], tuple[HeadAt, float]]


def _opposed(looked: Looked, key: int, heads: Sequence[tuple[HeadAt, float]]) -> Iterator[_Pair]:
    if len(heads) < 2:
        return
    writes = np.stack([_write(looked, at, key) for at, _ in heads])
    sizes = np.linalg.norm(writes, axis=1, keepdims=True)
    units = np.divide(writes, sizes, out=np.zeros_like(writes), where=sizes > 0)
    cosines = units @ units.T
    for a, b in np.argwhere(np.triu(cosines <= t.OPPOSITE, 1)):
        yield float(cosines[a, b]), key, heads[a], heads[b]


def _write(looked: Looked, at: HeadAt, key: int) -> Float[np.ndarray, "c"]:
    """value · W_O of one head at one key."""
    layer, head = at
    row, out = looked.decision[layer], looked.model.weights[f"layers.{layer}.out"]
    group = head // (out.shape[1] // row.values.shape[1])
    return np.asarray(out[:, head] @ row.values[int(np.searchsorted(row.places, key)), group])


def _out_of_window(subject: Subject) -> Iterator[Finding]:
    layers, row = _run(subject).spec.layers, subject.query
    for segment in (s for s in subject.segments if s.name in subject.evidence):
        windows = {
            layer: spec.attention.window
            for layer, spec in enumerate(layers)
            if spec.attention.window is not None and segment.end <= row - spec.attention.window + 1
        }
        if windows:
            evidence = {"window": max(windows.values()), "distance": row - segment.end + 1, "layers": len(windows)}
            yield Finding("OUT_OF_WINDOW", evidence, layers=tuple(windows), segments=(segment.name,))


def _template(subject: Subject) -> Iterator[Finding]:
    """Template tokens behind the first key, which is a sink."""
    kinds = (SegmentKind.TEMPLATE, SegmentKind.BOS)
    places = [p for s in subject.segments if s.kind in kinds for p in range(max(s.start, 1), s.end)]
    held = [row.pattern[:, np.isin(row.places, places)].sum(axis=1) for row in subject.decision]
    share = float(np.concatenate(held).mean())
    if share > t.TEMPLATE:
        names = tuple(s.name for s in subject.segments if s.kind in kinds)
        yield Finding("PAD_TEMPLATE", {"share": share, "tokens": len(places)}, segments=names)


def _run(subject: Subject) -> Looked:
    assert subject.looked is not None, "asked only where a model ran"
    return subject.looked


@dataclass(frozen=True)
class _Rule:
    """Codes that are found together, and what finding them takes beside the weights."""

    codes: tuple[str, ...]
    found: Callable[[Subject], Iterator[Finding]]
    needs: frozenset[Need] = frozenset()


def _rule(codes: str, found: Callable[[Subject], Iterator[Finding]], *needs: Need) -> _Rule:
    return _Rule(tuple(codes.split()), found, frozenset(needs))


_RULES = (
    _rule("ONE_HOT", _one_hot),
    _rule("UNSEEN SEEN_WRONG", _evidence, Need.EVIDENCE, Need.DECISION),
    _rule("OUT_OF_WINDOW", _out_of_window, Need.MODEL),
    _rule("SYS_LOW", _system_low, Need.PARTS, Need.DECISION),
    _rule("MIDDLE", _middle, Need.PARTS, Need.DECISION),
    _rule("DOCS_COMPETE", _documents_compete, Need.PARTS, Need.DECISION),
    _rule("COPIES_EXAMPLE", _copies_example, Need.PROBE, Need.DECISION),
    _rule("INERTIA", _inertia, Need.PARTS, Need.DECISION),
    _rule("CANCEL", _cancel, Need.MODEL),
    _rule("PAD_TEMPLATE", _template, Need.PARTS, Need.DECISION),
    _rule("FLAT", _flat),
    _rule("RECENT", _recent, Need.CAUSAL),
    _rule("SELF_ROW", _self_row, Need.TEXT),
    _rule("STRIPE", _stripe, Need.TEXT),
    _rule("ANCHOR", _anchor, Need.DECISION),
    _rule("SINK", _sink),
    _rule("SHORT_RANGE", _short_range, Need.TEXT),
)
CODES = ("MASK_BUG", *(code for rule in _RULES for code in rule.codes))
