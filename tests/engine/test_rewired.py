"""Other arithmetic between a norm and its gain, in all layers or in some; and a cache that a pass takes for another."""

import numpy as np

from tests.engine.random_models import IDS, drawn, spec
from whybox.engine.rewired import RewiredEngine
from whybox.parts.norm import rms_norm
from whybox.parts.rounding import is_rounded, rounded
from whybox.testing import faults

SPEC = spec()
WEIGHTS = drawn(SPEC, dtype=np.float32)


def test_a_row_is_rounded_between_its_norm_and_the_gain() -> None:
    run = faults.norm_before_gain_in("bf16").engine_for(SPEC, WEIGHTS).run(IDS, ["attn_in", "resid_pre"])
    gain = WEIGHTS["layers.1.attn_norm.gain"]
    bare = rounded(rms_norm(run["resid_pre", 1], np.ones_like(gain), 1e-5), "bf16")
    np.testing.assert_array_equal(run["attn_in", 1], bare * gain)
    assert not is_rounded(run["attn_in", 1], "bf16")


def test_it_holds_in_the_layers_that_it_is_limited_to() -> None:
    fault = faults.norm_before_gain_in("bf16").within([2])
    sound = RewiredEngine(SPEC, WEIGHTS).run(IDS, ["attn_in"])
    run = fault.engine_for(SPEC, WEIGHTS).run(IDS, ["attn_in"])
    np.testing.assert_array_equal(run["attn_in", 1], sound["attn_in", 1])
    assert not np.array_equal(run["attn_in", 2], sound["attn_in", 2])


def test_a_cache_is_taken_for_another_by_what_follows_it_alone() -> None:
    engine = faults.CACHE_SLOT.engine_for(SPEC, WEIGHTS)
    sound = faults.NO_FAULT.engine_for(SPEC, WEIGHTS)
    first = engine.run(IDS[:5], cache=engine.fresh_cache(len(IDS)))
    np.testing.assert_array_equal(first.logits, sound.run(IDS[:5]).logits)
    assert [len(slots) for slots in engine.run(IDS[5:6], cache=first.cache).cache.layers] == [5, 5, 5]
