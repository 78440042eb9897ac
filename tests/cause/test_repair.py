"""Self-repair on planted mechanisms: who is made good, who steps in, and of whom nothing at all may be said."""

import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near
from whybox.cause.components import Head
from whybox.cause.null import Null
from whybox.cause.repair import NO_EFFECT, Repair, Repairs, repairs
from whybox.cause.replacement import Zeroed
from whybox.testing import Decoys

BESIDE = Decoys(heads=20)  # in the layers of the mechanism


def repaired(row: str, rows_since: int = 0) -> tuple[dict[str, Repair], Repairs]:
    """By the names that the planted model gives its heads, among 20 decoys a layer."""
    found, ground = planted(row, BESIDE, "torch")
    heads = {name: Head(*place) for name, place in found.heads.items()}
    made = repairs(ground, Zeroed(), list(heads.values()), generator(), since=rows_since)
    by_head = {one.component: one for one in made.parts}
    return {name: by_head[head] for name, head in heads.items()}, made


def test_a_primary_is_made_good_and_its_backup_is_found() -> None:
    parts, made = repaired("backup")
    primary, backup = parts["primary"], parts["backup"]
    assert primary.total.value == near(0)
    assert primary.direct.value == near(-20)
    assert primary.repaired == pytest.approx(1, abs=1e-3)
    assert backup.direct.value == backup.total.value == near(0)
    assert backup.conditional.value == near(-20)
    assert backup.given == (primary.component,)
    assert backup.is_backup
    for one in (primary, backup):
        assert NO_EFFECT not in one.flags
    assert made.joint.joint.value == near(-20)


def test_of_a_sink_nothing_is_left() -> None:
    parts, _ = repaired("sink")
    sink = parts["sink"]
    assert sink.direct.value == sink.conditional.value == pytest.approx(0, abs=1e-4)
    assert sink.total.value == 0
    assert not sink.total.changed
    assert sink.flags == (NO_EFFECT,)
    assert sink.repaired is None
    assert parts["copier"].flags == ()
    assert isinstance(sink.total.null, Null)
    assert sink.total.null.n >= 19


def test_a_pair_that_cancels_is_loud_one_by_one_and_its_peers_are_no_excuse() -> None:
    parts, made = repaired("cancel")
    assert parts["plus"].total.value == near(-20)
    assert parts["minus"].total.value == near(20)
    for name in ("copier", "plus", "minus"):
        assert NO_EFFECT not in parts[name].flags
        assert parts[name].repaired == pytest.approx(0, abs=1e-3)
    assert {str(one) for one in made.joint.claim} == {"head 2.0", "head 2.1", "head 2.2"}
    assert made.joint.joint.value == near(-20)
    assert made.joint.sum_of_singles == near(-20)


def test_spares_of_an_or_are_backups_of_each_other() -> None:
    parts, _ = repaired("redundant_or")
    for index in range(3):
        spare = parts[f"copier {index}"]
        assert spare.total.value == near(0)
        assert spare.conditional.value == near(-20)
        assert spare.flags == ("backup",)


def test_a_given_set_is_the_one_that_is_used() -> None:
    found, ground = planted("redundant_or")
    copiers = [Head(*found.heads[f"copier {i}"]) for i in range(3)]
    both = repairs(ground, Zeroed(), copiers[:1], generator(), given=[tuple(copiers[1:])], draws=0)
    one = repairs(ground, Zeroed(), copiers[:1], generator(), given=[tuple(copiers[1:2])], draws=0)
    assert both.parts[0].conditional.value == near(-20)
    assert one.parts[0].conditional.value == near(0)
    assert both.parts[0].given == tuple(copiers[1:])
