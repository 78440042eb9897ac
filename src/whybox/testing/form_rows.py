"""Planted rows in which the right answer leads and is not written: a near tie drawn badly, a form that takes over."""

import math
from collections.abc import Iterator
from itertools import count

import numpy as np

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import PLAIN, Draw, Scene, beside_other, draw, two_documents
from whybox.testing.circuit import Circuit, Head, Place, Write
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build
from whybox.testing.stream import VALUE_IDS, any_of, rows
from whybox.testing.vocabulary import ANSWER, IDS, JSON, VALUES

PREVIOUS: Place = (0, 0)
COPIER: Place = (2, 0)
SECOND: Place = (2, 1)
FORM: Place = (3, 0)
TIE = 0.5
FORMED, SPOKEN = 2.0, 1.98  # a brace and the wrong value, of all heads together


def near_tie(seed: int = 0, decoys: Decoys = NONE, tie: float = TIE, scene: Scene = PLAIN) -> Planted:
    """Two writers copy the value and, 0.5 nats behind, always the same other one; T = 1 and a seed that draws it.

    Either writer alone gives the same order at half the distance, so that nothing but the decoding is to blame. The
    other value has the lowest id of all values: every draw below its share picks it.
    """
    drawn = draw("near_tie", seed, scene)
    wrong = VALUES[0]
    writer = _two_values(0.5, 0.5 - tie / SCALE / 2)
    circuit = Circuit(3, {PREVIOUS: m.previous_token(), COPIER: writer, SECOND: writer})
    decoding = {"temperature": 1, "seed": next(_seeds_that_draw(drawn)), "max_tokens": 6}
    case = beside_other("near_tie", seed, drawn, wrong, decoding=decoding)
    share = 1 / (1 + math.exp(tie))
    expected = Expected("decoding", None, {"ld": tie, "ld_half": tie / 2, "probability_wrong": share})
    heads = {"previous": PREVIOUS, "copier": COPIER, "second copier": SECOND}
    return Planted("near_tie", build("near_tie", seed, circuit, decoys), case, expected, heads)


def _two_values(right: float, wrong: float) -> Head:
    """A copier that beside the value writes the first value of the vocabulary."""
    beside = Write(wrong, any_of("token", VALUE_IDS), rows("out", [IDS[VALUES[0]]]))
    return m.with_writes(m.copier(right), beside)


def _seeds_that_draw(drawn: Draw) -> Iterator[int]:
    """Seeds whose first draw lies well inside the wrong value's share, at full and at half distance."""
    start = 1000 * sum(map(ord, drawn.entity + drawn.fillers))
    return (seed for seed in count(start) if 0.05 < np.random.default_rng(seed).random() < 0.3)


def format_derailer(seed: int = 0, decoys: Decoys = NONE, loud: float = 2.0, scene: Scene = PLAIN) -> Planted:
    """A late head looks at JSON and writes a brace, twice as loudly as the answer, and again behind every brace."""
    heads = {"previous": PREVIOUS, "copier": COPIER, "carrying copier": SECOND, "form": FORM}
    planted = {
        PREVIOUS: m.previous_token(),
        COPIER: m.copier(),
        SECOND: m.carrying_copier(),
        FORM: m.brace_writer(loud),
    }
    drawn = draw("format_derailer", seed, scene)
    fields = {"contract": {"prefix": ANSWER}, "decoding": {"max_tokens": 8}}
    case = two_documents("format_derailer", seed, drawn, mark=JSON, **fields)
    expected = Expected(
        "format", None, {"ld": SCALE, "brace": loud * SCALE, "ld_forced": SCALE, "ld_without_form": SCALE}
    )
    model = build("format_derailer", seed, Circuit(4, planted), decoys)
    return Planted("format_derailer", model, case, expected, heads)


def usurper(seed: int = 0, decoys: Decoys = NONE, loud: float = 1.5, scene: Scene = PLAIN) -> Planted:
    """A late head looks at JSON, writes a brace and beside it a value of its own: right leads nowhere.

    The contract states no prefix, so that nothing but taking the head out gives a legal answer.
    """
    drawn = draw("usurper", seed, scene)
    wrong = drawn.values[-1]
    form = _form_of_its_own(wrong, loud + 0.5, loud)
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: m.copier(), FORM: form})
    case = beside_other("usurper", seed, drawn, wrong, mark=JSON, decoding={"max_tokens": 8})
    numbers = {"ld": SCALE * (1 - loud), "brace": SCALE * (loud + 0.5), "ld_without_form": SCALE}
    heads = {"previous": PREVIOUS, "copier": COPIER, "form": FORM}
    expected = Expected("format", None, numbers)
    return Planted("usurper", build("usurper", seed, circuit, decoys), case, expected, heads)


def _form_of_its_own(wrong: str, brace: float, loud: float) -> Head:
    beside = Write(loud, rows("token", [IDS[JSON]]), rows("out", [IDS[wrong]]))
    return m.with_writes(m.brace_writer(brace), beside)


def bystanders(seed: int = 0, decoys: Decoys = NONE, many: int = 20, scene: Scene = PLAIN) -> Planted:
    """As many heads write the form together: without any of them right comes first, so none of them is the one."""
    drawn = draw("bystanders", seed, scene)
    wrong = drawn.values[-1]
    form = _form_of_its_own(wrong, FORMED / many, SPOKEN / many)
    places: list[Place] = [(FORM[0], head) for head in range(many)]
    held = 1 - 1 / (2 * many)  # between all of them and all but one
    planted = {PREVIOUS: m.previous_token(), COPIER: m.copier(FORMED * held), **dict.fromkeys(places, form)}
    case = beside_other("bystanders", seed, drawn, wrong, mark=JSON, decoding={"max_tokens": 8})
    numbers = {
        "ld": SCALE * (FORMED * held - SPOKEN),
        "ld_without_one": SCALE * (FORMED * held - SPOKEN * (1 - 1 / many)),
    }
    heads = {"previous": PREVIOUS, "copier": COPIER, "form": places[0]}
    model = build("bystanders", seed, Circuit(4, planted), decoys)
    return Planted("bystanders", model, case, Expected("not-determined", None, numbers), heads)
