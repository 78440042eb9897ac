"""How two descriptions of a model differ, each difference as a fault that can be imposed on the first.

Settings first, then weights. A difference of a setting that a known fault makes as well keeps the fault's name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from whybox.compare.suspects import TURNED, Suspect
from whybox.spec import Attention, Layer, Mlp, Moe, Spec
from whybox.testing.faults import Fault
from whybox.testing.faults.fault import with_arrays
from whybox.weights import Weights

Array = np.ndarray
NAMES: dict[str, tuple[str, tuple[str, ...]]] = {
    "rope": ("rope", TURNED),
    "scale": ("score-scale", ("scores",)),
    "cap": ("score-cap", ("scores",)),
    "alibi": ("alibi", ("scores",)),
    "window": ("window", ("pattern",)),
    "sinks": ("sinks", ("pattern", "sink_mass")),
    "qk_norm": ("qk-norm", ("query", "key")),
    "qk_norm_eps": ("norm-eps", ("query", "key")),
    "bias": ("qkv-bias", ("query", "key", "value")),
    "out_bias": ("out-bias", ("attn_out",)),
}
"""Fields of attention: the name of a fault there, and where it is first felt."""
ENDS = {
    "embed_scale": ("embed-scale", ("embed",)),
    "embed_norm": ("embed-norm", ("embed",)),
    "positions": ("learned-positions", ("embed",)),
    "final_norm": ("final-norm", ("final",)),
    "tied": ("head-tied", ("logits",)),
    "head_bias": ("head-bias", ("logits",)),
    "logit_scale": ("logit-scale", ("logits",)),
    "logit_cap": ("logit-cap", ("logits",)),
}
SLIGHT = 0.3
"""‖difference‖ / ‖weights‖ up to which two tensors are one tensor stored twice; beyond, they are others."""
UNRELATED = 0.5  # median correlation of two files' matrices below which they are not one model
SAMPLE = 1 << 16  # values of a tensor that are looked at for that


@dataclass(frozen=True)
class TensorGap:
    """role; gap: ‖a − b‖ / ‖a‖, infinite for NaN and Inf; correlation of the values; rows: first and last that differ,
    None where most do.
    """

    role: str
    gap: float
    correlation: float
    rows: tuple[int, int] | None = None

    @property
    def other(self) -> bool:
        """Whether it is another tensor, in some rows at least, and not the same stored in another type."""
        return self.gap > SLIGHT or self.rows is not None


def same_shape(one: Spec, other: Spec) -> str | None:
    """None where two descriptions can be compared site by site, else what forbids it."""
    if len(one.layers) != len(other.layers):
        return f"{len(one.layers)} layers and {len(other.layers)}"
    if one.width != other.width:
        return f"width {one.width} and {other.width}"
    if one.vocab != other.vocab:
        return f"{one.vocab} tokens in the vocabulary and {other.vocab}"
    return None


def settings(one: Spec, other: Spec) -> Iterator[Suspect]:
    """Each setting of the second that the first has otherwise."""
    for field in fields(Attention):
        yield from _attention(field.name, one, other)
    if (
        any(a.norm != b.norm for a, b in zip(one.layers, other.layers, strict=True))
        or one.final_norm != other.final_norm
    ):
        yield _norms(one, other)
    if any(a.mlp != b.mlp for a, b in zip(one.layers, other.layers, strict=True)):
        yield _mlps(one, other)
    if any(a.layout != b.layout for a, b in zip(one.layers, other.layers, strict=True)):
        yield Suspect(
            _layers_of("layout", "layout", other, lambda a, b: replace(a, layout=b.layout)), ("resid_mid", "resid_post")
        )
    for name, (fault, felt) in ENDS.items():
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs and name != "final_norm":
            yield Suspect(_end(name, fault, f"{name} {theirs} for {mine}", theirs), felt)


def _end(name: str, fault: str, what: str, value: object) -> Fault:
    return Fault(fault, what, lambda spec, weights: (replace(spec, **{name: value}), weights))  # type: ignore[arg-type]


def _attention(name: str, one: Spec, other: Spec) -> Iterator[Suspect]:
    pairs = [(a.attention, b.attention) for a, b in zip(one.layers, other.layers, strict=True)]
    apart = [(getattr(a, name), getattr(b, name)) for a, b in pairs if getattr(a, name) != getattr(b, name)]
    if not apart:
        return
    mine, theirs = apart[0]
    fault, felt = NAMES.get(name, (name, ("query", "key", "scores")))
    fault = _rope_name(mine, theirs) if name == "rope" else fault
    what = f"{name} {theirs} for {mine}"

    def change(a: Layer, b: Layer) -> Layer:
        return replace(a, attention=replace(a.attention, **{name: getattr(b.attention, name)}))

    yield Suspect(_layers_of(fault, what, other, change), felt)


def _rope_name(mine: object, theirs: object) -> str:
    """What about it differs: base, pairing, width, or the scaling."""
    if type(mine) is not type(theirs) or mine is None or theirs is None:
        return "rope-scaling"
    a, b = _flat(mine), _flat(theirs)
    apart = [key for key in a if a[key] != b[key]]
    return f"rope-{apart[0]}" if len(apart) == 1 else "rope"


def _flat(rope: object) -> dict[str, object]:
    plain = getattr(rope, "plain", None)
    own = {each.name: getattr(rope, each.name) for each in fields(rope) if each.name != "plain"}  # type: ignore[arg-type]
    return own if plain is None else own | _flat(plain)


def _norms(one: Spec, other: Spec) -> Suspect:
    def changed(spec: Spec, weights: Weights) -> tuple[Spec, Weights]:
        layers = tuple(
            replace(a, norm=other.final_norm if not other.layers else other.layers[0].norm) for a in spec.layers
        )
        return replace(spec, layers=layers, final_norm=other.final_norm), weights

    mine, theirs = one.final_norm, other.final_norm
    name = "norm-eps" if mine.kind is theirs.kind and mine.eps != theirs.eps else "norm-kind"
    felt = ("attn_in", "mlp_in", "attn_out", "mlp_out", "resid_mid", "resid_post", "final")
    return Suspect(Fault(name, f"norm {theirs} for {mine}", changed), felt)


def _mlps(one: Spec, other: Spec) -> Suspect:
    mine, theirs = next((a.mlp, b.mlp) for a, b in zip(one.layers, other.layers, strict=True) if a.mlp != b.mlp)
    both = isinstance(mine, Mlp | Moe) and isinstance(theirs, Mlp | Moe) and mine.activation is not theirs.activation
    what = f"{theirs.activation.value} for {mine.activation.value}" if both else f"MLP {theirs} for {mine}"
    fault = _layers_of("activation" if both else "mlp", what, other, lambda a, b: replace(a, mlp=b.mlp))
    return Suspect(fault, ("router", "mlp_hidden", "mlp_out"))


def _layers_of(name: str, what: str, other: Spec, change: object) -> Fault:
    """A fault that takes over something of the other side's layers, one by one."""

    def changed(spec: Spec, weights: Weights) -> tuple[Spec, Weights]:
        layers = tuple(change(a, b) for a, b in zip(spec.layers, other.layers, strict=True))  # type: ignore[operator]
        return replace(spec, layers=layers), weights

    return Fault(name, what, changed)


