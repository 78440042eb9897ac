"""Weights as torch tensors, ready for products: what is read together lies together.

Query, key and value are one matrix, and so are gate and up: one product instead of two or three. Precision is chosen
here once; the arithmetic above asks `linear(x, w)` and never which kind of weight it holds.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import assert_never, overload

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float

from whybox.engine.fast.precision import CODED, Precision, require_precision
from whybox.engine.fast.products import Linear, dense, finite, laid_out, linear, quantised, quantised_4bit
from whybox.errors import NonFiniteError
from whybox.spec import Attention, Layer, Mlp, Moe, Norm, NormKind, Spec
from whybox.weights import NORM_ROLES, Streamed, Weights, parameters

__all__ = [
    "Packed",
    "PackedLayer",
    "PackedMlp",
    "PackedMoe",
    "PackedNorm",
    "StreamedLayers",
    "linear",
    "norm",
    "pack",
    "pack_streamed",
    "shared_views",
]

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PackedNorm:
    """A norm with its parameters."""

    gain: Float[torch.Tensor, "c"]
    bias: Float[torch.Tensor, "c"] | None
    norm: Norm

    @cached_property
    def stretched(self) -> Float[torch.Tensor, "c"]:
        """gain · √c, in float32 at least: x / ‖x‖ is √c times shorter than x / √(mean(x²))."""
        with torch.inference_mode(False):  # so that a run with gradients may use what a plain run has made
            return self.gain.to(torch.promote_types(self.gain.dtype, torch.float32)) * len(self.gain) ** 0.5

    @cached_property
    def least(self) -> Float[torch.Tensor, ""]:
        """√(c·ε), what the length of a row is extended by."""
        with torch.inference_mode(False):
            return self.stretched.new_tensor((len(self.gain) * self.norm.eps) ** 0.5)


def norm(x: Float[torch.Tensor, "*rows c"], w: PackedNorm) -> Float[torch.Tensor, "*rows c"]:
    """gain · x / √(mean(x²) + ε), or LayerNorm; computed in float32 at least, rounded once at the end.

    √(mean(x²) + ε) = hypot(‖x‖, √(c·ε)) / √c, in four passes where torch's own RMSNorm takes six on a CPU.
    """
    match w.norm.kind:
        case NormKind.RMS:
            wide = x.to(w.stretched.dtype)
            length = torch.hypot(torch.linalg.vector_norm(wide, dim=-1, keepdim=True), w.least)
            return (wide / length).mul_(w.stretched).to(x.dtype)
        case NormKind.LAYER:
            return F.layer_norm(x, w.gain.shape, w.gain, w.bias, w.norm.eps)
        case _:
            assert_never(w.norm.kind)


@dataclass(frozen=True, eq=False)
class PackedMlp:
    """gate_up: rows of the gate, then of up [2f c]; without a gate, up alone [f c]. down: [c f]."""

    gate_up: Linear
    down: Linear


@dataclass(frozen=True, eq=False)
class PackedMoe:
    """The router [e c] and the experts' gated MLPs."""

    router: Linear
    experts: tuple[PackedMlp, ...]


@dataclass(frozen=True, eq=False)
class PackedLayer:
    """One layer. qkv: rows of the h queries, the g keys, the g values [(h + 2g)·d c]. out: [c h·d].

    norms: by role (attn_norm, attn_post_norm, mlp_norm, mlp_post_norm), those that the layout has. sound: all that
    queries and keys are made with are numbers; fused attention gives 0 for a query that is not.
    """

    layer: Layer
    qkv: Linear
    out: Linear
    norms: Mapping[str, PackedNorm]
    query_norm: Float[torch.Tensor, "..."] | None
    key_norm: Float[torch.Tensor, "..."] | None
    sinks: Float[torch.Tensor, "h"] | None
    mlp: PackedMlp | PackedMoe
    sound: bool


@dataclass(frozen=True, eq=False)
class Packed:
    """A whole model. embed is the table of rows to look up; head is its product with the last residual stream."""

    spec: Spec
    precision: Precision
    device: torch.device
    embed: Float[torch.Tensor, "v c"]
    positions: Float[torch.Tensor, "p c"] | None
    embed_norm: PackedNorm | None
    layers: Sequence[PackedLayer]
    final_norm: PackedNorm
    head: Linear


def pack(spec: Spec, weights: Mapping[str, Array], precision: Precision, device: torch.device) -> Packed:
    """All weights at once. In fp32 on a CPU what needs no fusing is shared with `weights`, not copied.

    Raises UsageError for a precision that the device is no good at.
    """
    return _whole(spec, weights, precision, device, tuple)


