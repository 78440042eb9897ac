"""Knock-out of attention: single edges, and a segment's edges in four ways that answer four questions.

    direct         decision → segment cut: does the decision row read it?
    total          every later position → segment cut: does anybody?
    mediated by m  m → segment cut, decision → segment kept: is it read by way of m?
    removed        text deleted, prompt rendered anew (positions shift): does it matter that it is there?
    muted          what those weights bring is dropped, and the row does not renormalise: another question

total ≠ direct + mediated in general; the remainder is their interaction.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from whybox.cause.decision import moved_to, read_at
from whybox.cause.effects import NOTHING_AFTER, Unknown
from whybox.cause.ground import Ground, Moved
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS, Edge, Null, other_edges
from whybox.cause.parts import without
from whybox.cause.spans import Stretch, other_spans, stretches
from whybox.engine.edit import Edit, add, cut, selected, zero
from whybox.engine.trace import Change
from whybox.errors import PromptError, UnsupportedError
from whybox.parts.mask import visible
from whybox.spec import Attention, Spec

Keys = tuple[int, ...]
Effect = Measured | Unknown


@dataclass(frozen=True)
class SegmentKnockout:
    """The effects of one segment. mediated: by each later segment; between: by all positions between it and the
    decision, taken together. The null of each is the same edit on other spans of that length.
    """

    name: str
    direct: Effect
    total: Effect
    between: Effect
    mediated: Mapping[str, Effect]
    muted: Effect
    removed: Effect

    @property
    def interaction(self) -> float | None:
        """total − direct − mediated by all that lies between; None where one of them was not obtained."""
        known = [one.value for one in (self.total, self.direct, self.between) if isinstance(one, Measured)]
        return known[0] - known[1] - known[2] if len(known) == 3 else None


def knock_out_segments(ground: Ground, names: Sequence[str] | None = None, spans: int = DRAWS) -> list[SegmentKnockout]:
    """Every segment before the decision (or the named ones), each beside the others and beside other spans.

    spans: at most so many as null. PromptError for a name that no segment has.
    """
    found = {one.name: one for one in stretches(ground.prompt.segments, ground.row + 1)}
    for name in names or ():
        if name not in found:
            raise PromptError(f"no segment {name!r} before the decision; there are {', '.join(found)}")
    return [_segment(ground, found[name], list(found.values()), spans) for name in names or found]


def _segment(ground: Ground, own: Stretch, beside: Sequence[Stretch], spans: int) -> SegmentKnockout:
    makers: dict[str, _Maker] = {
        "direct": _Direct(ground),
        "total": _Total(ground),
        "between": _Mediated(ground, None),
        "muted": _Muted(ground),
    }
    ways: dict[str, _Maker] = {f"by {one.name}": _Mediated(ground, one.keys) for one in beside if one is not own}
    possible = {what: make for what, make in ways.items() if make(own.keys)}
    found = _effects(ground, {**makers, **possible}, own, spans)
    mediated = {what.removeprefix("by "): found.pop(what) for what in possible}
    return SegmentKnockout(own.name, mediated=mediated, removed=removed(ground, own), **found)


@dataclass(frozen=True)
class _Direct:
    """The decision row, and those behind it, do not see the keys."""

    ground: Ground

    def __call__(self, keys: Keys) -> tuple[Edit, ...]:
        return (cut(q=self.ground.answer_rows, k=keys),)


@dataclass(frozen=True)
class _Total:
    """No position behind the keys sees them; those inside see each other."""

    ground: Ground

    def __call__(self, keys: Keys) -> tuple[Edit, ...]:
        pieces = ranges(keys)
        if pieces[-1].stop > self.ground.row:
            return ()
        return tuple(cut(q=slice(piece.stop, None), k=tuple(piece)) for piece in pieces)


@dataclass(frozen=True)
class _Mediated:
    """The rows of m, where they lie between the keys and the decision, do not see the keys. None: all rows there."""

    ground: Ground
    by: Keys | None

    def __call__(self, keys: Keys) -> tuple[Edit, ...]:
        between = set(range(min(keys) + 1, self.ground.row)) - set(keys)
        rows = tuple(sorted(between if self.by is None else between & set(self.by)))
        return (cut(q=rows, k=keys),) if rows else ()


@dataclass(frozen=True)
class _Muted:
    """What the decision row mixes from the keys is left out of the sum."""

    ground: Ground

    def __call__(self, keys: Keys) -> tuple[Edit, ...]:
        return (zero("pattern", q=self.ground.answer_rows, k=keys),)


_Maker = _Direct | _Total | _Mediated | _Muted


def ranges(keys: Sequence[int]) -> list[range]:
    """Runs of neighbouring positions."""
    found: list[range] = []
    for key in sorted(keys):
        if found and found[-1].stop == key:
            found[-1] = range(found[-1].start, key + 1)
        else:
            found.append(range(key, key + 1))
    return found


def _effects(ground: Ground, makers: Mapping[str, _Maker], own: Stretch, spans: int) -> dict[str, Effect]:
    """Every kind of cut with its shams, in one sweep."""
    tried = {what: _tried(ground, make, own, spans) for what, make in makers.items()}
    changes = [Change(edits) for one in tried.values() if not isinstance(one, Unknown) for edits in one]
    moved = iter(ground.moved(changes))
    return {
        what: one if isinstance(one, Unknown) else _beside_spans(ground, own, [next(moved) for _ in one])
        for what, one in tried.items()
    }


def _tried(ground: Ground, make: _Maker, own: Stretch, spans: int) -> list[tuple[Edit, ...]] | Unknown:
    """The cut, and after it the same on other spans."""
    edits = make(own.keys)
    if not edits:
        return NOTHING_AFTER if isinstance(make, _Total) else Unknown("no position lies there that could see it")
    if (blind := blinded(edits, ground.spec, ground.length)) is not None:
        return Unknown(f"the cut would leave position {blind} with no key to see")
    return [edits, *(made for span in _spans(ground, own, spans) if (made := _possible(ground, make, span)))]


def _beside_spans(ground: Ground, own: Stretch, moved: Sequence[Moved]) -> Measured:
    claim, *others = moved
    null = Null(tuple(one.effect for one in others), len(others)) if others else Unknown(_no_spans(own))
    return Measured(claim.effect, ground.floor, null, changed=claim.changed)


def _possible(ground: Ground, make: _Maker, span: range) -> tuple[Edit, ...]:
    """The same edit on another span; none where it would leave a row with nothing to see."""
    edits = make(tuple(span))
    return edits if blinded(edits, ground.spec, ground.length) is None else ()


def _spans(ground: Ground, own: Stretch, most: int) -> list[range]:
    """Spans of the prompt; what was written of the answer is no match for it."""
    end = ground.row if ground.decision is None else min(ground.row, ground.decision.answer_row + 1)
    return other_spans(len(own.keys), own.keys, end, most) if own.span is not None else []


def _no_spans(own: Stretch) -> str:
    return "no other span of this length" if own.span is not None else "it lies in several places: no span matches it"


def blinded(edits: Sequence[Edit], spec: Spec, length: int) -> int | None:
    """The first position whose visible keys these cuts all take, in some layer; None where every row keeps one."""
    cuts = [dict(edit.at) for edit in edits if edit.site == "scores"]
    places = np.arange(length)
    for window in {layer.attention.window for layer in spec.layers}:
        seen = visible(places, places, window)
        for chosen in cuts:
            seen[np.ix_(*(selected(chosen.get(axis), places) for axis in "qk"))] = False
        if (~seen.any(axis=1)).any():
            return int(np.flatnonzero(~seen.any(axis=1))[0])
    return None


def removed(ground: Ground, own: Stretch) -> Effect:
    """The read behind the same prefix, in the prompt rendered anew without the part. Positions shift."""
    case, known = ground.case, ground.decision
    if case is None or known is None or own.name not in {part.name for part in case.parts}:
        return Unknown("not a part of a case")
    if len(case.parts) < 2:
        return Unknown("nothing would be left of the prompt")
    try:
        prompt = ground.model.prompt(without(case, (own.name,)))
        other = moved_to(ground.model, prompt, known)
    except (PromptError, UnsupportedError) as error:
        return Unknown(f"the prompt cannot be rendered without it: {error.cause}")
    run = ground.model.run(other.ids, tail=1)
    after = read_at(run.logits[-1], other).ld
    ground.told(run, after)
    return Measured(after - ground.value, ground.floor, Unknown("no other text is deleted"))


def product_of(layers: Sequence[int], heads: Sequence[int], queries: Sequence[int], keys: Sequence[int]) -> list[Edge]:
    """All edges from some rows to some keys, in some heads of some layers; later keys are no edges."""
    return [Edge(*one) for one in product(layers, heads, queries, keys) if one[3] <= one[2]]


def knock_out_edges(
    ground: Ground, edges: Sequence[Edge], generator: np.random.Generator, draws: int = DRAWS
) -> Effect:
    """Some edges cut together, beside as many others from the same rows and layers, of like attention mass."""
    return _beside_others(ground, edges, cut_edges, generator, draws)


def mute_edges(ground: Ground, edges: Sequence[Edge], generator: np.random.Generator, draws: int = DRAWS) -> Effect:
    """What some edges bring, left out of the sum without renormalisation: another question than the cut."""
    return _beside_others(ground, edges, muted_edges, generator, draws)


def cut_edges(edges: Sequence[Edge], length: int) -> tuple[Edit, ...]:
    """Scores := −∞ at each edge. One edit a layer: a mask of −∞ that is added."""
    return tuple(_masked(layer, own, length) for layer, own in _by_layer(edges).items())


def muted_edges(edges: Sequence[Edge], length: int) -> tuple[Edit, ...]:
    """Weights := 0 at each edge."""
    return tuple(zero("pattern", edge.layer, h=edge.head, q=edge.query, k=edge.key) for edge in edges)


def _by_layer(edges: Sequence[Edge]) -> dict[int, list[Edge]]:
    found: dict[int, list[Edge]] = {}
    for edge in sorted(edges):
        found.setdefault(edge.layer, []).append(edge)
    return found


def _masked(layer: int, edges: Sequence[Edge], length: int) -> Edit:
    heads, queries = (tuple(sorted({place(edge) for edge in edges})) for place in (_head, _query))
    mask = np.zeros((len(heads), len(queries), length), np.float32)
    for edge in edges:
        mask[heads.index(edge.head), queries.index(edge.query), edge.key] = -np.inf
    return add("scores", mask, layer, h=heads, q=queries, k=range(length))


def _head(edge: Edge) -> int:
    return edge.head


def _query(edge: Edge) -> int:
    return edge.query


_Cutter = Callable[[Sequence[Edge], int], tuple[Edit, ...]]


def _beside_others(
    ground: Ground, edges: Sequence[Edge], edits: _Cutter, generator: np.random.Generator, draws: int
) -> Effect:
    if not edges:
        return Unknown("no edge was named")
    matched = other_edges(edges, list(_pool(edges, ground.spec)), _mass(ground, edges), generator, draws)
    sets = [tuple(edges), *matched.draws]
    if edits is cut_edges:
        sets = [one for one in sets if not _takes_all(one, ground.spec)]
        if not sets or sets[0] != tuple(edges):
            return Unknown("the cut would leave a row with no key to see")
    claim, *others = ground.moved([Change(edits(one, ground.length)) for one in sets])
    null = Null(tuple(one.effect for one in others), matched.distinct) if others else Unknown(UNMATCHED)
    return Measured(claim.effect, ground.floor, null, changed=claim.changed)


UNMATCHED = "no other edges of that number and attention mass"


def _takes_all(edges: Sequence[Edge], spec: Spec) -> bool:
    """Whether a row of some head loses every key that it can see."""
    lost = Counter((edge.layer, edge.head, edge.query) for edge in edges)
    return any(count >= len(_visible_keys(row[2], spec.layers[row[0]].attention)) for row, count in lost.items())


def _visible_keys(query: int, attention: Attention) -> range:
    window = query + 1 if attention.window is None else attention.window
    return range(max(query - window + 1, 0), query + 1)


def _pool(edges: Sequence[Edge], spec: Spec) -> Iterator[Edge]:
    """Every visible edge from the same rows of the same layers, in any head.

    Key 0 only where the claim holds it: a sink is no match for ordinary tokens.
    """
    first = min(edge.key for edge in edges)
    for layer, query in sorted({(edge.layer, edge.query) for edge in edges}):
        attention = spec.layers[layer].attention
        keys = [key for key in _visible_keys(query, attention) if key >= min(first, 1)]
        yield from (Edge(layer, head, query, key) for head in range(attention.heads) for key in keys)


def _mass(ground: Ground, edges: Sequence[Edge]) -> Callable[[Edge], float]:
    layers = tuple(sorted({edge.layer for edge in edges}))
    trace = ground.seen([("pattern", layers)])
    return lambda edge: float(trace["pattern", edge.layer][edge.head, edge.query, edge.key])
