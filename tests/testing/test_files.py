"""Planted models go through the file formats, the ledger and both engines, and stay what they are."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from whybox.engine.choice import NUMPY, Way
from whybox.errors import FormatError, LedgerError
from whybox.jobs.why import WhyOptions, why
from whybox.testing import ROWS
from whybox.testing.files import KEY, NAME, opened, save

SEED = 5
FORMS = ("model.gguf", "folder")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS)
def test_every_row_survives_its_file(tmp_path: Path, form: str, row: str) -> None:
    planted = ROWS[row](SEED)
    sound = planted.sound or planted.model
    again = opened(save(sound, tmp_path / form))
    assert again.spec == sound.spec
    prompt = sound.prompt(planted.instance)
    assert again.prompt(planted.instance).ids == prompt.ids
    assert np.array_equal(again.run(prompt).logits, sound.run(prompt).logits)


@pytest.mark.parametrize("row", ROWS)
def test_both_engines_run_the_file_alike(tmp_path: Path, row: str) -> None:
    planted = ROWS[row](SEED)
    sound = planted.sound or planted.model
    torch = opened(save(sound, tmp_path / "folder"), Way("torch"))
    assert (torch.engine.name, torch.way.engine) == ("torch", "torch")
    prompt = sound.prompt(planted.instance)
    expected = sound.run(prompt).logits
    assert np.abs(torch.run(prompt).logits - expected).max() <= 5e-4 * np.abs(expected).max()
    assert torch.generate(prompt, 3).ids == sound.generate(prompt, 3).ids


@pytest.mark.parametrize("way", [NUMPY, Way("torch")])
def test_a_verdict_from_a_file(tmp_path: Path, way: Way) -> None:
    planted = ROWS["first_biased"](SEED)
    model = opened(save(planted.model, tmp_path / "first.gguf"), way)
    (cause,) = why(model, planted.case, WhyOptions(limit=4)).verdict.causes
    assert cause.code == "order"


def test_a_file_that_is_no_planted_model_and_one_that_lacks_a_tensor(tmp_path: Path) -> None:
    planted = ROWS["beyond"](SEED)
    folder = save(planted.model, tmp_path / "folder")
    (folder / "config.json").write_text('{"model_type": "llama"}', "utf-8")
    with pytest.raises(FormatError, match=KEY):
        opened(folder)
    arrays = {role: array for role, array in planted.model.weights.items() if role != "head"}
    fewer = replace(planted.model, weights=replace(planted.model.weights, arrays=arrays))
    with pytest.raises(LedgerError, match="head"):
        opened(save(fewer, tmp_path / "fewer"))
    assert (tmp_path / "fewer" / NAME).exists()
