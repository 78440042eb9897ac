"""The ledger of weights: every tensor of the file used once, every parameter filled once, else refused.

A `Rule` maps one tensor of the file, through a named transform, to one or several roles. There is no second way in.
Roles are the product's own names (`layers.3.query` [h d c]); linear weights are stored [out in].

Two ways to have them: `load` decodes all and holds them; `stream` holds the vectors, and decodes a matrix from the file
whenever it is asked for. The ledger is the same, and so are the values.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import ClassVar

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


@dataclass(frozen=True, eq=False)
class Origin:
    """Where numbers come from: a file, told by its digest, or this process alone. Precisions of the same share one."""

    digest: Callable[[], str] | None = None

    def is_of(self, other: "Origin") -> bool:
        """Whether both are the same numbers. Reads files only where two were opened, and each once."""
        if self is other:
            return True
        return self.digest is not None and other.digest is not None and self.digest() == other.digest()


@dataclass(frozen=True)
class Weights(Mapping[str, Array]):
    """Read-only arrays by role, and the lines of the ledger: (tensor, transform or why it is unused, roles)."""

    arrays: Mapping[str, Array]
    ledger: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    origin: Origin = field(default_factory=Origin, compare=False, repr=False)
    said: ClassVar[str] = ""

    def __getitem__(self, role: str) -> Array:
        return self.arrays[role]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """What all of them are made of."""
        return self.arrays["embed"].dtype

    @property
    def passing(self) -> int:
        """Bytes that a run decodes and holds for a while: none, all are there."""
        return 0

    def rows(self, role: str, chosen: Array) -> Array:
        """Some rows of a table [v c]."""
        return self[role][chosen]

    def slices(self, role: str) -> Iterator[tuple[slice, Array]]:
        """A table [v c] piece by piece: which rows, and the rows."""
        yield slice(None), self[role]

    def cast(self, dtype: np.dtype[np.floating]) -> "Weights":
        """The same parameters in another precision."""
        return replace(self, arrays={role: array.astype(dtype) for role, array in self.arrays.items()})


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
    pieces, ledger, shapes = _settle(file, spec, rules)
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda piece: _fill(file, piece, shapes), pieces)
        arrays = {role: array for part in parts for role, array in part.items()}
    return Weights(arrays, ledger, Origin(file.digest))


Shapes = Mapping[str, tuple[int, ...]]
Ledger = tuple[tuple[str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class _Piece:
    """What is decoded at once: a tensor, or of a stack of experts one entry of its first axis."""

    tensor: str
    transform: Transform
    layer: Layer | None
    roles: tuple[str, ...]
    rows: slice | None = None


def _settle(file: WeightFile, spec: Spec, rules: tuple[Rule, ...]) -> tuple[tuple[_Piece, ...], Ledger, Shapes]:
    """The ledger: which tensor fills which roles, before anything is read."""
    shapes = parameters(spec)
    matched = {name: _match(name, rules, spec) for name in file.tensors}
    filled = Counter(role for hit in matched.values() if hit is not None for role in hit.roles)
    file_only = sorted(name for name, hit in matched.items() if hit is None)
    file_only += sorted(role for role in filled if role not in shapes or filled[role] > 1)
    model_only = sorted(role for role in shapes if role not in filled)
    if file_only or model_only:
        raise LedgerError(file.path, file_only, model_only, "the file is not of this family, or is incomplete")
    hits = [(name, hit) for name, hit in matched.items() if hit is not None]
    pieces = tuple(
        _Piece(name, hit.rule.transform, None if hit.layer is None else spec.layers[hit.layer], hit.roles)
        for name, hit in hits
        if not hit.rule.unused
    )
    ledger = tuple((name, hit.rule.unused or hit.rule.transform.__name__, hit.roles) for name, hit in hits)
    return pieces, ledger, shapes


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


def _fill(file: WeightFile, piece: _Piece, shapes: Shapes) -> dict[str, Array]:
    arrays = _transformed(file, piece, file.read(piece.tensor, piece.rows), shapes)
    filled = {role: _owned(np.ascontiguousarray(array)) for role, array in arrays.items()}
    for array in filled.values():
        array.flags.writeable = False
    return filled


def _owned(array: Array) -> Array:
    """In memory of its own: a view of the file's map would end the process when the file is cut short."""
    holder: object = array
    while isinstance(holder, np.ndarray):
        holder = holder.base
    return array if holder is None else array.copy()