def pack_streamed(spec: Spec, weights: Mapping[str, Array], precision: Precision, device: torch.device) -> Packed:
    """The same model, with each layer packed when it is asked for, and not kept."""
    return _whole(spec, weights, precision, device, lambda layers: layers)


def _whole(
    spec: Spec,
    weights: Mapping[str, Array],
    precision: Precision,
    device: torch.device,
    held: Callable[["StreamedLayers"], Sequence[PackedLayer]],
) -> Packed:
    require_precision(precision, device)
    packer = _Packer(weights, precision, device)
    embed = packer.tensor("embed")
    return Packed(
        spec,
        precision,
        device,
        embed,
        positions=packer.tensor("positions") if spec.positions is not None else None,
        embed_norm=packer.norm("embed_norm", spec.embed_norm) if spec.embed_norm is not None else None,
        layers=held(StreamedLayers(spec, weights, precision, device)),
        final_norm=packer.norm("final_norm", spec.final_norm),
        head=packer.head(spec, embed),
    )


@dataclass(frozen=True, eq=False)
class StreamedLayers(Sequence[PackedLayer]):
    """Layers that are packed when asked for and kept by nobody: memory for one layer at a time."""

    spec: Spec
    weights: Mapping[str, Array]
    precision: Precision
    device: torch.device

    def __len__(self) -> int:
        return len(self.spec.layers)

    @property
    def passing(self) -> int:
        """Bytes of the largest layer, as it is packed and in the float32 that it is packed from."""
        sizes: dict[str, int] = {}
        for role, shape in parameters(self.spec).items():
            if role.startswith("layers."):
                layer = role.split(".")[1]
                sizes[layer] = sizes.get(layer, 0) + math.prod(shape)
        return max(sizes.values(), default=0) * (4 + self.precision.compute.itemsize)

    @overload
    def __getitem__(self, index: int) -> PackedLayer: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PackedLayer]: ...
    def __getitem__(self, index: int | slice) -> PackedLayer | Sequence[PackedLayer]:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        place = range(len(self))[index]
        return _LayerPacker(self.weights, self.precision, self.device, place).layer(self.spec.layers[place])


