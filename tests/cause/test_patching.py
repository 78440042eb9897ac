"""Activation patching: a whole stream carries the whole gap, one's own values none of it, planted parts their share."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near, place_of
from whybox.cause.components import Head, Mlp, Selection
from whybox.cause.ground import between
from whybox.cause.null import Null
from whybox.cause.patching import Pair, pair, patch
from whybox.errors import UsageError


def swapped() -> Pair:
    """The same question with the two values exchanged: what was right is wrong there."""
    found, ground = planted("induction")
    case = found.instance
    ids = list(ground.trace.ids)
    first, second = (place_of(ground.model, ground.prompt, word) for word in (case.right, case.wrong or ""))
    ids[first], ids[second] = ids[second], ids[first]
    bad = between(ground.model, ids, case.right, case.wrong or "", floor=1e-5)
    return pair(replace(bad, row=ground.row), ground.trace.ids)


def test_a_whole_stream_brings_the_whole_gap_and_ones_own_values_nothing() -> None:
    both = swapped()
    assert both.bad.value == near(-20)
    assert both.gap == near(40)
    after = Selection("resid_post", 3, (("q", both.bad.row),))
    before = Selection("resid_post", 0, (("q", both.bad.row),))
    whole, nothing = patch(both, [(after,), (before,)], generator())
    assert whole.recovery == pytest.approx(1, abs=1e-3)
    assert nothing.recovery == pytest.approx(0, abs=1e-3)
    own = Pair(both.bad, both.bad.trace, both.rows)
    (same,) = patch(own, [(after,)], generator())
    assert same.effect.value == 0
    assert not same.effect.changed
    assert same.recovery is None
    assert "less than three times the floor" in same.reason


def test_the_copier_carries_the_gap_and_the_previous_token_head_none() -> None:
    found, _ = planted("induction")
    both = swapped()
    claims = [(Head(*found.heads["copier"]),), (Head(*found.heads["previous"]),), (Mlp(2),)]
    copier, previous, mlp = patch(both, claims, generator())
    assert copier.recovery == pytest.approx(1, abs=2e-3)
    assert abs(previous.recovery or 0) < 2e-3
    assert abs(mlp.recovery or 0) < 2e-3
    assert isinstance(mlp.effect.null, Null)
    assert mlp.effect.null.distinct == 3


def test_any_site_can_be_patched_also_one_that_joins_two_positions() -> None:
    found, _ = planted("induction")
    both = swapped()
    layer, head = found.heads["copier"]
    row = both.bad.row
    claims = [
        (Selection("pattern", layer, (("h", head), ("q", row))),),
        (Selection("scores", layer, (("h", head), ("q", row))),),
        (Selection("value", layer, (("g", head),)),),
        (Selection("embed"),),
        (Selection("logits", None, (("q", row),)),),
    ]
    pattern, scores, value, embed, logits = patch(both, claims, generator())
    assert abs(pattern.effect.value) < 0.1  # both look at the same place; what stands there differs
    assert abs(scores.effect.value) < 0.1
    assert value.recovery == pytest.approx(1, abs=2e-3)
    assert embed.recovery == pytest.approx(1, abs=1e-5)
    assert logits.recovery == pytest.approx(1, abs=1e-5)


def test_unequal_texts_need_a_map() -> None:
    _, ground = planted("induction")
    longer = (*ground.trace.ids[:9], ground.trace.ids[10], *ground.trace.ids[9:])
    with pytest.raises(UsageError, match=f"have {ground.length} and {ground.length + 1} ids"):
        pair(ground, longer)
    with pytest.raises(UsageError, match="rows: 3 → 99 lies outside"):
        pair(ground, longer, {3: 99})
    mapped = pair(ground, longer, {ground.row: ground.length, 0: 0})
    assert mapped.patch([Head(0, 0)]).rows == (0, ground.row)
    with pytest.raises(UsageError, match="position 5 has no counterpart"):
        patch(mapped, [(Head(0, 0),)], generator(), rows=5)


def test_recovery_is_the_share_of_the_gap_by_hand() -> None:
    found, _ = planted("induction")
    both = swapped()
    layer, head = found.heads["copier"]
    good = both.bad.model.run(both.good.ids, see=[("head_out", layer)])
    half = 0.5 * (good["head_out", layer] + both.bad.seen([("head_out", layer)])["head_out", layer])
    from whybox.engine.edit import set_to
    from whybox.engine.trace import Change

    (moved,) = both.bad.moved([Change((set_to("head_out", half[:, [head]], layer, h=(head,)),))])
    (whole,) = patch(both, [(Head(layer, head),)], generator())
    assert moved.effect == pytest.approx(0.5 * whole.effect.value, rel=1e-2)
    assert np.isclose(whole.recovery or 0, whole.effect.value / both.gap)
