"""L7 to L11 on the default model: every blank fills, every table and grid is there, predictions have right answers.

What a figure is was measured elsewhere: for blanks the record of the ledger serves, or `RECORDED` here, which is
computed anew by the thorough test below.
"""

from collections.abc import Iterator

import pytest

from tests.learn.course.driving import chapter, computations, everything_fills, ids_fit, tables_fit
from tests.real import real
from whybox.learn.figures import ON_MODEL, OnModel
from whybox.learn.figures.figure import Value
from whybox.learn.ground import Ground, TextA
from whybox.learn.ledger import shipped

pytestmark = pytest.mark.model
CHAPTERS = ["l07", "l08", "l09", "l10", "l11"]
PREDICTED: dict[str, dict[str, tuple[str, ...]]] = {
    "l07": {"tiled": ("chance",), "identity": ("chance",)},
    "l08": {"harm": ("eps", "mean", "relu", "post", "final")},
    "l09": {"silent": ("cache", "eps", "head")},
    "l10": {"stored": ("key_turned", "value")},
    "l11": {},
}
RECORDED: dict[str, tuple[float, ...]] = {
    "l08.relu": (9.003,),
    "l08.gelu": (4.380,),
    "l08.other_eps": (2.7617,),
    "l09.sinusoid": (8.845,),
    "l09.two_blocks": (17.893,),
    "l09.other_eps": (2.7617,),
}
"""Figures of these chapters alone, which take runs of text A."""
WITHIN = 0.005
SHORT = 40
"""Tokens of text A for runs in narrow formats; all 512 of them in `test_l11.py`, thorough."""


def measured(name: str) -> Value:
    """What the ledger has recorded of a figure."""
    places: dict[int, float] = {}
    for rest in (rest for claim in shipped().claims for rest in claim.rests.values() if rest.figure == name):
        first = rest.take or 0
        values = [number.value for number in rest.expected] or [sum(rest.bounds(0)) / 2]
        places |= {first + place: value for place, value in enumerate(values)}
    found = tuple(places[place] for place in sorted(places))
    return found if len(found) > 1 else found[0]


@pytest.fixture(scope="module")
def ground() -> Iterator[Ground]:
    kept = pytest.MonkeyPatch()
    for name in ON_MODEL:
        kept.setitem(ON_MODEL, name, OnModel(lambda ground, name=name: measured(name)))
    for name in CHAPTERS:
        for figure in computations(name).on_model.keys() & RECORDED.keys():
            values = RECORDED[figure]
            kept.setitem(computations(name).on_model, figure, OnModel(lambda ground, v=values: v if v[1:] else v[0]))
    ground = Ground(lambda: real("smollm2"))
    ground.text_a = TextA(ground.model, ground.text_a.ids[:SHORT])
    yield ground
    kept.undo()


@pytest.mark.parametrize("name", CHAPTERS)
def test_everything_is_computed(name: str, ground: Ground) -> None:
    words, computed = chapter(name), computations(name)
    assert everything_fills(words, computed, ground) == []
    ids_fit(words, computed, ground)
    tables_fit(words, computed, ground)


@pytest.mark.parametrize("name", CHAPTERS)
def test_predictions(name: str, ground: Ground) -> None:
    computed = computations(name)
    assert {right: computed.answers[right](ground) for right in PREDICTED[name]} == PREDICTED[name]


@pytest.mark.thorough
@pytest.mark.parametrize("name", RECORDED)
def test_it_is_what_was_recorded(name: str) -> None:
    value = computations(name.partition(".")[0]).on_model[name].compute(Ground(lambda: real("smollm2")))
    found = value if isinstance(value, tuple) else (value,)
    assert found == pytest.approx(RECORDED[name], abs=WITHIN)
