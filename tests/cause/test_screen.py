"""The screen on planted mechanisms: every part once, the strongest a second time, and what neither can see."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near
from whybox.cause.ablation import DEPENDS
from whybox.cause.components import Component, Head, Mlp
from whybox.cause.effects import Unknown
from whybox.cause.ground import Ground
from whybox.cause.measured import Measured
from whybox.cause.null import Null
from whybox.cause.references import Other, References
from whybox.cause.screen import NOT_CONFIRMED, Screen, Screened, parts_of, screen
from whybox.measure.attribution import direct_attribution, wishes
from whybox.testing import Decoys

BESIDE = Decoys(heads=4)
NO_REASON = Unknown("not asked")


def last_rows(ground: Ground, texts: list[tuple[int, ...]]) -> References:
    """One row of each text, as a run behind a cache keeps it."""
    found = []
    for ids in texts:
        engine = ground.model.engine
        before = engine.run(ids[:-1], (), (), engine.fresh_cache(len(ids)), tail=1)
        run = engine.run(ids[-1:], ["head_out", "mlp_out"], (), before.cache, tail=1)
        found.append(Other(run, {ground.row: 0}))
    return References("other questions", tuple(found))


@cache
def screened(row: str, top: int = 20) -> tuple[dict[Component, Screened], Screen, Ground]:
    """Resampled from the same text with its entity asked for replaced by fillers: the mechanism finds nothing there."""
    _, ground = planted(row, BESIDE)
    ids = ground.trace.ids
    texts = [(*ids[:-1], ids[-1 - shift]) for shift in (3, 4)]
    trace = ground.model.run(ids, see=wishes(ground.spec), tail=1)
    assert ground.decision is not None
    written = direct_attribution(trace, ground.model.weights, ground.decision.right[0], ground.decision.wrong[0])
    found = screen(ground, last_rows(ground, texts), written, generator(), top)
    return {part.component: part for part in found.parts}, found, ground


def test_every_part_is_there_and_the_strongest_comes_first() -> None:
    parts, found, ground = screened("memoriser")
    assert len(found.parts) == parts_of(ground.spec) == len(parts)
    sizes = [abs(part.zero.value) for part in found.parts]
    assert sizes == sorted(sizes, reverse=True)
    first = found.parts[0].component
    assert first == Mlp(planted("memoriser", BESIDE)[0].mlps["memory"])
    assert found.parts[0].zero.value == near(40)


def test_what_a_writer_wrote_is_what_its_removal_takes_where_nobody_answers_to_it() -> None:
    parts, _, _ = screened("memoriser")
    copier = parts[Head(*planted("memoriser", BESIDE)[0].heads["copier"])]
    assert copier.wrote == near(20)
    assert copier.zero.value == near(-20)
    assert isinstance(copier.resample, Measured)
    assert copier.resample.value == near(-20)
    assert copier.resample.n == 2


def test_a_head_is_set_beside_the_others_of_its_layer_and_no_p_is_smaller_than_they_allow() -> None:
    parts, _, ground = screened("memoriser")
    head = planted("memoriser", BESIDE)[0].heads["copier"]
    null = parts[Head(*head)].zero.null
    assert isinstance(null, Null)
    assert null.n == ground.spec.layers[head[0]].attention.heads - 1
    assert parts[Head(*head)].zero.p == pytest.approx(1 / (null.n + 1))


def test_a_sink_is_bright_and_its_removal_changes_nothing() -> None:
    parts, _, _ = screened("sink")
    sink = parts[Head(*planted("sink", BESIDE)[0].heads["sink"])]
    assert sink.zero.value == 0
    assert not sink.zero.changed


def test_parts_that_act_at_earlier_positions_are_not_seen_at_the_decision() -> None:
    """The previous-token head is needed, and only taken out everywhere does that show: full effort does so."""
    parts, _, _ = screened("induction")
    previous = Head(*planted("induction", BESIDE)[0].heads["previous"])
    assert abs(parts[previous].zero.value) < 0.02


def test_only_the_strongest_are_verified_and_the_others_say_why() -> None:
    parts, found, _ = screened("memoriser", top=2)
    assert [part.component for part in found.verified] == [part.component for part in found.parts[:2]]
    weaker = found.parts[2].resample
    assert isinstance(weaker, Unknown)
    assert weaker.reason
    assert parts[found.parts[2].component].flags == ()


def test_without_other_prompts_nothing_is_verified() -> None:
    _, ground = planted("memoriser", BESIDE)
    found = screen(ground, Unknown("no other prompt fits"), NO_REASON, generator(), 3)
    assert found.verified == ()
    assert found.parts[0].resample == Unknown("no other prompt fits")
    assert found.parts[0].wrote == NO_REASON


def _resampled(values: list[float]) -> Measured:
    spread = float(np.std(values, ddof=1))
    return Measured(float(np.mean(values)), 1e-5, NO_REASON, len(values), spread)


def test_flags_say_what_the_second_way_did_not_confirm() -> None:
    _, found, _ = screened("memoriser")
    first = found.parts[0]
    assert first.zero.value > 0
    agrees, opposes, unclear = [2.0, 2.1, 1.9], [-2.0, -2.1, -1.9], [2.0, -2.0, 0.1]
    assert replace(first, resample=_resampled(agrees)).flags == ()
    assert replace(first, resample=_resampled(opposes)).flags == (DEPENDS,)
    assert replace(first, resample=_resampled(unclear)).flags == (NOT_CONFIRMED,)
