"""Where model files live on this machine: our own cache, the user's folders, the stores of other tools."""

import os
import sys
from pathlib import Path


def own_models() -> Path:
    """Our own cache: `$WHYBOX_HOME/models`, else the platform's cache folder."""
    home = os.environ.get("WHYBOX_HOME")
    return (Path(home).expanduser() if home else _platform_cache() / "whybox") / "models"


def own_answers() -> Path:
    """Answers of earlier runs, for runs that ask the same: beside our own models."""
    return own_models().with_name("answers.sqlite")


def own_progress() -> Path:
    """What was done in the course: `$WHYBOX_PROGRESS`, else in `$WHYBOX_HOME`, else in the platform's data folder."""
    if named := os.environ.get("WHYBOX_PROGRESS"):
        return Path(named).expanduser()
    home = os.environ.get("WHYBOX_HOME")
    return (Path(home).expanduser() if home else _platform_data() / "whybox") / "course.json"


def extra_models() -> list[Path]:
    """The folders of `WHYBOX_MODELS`, in order, separated as PATH is."""
    return [Path(part).expanduser() for part in os.environ.get("WHYBOX_MODELS", "").split(os.pathsep) if part]


def hub_cache() -> Path:
    """The Hugging Face cache, by the variables that huggingface_hub itself reads."""
    if cache := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(cache).expanduser()
    home = os.environ.get("HF_HOME")
    return (Path(home).expanduser() if home else _xdg_cache() / "huggingface") / "hub"


def ollama_models() -> list[Path]:
    """Ollama's store: where `OLLAMA_MODELS` points, else the user's and the Linux service's."""
    if models := os.environ.get("OLLAMA_MODELS"):
        return [Path(models).expanduser()]
    return [Path.home() / ".ollama" / "models", Path("/usr/share/ollama/.ollama/models")]


def lm_studio_models() -> list[Path]:
    """LM Studio's folders, new and old."""
    return [Path.home() / ".lmstudio" / "models", Path.home() / ".cache" / "lm-studio" / "models"]


def _platform_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        return _xdg_cache()


def _xdg_cache() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return Path(cache).expanduser() if cache else Path.home() / ".cache"


def _platform_data() -> Path:
    """Where what must not be lost is kept: a cache may be emptied at any time."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        data = os.environ.get("XDG_DATA_HOME")
        return Path(data).expanduser() if data else Path.home() / ".local" / "share"
