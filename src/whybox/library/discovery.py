"""The models that are already on this machine, whoever put them there.

A damaged entry is told and passed over: somebody else's broken download is no reason not to list the rest.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from whybox.library.aliases import ALIASES
from whybox.library.folders import extra_models, hub_cache, lm_studio_models, ollama_models, own_models
from whybox.library.progress import Progress
from whybox.library.trees import is_gguf, missing_parts, plain_name, safetensors_of, split_sets

_OLLAMA_MODEL = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256[:-][0-9a-f]{64}")


@dataclass(frozen=True)
class Found:
    """A model on this machine: the name to open it by, where it lies, its bytes, and whose store it is in."""

    name: str
    path: Path
    size: int
    origin: str


def discover_all(progress: Progress) -> list[Found]:
    """Every model found, in the order of search: own cache, WHYBOX_MODELS, Hugging Face, Ollama, LM Studio."""
    stores = [_plain_folder(own_models(), "whybox", progress)]
    stores += [_plain_folder(folder, "WHYBOX_MODELS", progress) for folder in extra_models()]
    stores += [_hub(hub_cache(), progress)]
    stores += [_ollama(folder, progress) for folder in ollama_models()]
    stores += [_lm_studio(folder, progress) for folder in lm_studio_models()]
    found: dict[Path, Found] = {}
    for model in (model for store in stores for model in store):
        found.setdefault(model.path, model)
    return list(found.values())


def _plain_folder(folder: Path, origin: str, progress: Progress) -> Iterator[Found]:
    """GGUF files and safetensors folders that lie directly in a folder."""
    yield from _ggufs(folder, origin, progress)
    for child in _children(folder, progress):
        if child.is_dir() and not child.name.startswith("."):
            yield from _safetensors(child, str(child), origin, progress)
            yield from _ggufs(child, origin, progress)


def _ggufs(folder: Path, origin: str, progress: Progress) -> Iterator[Found]:
    files = [child.name for child in _children(folder, progress) if child.suffix == ".gguf"]
    for group in split_sets(files):
        first = folder / group[0]
        if lacking := missing_parts(group):
            progress.say(f"{first}: {lacking} parts are missing; passed over")
        elif (size := _gguf_size([folder / name for name in group], progress)) is not None:
            yield Found(_alias_of(first, size) or str(first), first, size, origin)


def _gguf_size(files: list[Path], progress: Progress) -> int | None:
    try:
        if all(is_gguf(file) for file in files):
            return sum(file.stat().st_size for file in files)
        progress.say(f"{files[0]}: not a GGUF file; passed over")
    except OSError as problem:
        progress.say(f"{files[0]}: {problem.strerror}; passed over")
    return None


def _alias_of(file: Path, size: int) -> str | None:
    alias = ALIASES.get(file.stem)
    return alias.name if alias is not None and alias.size == size else None


def _safetensors(folder: Path, name: str, origin: str, progress: Progress) -> Iterator[Found]:
    if not (folder / "config.json").is_file():
        return
    try:
        if weights := safetensors_of(folder):
            yield Found(name, folder, sum(file.stat().st_size for file in weights), origin)
    except (OSError, ValueError) as problem:
        progress.say(f"{folder}: {problem}; passed over")


def _hub(cache: Path, progress: Progress) -> Iterator[Found]:
    for repo in _children(cache, progress):
        if repo.name.startswith("models--") and (snapshot := _newest_snapshot(repo, progress)):
            name = "hf:" + repo.name.removeprefix("models--").replace("--", "/", 1)
            yield from _safetensors(snapshot, name, "Hugging Face", progress)
            for model in _ggufs(snapshot, "Hugging Face", progress):
                yield Found(f"{name}/{model.path.name}", model.path, model.size, model.origin)


def _newest_snapshot(repo: Path, progress: Progress) -> Path | None:
    """What `main` points to, else the snapshot that changed last."""
    try:
        main = repo / "refs" / "main"
        if main.is_file() and plain_name(commit := main.read_text().strip()):
            return repo / "snapshots" / commit
        return max(_children(repo / "snapshots", progress), key=lambda folder: folder.stat().st_mtime, default=None)
    except (OSError, ValueError) as problem:
        progress.say(f"{repo}: {problem}; passed over")
        return None


def _ollama(store: Path, progress: Progress) -> Iterator[Found]:
    manifests = store / "manifests"
    for manifest in _files_below(manifests, progress):
        try:
            blob = store / "blobs" / _model_digest(manifest).replace(":", "-")
            if not is_gguf(blob):
                raise ValueError("its model is not GGUF")
            yield Found(_ollama_name(manifest.relative_to(manifests)), blob, blob.stat().st_size, "Ollama")
        except (OSError, ValueError) as problem:
            progress.say(f"{manifest}: {problem}; passed over")


def _model_digest(manifest: Path) -> str:
    """The digest of the model layer; its form is checked, since it becomes a file name.

    Raises ValueError where the manifest is not one.
    """
    document = json.loads(manifest.read_text(encoding="utf-8"))
    layers = document.get("layers") if isinstance(document, dict) else None
    for layer in layers if isinstance(layers, list) else []:
        if isinstance(layer, dict) and layer.get("mediaType") == _OLLAMA_MODEL:
            digest = str(layer.get("digest"))
            if _DIGEST.fullmatch(digest):
                return digest
            raise ValueError(f"{digest!r} is not a digest")
    raise ValueError("no model layer")


def _ollama_name(manifest: Path) -> str:
    """registry/namespace/model/tag as Ollama writes it: `ollama:model:tag`, with the namespace unless `library`."""
    *head, model, tag = manifest.parts
    owner = [part for part in head[1:] if part != "library"]
    return "ollama:" + "/".join([*owner, model]) + f":{tag}"


def _lm_studio(store: Path, progress: Progress) -> Iterator[Found]:
    for publisher in _children(store, progress):
        for model in _children(publisher, progress):
            yield from _ggufs(model, "LM Studio", progress)
            yield from _safetensors(model, str(model), "LM Studio", progress)


def _children(folder: Path, progress: Progress) -> list[Path]:
    """What a folder holds, in order; nothing where it is no folder, nothing and a line where it is closed."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as problem:
        progress.say(f"{folder}: {problem.strerror}; passed over")
        return []


def _files_below(folder: Path, progress: Progress) -> Iterator[Path]:
    for child in _children(folder, progress):
        if child.is_dir() and not child.is_symlink():
            yield from _files_below(child, progress)
        elif child.is_file() and not child.name.startswith("."):
            yield child