def _transformed(file: WeightFile, piece: _Piece, stored: Array, shapes: Shapes) -> dict[str, Array]:
    """What each role becomes. FormatError where the stored shape does not lead to the shapes of the roles."""
    try:
        arrays = dict(zip(piece.roles, piece.transform(stored, piece.layer), strict=True))
        fits = all(array.shape == shapes[role] for role, array in arrays.items())
    except ValueError:
        fits = False
    if not fits:
        wanted = ", ".join(f"{role} {shapes[role]}" for role in piece.roles)
        found = f"shape {file.tensors[piece.tensor].shape}"
        raise FormatError(file.path, piece.tensor, f"the shape of {wanted}", found)
    return arrays


def in_precision(weights: Weights, dtype: type[np.floating]) -> Weights:
    """The same parameters in another precision, as they are where they have it: float64 holds every float32."""
    return weights if weights.dtype == dtype else weights.cast(np.dtype(dtype))


# Decoded as they are used

SLICE_VALUES = 1 << 24  # of a table that are decoded at a time: 64 MiB of float32


@dataclass(frozen=True)
class Streamed(Weights):
    """Holds the vectors; a matrix is decoded from the memory map whenever it is asked for, and is not kept.

    `waiting`: what the last tensor holds for other roles (a fused query, key and value) stays until it is asked for.
    """

    file: WeightFile = field(kw_only=True, repr=False)
    pieces: Mapping[str, _Piece] = field(kw_only=True, repr=False)
    shapes: Shapes = field(kw_only=True, repr=False)
    kind: np.dtype[np.floating] = field(kw_only=True)
    waiting: dict[str, Array] = field(default_factory=dict, kw_only=True, repr=False)
    said: ClassVar[str] = "-streamed"

    def __getitem__(self, role: str) -> Array:
        if role in self.arrays:
            return self.arrays[role]
        array = self.waiting.pop(role, None)
        if array is None:
            found = _fill(self.file, self.pieces[role], self.shapes)
            array = found.pop(role)
            self.waiting.clear()
            self.waiting.update(found)
            self.file.release()
        return array.astype(self.kind, copy=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def dtype(self) -> np.dtype[np.floating]:
        return self.kind

    @property
    def passing(self) -> int:
        """Bytes of two of the largest matrices of a layer (gate and up), or of one slice of a table."""
        largest = max(math.prod(shape) for role, shape in self.shapes.items() if role.startswith("layers."))
        return max(2 * largest, SLICE_VALUES) * self.kind.itemsize

    def rows(self, role: str, chosen: Array | slice) -> Array:
        """Some rows of a table [v c], decoded alone. Tables are those roles that are stored as they are."""
        if role in self.arrays:
            return self.arrays[role][chosen]
        piece = self.pieces[role]
        (array,) = piece.transform(self.file.read(piece.tensor, chosen), piece.layer)
        array = _owned(array)
        self.file.release()
        return array.astype(self.kind, copy=False)

    def slices(self, role: str) -> Iterator[tuple[slice, Array]]:
        count, width = self.shapes[role]
        step = max(1, SLICE_VALUES // width)
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count))
            yield rows, self.rows(role, rows)

    def held(self) -> Weights:
        """All of them decoded, and kept."""
        return Weights({role: self[role] for role in self}, self.ledger, self.origin)

    def cast(self, dtype: np.dtype[np.floating]) -> "Weights":
        vectors = {role: array.astype(dtype) for role, array in self.arrays.items()}
        return replace(self, arrays=vectors, kind=dtype, waiting={})


def stream(file: WeightFile, spec: Spec, rules: tuple[Rule, ...]) -> Streamed:
    """The same ledger, checked as strictly: also every shape, before a matrix is read."""
    pieces, ledger, shapes = _settle(file, spec, rules)
    for piece in pieces:
        nothing = np.broadcast_to(np.float32(0), file.tensors[piece.tensor].shape)  # a shape without its memory
        _transformed(file, piece, nothing, shapes)
    arrays = {role: array for piece in pieces if _is_small(piece) for role, array in _fill(file, piece, shapes).items()}
    matrices = {role: one for piece in pieces if not _is_small(piece) for one in _apart(piece) for role in one.roles}
    kind = np.dtype(np.float32)
    return Streamed(arrays, ledger, Origin(file.digest), file=file, pieces=matrices, shapes=shapes, kind=kind)


def _is_small(piece: _Piece) -> bool:
    """Gains, biases and sinks."""
    return all(role.endswith((".gain", "bias", "sinks")) for role in piece.roles)


def _apart(piece: _Piece) -> Iterator[_Piece]:
    """Of a stack of experts, each expert alone: the first axis counts them, and the roles take turns."""
    experts = _experts(piece.layer) if piece.layer is not None else 0
    if len(piece.roles) < 2 or ".experts." not in piece.roles[0]:
        yield piece
        return
    for e in range(experts):
        yield replace(piece, roles=piece.roles[e::experts], rows=slice(e, e + 1))
