"""Our side's tasks on a small model, the NumPy engine standing in."""

import json
from pathlib import Path

import numpy as np
import pytest

from bench import giant, ours
from bench.peers.turns import NotOffered
from tests.bench.test_weights_for_peers import SMALL
from whybox.engine.edit import zero
from whybox.model import open_model


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    path = tmp_path / "small.gguf"
    giant.write(path, SMALL)
    text = np.random.default_rng(3).integers(0, 250, 64).tolist()
    (tmp_path / "inputs.json").write_text(json.dumps({"model": str(path), "text": text}))
    monkeypatch.setattr(ours, "opened", lambda path, *_: open_model(path))
    return str(tmp_path / "inputs.json")


def test_effects_of_all_heads_in_order(inputs: str) -> None:
    found = ours.ablations(inputs, "fp32", 23)()
    model = open_model(ours.shared(inputs)["model"])
    ids = ours.shared(inputs)["text"][:23]
    base, without = model.run(ids), model.run(ids, edits=[zero("head_out", 1, h=3)])
    token = int(base.logits[-1].argmax())
    assert found["units"] == len(found["effects"]) == 15
    assert found["effects"][8] == pytest.approx(base.log_probs()[token] - without.log_probs()[token], abs=1e-6)
    assert len({round(effect, 6) for effect in found["effects"]}) == 15
    assert found["floor"] <= 1e-6


def test_some_effects_once_more_in_float64(inputs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    every = ours.ablations(inputs, "fp32", 23)()["effects"]
    asked = []
    monkeypatch.setattr(ours, "opened", lambda path, precision: asked.append(precision) or open_model(path))
    found = ours.exact_ablations(inputs, 23, 4)()
    assert (asked, found["units"]) == (["fp64"], 4)
    assert found["effects"] == pytest.approx(every[::4], abs=1e-6)


def test_the_sweep_and_the_fresh_runs_speak_of_the_same_changes(inputs: str) -> None:
    swept = ours.interventions(inputs, "fp32", 41, 60)()
    fresh = ours.fresh_interventions(inputs, "fp32", 41, 60)()
    assert (swept["units"], fresh["units"]) == (60, 11)
    assert swept["effects"] == pytest.approx(fresh["effects"], abs=1e-6)
    assert np.ptp(swept["effects"]) > 1e-6


def test_written_tokens_are_counted(inputs: str) -> None:
    assert ours.decode(inputs, "fp32", 1, 7)() == {"units": 7}


def test_an_engine_that_is_not_there_is_said() -> None:
    with pytest.raises(NotOffered, match=r"precision 'fp3' is not available|engine 'torch' is not available"):
        ours.opened("nowhere.gguf", "fp3")


def test_a_process_that_fails_is_no_measurement() -> None:
    with pytest.raises(NotOffered, match="exit 3"):
        ours.cold("unread", ["-c", "raise SystemExit(3)"])()
    framed = "import sys; sys.exit('╭ Error ─╮\\n│ Invalid value: x │\\n╰────────╯')"
    with pytest.raises(NotOffered, match=r"^Invalid value: x$"):
        ours.cold("unread", ["-c", framed])()
    assert ours.cold("unread", ["-c", "pass"])() == {}
