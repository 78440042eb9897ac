"""Models by their hub name, `hf:org/name`, through huggingface_hub and its cache, which other tools share.

`hf:org/name`, `hf:org/name@revision`, `hf:org/name/FILE.gguf`. Only weights, configurations, tokenizers and templates
are fetched (`ALLOWED`): no code, no pickle.
"""

import os
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from whybox.errors import DownloadError, ModelNotFound, StorageError, UsageError, WhyboxError
from whybox.library.folders import hub_cache
from whybox.library.progress import Progress, size_text
from whybox.library.store import require_space
from whybox.library.trees import plain_name, split_sets, whole_snapshot

PREFIX = "hf:"
ALLOWED = (".safetensors", ".json", ".jinja", ".gguf")
CONFIG = "config.json"
_NAME = re.compile(r"(?P<repo>\w[\w.-]*(?:/\w[\w.-]*)?)(?:@(?P<revision>\w[\w.-]*))?(?:/(?P<file>[\w.-]+\.gguf))?")


@dataclass(frozen=True)
class HubName:
    """A name of the hub, taken apart; `file` is one GGUF file (or the first of a split set) of a repository of many."""

    repo: str
    revision: str | None
    file: str | None


def parse(name: str) -> HubName:
    """`hf:org/name[@revision][/FILE.gguf]`, taken apart.

    Raises UsageError for anything else.
    """
    match = _NAME.fullmatch(name.removeprefix(PREFIX))
    if match is None:
        raise UsageError(f"{name!r} is not a hub name", "Write hf:org/name[@revision] or hf:org/name/FILE.gguf.")
    return HubName(match["repo"], match["revision"], match["file"])


def cached(name: HubName) -> Path | None:
    """The model in the hub's cache, if it is complete there; no network."""
    repo = hub_cache() / f"models--{name.repo.replace('/', '--')}"
    revision = name.revision or "main"
    ref = repo / "refs" / revision
    commit = ref.read_text().strip() if ref.is_file() else revision
    if not plain_name(commit):
        return None
    snapshot = repo / "snapshots" / commit
    if name.file is not None:
        return snapshot / name.file if (snapshot / name.file).is_file() else None
    return whole_snapshot(snapshot) if snapshot.is_dir() else None


def pull_hub(name: HubName, progress: Progress) -> Path:
    """The model, fetched or brought up to date.

    Raises ModelNotFound (no such repository, nothing in it that can be opened, or several files to choose from),
    DownloadError (no huggingface_hub, no network), StorageError.
    """
    hub = _huggingface_hub(name)
    sizes = _listing(hub, name)
    wanted = choose(name, sizes)
    need = sum(sizes[file] for file in wanted)
    cache = hub_cache()
    cache.mkdir(parents=True, exist_ok=True)
    require_space(cache, need)
    progress.say(f"{name.repo}: {len(wanted)} files, {size_text(need)}; its licence is on the model's page")
    return _fetch(hub, name, wanted, need, cache)


def pull_config(name: HubName) -> Path:
    """The folder of a repository's config.json alone: a few kilobytes. Raises what `pull_hub` raises."""
    hub = _huggingface_hub(name)
    cache = hub_cache()
    cache.mkdir(parents=True, exist_ok=True)
    return _fetch(hub, name, [CONFIG], 0, cache)


def choose(name: HubName, sizes: Iterable[str]) -> list[str]:
    """Which files of a repository make the model: one named GGUF, the safetensors set, or the only GGUF there is."""
    files = [file for file in sizes if "/" not in file and "\\" not in file and file.endswith(ALLOWED)]
    ggufs = split_sets([file for file in files if file.endswith(".gguf")])
    if name.file is not None:
        if chosen := [group for group in ggufs if name.file in group]:
            return chosen[0]
        raise ModelNotFound(f"{name.repo} has no file {name.file}", f"It has: {_first_names(ggufs)}")
    if any(file.endswith(".safetensors") for file in files):
        return [file for file in files if not file.endswith(".gguf")]
    if len(ggufs) == 1:
        return ggufs[0]
    if not ggufs:
        raise ModelNotFound(f"{name.repo} holds neither .safetensors nor .gguf files", "Other formats are not opened.")
    first = f"hf:{name.repo}/{ggufs[0][0]}"
    raise ModelNotFound(f"{name.repo} holds {len(ggufs)} models: {_first_names(ggufs)}", f"Name one: {first}")


def _first_names(groups: list[list[str]]) -> str:
    return ", ".join(group[0] for group in groups) or "no .gguf file"


def _huggingface_hub(name: HubName) -> ModuleType:
    try:
        return import_module("huggingface_hub")
    except ImportError:
        raise DownloadError(
            f"hf:{name.repo} needs the package huggingface_hub, which is not installed",
            "pip install 'whybox[hub]', or download the model yourself and give its folder.",
        ) from None


def _endpoint() -> str | None:
    """The mirror, read now; the client itself would read it once, when it is imported."""
    return os.environ.get("HF_ENDPOINT") or None


def _listing(hub: ModuleType, name: HubName) -> dict[str, int]:
    try:
        info = hub.HfApi(endpoint=_endpoint()).model_info(
            name.repo, revision=name.revision, files_metadata=True, timeout=15
        )
    except Exception as problem:  # the client's errors come from three libraries and change between releases
        raise _explained(hub, name, problem) from problem
    return {file.rfilename: file.size or 0 for file in info.siblings or []}


def _fetch(hub: ModuleType, name: HubName, wanted: list[str], need: int, cache: Path) -> Path:
    try:
        folder = hub.snapshot_download(
            name.repo,
            revision=name.revision,
            allow_patterns=wanted,
            cache_dir=cache,
            etag_timeout=15,
            endpoint=_endpoint(),
        )
    except OSError as problem:
        if problem.errno is not None:
            free = shutil.disk_usage(cache).free
            raise StorageError(
                f"{cache}: {problem.strerror}: {need} bytes needed, {free} free", "Free some space, or set HF_HOME."
            ) from problem
        raise _explained(hub, name, problem) from problem
    except Exception as problem:
        raise _explained(hub, name, problem) from problem
    ggufs = [file for file in wanted if file.endswith(".gguf")]
    snapshot = Path(folder)
    return snapshot / ggufs[0] if ggufs else snapshot


def _explained(hub: ModuleType, name: HubName, problem: Exception) -> WhyboxError:
    errors = hub.errors
    first_line = (str(problem).strip() or type(problem).__name__).splitlines()[0][:200]
    if isinstance(problem, errors.GatedRepoError):
        return DownloadError(f"hf:{name.repo} asks for consent first", f"Agree at https://huggingface.co/{name.repo}")
    if isinstance(problem, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
        return ModelNotFound(f"the hub has no {name.repo} {name.revision or ''}".rstrip(), "Check the spelling.")
    return DownloadError(
        f"hf:{name.repo} could not be obtained: {first_line}",
        f"By hand: hf download {name.repo} --local-dir FOLDER, then give FOLDER. HF_ENDPOINT names a mirror.",
    )
