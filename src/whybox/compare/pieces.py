"""A model in pieces, each run alone on what the other side had before it: so that every fault shows where it is made.

A whole run carries an early fault into everything behind it. A piece starts from a residual stream that the other side
recorded, so that what differs inside it was made inside it, and several faults stand apart. Where nothing between the
ids and the logits was recorded, the whole model is one piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from whybox.compare.observation import Observation, observation
from whybox.compare.stepping import joined, stepped
from whybox.engine.edit import set_to
from whybox.engine.rewired import Rewire
from whybox.engine.rounded import in_format
from whybox.engine.trace import Key
from whybox.errors import NonFiniteError
from whybox.sites import sites_of
from whybox.spec import Spec
from whybox.testing.faults import NO_FAULT, Fault
from whybox.weights import Weights

Array = np.ndarray
Described = tuple[Spec, Weights]
MOST_LOGITS = 1 << 26


@dataclass(frozen=True)
class Piece:
    """Layers [start, stop) with, where they begin the model, the embedding, and where they end it, the head.

    start 0 with `from_ids`: ids go in. Otherwise the residual stream [q c] before layer `start`.
    """

    start: int
    stop: int
    from_ids: bool
    head: bool

    @property
    def layers(self) -> range:
        return range(self.start, self.stop)

    def __str__(self) -> str:
        parts = ["embedding"] if self.from_ids else []
        if self.layers:
            one = len(self.layers) == 1
            parts.append(f"layer {self.start}" if one else f"layers {self.start}–{self.stop - 1}")
        return " + ".join([*parts, *(["head"] if self.head else [])])


def pieces(spec: Spec, seen: Observation) -> Iterator[Piece]:
    """The finest pieces whose inputs were recorded, in order; together they are the whole model."""
    count = len(spec.layers)
    cuts = [at for at in range(count + 1) if entering(spec, seen, at) is not None]
    starts: list[int | None] = [None, *cuts]
    for begin, end in zip(starts, [*cuts, None], strict=True):
        yield Piece(begin or 0, count if end is None else end, begin is None, end is None)


def entering(spec: Spec, seen: Observation, layer: int) -> Array | None:
    """The residual stream before a layer (or, at the layer count, before the head), if it was recorded."""
    found = seen.sites.get(("resid_pre", layer)) if layer < len(spec.layers) else None
    if found is None:
        found = seen.sites.get(("embed", None)) if layer == 0 else seen.sites.get(("resid_post", layer - 1))
    return found if found is not None and np.isfinite(found).all() else None


def alone(
    piece: Piece, model: Described, seen: Observation, fault: Fault = NO_FAULT, precision: str = "fp32"
) -> Observation:
    """The piece with a fault imposed, run on what the other side had before it: every site, named as in the model.

    precision: of its sites: fp32, fp64, bf16 or fp16.
    """
    spec, weights = _cut(piece, *fault.changed(*model))
    kind: np.dtype[np.floating] = np.dtype(np.float64) if precision == "fp64" else np.dtype(np.float32)
    held = weights if weights.dtype == kind else weights.cast(kind)
    engine = in_format(spec, held, precision, _inside(piece, fault), fault.cached)
    ids = seen.ids if piece.from_ids else (0,) * len(seen.ids)
    tail = _rows_of_logits(seen, spec) if piece.head else 1
    entry = None if piece.from_ids else entering(model[0], seen, piece.start)
    entry = None if entry is None else entry.astype(kind)
    see = [site.name for site in sites_of(spec)]
    if fault.behind is not None:
        return _renamed(piece, joined(stepped(engine, ids, fault.behind, see, entry), tail))
    edits = () if entry is None else (set_to("embed", entry),)
    return _renamed(piece, observation(engine.run(ids, see, edits, tail=tail)))


def _inside(piece: Piece, fault: Fault) -> tuple[Rewire, ...]:
    """A fault's other arithmetic, in the layer numbers of the piece."""
    everywhere = (rewire for rewire in fault.rewires if rewire.layers is None)
    some = ((rewire, rewire.layers) for rewire in fault.rewires if rewire.layers is not None)
    chosen = (
        (rewire, frozenset(layer - piece.start for layer in layers & set(piece.layers))) for rewire, layers in some
    )
    return (*everywhere, *(replace(rewire, layers=layers) for rewire, layers in chosen if layers))


def _rows_of_logits(seen: Observation, spec: Spec) -> int:
    """As many as the other side has, within bounds: a vocabulary of 262,144 would fill the memory."""
    return min(len(seen.ids) if seen.logits is None else len(seen.logits), max(1, MOST_LOGITS // spec.vocab))


def _cut(piece: Piece, spec: Spec, weights: Weights) -> Described:
    """The piece as a model of its own; what it leaves out is the smallest that runs."""
    own = replace(spec, layers=spec.layers[piece.start : piece.stop])
    roles = [role for role in weights if _belongs(role, piece, spec)]
    arrays = {_in_piece(role, piece): weights[role] for role in roles}
    if not piece.from_ids:
        own = replace(own, embed_norm=None, positions=None, embed_scale=1.0)
    if not piece.head:
        own = replace(own, tied=True, head_bias=False, logit_scale=1.0, logit_cap=None)
    if "embed" not in arrays:
        arrays["embed"] = np.zeros((1, spec.width), weights.dtype)
        own = own if piece.head else replace(own, vocab=1)
    return own, Weights(arrays)


def _belongs(role: str, piece: Piece, spec: Spec) -> bool:
    kind, *rest = role.split(".")
    match kind:
        case "layers":
            return int(rest[0]) in piece.layers
        case "embed":
            return piece.from_ids or (piece.head and spec.tied)
        case "head" | "head_bias":
            return piece.head
        case "embed_norm" | "positions":
            return piece.from_ids
        case _:
            return True


def _in_piece(role: str, piece: Piece) -> str:
    kind, _, rest = role.partition(".")
    if kind != "layers":
        return role
    layer, _, name = rest.partition(".")
    return f"layers.{int(layer) - piece.start}.{name}"


def _renamed(piece: Piece, seen: Observation) -> Observation:
    """Sites under the layer numbers of the whole model, without those of the stand-ins."""
    ends = {"embed": piece.from_ids, "final": piece.head, "logits": piece.head}
    sites = {
        (site, None if layer is None else layer + piece.start): value
        for (site, layer), value in seen.sites.items()
        if layer is not None or ends[site]
    }
    return Observation(seen.ids, sites, seen.precision)


def whole(model: Described, seen: Observation, fault: Fault = NO_FAULT, precision: str = "fp32") -> Observation:
    """The whole model on the other side's ids, layer by layer, so that one layer at a time is held in `precision`.

    Of its sites only the residual stream behind each layer, `final` and `logits` are kept, up to the first NaN or Inf.
    """
    count = len(model[0].layers)
    fed = Observation(seen.ids, {key: value for key, value in seen.sites.items() if key == ("logits", None)})
    kept: dict[Key, Array] = {}
    for piece in (Piece(0, 0, True, False), *(Piece(at, at + 1, False, False) for at in range(count))):
        key: Key = ("embed", None) if piece.from_ids else ("resid_post", piece.start)
        try:
            found = alone(piece, model, fed, fault, precision).sites
        except NonFiniteError:
            return Observation(seen.ids, kept, precision)
        kept[key] = found[key]
        fed = Observation(seen.ids, {**fed.sites, key: found[key]})
    head = alone(Piece(count, count, False, True), model, fed, fault, precision)
    return Observation(seen.ids, {**kept, **head.sites}, precision)
