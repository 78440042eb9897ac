"""The one door through which tests reach the real models."""

import hashlib
from pathlib import Path

import pytest

from tests.models import model_path
from whybox.library import ALIASES


def test_a_model_of_the_users_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = ALIASES["smollm2"]
    with (tmp_path / alias.file).open("wb") as sparse:
        sparse.truncate(alias.size)
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("WHYBOX_MODELS", str(tmp_path))
    assert model_path("smollm2") == tmp_path / "smollm2.gguf"


def test_offline_a_test_is_skipped_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path))
    monkeypatch.delenv("WHYBOX_MODELS", raising=False)
    monkeypatch.setenv("WHYBOX_TEST_OFFLINE", "1")
    with pytest.raises(pytest.skip.Exception, match="WHYBOX_TEST_OFFLINE forbids"):
        model_path("smollm2")


@pytest.mark.model
def test_the_default_model_is_the_pinned_file() -> None:
    with model_path("smollm2").open("rb") as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == ALIASES["smollm2"].sha256
