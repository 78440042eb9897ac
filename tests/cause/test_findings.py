"""Findings on the real models that every experiment must reproduce, within the bounds that were set for them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.cause.grounds import generator
from tests.cause.two_documents import TwoDocuments, items
from tests.real import real
from whybox.cause.components import Group, Head, all_heads
from whybox.cause.ground import Ground, of_run
from whybox.cause.knockout import knock_out_segments
from whybox.cause.measure import effects
from whybox.cause.measured import Measured
from whybox.cause.null import other_groups
from whybox.cause.path import frozen
from whybox.cause.replacement import Zeroed
from whybox.cause.shares import shares_beside_effects
from whybox.engine.read import LogProb
from whybox.measure.attribution import direct_attribution, wishes
from whybox.model import Model

FLOOR = 5e-5  # of logits, engine against engine, in fp32
SAMPLED = 5

pytestmark = pytest.mark.model


@cache
def grounds() -> tuple[tuple[TwoDocuments, Ground], ...]:
    model = real("smollm2", "torch")
    return tuple((item, item.ground(model, FLOOR)) for item in items())


def test_evidence_is_looked_at_and_the_other_document_competes() -> None:
    gold, other, system = [], [], []
    for item, ground in grounds():
        found = {one.name: one.direct for one in knock_out_segments(ground, [item.gold, item.other, "policy"], spans=0)}
        assert all(isinstance(effect, Measured) for effect in found.values())
        values = {name: effect.value for name, effect in found.items() if isinstance(effect, Measured)}
        gold.append(values[item.gold])
        other.append(values[item.other])
        system.append(abs(values["policy"]))
    assert sum(value < -FLOOR for value in gold) == len(gold)
    assert sum(value > FLOOR for value in other) == len(other)
    assert -np.mean(gold) >= 20 * np.mean(system)


def test_weights_are_not_causes() -> None:
    signed, against = [], 0
    for item, ground in grounds()[:SAMPLED]:
        segment = ground.prompt.segment(item.gold)
        got = shares_beside_effects(ground, range(segment.start, segment.end), generator())
        assert got.signed is not None
        signed.append(got.signed.rho)
        bright = sorted(got.shares, key=lambda head: -got.shares[head])[:5]
        against += any(got.effects[head] > 5 * ground.floor for head in bright)
    assert np.mean(signed) < 0.4
    assert against >= 1, "a bright head that works against the answer"


def test_removed_writers_are_made_good() -> None:
    repaired, joint_is_more = [], 0
    for _, ground in grounds()[:SAMPLED]:
        heads: list[Group] = [(head,) for head in all_heads(ground.spec)]
        taken = Zeroed(ground.answer_rows)
        direct = effects(ground, frozen(ground, taken, ground.row), heads)
        top = sorted(heads, key=lambda group: direct[group].effect)[:3]  # they write for the right answer
        whole: Group = tuple(head for group in top for head in group)
        total = effects(ground, taken, [*top, whole])
        repaired.append(total[top[0]].effect / direct[top[0]].effect)
        joint_is_more += abs(total[whole].effect) > abs(sum(total[group].effect for group in top))
    assert np.median(repaired) < 0.9
    assert joint_is_more >= 0.6 * SAMPLED


def test_direct_attribution_is_complete() -> None:
    for _, ground in grounds():
        decision = ground.decision
        assert decision is not None
        trace = ground.model.run(decision.ids, see=wishes(ground.spec), tail=1)
        found = direct_attribution(trace, ground.model.weights, decision.right[0], decision.wrong[0])
        assert found.ld == pytest.approx(ground.value, rel=1e-4)
        assert abs(found.total - found.ld) <= 1e-4 * abs(found.ld)


INDUCTION = {
    "smollm2": ((18, 6), (17, 3), (17, 4), (17, 5), (18, 7)),
    "gemma3-270m": ((5, 1), (11, 2), (5, 2)),
}
REAL = [pytest.param("smollm2"), pytest.param("gemma3-270m", marks=pytest.mark.gemma)]


@pytest.mark.parametrize("name", REAL)
def test_induction_heads_copy_causally(name: str) -> None:
    """Random ids twice: without the listed heads the second half is as hard as the first, without others it is not."""
    model = real(name, "torch")
    rise, null = [], []
    for draw in range(2):
        ground, half = _repeated(model, draw)
        listed: Group = tuple(Head(*place) for place in INDUCTION[name])
        others = other_groups(listed, ground.spec, ground.length, generator(), 3).draws
        got = effects(ground, Zeroed(), [listed, *others])
        rise.append(-got[listed].effect / half)
        null += [-got[group].effect / half for group in others]
    assert np.mean(rise) >= 5
    assert np.mean(null) <= 1.5


def _repeated(model: Model, draw: int) -> tuple[Ground, int]:
    """log P of the second half of BOS + 50 random ids twice, nats."""
    half = 50
    drawn = np.random.default_rng(draw).integers(1000, 40000, half).tolist()
    ids = tuple(map(int, (model.tokenizer.bos or 0, *drawn, *drawn)))
    start = 1 + half
    trace = model.run(ids[:-1], tail=half)
    ground = of_run(model, ids[:-1], LogProb(ids[start:], start), start - 1, FLOOR)

    return replace(ground, trace=trace), half
