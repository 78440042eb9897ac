"""Context attribution: planted evidence is found, removal is from view, and a useless surrogate is hidden."""

import numpy as np
import pytest

from tests.cause.grounds import generator, planted
from tests.testing.reading import place_of
from whybox.cause.context import METHOD, NOT_USABLE, attribute, sources_of
from whybox.cause.effects import Unknown
from whybox.cause.ground import of_answer
from whybox.engine.edit import cut
from whybox.errors import UsageError
from whybox.statistics.ranks import Correlation


def test_the_evidence_carries_the_answer_exactly() -> None:
    found, _ = planted("induction")
    model, case = found.model, found.instance
    ground = of_answer(model, case, " " + case.right, floor=1e-5)
    got = attribute(ground, sources_of(ground.prompt), generator())
    assert got.exact
    assert got.masks == 4
    assert isinstance(got.scores, dict)
    assert got.ranking[0] == case.evidence[0]
    assert isinstance(got.left_out, dict)
    segment = ground.prompt.segment(case.evidence[0])
    hidden = [cut(q=slice(segment.end, None), k=range(segment.start, segment.end))]
    alone = model.score(case, " " + case.right, hidden).log_prob - ground.value
    assert got.left_out[case.evidence[0]] == pytest.approx(alone, abs=1e-4)
    assert abs(sum(got.scores.values())) > 5
    assert got.lds == Unknown("every mask was run: none is unseen")
    assert got.method == METHOD
    assert not isinstance(got.drops, Unknown)
    (first,) = got.drops
    assert first.k == 1
    assert first.top == pytest.approx(-alone, abs=1e-4)
    assert first.top >= first.random


def test_many_sources_go_through_a_surrogate_that_is_judged() -> None:
    """Tokens in groups: ten sources, one of which holds the value."""
    found, _ = planted("induction")
    model, case = found.model, found.instance
    ground = of_answer(model, case, " " + case.right, floor=1e-5)
    places = np.array_split(np.arange(1, 31), 10)
    sources = {f"piece {i}": tuple(map(int, rows)) for i, rows in enumerate(places)}
    value = place_of(model, ground.prompt, case.right)
    holders = [name for name, rows in sources.items() if {value, value - 1} & set(rows)]
    got = attribute(ground, sources, generator())
    assert not got.exact
    assert got.masks == 64
    assert isinstance(got.lds, Correlation)
    assert got.lds.n == 32
    assert isinstance(got.left_out, dict)
    assert min(got.left_out, key=dict(got.left_out).__getitem__) in holders
    if isinstance(got.scores, Unknown):
        assert got.lds.rho < 0.5
        assert got.ranking == []
    else:
        assert got.ranking[0] in holders


def test_a_useless_surrogate_is_hidden() -> None:
    """Sources that nobody reads: log P moves by rounding alone, and no line fits that."""
    found, ground = planted("beyond")
    answer = of_answer(found.model, found.instance, " " + found.instance.right, floor=1e-5)
    fillers = range(ground.prompt.segment("question").start, ground.row - 1)
    sources = {f"filler {row}": (row,) for row in list(fillers)[:8]}
    got = attribute(answer, sources, generator())
    assert got.scores == Unknown(NOT_USABLE)
    assert got.drops == Unknown(NOT_USABLE)
    assert got.ranking == []


def test_sources_are_parts_else_sentences() -> None:
    _, ground = planted("induction")
    assert list(sources_of(ground.prompt)) == ["doc1", "doc2"]
    assert list(sources_of(ground.prompt, leave_out=())) == ["doc1", "doc2", "question"]
    model = ground.model
    prompt = model.prompt("DOC1 Aldova Quorlan . DOC2 Brintow Rimbleth . Q Aldova")
    cut_up = sources_of(prompt)
    assert list(cut_up) == ["sentence 1", "sentence 2", "sentence 3"]
    assert sorted(row for rows in cut_up.values() for row in rows) == list(range(1, len(prompt)))
    assert len(cut_up["sentence 1"]) == 4


def test_what_cannot_be_attributed() -> None:
    found, ground = planted("induction")
    answer = of_answer(found.model, found.instance, " " + found.instance.right, floor=1e-5)
    with pytest.raises(UsageError, match="at least two sources, found 1"):
        attribute(answer, {"only": (1, 2)}, generator())
    with pytest.raises(UsageError, match="reads log P of an answer"):
        attribute(ground, sources_of(ground.prompt), generator())
