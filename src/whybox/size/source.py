"""From what was named to an outline: a weight file, a folder, a config.json, an alias, or a family with numbers."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from whybox import families, library
from whybox.errors import FormatError, ModelNotFound, UnsupportedError, UsageError
from whybox.families.bounds import require_sizes
from whybox.families.config import Config
from whybox.formats import GgufFile, TypeShare, Unweighted, WeightFile, open_weights
from whybox.formats.folder import sha256_of
from whybox.formats.json_text import read_object
from whybox.library import Progress
from whybox.size import outline as outlines
from whybox.size.configs import READERS
from whybox.size.outline import Outline
from whybox.size.parameters import total

CONFIG = "config.json"
NOT_READ = "not read"  # a digest would read all weights, which may be hundreds of gigabytes
Kind = Literal["gguf", "safetensors", "config", "numbers"]
WITHOUT_WEIGHTS = (
    "without weights: a config.json, hf:org/name, or a family with its numbers, such as "
    "whybox size llama hidden_size=4096 num_hidden_layers=32 …"
)
RUN_NAMES = tuple(family.name for family in families.FAMILIES)


@dataclass(frozen=True)
class Found:
    """What a name led to. types: of the tensors of a file; empty without weights. dtype: what a configuration says.

    digest: of the configuration alone.
    """

    name: str
    kind: Kind
    outline: Outline
    digest: str
    types: tuple[TypeShare, ...] = ()
    dtype: str | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the tensors of a file."""
        return sum(share.nbytes for share in self.types)


@dataclass(frozen=True)
class Wish:
    """what: a name or a path. changes: KEY=VALUE, keys of config.json. accept: keys that are waved through."""

    what: str
    changes: Mapping[str, object] = field(default_factory=dict)
    accept: Collection[str] = ()


def find(wish: Wish, progress: Progress | None = None) -> Found:
    """Raises ModelNotFound, UsageError, FormatError, UnsupportedError, DownloadError."""
    path = Path(wish.what)
    if path.suffix == ".json" or (path.is_dir() and _only_config(path)):
        return _of_config(wish, path / CONFIG if path.is_dir() else path)
    if wish.what in (*RUN_NAMES, *READERS) and not path.exists():
        return _of_numbers(wish)
    if wish.changes:
        raise UsageError(
            f"KEY=VALUE changes a configuration, and {wish.what} is a model with weights",
            "give its config.json, or a family's name: whybox size llama hidden_size=4096 …",
        )
    if wish.what.startswith(library.PREFIX) and not wish.what.endswith(".gguf"):
        return _of_hub(wish, library.locate_config(wish.what))
    try:
        located = library.locate(wish.what, progress=progress)
    except ModelNotFound as missing:
        raise ModelNotFound(missing.cause, f"{missing.remedy}; {WITHOUT_WEIGHTS}") from None
    return _of_weights(wish, located)


def changes_of(words: Sequence[str]) -> dict[str, object]:
    """KEY=VALUE …: values are JSON where they can be (8, true, null, [1, 2]), else text."""
    changes: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise UsageError(f"{word!r:.60} is not KEY=VALUE", "for instance: num_key_value_heads=8")
        try:
            changes[key] = json.loads(value)
        except ValueError:
            changes[key] = value
    return changes


# Weights


def _of_hub(wish: Wish, place: Path) -> Found:
    """Of weights that are here, else of the configuration alone, which is small."""
    if not place.is_dir() or not _only_config(place):
        return _of_weights(wish, place)
    found = _of_config(wish, place / CONFIG)
    note = "the weights were not fetched: their bytes follow --dtype"
    return replace(found, outline=replace(found.outline, notes=(*found.outline.notes, note)))


def _of_weights(wish: Wish, path: Path) -> Found:
    try:
        file = open_weights(path)
    except UnsupportedError as problem:
        if not (path / CONFIG).is_file():
            raise
        found = _of_config(wish, path / CONFIG)  # weights of a type that has no decoder still have a configuration
        note = f"{problem.cause}; sizes are those of config.json"
        return replace(found, outline=replace(found.outline, notes=(*found.outline.notes, note)))
    described = _described(file, wish.accept)
    kind: Kind = "gguf" if isinstance(file, GgufFile) else "safetensors"
    described = replace(described, notes=(*described.notes, *_differing(file, described)))
    return Found(wish.what, kind, described, NOT_READ, tuple(file.types()))