def gaps(one: Weights, other: Weights) -> list[TensorGap]:
    """Tensors that both have in the same shape and that differ, the largest gap first."""
    found = [
        _gap(role, one[role], other[role]) for role in one if role in other and one[role].shape == other[role].shape
    ]
    return sorted((each for each in found if each.gap > 0), key=lambda each: -each.gap)


def _gap(role: str, a: Array, b: Array) -> TensorGap:
    if a is b:
        return TensorGap(role, 0.0, 1.0)
    x, y = a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64)
    gap = float(np.linalg.norm(x - y) / (np.linalg.norm(x) or 1.0))
    rows = _some_rows(a, b) if gap else None
    if not np.isfinite(gap):
        return TensorGap(role, np.inf, 0.0, rows)
    x, y = x[:SAMPLE], y[:SAMPLE]
    if gap == 0 or x.std() == 0 or y.std() == 0:
        return TensorGap(role, gap, float(gap <= SLIGHT), rows)
    return TensorGap(role, gap, float(np.corrcoef(x, y)[0, 1]), rows)


def _some_rows(a: Array, b: Array) -> tuple[int, int] | None:
    apart = np.flatnonzero((a != b).reshape(len(a), -1).any(axis=1))
    return (int(apart[0]), int(apart[-1])) if a.ndim > 1 and len(apart) <= len(a) / 2 else None


def unrelated(found: list[TensorGap], count: int) -> bool:
    """Whether two files hold weights of different training: most matrices have nothing to do with each other."""
    strange = sum(each.correlation < UNRELATED for each in found)
    return strange > count / 2


def tensors(found: list[TensorGap], other: Weights) -> Iterator[Suspect]:
    """The other side's tensors taken over: each that is another alone, all that are nearly the same together."""
    slight = [each.role for each in found if not each.other]
    for each in (gap for gap in found if gap.other):
        where = "" if each.rows is None else f" in rows {each.rows[0]} to {each.rows[1]}"
        what = f"{each.role} is another tensor{where}: ‖difference‖ {each.gap:.3g} of its size"
        yield Suspect(_taken("corrupt-tensor", what, other, [each.role]), felt_by(each.role))
    if slight:
        sizes = [each.gap for each in found if not each.other]
        what = f"{len(slight)} tensors stored otherwise, by {min(sizes):.1e} … {max(sizes):.1e} of their size"
        felt = tuple(dict.fromkeys(site for role in slight for site in felt_by(role)))
        yield Suspect(_taken("stored-otherwise", what, other, slight), felt)


def _taken(name: str, what: str, other: Weights, roles: list[str]) -> Fault:
    values: Mapping[str, Array] = {role: other[role] for role in roles}

    def changed(spec: Spec, weights: Weights) -> tuple[Spec, Weights]:
        return spec, with_arrays(weights, dict(values))

    return Fault(name, what, changed)


FELT = {
    "embed": ("embed", "logits"),
    "positions": ("embed",),
    "embed_norm": ("embed",),
    "attn_norm": ("attn_in",),
    "query": ("query",),
    "key": ("key",),
    "value": ("value",),
    "query_norm": ("query",),
    "key_norm": ("key",),
    "query_bias": ("query",),
    "key_bias": ("key",),
    "value_bias": ("value",),
    "sinks": ("pattern", "sink_mass"),
    "out": ("attn_out",),
    "out_bias": ("attn_out",),
    "attn_post_norm": ("attn_out",),
    "mlp_norm": ("mlp_in",),
    "router": ("router",),
    "gate": ("mlp_hidden",),
    "up": ("mlp_hidden",),
    "down": ("mlp_out",),
    "mlp_post_norm": ("mlp_out",),
    "final_norm": ("final",),
    "head": ("logits",),
    "head_bias": ("logits",),
}


def felt_by(role: str) -> tuple[str, ...]:
    """Sites at which a tensor is first felt."""
    parts = role.split(".")
    own = parts[2] if parts[0] == "layers" else parts[0]
    if own == "experts":
        return ("mlp_hidden", "mlp_out")
    return FELT.get(own, FELT.get(own.removesuffix("_bias"), ()))
