"""Planted models as files: written as safetensors or GGUF, and opened the way of any other weight file.

    path = save(planted.model, folder / "planted.gguf")      model = opened(path)

Sizes stand in the file's metadata as JSON, tensors under the names of the roles that they fill; ranges are checked and
the ledger is settled as for every model. The language is the one of `whybox.testing.vocabulary`.
"""

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import save_file

from whybox.engine import choice
from whybox.engine.choice import NUMPY, Way
from whybox.errors import FormatError
from whybox.families.transforms import as_stored
from whybox.formats import open_weights
from whybox.model import Model
from whybox.spec import Activation, Attention, Layer, Layout, LearnedPositions, Mlp, Norm, NormKind, Spec
from whybox.testing.vocabulary import tokenizer
from whybox.weights import Rule

KEY = "planted.sizes"
NAME = "planted.safetensors"
_LAYER = "layers.{l}."
_LAYER_ROLES = (
    "attn_norm.gain", "query", "key", "value", "out", "mlp_norm.gain", "up", "up_bias", "down", "down_bias",
)  # fmt: skip
_ROLES = ("embed", "positions", "final_norm.gain", "head", *(_LAYER + role for role in _LAYER_ROLES))
RULES = tuple(Rule(role, (role,), as_stored) for role in _ROLES)


def save(model: Model, path: Path) -> Path:
    """The model as a `.gguf` file, or as a folder with safetensors and config.json."""
    sizes = json.dumps(_sizes(model.spec))
    arrays = {role: np.ascontiguousarray(array) for role, array in model.weights.items()}
    if path.suffix == ".gguf":
        return _save_gguf(path, sizes, arrays)
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps({"model_type": "planted", KEY: sizes}), "utf-8")
    save_file(arrays, path / NAME, {"format": "pt"})
    return path


def opened(path: Path, way: Way = NUMPY) -> Model:
    """A model from a file that `save` wrote. FormatError, LedgerError for a file that does not hold what it says."""
    file = open_weights(path)
    found = file.metadata.get(KEY)
    if not isinstance(found, str):
        raise FormatError(path, KEY, "the sizes of a planted model", repr(found)[:60])
    spec = _spec(json.loads(found))
    built = choice.build(spec, choice.source(file, spec, RULES, way), way)
    return Model(f"planted:{path.stem}", file, built.weights, tokenizer(), built.engine, way)


def _save_gguf(path: Path, sizes: str, arrays: dict[str, np.ndarray]) -> Path:
    writer = gguf.GGUFWriter(path, "planted")
    writer.add_string(KEY, sizes)
    for role, array in arrays.items():
        writer.add_tensor(role, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _sizes(spec: Spec) -> dict[str, Any]:
    assert spec.positions is not None, "planted models look their positions up"
    layers = [
        {
            "heads": layer.attention.heads,
            "kv_heads": layer.attention.kv_heads,
            "head_width": layer.attention.head_width,
            "window": layer.attention.window,
            "units": layer.mlp.width,
        }
        for layer in spec.layers
    ]
    return {
        "width": spec.width,
        "vocab": spec.vocab,
        "context": spec.context,
        "eps": spec.final_norm.eps,
        "layers": layers,
    }


def _spec(sizes: dict[str, Any]) -> Spec:
    norm = Norm(NormKind.RMS, sizes["eps"])
    return Spec(
        family="planted",
        width=sizes["width"],
        vocab=sizes["vocab"],
        context=sizes["context"],
        layers=tuple(_layer(layer, norm) for layer in sizes["layers"]),
        final_norm=norm,
        positions=LearnedPositions(sizes["context"]),
        tied=False,
        notes=("planted weights: the mechanism is known by construction",),
    )


def _layer(sizes: dict[str, Any], norm: Norm) -> Layer:
    width = sizes["head_width"]
    attention = Attention(sizes["heads"], sizes["kv_heads"], width, width**-0.5, window=sizes["window"])
    mlp = Mlp(sizes["units"], Activation.RELU, gated=False, bias=True)
    return Layer(attention, mlp, Layout.PRE, norm)
