"""Faults of position: RoPE's base, pairing, width, scaling and start, and rows left in the order of a file."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from whybox.parts.rope import plain_of
from whybox.spec import (
    Attention,
    DividedRope,
    LearnedPositions,
    LinearRope,
    Llama3Rope,
    LongRope,
    NtkRope,
    Pairing,
    PlainRope,
    Rope,
    Spec,
    YarnRope,
)
from whybox.testing.faults.fault import Changed, Described, Fault, attention, in_layers, with_arrays
from whybox.weights import Weights

Array = np.ndarray


_TURNED = "`query` and `key` are exact, and so is position 0; angles part from position 1 on, more and more."
_STARTED = "`embed` is off by the difference of neighbouring rows of the table."
_ROWS = "Exact without positions: the same numbers stand in another order within a head, so other pairs are turned."


def theta(base: float) -> Fault:
    """The base of RoPE replaced in every layer."""
    return Fault("rope-base", f"RoPE base {base:g}", attention(lambda a: _plainly(a, _with_base(base))), why=_TURNED)


def local_theta(base: float) -> Fault:
    """The base of RoPE replaced in layers with a sliding window."""
    change = _with_base(base)
    what = f"RoPE base {base:g} in local layers"
    change_local = attention(lambda a: a if a.window is None else _plainly(a, change))
    return Fault("rope-base-local", what, change_local, why=_TURNED)


def global_theta(base: float) -> Fault:
    """The base of RoPE replaced in layers without a sliding window."""
    change = _with_base(base)
    what = f"RoPE base {base:g} in global layers"
    change_global = attention(lambda a: a if a.window is not None else _plainly(a, change))
    return Fault("rope-base-global", what, change_global, why=_TURNED)


def _with_base(base: float) -> Callable[[PlainRope], PlainRope]:
    return lambda plain: replace(plain, base=base)


def rope_width(width: int) -> Fault:
    """So many dimensions of a head turned."""
    what = f"RoPE on {width} dimensions of a head"
    change = attention(lambda a: _plainly(a, lambda plain: replace(plain, width=width)))
    return Fault("rope-width", what, change, why=_TURNED)


def _other_pairing(plain: PlainRope) -> PlainRope:
    other = Pairing.HALF if plain.pairing is Pairing.INTERLEAVED else Pairing.INTERLEAVED
    return replace(plain, pairing=other)


def _plainly(a: Attention, change: Callable[[PlainRope], PlainRope]) -> Attention:
    """RoPE with another plain part, its scaling as it was."""
    if a.rope is None:
        return a
    plain = change(plain_of(a.rope))
    match a.rope:
        case PlainRope():
            return replace(a, rope=plain)
        case LinearRope() | NtkRope() | Llama3Rope() | YarnRope() | LongRope() | DividedRope():
            return replace(a, rope=replace(a.rope, plain=plain))


def positions_divided(by: float) -> Fault:
    """Positions divided in layers without a sliding window, as larger members of a family have it."""
    what = f"global positions divided by {by:g}"
    change = attention(lambda a: a if a.window is not None else _slower(a, by))
    return Fault("rope-factor-global", what, change, why=_TURNED)


def all_positions_divided(by: float) -> Fault:
    """Positions divided in every layer."""
    return Fault("rope-factor", f"positions divided by {by:g}", attention(lambda a: _slower(a, by)), why=_TURNED)


def _slower(a: Attention, by: float) -> Attention:
    return a if a.rope is None else replace(a, rope=LinearRope(plain_of(a.rope), by))


def rope_scaled(name: str, make: Callable[[PlainRope], Rope]) -> Fault:
    """Another kind of scaling in every layer."""
    changed = attention(lambda a: a if a.rope is None else replace(a, rope=make(plain_of(a.rope))))
    return Fault("rope-scaling", f"RoPE scaled as {name}", changed, why=_TURNED)


def yarn_magnitude(value: float) -> Fault:
    """YaRN's factor on cos and sin replaced."""

    def change(a: Attention) -> Attention:
        return replace(a, rope=replace(a.rope, magnitude=value)) if isinstance(a.rope, YarnRope) else a

    why = "`query_pos` and `key_pos` are off by one factor at every position, 0 too: no angle is."
    return Fault("rope-magnitude", f"cos and sin times {value:g}", attention(change), why=why)


def _unscaled(a: Attention) -> Attention:
    return a if a.rope is None else replace(a, rope=plain_of(a.rope))


def table_offset(by: int) -> Fault:
    """A table of learned positions read `by` rows further on."""

    def changed(spec: Spec, weights: Weights) -> Described:
        if spec.positions is None:
            return spec, weights
        table = np.roll(weights["positions"], -by, axis=0)
        kept = LearnedPositions(spec.positions.count, spec.positions.offset)
        return replace(spec, positions=kept), with_arrays(weights, {"positions": table})

    return Fault("position-offset", f"learned positions {by:+d}", changed, why=_STARTED)


def _in_pairs(*roles: str) -> Changed:
    """Rows a0 a1 … b0 b1 … put back into the order a0 b0 a1 b1 … in which some files store them."""

    def changed(spec: Spec, weights: Weights) -> Described:
        names = [name for name in in_layers(*roles, *(f"{role}_bias" for role in roles))(spec) if name in weights]
        return spec, with_arrays(weights, {name: _paired(weights[name]) for name in names})

    return changed


def _paired(rows: Array) -> Array:
    heads, width, *rest = rows.shape
    return np.ascontiguousarray(rows.reshape(heads, 2, width // 2, *rest).swapaxes(1, 2).reshape(rows.shape))


ROPE_PAIRING = Fault(
    "rope-pairing",
    "dimensions turned in the other pairs",
    attention(lambda a: _plainly(a, _other_pairing)),
    why=_TURNED,
)
NO_ROPE_SCALING = Fault("rope-unscaled", "RoPE without its scaling", attention(_unscaled), why=_TURNED)
NO_ROPE = Fault("no-rope", "query and key not turned at all", attention(lambda a: _slower(a, np.inf)), why=_TURNED)
ROPE_ROWS = Fault("rope-rows", "query and key rows left in the file's pair order", _in_pairs("query", "key"), why=_ROWS)
ROPE_ROWS_OF_KEYS = Fault("rope-rows-of-keys", "key rows left in the file's pair order", _in_pairs("key"), why=_ROWS)
ROPE_ROWS_OF_QUERIES = Fault(
    "rope-rows-of-queries", "query rows left in the file's pair order", _in_pairs("query"), why=_ROWS
)
