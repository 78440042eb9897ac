"""What a folder of model files holds: split GGUF sets, whole safetensors sets, and what is missing from them."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

_SPLIT = re.compile(r"(?P<stem>.+)-(?P<index>\d{5})-of-(?P<count>\d{5})\.gguf")
GGUF_MAGIC = b"GGUF"


def split_sets(files: Iterable[str]) -> list[list[str]]:
    """GGUF file names by model: the parts of a split model together, in order; every other file alone.

    Vision projectors (`mmproj*`) are not language models and are left out.
    """
    sets: dict[str, list[str]] = {}
    for file in sorted(files):
        if file.rsplit("/", 1)[-1].startswith("mmproj"):
            continue
        match = _SPLIT.fullmatch(file)
        sets.setdefault(f"{match['stem']}-of-{match['count']}" if match else file, []).append(file)
    return list(sets.values())


def missing_parts(files: list[str]) -> int:
    """How many parts of a split set are not in the list (0 for a whole file)."""
    match = _SPLIT.fullmatch(files[0])
    return int(match["count"]) - len(files) if match else 0


def safetensors_of(folder: Path) -> list[Path]:
    """The weight files of a safetensors folder: those that its index names, else all that are there.

    Raises FileNotFoundError naming what is promised and not there (the dangling link of a broken download included),
    ValueError for an unreadable index.
    """
    index = folder / "model.safetensors.index.json"
    names = _indexed(index) if index.is_file() else sorted(file.name for file in folder.glob("*.safetensors"))
    if lacking := [name for name in names if not (folder / name).is_file()]:
        raise FileNotFoundError(f"{len(lacking)} of {len(names)} weight files are missing, first {lacking[0]}")
    return [folder / name for name in names]


def whole_snapshot(folder: Path) -> Path | None:
    """What is to be opened of a folder: itself (config.json and all its safetensors), its only GGUF, or None."""
    try:
        if (folder / "config.json").is_file() and safetensors_of(folder):
            return folder
    except (OSError, ValueError):
        return None
    ggufs = split_sets(file.name for file in folder.glob("*.gguf") if file.is_file())
    if len(ggufs) == 1 and not missing_parts(ggufs[0]):
        return folder / ggufs[0][0]
    return None


def plain_name(name: str) -> bool:
    """Whether a name that was read from a file is one plain name, which cannot lead out of its folder."""
    return name not in {"", ".", ".."} and not any(mark in name for mark in "/\\:\0")


def is_gguf(path: Path) -> bool:
    """Whether the file begins as GGUF files do, whatever its name."""
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC


def _indexed(index: Path) -> list[str]:
    """The file names of a safetensors index: plain base names only, so none leads out of the folder."""
    document = json.loads(index.read_text(encoding="utf-8"))
    weight_map = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weight_map, dict) or not weight_map:
        raise ValueError("its index has no weight_map")
    names = sorted({str(name) for name in weight_map.values()})
    if led := [name for name in names if not plain_name(name)]:
        raise ValueError(f"its index names {led[0]!r}, which is not a plain file name")
    return names