def _differing(file: WeightFile, of: Outline) -> tuple[str, ...]:
    """Where the tensors hold other numbers of values than the configuration gives."""
    held = sum(math.prod(tensor.shape) for tensor in file.tensors.values())
    expected = total(of).value
    if held == expected:
        return ()
    return (f"the tensors hold {held:,} values, the configuration gives {expected:,} parameters: both are shown",)


# A configuration


def _only_config(folder: Path) -> bool:
    """Whether a folder holds a config.json and no weights that could be read."""
    weights = any(next(folder.glob(pattern), None) for pattern in ("*.gguf", "*.safetensors"))
    if not weights and not (folder / CONFIG).is_file():
        raise ModelNotFound(
            f"{folder} holds neither weights nor a {CONFIG}", "give the folder of a model, or a config.json"
        )
    return not weights


def _of_config(wish: Wish, path: Path) -> Found:
    if not path.is_file():
        raise ModelNotFound(f"there is no file {path}", "give a config.json, a .gguf file or a model's folder")
    values, notes = _plain({**read_object(path, CONFIG), **wish.changes})
    notes += [f"{key} = {value!r} (given; not the file's)" for key, value in wish.changes.items()]
    file = Unweighted(path, values)
    described = _typed(file, wish) if wish.changes else _described(file, wish.accept)
    described = replace(described, notes=(*described.notes, *notes))
    return Found(wish.what, "config", described, sha256_of([path]), dtype=_dtype(values))


def _of_numbers(wish: Wish) -> Found:
    values = {"model_type": wish.what, **wish.changes}
    described = _typed(Unweighted(Path(wish.what), values), wish)
    return Found(wish.what, "numbers", described, "", dtype=_dtype(values))


def _typed(file: WeightFile, wish: Wish) -> Outline:
    """A configuration some of whose numbers were typed: what cannot be is then the caller's own mistake."""
    try:
        return _described(file, wish.accept)
    except FormatError as problem:
        if problem.found == "nothing":
            remedy = f"give it as config.json spells it: {problem.field}=…"
            raise UsageError(f"{wish.what}: {problem.field} is missing", remedy) from problem
        raise UsageError(problem.cause, problem.remedy or "change the number that was given") from problem


def _plain(values: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """The text model's configuration, without what says how its weights are packed; and what was left out."""
    notes = []
    text = values.get("text_config")
    if isinstance(text, Mapping) and "model_type" in text:
        notes.append("text_config: the text model alone; what reads pictures or sound is left out")
        values = {**text, **{key: values[key] for key in ("tie_word_embeddings",) if key in values}}
    if "quantization_config" in values:
        packed = values["quantization_config"]
        method = packed.get("quant_method", "?") if isinstance(packed, Mapping) else "?"
        notes.append(f"quantization_config ({method}) is not read: bytes of weights follow --dtype")
    return {key: value for key, value in values.items() if key != "quantization_config"}, notes


def _dtype(values: Mapping[str, object]) -> str | None:
    found = values.get("dtype") or values.get("torch_dtype")
    return found if isinstance(found, str) else None


# Either


def _described(file: WeightFile, accept: Collection[str]) -> Outline:
    """By the readers of the families that are run, else by those that only give sizes."""
    name = file.metadata.get("model_type")
    if isinstance(file, GgufFile) or name in RUN_NAMES:
        spec, _ = families.describe(file, accept)
        return outlines.of_spec(spec)
    if name is None:
        raise FormatError(file.path, "model_type", "the name of an architecture", "nothing", _known())
    if name not in READERS:
        raise UnsupportedError(f"{file.path}: architecture {str(name)[:60]!r} has no reader of sizes", _known())
    require_sizes(file.metadata, file.path)
    return READERS[str(name)](Config(file.metadata, file.path, accept))


def _known() -> str:
    return f"known: {', '.join(sorted((*RUN_NAMES, *READERS)))}"
