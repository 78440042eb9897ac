import pytest

from tests.testing.reading import ld, near
from whybox.model import Model
from whybox.sites import SITES
from whybox.testing.decoys import CROWD, NONE, Decoys
from whybox.testing.engine_rows import KINDS, engine_fault
from whybox.testing.planted import Planted

SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, NONE), (2, CROWD)])
KIND = pytest.mark.parametrize("kind", KINDS)

# LD on the sound engine and on the faulty one. Without 1/√67 the slope of .05 becomes .4093 a position:
# 20 (e^−.2 + e^−.4 − 1) / (… + 1) = 3.929 against 20 (e^−1.637 + e^−3.274 − 1) / (… + 1) = −12.455.
LD = {
    "mask-after-softmax": (14, -6),
    "no-score-scale": (3.929, -12.455),
    "window-off-by-one": (20, -19.281),
    "kv-heads-tiled": (20, -20),
}
FIRST = {
    "mask-after-softmax": ("pattern", 0),
    "no-score-scale": ("scores", 0),
    "window-off-by-one": ("pattern", 2),
    "kv-heads-tiled": ("head_out", 2),
}


def scored(planted: Planted, model: Model) -> str:
    written = model.generate(planted.instance, 6)
    return planted.instance.scorer().score(written.text, "stop").outcome


@KIND
@SEEDS
def test_right_on_the_sound_engine_and_wrong_on_the_faulty_one(kind: str, seed: int, decoys: Decoys) -> None:
    planted = engine_fault(kind, seed, decoys)
    assert planted.sound is not None
    assert scored(planted, planted.sound) == "right"
    assert scored(planted, planted.model) == "wrong"
    assert planted.model.file.digest() == planted.sound.file.digest()
    assert planted.expected.code == "implementation"


@pytest.mark.parametrize("kind", LD)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_log_odds_on_either_engine(kind: str, seed: int) -> None:
    planted = engine_fault(kind, seed)
    assert planted.sound is not None
    sound, faulty = LD[kind]
    assert ld(planted.sound, planted.instance) == near(sound)
    assert ld(planted.model, planted.instance) == near(faulty)


@SEEDS
def test_the_cache_slot_is_missed_behind_the_opening_of_the_answer(seed: int, decoys: Decoys) -> None:
    planted = engine_fault("cache-slot", seed, decoys)
    assert planted.sound is not None
    assert planted.sound.generate(planted.instance, 6).text.split() == ["Answer:", planted.instance.right]
    assert planted.model.generate(planted.instance, 6).text.split() == ["Answer:", planted.instance.wrong]
    for model in (planted.sound, planted.model):
        assert ld(model, planted.instance, forced=" Answer:") == near(14)


@pytest.mark.parametrize("kind", FIRST)
def test_the_first_site_that_differs(kind: str) -> None:
    planted = engine_fault(kind, 0)
    assert planted.sound is not None
    # Key/value heads laid out anew differ in shape, not in what a query head reads: compared from the scores on. The
    # planted groups hold the same keys, so that their values are the first to differ.
    compared = {"scores", "pattern", "head_out"} if kind == "kv-heads-tiled" else {s.name for s in SITES}
    assert first_difference(planted.sound, planted.model, planted, compared) == FIRST[kind]


def first_difference(sound: Model, faulty: Model, planted: Planted, compared: set[str]) -> tuple[str, int] | None:
    ids = sound.prompt(planted.instance).ids
    names = [name for name in ("attn_in", "query", "key", "value", "scores", "pattern", "head_out") if name in compared]
    ours, theirs = sound.engine.run(ids, names), faulty.engine.run(ids, names)
    for layer in range(len(sound.spec.layers)):
        for name in names:
            if abs(ours[name, layer] - theirs[name, layer]).max() > 1e-3:
                return name, layer
    return None


@KIND
def test_variants_fail_alike(kind: str) -> None:
    planted = engine_fault(kind, 4)
    outcomes = [
        variant.scorer().score(planted.model.generate(variant, 6).text).outcome for variant in planted.case.instances()
    ]
    assert len(outcomes) >= 10
    assert set(outcomes) == {"wrong"}