@dataclass(frozen=True)
class _Packer:
    """Turns role arrays into tensors of one precision on one device."""

    weights: Mapping[str, Array]
    precision: Precision
    device: torch.device

    def raw(self, *roles: str) -> torch.Tensor:
        """The roles' rows below one another, as they are held: [rows in]."""
        parts = [self.given(role).flatten(0, -2) for role in roles]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def given(self, role: str) -> torch.Tensor:
        """A role as it is held. NonFiniteError for NaN and Inf where it is to be rounded to codes, which hide them."""
        tensor = _shared(self.weights[role])
        if self.precision in CODED and not finite(tensor):
            require_finite(tensor, role)
        return tensor

    def tensor(self, role: str) -> torch.Tensor:
        return self.cast(_shared(self.weights[role]))

    def cast(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device, self.precision.compute)

    def product(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> Linear:
        match self.precision:
            case Precision.INT8:
                return quantised(weight.to(self.device), bias)
            case Precision.INT4:
                return quantised_4bit(weight.to(self.device), bias)
            case _:
                return laid_out(self.cast(weight), bias)

    def head(self, spec: Spec, embed: torch.Tensor) -> Linear:
        """A tied head is the table itself; rounded, to 8 bits at least, it is made from the unrounded table."""
        bias = self.tensor("head_bias") if spec.head_bias else None
        if self.precision in CODED:
            return quantised(self.raw("embed" if spec.tied else "head").to(self.device), bias)
        return laid_out(embed, bias) if spec.tied else self.product(self.raw("head"), bias)

    def norm(self, role: str, norm: Norm) -> PackedNorm:
        bias = self.tensor(f"{role}.bias") if norm.bias else None
        return PackedNorm(self.tensor(f"{role}.gain"), bias, norm)


@dataclass(frozen=True)
class _LayerPacker(_Packer):
    """The same for the roles of layer `index`."""

    index: int

    def layer(self, layer: Layer) -> PackedLayer:
        a = layer.attention
        return PackedLayer(
            layer,
            qkv=self.linear(("query", "key", "value"), a.bias),
            out=self.product(self.whole("out").flatten(1), self.biases(("out",), a.out_bias)),
            norms={role: self.norm(f"layers.{self.index}.{role}", layer.norm) for role in NORM_ROLES[layer.layout]},
            query_norm=self.tensor(self.at("query_norm.gain")) if a.qk_norm is not None else None,
            key_norm=self.tensor(self.at("key_norm.gain")) if a.qk_norm is not None else None,
            sinks=self.tensor(self.at("sinks")) if a.sinks else None,
            mlp=self.mixture(layer.mlp) if isinstance(layer.mlp, Moe) else self.mlp(layer.mlp),
            sound=all(finite(_shared(self.weights[self.at(role)])) for role in self.turning(a)),
        )

    def turning(self, a: Attention) -> list[str]:
        """Roles of which queries and keys are made."""
        parts = ["{}", *["{}_bias"] * a.bias, *["{}_norm.gain"] * (a.qk_norm is not None)]
        return [part.format(role) for role in ("query", "key") for part in parts]

    def mlp(self, mlp: Mlp) -> PackedMlp:
        wide = ("gate", "up") if mlp.gated else ("up",)
        return PackedMlp(self.linear(wide, mlp.bias), self.linear(("down",), mlp.bias))

    def mixture(self, moe: Moe) -> PackedMoe:
        experts = (
            PackedMlp(self.linear((f"experts.{e}.gate", f"experts.{e}.up")), self.linear((f"experts.{e}.down",)))
            for e in range(moe.experts)
        )
        return PackedMoe(self.linear(("router",)), tuple(experts))

    def linear(self, roles: tuple[str, ...], has_bias: bool = False) -> Linear:
        return self.product(self.raw(*map(self.at, roles)), self.biases(roles, has_bias))

    def biases(self, roles: tuple[str, ...], has_bias: bool) -> torch.Tensor | None:
        if not has_bias:
            return None
        return torch.cat([self.tensor(self.at(f"{role}_bias")).flatten() for role in roles])

    def whole(self, role: str) -> torch.Tensor:
        return self.given(self.at(role))

    def at(self, role: str) -> str:
        return f"layers.{self.index}.{role}"


def require_finite(tensor: torch.Tensor, role: str) -> None:
    """NonFiniteError names the role, and the row of the first NaN or Inf."""
    good = torch.isfinite(tensor)
    if not bool(good.all()):
        largest = f"largest |{role}| is {float(tensor[good].abs().max()) if bool(good.any()) else 0.0:.6g}"
        row = int(torch.nonzero(~good)[0, 0])
        raise NonFiniteError(role, None, row, largest, "check the file's digest; fp32 shows what it does", "weight")


def shared_views(packed: Packed, weights: Weights) -> Weights:
    """The same parameters as read-only views of what is packed, so that the arrays they came from can be let go.

    Where the packed numbers are others (lower precision, another device, streamed layers) `weights` itself.
    """
    held = isinstance(packed.layers, tuple) and not isinstance(weights, Streamed)
    if packed.precision is not Precision.FP32 or packed.device.type != "cpu" or not held:
        return weights
    views: dict[str, Array] = {}
    for index, layer in enumerate(packed.layers):
        place = partial(f"layers.{index}.{{}}".format)
        for roles, fused in _fused(layer):
            views |= _split({place(role): weights[place(role)].shape for role in roles}, fused)
    return Weights({role: views.get(role, array) for role, array in weights.items()}, weights.ledger, weights.origin)


def _fused(layer: PackedLayer) -> Iterator[tuple[tuple[str, ...], torch.Tensor]]:
    """Which roles lie in which fused matrix, in order."""
    products: list[tuple[tuple[str, ...], Linear]] = [(("query", "key", "value"), layer.qkv)]
    if isinstance(layer.mlp, PackedMoe):
        products += [
            ((f"experts.{e}.gate", f"experts.{e}.up"), expert.gate_up) for e, expert in enumerate(layer.mlp.experts)
        ]
    elif isinstance(layer.layer.mlp, Mlp) and layer.layer.mlp.gated:
        products.append((("gate", "up"), layer.mlp.gate_up))
    for roles, product in products:
        yield roles, dense(product)


def _split(shapes: Mapping[str, tuple[int, ...]], fused: torch.Tensor) -> dict[str, Array]:
    views, first = {}, 0
    for role, shape in shapes.items():
        rows = int(np.prod(shape[:-1]))
        view = fused[first : first + rows].numpy().reshape(shape)
        view.flags.writeable = False
        views[role], first = view, first + rows
    return views


class _Alias:
    """An array's memory under an interface that says writable: torch warns about any that is not.

    Nothing in this package writes to weights.
    """

    def __init__(self, array: Array) -> None:
        self.array = array  # keeps the memory alive
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _shared(array: Array) -> torch.Tensor:
    return torch.from_numpy(np.asarray(_Alias(np.ascontiguousarray(array))))
