"""A circuit made into weights, and the weights into a model that goes the way of any other."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from whybox.engine.reference import ReferenceEngine
from whybox.model import Model
from whybox.spec import Activation, Attention, Layer, Layout, LearnedPositions, Mlp, Norm, NormKind, Spec
from whybox.testing import stream
from whybox.testing.circuit import Circuit, Head, Units
from whybox.testing.memory_file import MemoryFile
from whybox.testing.vocabulary import END, IDS, WORDS, tokenizer
from whybox.weights import Weights

SCALE = 20.0  # logit of a feature written into `out` with weight 1
_IDLE = Head((), ())
Array = np.ndarray


def model_of(name: str, circuit: Circuit) -> Model:
    """The circuit as a model in memory, run by the reference engine."""
    spec, weights = spec_of(circuit), Weights(_arrays(circuit))
    metadata = {"general.name": f"planted {name}", "layers": circuit.layers}
    file = MemoryFile(Path("planted") / name, metadata, weights.arrays)
    return Model(f"planted:{name}", file, weights, tokenizer(), ReferenceEngine(spec, weights))


def spec_of(circuit: Circuit) -> Spec:
    """Learned positions, RMSNorm before each part, plain attention, ReLU MLP with thresholds, a head of its own."""
    norm = Norm(NormKind.RMS, stream.EPS)
    layers = tuple(Layer(_attention(circuit, i), _mlp(circuit, i), Layout.PRE, norm) for i in range(circuit.layers))
    return Spec(
        family="planted",
        width=stream.WIDTH,
        vocab=len(WORDS),
        context=stream.CONTEXT,
        layers=layers,
        final_norm=norm,
        positions=LearnedPositions(stream.CONTEXT),
        tied=False,
        notes=("planted weights: the mechanism is known by construction",),
    )


def _attention(circuit: Circuit, layer: int) -> Attention:
    heads = _heads(circuit, layer)
    width = max(head.width for head in heads)
    groups = len(heads) // circuit.groups.get(layer, 1)
    return Attention(len(heads), groups, width, width**-0.5, window=circuit.windows.get(layer))


def _heads(circuit: Circuit, layer: int) -> list[Head]:
    """All heads of a layer, as many in each; places left out, and what is missing to whole groups, do nothing."""
    last = max(head for _, head in circuit.heads)
    group = math.lcm(*circuit.groups.values())
    count = -(-(last + 1) // group) * group
    return [circuit.heads.get((layer, head), _IDLE) for head in range(count)]


def _mlp(circuit: Circuit, layer: int) -> Mlp:
    width = sum(len(units.reads) for units in circuit.units.get(layer, ()))
    return Mlp(max(width, 1), Activation.RELU, gated=False, bias=True)


def _arrays(circuit: Circuit) -> dict[str, Float[np.ndarray, "..."]]:
    arrays = {"embed": stream.embedding(), "positions": stream.positions()}
    for layer in range(circuit.layers):
        parts = _norms() | _attention_arrays(circuit, layer) | _mlp_arrays(circuit.units.get(layer, ()))
        arrays |= {f"layers.{layer}.{role}": array for role, array in parts.items()}
    arrays |= {"final_norm.gain": stream.gain(), "head": _head()}
    return {role: _frozen(array) for role, array in arrays.items()}


def _norms() -> dict[str, Array]:
    return {"attn_norm.gain": stream.gain(), "mlp_norm.gain": stream.gain()}


def _head() -> Float[np.ndarray, "v c"]:
    """Reads `out`; behind a value the sentence ends."""
    table = SCALE * stream.rows("out", range(len(WORDS)))
    table[IDS[END]] += SCALE * stream.any_of("token", stream.VALUE_IDS)[0]
    return table


def _attention_arrays(circuit: Circuit, layer: int) -> dict[str, Array]:
    heads, shape = _heads(circuit, layer), _attention(circuit, layer)
    width, per_group = shape.head_width, shape.heads // shape.kv_heads
    keepers = [_keeper(heads[start : start + per_group]) for start in range(0, len(heads), per_group)]
    return {
        "query": np.stack([_query(head, width) for head in heads]),
        "key": np.stack([_stacked([term.key for term in head.terms], width) for head in keepers]),
        "value": np.stack([_stacked([write.reads for write in head.writes], width) for head in keepers]),
        "out": np.stack([_out(head, width) for head in heads], axis=1),
    }


def _keeper(group: Sequence[Head]) -> Head:
    """The head of a group whose keys and values the others share: the first that does anything."""
    return next((head for head in group if head.terms or head.writes), _IDLE)


def _query(head: Head, width: int) -> Float[np.ndarray, "d c"]:
    """The scores' weights sit here, with √d against the scale 1/√d."""
    return _stacked([term.weight * width**0.5 * term.query for term in head.terms], width)


def _out(head: Head, width: int) -> Float[np.ndarray, "c d"]:
    return _stacked([write.weight * write.into for write in head.writes], width).T


def _stacked(maps: Sequence[Float[np.ndarray, "_ c"]], width: int) -> Float[np.ndarray, "d c"]:
    """Maps below each other, filled up with zero rows to a head's width."""
    rows = np.concatenate([np.zeros((0, stream.WIDTH)), *maps])
    return np.concatenate([rows, np.zeros((width - len(rows), stream.WIDTH))])


def _mlp_arrays(groups: Sequence[Units]) -> dict[str, Array]:
    units = groups or (Units(np.zeros((1, stream.WIDTH)), np.zeros((1, stream.WIDTH)), np.zeros(1)),)
    return {
        "up": np.concatenate([u.reads for u in units]),
        "up_bias": -np.concatenate([u.threshold for u in units]),
        "down": np.concatenate([u.into for u in units]).T,
        "down_bias": np.zeros(stream.WIDTH),
    }


def _frozen(array: Array) -> Array:
    narrow: Array = np.ascontiguousarray(array, np.float32)
    narrow.flags.writeable = False
    return narrow
