"""The ledger of weights: every tensor of the file used once, every parameter filled once, else refused.

A `Rule` maps one tensor of the file, through a named transform, to one or several roles. There is no second way in.
Roles are the product's own names (`layers.3.query` [h d c]); linear weights are stored [out in].
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from whybox.errors import FormatError, LedgerError
from whybox.formats import WeightFile
from whybox.spec import Layer, Layout, Mlp, Moe, Norm, QkNorm, Spec

Array = np.ndarray
Transform = Callable[[Array, Layer | None], tuple[Array, ...]]


@dataclass(frozen=True)
class Rule:
    """`tensor` and `roles` may hold {l} (layer) and {e} (expert); a role with {each} stands for every expert in turn.

    unused: the tensor holds no parameter (a stored mask, a copy of the tied embedding); why says so.
    """

    tensor: str
    roles: tuple[str, ...]
    transform: Transform
    unused: str = ""


@dataclass(frozen=True)
class Weights(Mapping[str, Array]):
    """Read-only arrays by role, and the lines of the ledger: (tensor, transform or why it is unused, roles)."""

    arrays: Mapping[str, Array]
    ledger: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    def __getitem__(self, role: str) -> Array:
        return self.arrays[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def parameters(spec: Spec) -> dict[str, tuple[int, ...]]:
    """Role → shape of every parameter that this Spec needs."""
    shapes: dict[str, tuple[int, ...]] = {"embed": (spec.vocab, spec.width)}
    if spec.positions is not None:
        shapes["positions"] = (spec.positions.count, spec.width)
    if spec.embed_norm is not None:
        shapes |= _norm("embed_norm", spec.embed_norm, (spec.width,))
    for index, layer in enumerate(spec.layers):
        shapes |= {f"layers.{index}.{role}": shape for role, shape in _layer(layer, spec.width).items()}
    shapes |= _norm("final_norm", spec.final_norm, (spec.width,))
    if not spec.tied:
        shapes["head"] = (spec.vocab, spec.width)
    if spec.head_bias:
        shapes["head_bias"] = (spec.vocab,)
    return shapes


def _norm(role: str, norm: Norm, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    gain = {f"{role}.gain": shape}
    return gain | {f"{role}.bias": shape} if norm.bias else gain


NORM_ROLES: dict[Layout, tuple[str, ...]] = {
    Layout.PRE: ("attn_norm", "mlp_norm"),
    Layout.POST: ("attn_norm", "mlp_norm"),
    Layout.SANDWICH: ("attn_norm", "attn_post_norm", "mlp_norm", "mlp_post_norm"),
    Layout.INNER_POST: ("attn_post_norm", "mlp_post_norm"),
    Layout.PARALLEL: ("attn_norm", "mlp_norm"),
}


def _layer(layer: Layer, c: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for role in NORM_ROLES[layer.layout]:
        shapes |= _norm(role, layer.norm, (c,))
    return shapes | _attention(layer, c) | _mlp(layer.mlp, c)


def _attention(layer: Layer, c: int) -> dict[str, tuple[int, ...]]:
    a = layer.attention
    h, g, d = a.heads, a.kv_heads, a.head_width
    shapes: dict[str, tuple[int, ...]] = {"query": (h, d, c), "key": (g, d, c), "value": (g, d, c), "out": (c, h, d)}
    if a.bias:
        shapes |= {"query_bias": (h, d), "key_bias": (g, d), "value_bias": (g, d)}
    if a.out_bias:
        shapes["out_bias"] = (c,)
    if a.qk_norm is QkNorm.PER_HEAD:
        shapes |= {"query_norm.gain": (d,), "key_norm.gain": (d,)}
    if a.qk_norm is QkNorm.WHOLE:
        shapes |= {"query_norm.gain": (h * d,), "key_norm.gain": (g * d,)}
    if a.sinks:
        shapes["sinks"] = (h,)
    return shapes


def _mlp(mlp: Mlp | Moe, c: int) -> dict[str, tuple[int, ...]]:
    f = mlp.width
    if isinstance(mlp, Moe):
        experts: dict[str, tuple[int, ...]] = {
            f"experts.{e}.{role}": shape
            for e in range(mlp.experts)
            for role, shape in (("gate", (f, c)), ("up", (f, c)), ("down", (c, f)))
        }
        return experts | {"router": (mlp.experts, c)}
    shapes: dict[str, tuple[int, ...]] = {"up": (f, c), "down": (c, f)}
    if mlp.gated:
        shapes["gate"] = (f, c)
    if mlp.bias:
        shapes |= {"up_bias": (f,), "down_bias": (c,)}
        if mlp.gated:
            shapes["gate_bias"] = (f,)
    return shapes


def load(file: WeightFile, spec: Spec, rules: tuple[Rule, ...]) -> Weights:
    """All parameters, each filled once. LedgerError with both lists when file and model do not match."""
    expected = parameters(spec)
    matched = {name: _match(name, rules, spec) for name in file.tensors}
    filled = Counter(role for hit in matched.values() if hit is not None for role in hit.roles)
    file_only = sorted(name for name, hit in matched.items() if hit is None)
    file_only += sorted(role for role in filled if role not in expected or filled[role] > 1)
    model_only = sorted(role for role in expected if role not in filled)
    if file_only or model_only:
        raise LedgerError(file.path, file_only, model_only, "the file is not of this family, or is incomplete")
    hits = [(name, hit) for name, hit in matched.items() if hit is not None]
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda pair: _fill(file, pair[0], pair[1], spec, expected), hits)
        arrays = {role: array for part in parts for role, array in part.items()}
    ledger = tuple((name, hit.rule.unused or hit.rule.transform.__name__, hit.roles) for name, hit in hits)
    return Weights(arrays, ledger)


@dataclass(frozen=True)
class _Hit:
    rule: Rule
    layer: int | None
    roles: tuple[str, ...]


def _match(name: str, rules: tuple[Rule, ...], spec: Spec) -> _Hit | None:
    for rule in rules:
        found = re.fullmatch(_pattern(rule.tensor), name)
        if found is None:
            continue
        places = {key: int(value) for key, value in found.groupdict().items()}
        layer = places.get("l")
        if layer is not None and layer >= len(spec.layers):
            return None
        experts = 0 if layer is None else _experts(spec.layers[layer])
        return _Hit(rule, layer, tuple(name for role in rule.roles for name in _named(role, places, experts)))
    return None


def _named(role: str, places: dict[str, int], experts: int) -> tuple[str, ...]:
    if "{each}" not in role:
        return (role.format(**places),)
    return tuple(role.format(**places, each=e) for e in range(experts))


def _experts(layer: Layer) -> int:
    return layer.mlp.experts if isinstance(layer.mlp, Moe) else 0


def _pattern(template: str) -> str:
    return re.escape(template).replace(r"\{l\}", r"(?P<l>\d+)").replace(r"\{e\}", r"(?P<e>\d+)")


def _fill(file: WeightFile, name: str, hit: _Hit, spec: Spec, expected: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    if hit.rule.unused:
        return {}
    layer = None if hit.layer is None else spec.layers[hit.layer]
    try:
        arrays = hit.rule.transform(file.read(name), layer)
        shaped = [_exactly(array, expected[role]) for array, role in zip(arrays, hit.roles, strict=True)]
    except ValueError:
        wanted = ", ".join(f"{role} {expected[role]}" for role in hit.roles)
        raise FormatError(file.path, name, f"the shape of {wanted}", f"shape {file.tensors[name].shape}") from None
    for array in shaped:
        array.flags.writeable = False
    return dict(zip(hit.roles, shaped, strict=True))


def _exactly(array: Array, shape: tuple[int, ...]) -> Array:
    if array.shape != shape:
        raise ValueError(array.shape)
    return np.ascontiguousarray(array)


def in_precision(weights: Weights, dtype: type[np.floating]) -> Weights:
    """The same parameters in another precision (as they are, where they have it): float64 holds every float32."""
    if all(array.dtype == dtype for array in weights.values()):
        return weights
    return Weights({role: array.astype(dtype) for role, array in weights.items()}, weights.ledger)
