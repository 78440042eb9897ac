"""A machine of one's own for every test: an empty home, no index, no hub, nobody's settings."""

import os
from pathlib import Path

import pytest

FOREIGN = ("PIP_", "UV_", "HF_", "HUGGINGFACE_", "OLLAMA_", "WHYBOX_", "XDG_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
CLOSED = "http://127.0.0.1:9"  # the discard port: refuses at once


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.upper().startswith(FOREIGN):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    settings = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "WHYBOX_HOME": str(tmp_path / "whybox"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": f"{CLOSED}/simple",
        "UV_NO_CONFIG": "1",
        "UV_INDEX_URL": f"{CLOSED}/simple",
        "HF_ENDPOINT": CLOSED,
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return tmp_path


@pytest.fixture
def models(machine: Path) -> Path:
    """The own cache of this machine."""
    return machine / "whybox" / "models"
