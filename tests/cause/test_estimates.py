"""Gradient estimates: right where the model is straight, flagged where it is not, and never more than a map."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.cause.test_patching import swapped
from tests.testing.reading import near
from whybox.cause.components import Head, Mlp, Positions, Selection, all_heads, all_keys, all_mlps, all_queries
from whybox.cause.estimates import BLIND, OPPOSITE, PLACE, SATURATED, Estimate, estimates
from whybox.cause.full import gradients
from whybox.cause.ground import Ground, between
from whybox.cause.integrated import LOW, integrated_gradients
from whybox.cause.ledger import said
from whybox.cause.patching import pair
from whybox.cause.replacement import Zeroed
from whybox.cause.verification import verify
from whybox.errors import UsageError
from whybox.testing import CROWD


def of(ground: Ground, components: list[object]) -> dict[object, Estimate]:
    return {one.component: one for one in estimates(ground, Zeroed(), components)}  # type: ignore[arg-type]


def test_a_writer_is_estimated_as_it_acts() -> None:
    found, ground = planted("memoriser", engine="torch")
    got = of(ground, [*all_heads(ground.spec), *all_mlps(ground.spec)])
    assert got[Head(*found.heads["copier"])].value == near(-20)
    assert got[Mlp(found.mlps["memory"])].value == near(40)
    assert got[Mlp(found.mlps["memory"])].flags == ()


def test_saturated_lookups_and_what_hides_behind_them_are_flagged() -> None:
    found, ground = planted("induction", engine="torch")
    layer, head = found.heads["copier"]
    got = of(ground, [*all_heads(ground.spec), *all_queries(ground.spec), *all_keys(ground.spec)])
    previous = got[Head(*found.heads["previous"])]
    assert abs(previous.value) < 0.1, "the gradient does not see it"
    assert BLIND in previous.flags
    for lookup in (Selection("query", layer, (("h", head),)), Selection("key", layer, (("g", head),))):
        assert SATURATED in got[lookup].flags
        assert got[lookup].low_confidence


def test_an_or_is_flagged() -> None:
    found, ground = planted("redundant_or", engine="torch")
    got = of(ground, list(all_heads(ground.spec)))
    for index in range(3):
        spare = got[Head(*found.heads[f"copier {index}"])]
        assert abs(spare.value) < 0.1
        assert BLIND in spare.flags


def test_places_that_are_never_to_be_trusted() -> None:
    _, ground = planted("memoriser", engine="torch")
    components = [Mlp(0), Positions((0,)), Selection("resid_post", 1), Selection("resid_post", 1, (("q", 3),)), Mlp(1)]
    got = of(ground, components)
    assert [PLACE in got[one].flags for one in components] == [True, True, True, False, False]


def test_both_directions_are_compared_between_two_prompts() -> None:
    both = swapped()
    model = both.bad.model.variant(engine="torch")
    case = planted("induction")[0].instance
    bad = between(model, both.bad.trace.ids, case.right, case.wrong or "", floor=1e-5)
    other = pair(bad, both.good.ids)
    heads = list(all_heads(bad.spec))
    got = estimates(bad, other.patch(heads), heads, other)
    copier = next(one for one in got if one.component == Head(*planted("induction")[0].heads["copier"]))
    assert copier.value == near(40)
    assert OPPOSITE not in copier.flags
    back = pair(between(model, both.good.ids, case.right, case.wrong or "", floor=1e-5), both.bad.trace.ids)
    again = estimates(back.bad, back.patch(heads), heads, back)
    assert [one.component for one in got if OPPOSITE in one.flags] == [
        one.component for one in again if OPPOSITE in one.flags
    ]


def test_integrated_gradients_see_through_an_or() -> None:
    found, ground = planted("redundant_or", engine="torch")
    copiers = [Head(*found.heads[f"copier {i}"]) for i in range(3)]
    whole = integrated_gradients(ground, Zeroed(), copiers)
    assert whole.joint == near(-20)
    assert sum(whole.shares.values()) == pytest.approx(whole.joint, rel=0.05)
    shares = list(whole.shares.values())
    assert np.ptp(shares) < 0.1, "three alike, a third each"
    assert whole.midpoints in (16, 32, 64, 128, 256)
    assert whole.error is not None
    assert whole.error <= 0.05
    assert whole.flags == ()


def test_the_joint_effect_of_a_site_is_measured_once() -> None:
    """Of a mechanism that one gradient does not see: flagged, shared out, and its whole site replaced a single time."""
    _, ground = planted("redundant_or", engine="torch")
    run: list[str] = []
    counted = replace(ground, told=lambda trace, _: run.append(said(trace.edits)))
    mapped = gradients(counted, Zeroed(), generator())
    assert mapped.along
    assert mapped.along[0].shared.joint == near(-20)
    whole = said(Zeroed()(tuple(mapped.along[0].shared.shares)))
    assert run.count(whole) == 1


def test_a_jump_between_midpoints_is_flagged() -> None:
    """All positions of the previous-token head: the copier's match is lost within a sliver of the way."""
    found, ground = planted("induction", engine="torch")
    whole = integrated_gradients(ground, Zeroed(), [Head(*found.heads["previous"])])
    assert whole.joint == near(-20)
    close = whole.error is not None and whole.error <= 0.1
    assert (LOW in whole.flags) != close


def test_components_of_several_sites_are_not_integrated_together() -> None:
    _, ground = planted("induction", engine="torch")
    with pytest.raises(UsageError, match="lie at 2 sites: head_out 0, mlp_out 1"):
        integrated_gradients(ground, Zeroed(), [Head(0, 0), Mlp(1)])


def test_gradients_need_torch() -> None:
    _, ground = planted("induction")
    with pytest.raises(UsageError, match="computes no gradients"):
        estimates(ground, Zeroed(), [Head(0, 0)])


def test_verification_measures_what_it_hands_on() -> None:
    found, ground = planted("memoriser", CROWD, "torch")
    components = [*all_heads(ground.spec), *all_mlps(ground.spec)]
    checked = verify(ground, Zeroed(), estimates(ground, Zeroed(), components), generator(), top=4, random=6, draws=3)
    assert len(checked.top) == 4
    assert len(checked.others) == 6
    assert len(checked.effects) == 10
    assert not {one.estimate.component for one in checked.top} & {one.estimate.component for one in checked.others}
    memory = checked.effects[Mlp(found.mlps["memory"])]
    assert memory.value == near(40)
    previous = next(one for one in estimates(ground, Zeroed(), components) if one.component == Head(0, 0))
    alone = verify(ground, Zeroed(), [previous], generator(), draws=0)
    assert alone.worst.effect.value == near(-20)
    assert alone.worst.underestimated == near(20)
    assert alone.rank is None
    assert alone.others == ()
