"""Knock-outs: planted edges and segments, brute force for masks, and cuts that cannot be made."""

from dataclasses import replace

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import near, place_of
from whybox.cause.effects import Unknown
from whybox.cause.ground import between, of_run
from whybox.cause.knockout import (
    blinded,
    cut_edges,
    knock_out_edges,
    knock_out_segments,
    mute_edges,
    muted_edges,
    product_of,
)
from whybox.cause.measured import Measured
from whybox.cause.null import Edge, Null
from whybox.engine.edit import cut, zero
from whybox.engine.read import logit_difference
from whybox.errors import PromptError
from whybox.testing import CROWD
from whybox.text.prompt import Part


def value_of(effect: Measured | Unknown) -> float:
    assert isinstance(effect, Measured), effect
    return effect.value


def test_evidence_is_read_directly_and_by_nobody_else() -> None:
    found, ground = planted("induction")
    evidence, other = (found.instance.evidence[0], "doc2" if found.instance.evidence[0] == "doc1" else "doc1")
    own, beside = knock_out_segments(ground, [evidence, other], spans=12)
    assert value_of(own.direct) == near(-20)
    assert value_of(own.total) == near(-20)
    assert value_of(own.between) == near(0)
    assert value_of(own.muted) == near(-20)
    assert value_of(own.removed) == near(-20)
    assert own.interaction == near(0)
    assert isinstance(own.direct, Measured)
    assert isinstance(own.direct.null, Null)
    assert own.direct.null.n == 12
    assert own.direct.p == pytest.approx(1 / 13)
    for effect in (beside.direct, beside.total, beside.between, beside.removed):
        assert value_of(effect) == near(0)


def test_a_name_is_read_by_way_of_its_value() -> None:
    """The name in a part of its own: the value's row notes it, and the decision row reads the note."""
    found, _ = planted("induction")
    case = found.instance
    name = case.parts[-1].text.split()[-1]
    parts = (Part("name", f"DOC1 {name}"), Part("value", f" {case.right} ."), Part("question", f" the of Q {name}"))
    split = replace(case, raw_parts=parts, join="", evidence=())
    ground = between(found.model, split, case.right, case.wrong or "", floor=1e-5)
    assert ground.value == near(20)
    (own,) = knock_out_segments(ground, ["name"], spans=0)
    assert value_of(own.direct) == near(0)
    assert value_of(own.total) == near(-20)
    assert value_of(own.between) == near(-20)
    assert value_of(own.mediated["value"]) == near(-20)
    assert value_of(own.mediated["question"]) == near(0)
    assert own.interaction == near(0)


def test_what_cannot_be_cut_says_why() -> None:
    _, ground = planted("induction")
    question = knock_out_segments(ground, ["question"], spans=0)[0]
    assert question.total == Unknown("it reaches up to the decision: no position lies after all of it")
    assert isinstance(question.direct, Measured)
    bare = of_run(ground.model, ground.trace.ids[1:], logit_difference(3, 4), floor=1e-5)
    (whole,) = knock_out_segments(bare)
    assert whole.direct == Unknown(f"the cut would leave position {bare.row} with no key to see")
    assert whole.removed == Unknown("not a part of a case")
    with pytest.raises(PromptError, match="no segment 'doc9'"):
        knock_out_segments(ground, ["doc9"])


def test_edges_of_the_planted_path() -> None:
    found, ground = planted("induction")
    value = place_of(ground.model, ground.prompt, found.instance.right)
    entity = value - 1
    copying = Edge(*found.heads["copier"], ground.row, value)
    naming = Edge(*found.heads["previous"], value, entity)
    resting = Edge(*found.heads["copier"], ground.row, value + 1)
    for edge in (copying, naming):
        assert value_of(knock_out_edges(ground, [edge], generator())) == near(-20)
    assert value_of(mute_edges(ground, [copying], generator())) == near(-20)
    quiet = knock_out_edges(ground, [resting], generator())
    assert value_of(quiet) == near(0)
    assert isinstance(quiet, Measured)
    assert isinstance(quiet.null, Null)
    assert quiet.p == 1


def test_soft_edges_have_a_null_of_their_mass() -> None:
    _, ground = planted("induction", CROWD, "torch")
    claim = product_of([3], [4], [ground.row], range(1, 5))
    effect = knock_out_edges(ground, claim, generator(), draws=30)
    assert isinstance(effect, Measured)
    assert isinstance(effect.null, Null)
    assert effect.null.n == 30
    assert abs(effect.value) < 0.02


def test_a_mask_is_the_cuts_that_it_stands_for() -> None:
    _, ground = planted("suppressed")
    model, ids, last = ground.model, ground.trace.ids, ground.row
    edges = [Edge(3, 0, last, 3), Edge(3, 1, last, 7), Edge(3, 0, last - 1, 2), Edge(4, 0, last, 3)]
    one_by_one = [cut(edge.layer, h=edge.head, q=edge.query, k=edge.key) for edge in edges]
    masked = model.run(ids, edits=cut_edges(edges, len(ids)))
    np.testing.assert_array_equal(masked.logits, model.run(ids, edits=one_by_one).logits)
    assert len(masked.edits) == 2
    zeros = [zero("pattern", edge.layer, h=edge.head, q=edge.query, k=edge.key) for edge in edges]
    muted = model.run(ids, edits=muted_edges(edges, len(ids)))
    np.testing.assert_array_equal(muted.logits, model.run(ids, edits=zeros).logits)


def test_a_row_that_would_see_nothing_is_found_before_it_is_run() -> None:
    _, ground = planted("induction")
    spec, length = ground.spec, ground.length
    assert blinded([cut(q=5, k=range(6))], spec, length) == 5
    assert blinded([cut(q=5, k=range(3)), cut(q=slice(5, 7), k=range(3, 7))], spec, length) == 5
    assert blinded([cut(q=5, k=range(5))], spec, length) is None
    all_of_it = product_of([3], [0], [4], range(5))
    assert knock_out_edges(ground, all_of_it, generator()) == Unknown("the cut would leave a row with no key to see")
    assert knock_out_edges(ground, [], generator()) == Unknown("no edge was named")
    assert product_of([0], [0], [2], [1, 2, 3]) == [Edge(0, 0, 2, 1), Edge(0, 0, 2, 2)]
