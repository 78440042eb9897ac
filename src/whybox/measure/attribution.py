"""Direct logit attribution: how much of LD each part wrote itself, into the direction right − wrong.

    u = (W_U[right] − W_U[wrong]) ⊙ γ ÷ rms(last residual), at one row
    LD = Σ ⟨u, what it wrote⟩ over embedding, heads, MLPs and biases

Coordinates: weights as in the file, nothing folded or centred (`folded` gives the heads as they are when value biases
are folded into the output bias, as TransformerLens does); norms frozen at this run's scale, a branch's own norm
(behind attention or MLP) included in what the branch adds; before a final soft-cap. A LayerNorm's centring is linear,
and its bias stands among the biases. What was written, not what would happen without it.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from whybox.engine.trace import Trace, Wish
from whybox.errors import UnsupportedError
from whybox.parts.moe import route
from whybox.spec import Layer, Layout, Moe, Norm, NormKind, Spec

Array = np.ndarray


@runtime_checkable
class Roles(Protocol):
    """Weights by role."""

    def __getitem__(self, role: str) -> Array: ...

    def rows(self, role: str, chosen: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class DirectAttribution:
    """Contributions to LD, in logits. heads: [h] for each layer; mlps: one number for each layer, [e] in a mixture.

    biases: of output projections, of the last norm, of the head. ld: before a final soft-cap. value_biases: what each
    head wrote of its value bias, on any text alike, which is a part of `heads`; 0 where there is none, and beside a
    learned sink, where it is no constant.
    """

    embedding: float
    heads: tuple[Float[np.ndarray, "_"], ...]
    mlps: tuple[Float[np.ndarray, "_"], ...]
    biases: float
    ld: float
    value_biases: tuple[Float[np.ndarray, "_"], ...]

    @property
    def folded(self) -> tuple[Float[np.ndarray, "_"], ...]:
        """The heads without their value biases."""
        return tuple(head - bias for head, bias in zip(self.heads, self.value_biases, strict=True))

    @property
    def total(self) -> float:
        """The sum of all contributions; equal to `ld` up to rounding, where no edit broke the sum."""
        written = sum(float(values.sum()) for values in (*self.heads, *self.mlps))
        return self.embedding + written + self.biases

    def writers(self, count: int = 10) -> list[tuple[str, float]]:
        """The parts that wrote most, by size: ("head 18.7", 1.2), ("MLP 29", −.4)."""
        heads = [(f"head {layer}.{h}", float(v)) for layer, row in enumerate(self.heads) for h, v in enumerate(row)]
        mlps = [(f"MLP {layer}", float(row.sum())) for layer, row in enumerate(self.mlps)]
        return sorted((*heads, *mlps), key=lambda part: -abs(part[1]))[:count]


def wishes(spec: Spec) -> tuple[Wish, ...]:
    """The sites that a trace must keep. UnsupportedError for a family with a norm behind the addition."""
    require_sum(spec)
    last = len(spec.layers) - 1
    experts = tuple(i for i, layer in enumerate(spec.layers) if isinstance(layer.mlp, Moe))
    routed: tuple[Wish, ...] = (("router", experts), ("mlp_hidden", experts)) if experts else ()
    return ("embed", "head_out", "mlp_out", ("resid_post", last), "final", *routed)


def require_sum(spec: Spec) -> None:
    """UnsupportedError where the last residual is no sum of what the parts wrote."""
    after = [str(i) for i, layer in enumerate(spec.layers) if layer.layout is Layout.POST]
    if after:
        raise UnsupportedError(
            f"{spec.family} has a norm behind the addition (layers {', '.join(after[:3])}{' …' if after[3:] else ''}): "
            "its residual stream is no sum of what heads and MLPs wrote, so nothing can be attributed directly",
            "ablate heads and MLPs instead (whybox.cause.ablation), or use the logit lens",
        )


def direct_attribution(trace: Trace, weights: Roles, right: int, wrong: int, row: int = -1) -> DirectAttribution:
    """Contributions to LD at one of the rows whose logits were computed; the trace kept `wishes(trace.spec)`."""
    spec = trace.spec
    require_sum(spec)
    offset = row if row >= 0 else trace.rows.stop + row
    at = offset - trace.start
    head = weights.rows("embed" if spec.tied else "head", np.array([right, wrong])).astype(np.float64)
    reading = _Reading.of(trace, weights, head[0] - head[1], at)
    final = trace["final"][offset - trace.rows.start if len(trace["final"]) < len(trace.ids) else at].astype(np.float64)
    bias = float(weights["head_bias"][right] - weights["head_bias"][wrong]) if spec.head_bias else 0.0
    layers = [_Branch(trace, weights, reading, index, at) for index in range(len(spec.layers))]
    scale = spec.logit_scale
    return DirectAttribution(
        embedding=scale * reading.of_written(trace["embed"][at]),
        heads=tuple(scale * layer.heads() for layer in layers),
        mlps=tuple(scale * layer.mlp() for layer in layers),
        biases=scale * (reading.constant + bias + sum(layer.out_bias() for layer in layers)),
        ld=scale * (float(final @ reading.unembedded) + bias),
        value_biases=tuple(scale * layer.value_biases() for layer in layers),
    )


@dataclass(frozen=True, eq=False)
class _Reading:
    """The last norm frozen: ⟨direction, written⟩ + constant. unembedded: W_U[right] − W_U[wrong]."""

    unembedded: Float[np.ndarray, "c"]
    direction: Float[np.ndarray, "c"]
    constant: float

    @classmethod
    def of(cls, trace: Trace, weights: Roles, unembedded: Float[np.ndarray, "c"], at: int) -> "_Reading":
        norm = trace.spec.final_norm
        residual = trace["resid_post", len(trace.spec.layers) - 1][at]
        constant = float(weights["final_norm.bias"] @ unembedded) if norm.bias else 0.0
        return cls(unembedded, _through(norm, weights["final_norm.gain"], residual, unembedded), constant)

    def of_written(self, written: Float[np.ndarray, "c"]) -> float:
        return float(written.astype(np.float64) @ self.direction)


def _through(
    norm: Norm, gain: Float[np.ndarray, "c"], x: Float[np.ndarray, "c"], unembedded: Float[np.ndarray, "c"]
) -> Float[np.ndarray, "c"]:
    """The direction before a norm that stands at this x: γ ⊙ u ÷ rms, and centred where the norm centres."""
    wide = x.astype(np.float64)
    weighted = gain.astype(np.float64) * unembedded
    if norm.kind is NormKind.LAYER:
        wide, weighted = wide - wide.mean(), weighted - weighted.mean()
    return weighted / np.sqrt((wide**2).mean() + norm.eps)


@dataclass(frozen=True, eq=False)
class _Branch:
    """One layer's attention and MLP at one row, as the last norm reads them."""

    trace: Trace
    weights: Roles
    reading: _Reading
    index: int
    at: int

    @property
    def layer(self) -> Layer:
        return self.trace.spec.layers[self.index]

    def heads(self) -> Float[np.ndarray, "h"]:
        """⟨u, W_O[h] · head_out[h]⟩ for each head."""
        return (self._reads() * self._site("head_out")).sum(axis=-1)

    def value_biases(self) -> Float[np.ndarray, "h"]:
        """⟨u, W_O[h] · b_V⟩: the weights of a row sum to 1, so its value bias comes through whole."""
        attention = self.layer.attention
        if not attention.bias or attention.sinks:
            return np.zeros(attention.heads)
        bias = np.repeat(self._weight("value_bias"), attention.heads // attention.kv_heads, axis=0)
        return (self._reads() * bias).sum(axis=-1)

    def _reads(self) -> Float[np.ndarray, "h d"]:
        """What the direction reads of each head's output."""
        return np.einsum("c,chd->hd", self._towards("attn", self._written()), self._weight("out").astype(np.float64))

    def out_bias(self) -> float:
        """Biases of the output projection, and of the norms behind the branches."""
        biases = [self._norm_bias("attn"), self._norm_bias("mlp") if isinstance(self.layer.mlp, Moe) else 0.0]
        if self.layer.attention.out_bias:
            biases.append(float(self._towards("attn", self._written()) @ self._weight("out_bias")))
        return sum(biases)

    def mlp(self) -> Float[np.ndarray, "e"]:
        """⟨u, mlp_out⟩; in a mixture of experts its share from each of them."""
        if not isinstance(self.layer.mlp, Moe):
            return np.array([self.reading.of_written(self.trace["mlp_out", self.index][self.at])])
        written = self._experts(self.layer.mlp)
        return written @ self._towards("mlp", written.sum(axis=0))

    def _experts(self, moe: Moe) -> Float[np.ndarray, "e c"]:
        """gate · W_down · hidden of each expert; 0 of those that were not chosen."""
        (gates,) = route(self._site("router")[None], moe.active, moe.normalise)
        hidden = self._site("mlp_hidden")
        downs = ((e, self._weight(f"experts.{e}.down")) for e in range(moe.experts))
        return np.stack([gates[e] * (down.astype(np.float64) @ hidden[e]) for e, down in downs])

    def _written(self) -> Float[np.ndarray, "c"]:
        """What the output projection makes of all heads, its bias included."""
        out = np.einsum("chd,hd->c", self._weight("out").astype(np.float64), self._site("head_out"))
        return out + self._weight("out_bias") if self.layer.attention.out_bias else out

    def _towards(self, branch: str, written: Float[np.ndarray, "c"]) -> Float[np.ndarray, "c"]:
        """The direction as the branch sees it, through its own norm where one stands behind it."""
        if not self._has_post_norm():
            return self.reading.direction
        gain = self._weight(f"{branch}_post_norm.gain")
        return _through(self.layer.norm, gain, written, self.reading.direction)

    def _norm_bias(self, branch: str) -> float:
        if not self._has_post_norm() or not self.layer.norm.bias:
            return 0.0
        return float(self._weight(f"{branch}_post_norm.bias") @ self.reading.direction)

    def _has_post_norm(self) -> bool:
        return self.layer.layout in (Layout.SANDWICH, Layout.INNER_POST)

    def _site(self, name: str) -> Float[np.ndarray, "..."]:
        return self.trace[name, self.index][self.at].astype(np.float64)

    def _weight(self, role: str) -> Array:
        return self.weights[f"layers.{self.index}.{role}"]
