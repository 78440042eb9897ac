"""Where two engines part, on models whose fault and its place are known."""

import pytest

from whybox.compare.divergence import first_divergence
from whybox.testing import FAULTS
from whybox.testing.engine_rows import KINDS, engine_fault
from whybox.testing.planted import Planted

PLACES = {
    "mask-after-softmax": ("pattern", 0),
    "no-score-scale": ("scores", 0),
    "window-off-by-one": ("pattern", 2),
    "kv-heads-tiled": ("head_out", 2),
    "cache-slot": ("head_out", 0),
}


def path(planted: Planted) -> tuple[tuple[int, ...], tuple[int, ...]]:
    prompt = planted.model.prompt(planted.instance).ids
    written = planted.model.generate(planted.instance, 2).ids
    return prompt, written


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_site_of_the_fault_is_named(kind: str, seed: int) -> None:
    planted = engine_fault(kind, seed)
    assert planted.sound is not None
    prompt, written = path(planted)
    found = first_divergence(planted.model.engine, planted.sound.engine, prompt, written)
    assert found is not None
    assert (found.site, found.layer) == PLACES[kind]
    assert found.error > 0.01
    assert found.position >= len(prompt) if kind == "cache-slot" else found.position < len(prompt)


def test_one_engine_and_two_sound_ones_do_not_part() -> None:
    planted = engine_fault("kv-heads-tiled", 2)
    assert planted.sound is not None
    sound, torch = planted.sound.engine, planted.sound.variant(engine="torch").engine
    prompt, written = path(planted)
    assert first_divergence(sound, sound, prompt, written) is None
    assert first_divergence(sound, torch, prompt, written) is None
    assert first_divergence(torch, sound, prompt, written) is None


def test_a_window_that_hides_one_key_too_few_parts_where_it_first_matters() -> None:
    planted = engine_fault("window-off-by-one", 0)
    assert planted.sound is not None
    window = planted.sound.spec.layers[2].attention.window
    assert window is not None
    prompt, _ = path(planted)
    found = first_divergence(planted.model.engine, planted.sound.engine, prompt, ())
    assert found is not None
    assert found.position >= window


def test_the_faults_without_parameters_are_those_of_the_table() -> None:
    assert set(KINDS) <= set(FAULTS)
