"""Findings on the real models that every experiment must reproduce, within the bounds that were set for them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.cause.grounds import generator
from tests.cause.two_documents import TwoDocuments, items
from tests.real import real
from whybox.cause.components import Group, Head, all_heads
from whybox.cause.experiment import effects
from whybox.cause.ground import Ground, of_run
from whybox.cause.knockout import knock_out_segments
from whybox.cause.measured import Measured
from whybox.cause.null import other_groups
from whybox.cause.path import frozen
from whybox.cause.replacement import Zeroed
from whybox.cause.shares import shares_beside_effects
from whybox.engine.edit import cut
from whybox.engine.read import LogProb
from whybox.engine.trace import Change
from whybox.measure.attribution import DirectAttribution, direct_attribution, wishes
from whybox.model import Model

FLOOR = 5e-5  # of logits, engine against engine, in fp32
SAMPLED = 3

pytestmark = pytest.mark.model


@cache
def grounds() -> tuple[tuple[TwoDocuments, Ground], ...]:
    model = real("smollm2", "torch")
    return tuple((item, item.ground(model, FLOOR)) for item in items())


def test_evidence_is_looked_at_and_the_other_document_competes() -> None:
    effects_of: dict[str, list[float]] = {"gold": [], "other": [], "system": []}
    for item, ground in grounds():
        names = (item.gold, item.other, "policy")
        segments = (ground.prompt.segment(name) for name in names)
        cuts = [cut(q=ground.answer_rows, k=range(segment.start, segment.end)) for segment in segments]
        for who, moved in zip(effects_of, ground.moved([Change((edit,)) for edit in cuts]), strict=True):
            effects_of[who].append(moved.effect)
    assert max(effects_of["gold"]) < -5 * FLOOR
    assert min(effects_of["other"]) > 5 * FLOOR
    assert -np.mean(effects_of["gold"]) >= 20 * np.mean(np.abs(effects_of["system"]))
    item, ground = grounds()[0]
    (whole,) = knock_out_segments(ground, [item.gold], spans=3)
    assert isinstance(whole.direct, Measured)
    assert whole.direct.value == pytest.approx(effects_of["gold"][0], abs=10 * FLOOR)


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
    """The three heads that wrote most for the right answer, zeroed at the decision row."""
    left, joint_is_more = [], 0
    for _, ground in grounds():
        written = _attributed(ground)
        order = sorted(all_heads(ground.spec), key=lambda head: -written.heads[head.layer][head.head])
        top: list[Group] = [(head,) for head in order[:3]]
        whole: Group = tuple(order[:3])
        taken = Zeroed(ground.answer_rows)
        direct = effects(ground, frozen(ground, taken, ground.row), top)
        total = effects(ground, taken, [*top, whole])
        left.append(total[top[0]].effect / direct[top[0]].effect)
        joint_is_more += total[whole].effect < sum(total[group].effect for group in top)
    assert np.median(left) < 0.9
    assert joint_is_more >= 6


def _attributed(ground: Ground) -> DirectAttribution:
    decision = ground.decision
    assert decision is not None
    trace = ground.model.run(decision.ids, see=wishes(ground.spec), tail=1)
    return direct_attribution(trace, ground.model.weights, decision.right[0], decision.wrong[0])


def test_direct_attribution_is_complete() -> None:
    for _, ground in grounds():
        found = _attributed(ground)
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
