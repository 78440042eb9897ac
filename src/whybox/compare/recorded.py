"""Recorded traces: what another program computed, as a table of arrays in one file (.npz or .safetensors).

    ids [q]                  the token ids that were fed
    logits [q v]             or fewer rows: those of the last positions
    embed, final             sites outside layers, as in the site table
    resid_post.5             a site of layer 5; any subset of sites and layers
    positions [q]            optional: the absolute positions that were fed
    text, precision, model   optional strings (a 0-dimensional array of .npz, metadata of .safetensors)

Several prompts in one file: every name begins with `0/`, `1/` …
"""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from whybox.compare.observation import Observation
from whybox.engine.edit import row_axis, site_axes
from whybox.engine.trace import Key
from whybox.errors import FormatError
from whybox.formats.safetensors import open_safetensors
from whybox.parts.rounding import is_rounded
from whybox.sites import BY_NAME
from whybox.spec import Spec

Array = np.ndarray
COARSEST = ("int4", "int8", "bf16", "fp16")
PRECISIONS = (*COARSEST, "fp32", "fp64")
"""What a recording may say of itself; ours, beside float64, is float32."""


@dataclass(frozen=True, eq=False)
class Recording:
    """One prompt of a recorded trace."""

    seen: Observation
    positions: Array | None = None
    text: str | None = None
    model: str | None = None


@dataclass(frozen=True, eq=False)
class Recorded:
    """A file of recorded prompts."""

    name: str
    prompts: tuple[Recording, ...]

    @property
    def precision(self) -> str:
        """The coarsest that any prompt says, or shows: values that are all bf16 numbers were rounded to bf16."""
        said = [prompt.seen.precision or shown_precision(prompt.seen) for prompt in self.prompts]
        return next((kind for kind in COARSEST if kind in said), "fp32")


def shown_precision(seen: Observation) -> str:
    """What its numbers look like. Logits are left out: many programs widen them."""
    arrays = [value for (site, _), value in seen.sites.items() if site not in ("logits", "pattern", "scores")]
    for precision in ("bf16", "fp16"):
        if arrays and all(is_rounded(np.asarray(array, np.float32), precision) for array in arrays):
            return precision
    return "fp32"


def read_recorded(path: Path) -> Recorded:
    """FormatError for a file that is no trace: no ids, unknown names, objects in place of numbers."""
    arrays, words = _arrays(path)
    prompts = tuple(_recording(path, own, said) for own, said in _apart(path, arrays, words))
    return Recorded(str(path), prompts)


def write_recorded(
    path: Path, recordings: Sequence[tuple[str | None, Observation]], precision: str, model: str
) -> None:
    """A trace that this program, elsewhere, or another can be compared with. recordings: with their texts."""
    table: dict[str, Array] = {}
    for number, (text, seen) in enumerate(recordings):
        table |= {f"{number}/ids": np.asarray(seen.ids)}
        table |= {} if text is None else {f"{number}/text": np.asarray(text)}
        table |= {f"{number}/precision": np.asarray(precision), f"{number}/model": np.asarray(model)}
        for (site, layer), value in seen.sites.items():
            table[f"{number}/{site}" if layer is None else f"{number}/{site}.{layer}"] = value
    with path.open("wb") as file:
        np.savez(file, **table)  # type: ignore[arg-type]


def fitting(seen: Observation, spec: Spec) -> tuple[Observation, tuple[str, ...]]:
    """The sites whose shapes are those of this model, and the names of the others with their shapes."""
    kept, others = {}, []
    for (site, layer), value in seen.sites.items():
        inside = layer is None or layer < len(spec.layers)
        if inside and _fits(site, layer, value, len(seen.ids), spec):
            kept[site, layer] = value
        else:
            name = site if layer is None else f"{site}.{layer}"
            others.append(f"{name} ({'×'.join(map(str, value.shape))})")
    return replace(seen, sites=kept), tuple(others)


