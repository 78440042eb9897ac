"""The smallest decoder as arrays by name: what chapters hand to a learner's code, and how its process reads them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whybox.learn.course.computed import Arrays
from whybox.parts.decoder import Block, Decoder

Array = np.ndarray

MODEL_OF = '''
import numpy as np

def model_of(inputs, name):
    """{"embedding": ..., "heads": ..., "blocks": [{"query": ...}, ...]} from "name.heads", "name.0.query", ..."""
    model, blocks = {}, {}
    for key, value in inputs.items():
        owner, _, rest = key.partition(".")
        if owner != name:
            continue
        place, dot, role = rest.partition(".")
        if dot:
            blocks.setdefault(int(place), {})[role] = value
        else:
            model[rest] = value.item() if value.ndim == 0 else value
    return {**model, "blocks": [blocks[place] for place in sorted(blocks)]}
'''
"""The beginning of a `drive`."""


@dataclass(frozen=True)
class Sizes:
    """c width, h heads, g key/value heads, d head width, f MLP width, v vocabulary, and the number of blocks."""

    width: int
    heads: int
    kv_heads: int
    head_width: int
    mlp_width: int
    vocab: int
    blocks: int


def draw(rng: np.random.Generator, sizes: Sizes) -> Arrays:
    """Weights [out in] large enough for every part to be felt, gains about 1."""
    c, f = sizes.width, sizes.mlp_width
    query, kept = sizes.heads * sizes.head_width, sizes.kv_heads * sizes.head_width
    shapes = {
        "query": (query, c), "key": (kept, c), "value": (kept, c), "out": (c, query),
        "gate": (f, c), "up": (f, c), "down": (c, f), "attention_gain": (c,), "mlp_gain": (c,),
    }  # fmt: skip
    arrays = {"embedding": rng.normal(size=(sizes.vocab, c)), "final_gain": _filled(rng, (c,))}
    for index in range(sizes.blocks):
        arrays |= {f"{index}.{role}": _filled(rng, shape) for role, shape in shapes.items()}
    return arrays | {"heads": np.array(sizes.heads), "kv_heads": np.array(sizes.kv_heads)}


def named(name: str, arrays: Arrays) -> dict[str, Array]:
    """Under a name, among other inputs."""
    return {f"{name}.{role}": array for role, array in arrays.items()}


def of(inputs: Arrays, name: str) -> dict[str, Array]:
    """What stands under a name."""
    return {key.removeprefix(f"{name}."): array for key, array in inputs.items() if key.startswith(f"{name}.")}


def plain(arrays: Arrays) -> Decoder:
    """The decoder of `parts` with these weights: a key and a value for every query head."""
    count = 1 + max(int(role.partition(".")[0]) for role in arrays if "." in role)
    blocks = tuple(Block(**{role: arrays[f"{index}.{role}"] for role in ROLES}) for index in range(count))
    return Decoder(arrays["embedding"], blocks, arrays["final_gain"], int(arrays["heads"]))


ROLES = tuple(Block.__annotations__)


def by_heads(arrays: Arrays, change: Mapping[str, Array]) -> dict[str, Array]:
    """With rows of keys and values taken for query heads. change: role → the key/value head of each query head."""
    width = len(arrays["0.query"]) // int(arrays["heads"])
    spread = {
        name: array.reshape(-1, width, array.shape[-1])[change[role]].reshape(-1, array.shape[-1])
        for name, array in arrays.items()
        if (role := name.partition(".")[2]) in change
    }
    return {**arrays, **spread}


def _filled(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return 1 + 0.3 * rng.normal(size=shape) if len(shape) == 1 else rng.normal(size=shape) / np.sqrt(shape[-1])
