"""Three ablations side by side: planted numbers, brute force on a random model, and the flag of opposite signs."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near, place_of
from whybox.cause.ablation import DEPENDS, ablate
from whybox.cause.components import Head, Layer, Mlp, Positions
from whybox.cause.experiment import measure
from whybox.cause.null import Null
from whybox.cause.references import Other, References, by_role, reference_prompts, references
from whybox.cause.replacement import Averaged, Resampled, Zeroed
from whybox.engine.ablation import Donor, mean, resample
from whybox.engine.edit import zero
from whybox.errors import UsageError
from whybox.testing import CROWD, ROWS


def _others(row: str, components: tuple[object, ...], count: int = 34) -> References:
    """The same row drawn with other seeds, run on the ground's own model."""
    _, ground = planted(row)
    cases = [ROWS[row](seed).instance for seed in range(1, count + 1)]
    return references(ground, [ground.model.prompt(case) for case in cases], components, "other seeds")  # type: ignore[arg-type]


def test_zero_of_planted_heads_beside_decoys_of_their_layer() -> None:
    found, ground = planted("induction", CROWD, "torch")
    claims = [(Head(*found.heads["previous"]),), (Head(*found.heads["copier"]),), (Head(3, 5),), (Mlp(3),)]
    previous, copier, decoy, mlp = measure(ground, Zeroed(), claims, generator())
    for needed in (previous, copier):
        assert needed.value == near(-20)
        assert isinstance(needed.null, Null)
        assert needed.null.n == needed.null.distinct == 20
        assert needed.p == pytest.approx(1 / 21)
        assert needed.beyond_null
        assert needed.percentile == 100
    assert abs(decoy.value) < 0.02
    assert decoy.beyond_null is False
    assert abs(mlp.value) < 0.02


def test_the_three_ablations_are_what_the_engine_makes_of_each() -> None:
    found, ground = planted("induction")
    head, rows = Head(*found.heads["copier"]), slice(ground.row, None)
    others = _others("induction", (head,))
    (one,) = ablate(ground, [(head,)], others, generator(), rows, draws=0)
    donors = [Donor(other.trace, (other.rows[ground.row],)) for other in others.others]
    base, at = ground.trace, {"h": head.head, "q": rows}

    def effect(edits: tuple[object, ...]) -> float:
        return float(ground.read(ground.model.run(base.ids, edits=edits, tail=1))) - ground.value  # type: ignore[arg-type]

    assert one.zero.value == pytest.approx(effect((zero("head_out", head.layer, **at),)), abs=1e-4)
    assert one.mean.value == pytest.approx(effect(mean(base, donors, "head_out", head.layer, **at)), abs=1e-4)
    singles = [effect(resample(base, donor, "head_out", head.layer, **at)) for donor in donors]
    assert one.resample.n == 16
    assert min(singles) <= one.resample.value <= max(singles)
    assert one.resample.sd is not None
    assert one.zero.sd is None
    assert one.references == "other seeds"
    assert one.flags == ()


def test_layers_and_positions_are_ablated_too() -> None:
    found, ground = planted("memoriser")
    value = place_of(ground.model, ground.prompt, found.instance.right)
    layer = found.mlps["memory"]
    whole, mlp, place = measure(ground, Zeroed(), [(Layer(layer),), (Mlp(layer),), (Positions((value,)),)], generator())
    assert mlp.value == near(40)
    assert whole.value == near(40)
    assert place.value == near(-20)
    assert ground.value + mlp.value == near(found.expected.numbers["ld_without_mlp"])


def test_opposite_signs_are_flagged() -> None:
    """The copier writes the right value here; elsewhere, made so by hand, it writes the right one three times."""
    found, ground = planted("induction")
    head = Head(*found.heads["copier"])
    site = ("head_out", head.layer)
    run = ground.model.run(ground.trace.ids, see=[site])
    loud = {**run.sites, site: 3 * run["head_out", head.layer]}
    rows = {row: row for row in range(ground.length)}
    others = (Other(replace(run, sites=loud), rows), Other(run, rows)) * 16
    (one,) = ablate(ground, [(head,)], References("by hand", others), generator(), draws=0)
    assert one.zero.value == near(-20)
    assert one.mean.value == near(20)
    assert one.flags == (DEPENDS,)
    assert one.resample.sd is not None
    assert 15 < one.resample.sd < 25, "draws of 0 and of 40"


def test_means_need_32_and_a_row_needs_a_counterpart() -> None:
    _, ground = planted("induction")
    others = _others("induction", (Head(3, 0),), 3)
    with pytest.raises(UsageError, match="at least 32"):
        ablate(ground, [(Head(3, 0),)], others, generator(), draws=0)
    lame = Other(others.others[0].trace, {0: 0})
    with pytest.raises(UsageError, match="position 1 has no counterpart"):
        Resampled(ground.trace, lame)((Head(3, 0),))
    with pytest.raises(UsageError, match="no other run"):
        ablate(ground, [(Head(3, 0),)], References("none", ()), generator())
    assert len(Averaged(ground.trace, _others("induction", (Head(3, 0),)).others)((Head(3, 0),))) == 1


def test_rows_are_matched_by_their_role() -> None:
    found, ground = planted("induction")
    model = found.model
    other = model.prompt(ROWS["induction"](5).instance)
    rows = by_role(ground.prompt, other)
    assert rows[0] == 0
    assert rows[ground.length - 1] == len(other) - 1
    for name in ("doc1", "doc2"):
        own, twin = ground.prompt.segment(name), other.segment(name)
        assert [rows[row] for row in range(own.start, own.end)] == list(range(twin.start, twin.end))
    question = other.segment("question")
    inside = ground.prompt.segment("question")
    assert all(question.start <= rows[row] < question.end for row in range(inside.start, inside.end))
    assert set(rows) == set(range(ground.length))


def test_without_variants_the_built_in_set_stands_in_and_is_named() -> None:
    _, ground = planted("induction")
    name, prompts = reference_prompts(ground)
    assert "built-in" in name
    assert len(prompts) == 32
    assert np.ptp([len(prompt) for prompt in prompts]) < 40