def _fits(site: str, layer: int | None, value: Array, length: int, spec: Spec) -> bool:
    own = spec.layers[layer or 0]
    sizes = {"h": own.attention.heads, "g": own.attention.kv_heads, "d": own.attention.head_width, "c": spec.width}
    sizes |= {"f": own.mlp.width, "v": spec.vocab, "q": length, "k": length}
    axes = site_axes(site, own.mlp)
    if len(axes) != value.ndim:
        return False
    rows = row_axis(axes)
    few = site in ("final", "logits")  # of the last positions alone
    return all(
        size == sizes.get(letter, size) or (few and axis == rows and size <= length)
        for axis, (letter, size) in enumerate(zip(axes, value.shape, strict=True))
    )


def _arrays(path: Path) -> tuple[dict[str, Array], dict[str, str]]:
    if path.suffix == ".safetensors":
        file = open_safetensors(path)
        return {name: file.read(name) for name in file.tensors}, {}
    if not zipfile.is_zipfile(path):
        raise FormatError(str(path), "the archive", "an .npz file, whole", "something else")
    try:
        with np.load(path, allow_pickle=False) as table:
            arrays = {name: table[name] for name in table.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise FormatError(str(path), "the archive", "arrays without objects", str(error).splitlines()[0]) from None
    words = {name: str(value) for name, value in arrays.items() if value.dtype.kind in "US"}
    return {name: value for name, value in arrays.items() if name not in words}, words


def _apart(
    path: Path, arrays: dict[str, Array], words: dict[str, str]
) -> Iterator[tuple[dict[str, Array], dict[str, str]]]:
    prefixes = sorted({name.partition("/")[0] for name in arrays if "/" in name}, key=lambda each: (len(each), each))
    if not prefixes:
        yield arrays, words
    for prefix in prefixes:
        begins = f"{prefix}/"
        own = {name.removeprefix(begins): value for name, value in arrays.items() if name.startswith(begins)}
        yield own, {name.removeprefix(begins): value for name, value in words.items() if name.startswith(begins)}


def _recording(path: Path, arrays: dict[str, Array], words: dict[str, str]) -> Recording:
    ids = arrays.pop("ids", None)
    if ids is None or ids.ndim != 1 or ids.dtype.kind not in "iu" or not len(ids):
        raise FormatError(str(path), "ids", "token ids [q], whole numbers", "none" if ids is None else str(ids.shape))
    positions = arrays.pop("positions", None)
    if "positions" in words or (positions is not None and positions.dtype.kind not in "iu"):
        raise FormatError(str(path), "positions", "whole numbers [q]", words.get("positions", str(positions)))
    if words.get("precision", "fp32") not in PRECISIONS:
        raise FormatError(str(path), "precision", f"one of {', '.join(PRECISIONS)}", words["precision"])
    sites: dict[Key, Array] = {}
    keys = {name: _key(path, name) for name in arrays}
    for name, value in arrays.items():
        sites[keys[name]] = _numbers(path, name, value)
    if not sites:
        raise FormatError(str(path), "the table", "at least one site beside ids", "none")
    seen = Observation(tuple(int(token) for token in ids), sites, words.get("precision"))
    return Recording(seen, positions, words.get("text"), words.get("model"))


def _numbers(path: Path, name: str, value: Array) -> Array:
    if value.dtype.kind != "f":
        raise FormatError(str(path), name, "floating-point numbers", str(value.dtype))
    own = value[0] if _batch_of_one(name, value) else value
    return np.asarray(own if own.dtype.itemsize >= 4 else own.astype(np.float32))


def _batch_of_one(name: str, value: Array) -> bool:
    """Other programs keep an axis for the batch."""
    axes = len(BY_NAME[name.partition(".")[0]].axes.split())
    return value.ndim == axes + 1 and value.shape[0] == 1


def _key(path: Path, name: str) -> Key:
    site, dot, layer = name.partition(".")
    found = BY_NAME.get(site)
    if found is None or found.per_layer != bool(dot) or (dot and not layer.isdigit()):
        known = ", ".join(f"{s.name}.LAYER" if s.per_layer else s.name for s in BY_NAME.values())
        raise FormatError(str(path), name, f"a name of {known}", "another")
    return site, int(layer) if dot else None
