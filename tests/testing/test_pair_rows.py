import numpy as np
import pytest

from tests.testing.reading import last, ld, near, without
from whybox.engine.edit import scale, set_to, zero
from whybox.testing import pair_rows as rows
from whybox.testing.circuit import Place
from whybox.testing.decoys import CROWD, NONE, Decoys

SEEDS = pytest.mark.parametrize(("seed", "decoys"), [(0, NONE), (1, NONE), (2, CROWD)])


@SEEDS
@pytest.mark.parametrize("place", [(1, 1), (2, 3)])
def test_a_sink_is_bright_and_nothing(seed: int, decoys: Decoys, place: Place) -> None:
    planted = rows.sink(seed, decoys, place)
    layer, head = place
    trace = planted.model.run(planted.instance, see=[("pattern", layer), "logits"])
    assert trace["pattern", layer][head, :, 0].min() > 1 - 1e-7
    removed = planted.model.run(planted.instance, edits=[zero("head_out", layer, h=head)])
    assert removed.changed == (False,)
    np.testing.assert_array_equal(removed.logits, trace.logits)
    assert ld(planted.model, planted.instance) == near(20)


@SEEDS
def test_a_pair_that_cancels(seed: int, decoys: Decoys) -> None:
    planted = rows.cancel(seed, decoys)
    model, case, at = planted.model, planted.instance, planted.heads
    assert ld(model, case) == near(20)
    assert ld(model, case, without(at["plus"])) == near(0)
    assert ld(model, case, without(at["minus"])) == near(40)
    assert ld(model, case, without(at["plus"], at["minus"])) == near(20)


@SEEDS
def test_a_backup_steps_in(seed: int, decoys: Decoys) -> None:
    planted = rows.backup(seed, decoys)
    model, case, at = planted.model, planted.instance, planted.heads
    assert ld(model, case) == near(20)
    assert ld(model, case, without(at["primary"])) == near(20)
    assert ld(model, case, without(at["backup"])) == near(20)
    assert ld(model, case, without(at["primary"], at["backup"])) == near(0)


@SEEDS
def test_the_primary_has_its_full_direct_effect(seed: int, decoys: Decoys) -> None:
    """Everything behind the primary frozen at what it wrote: the backup cannot answer for it."""
    planted = rows.backup(seed, decoys)
    model, case = planted.model, planted.instance
    layer = planted.heads["backup"][0]
    written = model.run(case, see=[("attn_out", layer)])["attn_out", layer]
    frozen = [*without(planted.heads["primary"]), set_to("attn_out", written, layer)]
    assert ld(model, case, frozen) == near(0)


@SEEDS
@pytest.mark.parametrize("copies", [2, 3, 5])
def test_copies_are_needed_only_once(seed: int, decoys: Decoys, copies: int) -> None:
    planted = rows.redundant_or(seed, decoys, copies)
    model, case = planted.model, planted.instance
    places = [planted.heads[f"copier {i}"] for i in range(copies)]
    assert ld(model, case) == near(20)
    for kept in range(copies):
        assert ld(model, case, without(*places[:kept], *places[kept + 1 :])) == near(20)
    assert ld(model, case, without(*places)) == near(0)


def test_copies_are_saturated() -> None:
    """A small step in what a copier writes moves LD by nothing: the gradient is 0, the joint effect is not."""
    planted = rows.redundant_or(0)
    model, case = planted.model, planted.instance
    row = last(model.prompt(case))
    base = ld(model, case)
    assert abs(ld(model, case, [scale("head_out", 0.9, 2, h=0, q=row)]) - base) < 1e-3


@SEEDS
def test_the_answers_are_right(seed: int, decoys: Decoys) -> None:
    for row in (rows.sink, rows.cancel, rows.backup, rows.redundant_or):
        planted = row(seed, decoys)
        written = planted.model.generate(planted.instance, 6)
        assert written.stopped
        assert planted.instance.scorer().score(written.text).right
        assert planted.expected.code == "none"
