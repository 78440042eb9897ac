"""The library: from the name of a model to its file on this machine.

A name is an alias (`smollm2`), a path (`./model.gguf`, a safetensors folder), a hub name (`hf:org/name`), or a
name that `discover` gave (`ollama:qwen2.5:0.5b`). Nothing here opens a model: files are found, obtained and verified.
"""

import difflib
from pathlib import Path

from whybox.errors import ModelNotFound
from whybox.library.aliases import ALIASES, Alias
from whybox.library.discovery import Found, discover_all
from whybox.library.hub import PREFIX, cached, parse, pull_config, pull_hub
from whybox.library.local import is_present, local_model, looks_like_a_path
from whybox.library.obtain import absent, find_alias, pull_alias
from whybox.library.progress import Progress, Silent, Terminal, usual_progress

__all__ = [
    "ALIASES",
    "PREFIX",
    "Alias",
    "Found",
    "Progress",
    "Silent",
    "Terminal",
    "discover",
    "locate",
    "locate_config",
    "pull",
]


def locate(
    name_or_path: str | Path, source: str | Path | None = None, download: bool = True, progress: Progress | None = None
) -> Path:
    """The file or folder of a model, obtained if it is not here yet and `download` is true.

    source: for an alias, a file, wheel or folder to take it from.
    progress: who is told (stderr, unless given; nobody under WHYBOX_QUIET).
    Raises ModelNotFound (the message lists what is known and what was found), DownloadError, StorageError.
    """
    name, progress = str(name_or_path), progress or usual_progress()
    if isinstance(name_or_path, Path):
        return local_model(name_or_path)
    if name in ALIASES:
        alias = ALIASES[name]
        if found := find_alias(alias, progress):
            return found
        if not download:
            raise absent(alias)
        return pull_alias(alias, _given(source), progress)
    if name.startswith(PREFIX):
        return _locate_hub(name, download, progress)
    path = _expanded(name)
    return local_model(path) if looks_like_a_path(name) or is_present(path) else _discovered(name)


def locate_config(name: str) -> Path:
    """`hf:org/name`: the folder of its config.json, fetched without the weights if they are not here.

    Raises UsageError, ModelNotFound, DownloadError, StorageError.
    """
    parsed = parse(name)
    return cached(parsed) or pull_config(parsed)


def pull(name: str, source: str | Path | None = None, progress: Progress | None = None) -> Path:
    """Obtains a model by alias or hub name; returns its place, also if it was here already (a path is its own place).

    Raises ModelNotFound (neither an alias nor a hub name), DownloadError, StorageError.
    """
    progress = progress or usual_progress()
    if name in ALIASES:
        return pull_alias(ALIASES[name], _given(source), progress)
    if name.startswith(PREFIX):
        return pull_hub(parse(name), progress)
    if looks_like_a_path(name) or is_present(_expanded(name)):
        return local_model(_expanded(name))
    raise _unknown(name, discover_all(Silent()))


def discover(progress: Progress | None = None) -> list[Found]:
    """The models on this machine: own cache, WHYBOX_MODELS, Hugging Face, Ollama, LM Studio; damage is told."""
    return discover_all(progress or Silent())


def _given(source: str | Path | None) -> Path | None:
    return None if source is None else _expanded(str(source))


def _expanded(name: str) -> Path:
    """The path with a leading tilde resolved; a tilde of nobody's home is left as it is."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def _locate_hub(name: str, download: bool, progress: Progress) -> Path:
    parsed = parse(name)
    if found := cached(parsed):
        return found
    if not download:
        raise ModelNotFound(f"{name} is not on this machine", f"Get it with: whybox pull {name}")
    return pull_hub(parsed, progress)


def _discovered(name: str) -> Path:
    models = discover_all(Silent())
    for model in models:
        if model.name == name:
            return model.path
    raise _unknown(name, models)


def _unknown(name: str, models: list[Found]) -> ModelNotFound:
    names = [*ALIASES, *(model.name for model in models if model.name not in ALIASES)]
    close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.5)
    guess = f"; did you mean {' or '.join(close)}?" if close else ""
    here = ", ".join(model.name for model in models[:8]) or "none"
    more = f" and {len(models) - 8} more (whybox models)" if len(models) > 8 else ""
    return ModelNotFound(
        f"no model {name!r}{guess}",
        f"Known: {', '.join(ALIASES)}, hf:org/name, any .gguf file or safetensors folder. Found here: {here}{more}.",
    )
