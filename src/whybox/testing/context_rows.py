"""Planted rows in which the context decides, or fails to: order, not looked at, looked at but not used."""

import math

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import (
    PLAIN,
    Scene,
    against_one_value,
    crowded,
    draw,
    two_against_one,
    two_documents,
    two_that_disagree,
)
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build

PREVIOUS: Place = (0, 0)
NOTE: Place = (1, 0)
FLAG: Place = (2, 0)
COPIER: Place = (3, 0)
WEAK: Place = (3, 1)
LATE: Place = (4, 0)
WEAKLY = 0.3


def induction(seed: int = 0, decoys: Decoys = NONE, copier: Place = COPIER, scene: Scene = PLAIN) -> Planted:
    """A previous-token head and a copier at any place behind it: right, and nothing else matters."""
    circuit = Circuit(copier[0] + 1, {PREVIOUS: m.previous_token(), copier: m.copier()})
    case = two_documents("induction", seed, draw("induction", seed, scene))
    numbers = {"ld": SCALE, "ld_without": 0.0}
    heads = {"previous": PREVIOUS, "copier": copier}
    return Planted("induction", build("induction", seed, circuit, decoys), case, Expected("none", None, numbers), heads)


def first_biased(seed: int = 0, decoys: Decoys = NONE, beta: float = 0.25, scene: Scene = PLAIN) -> Planted:
    """Two documents disagree; the copier prefers the first by β per position, the evidence is the second."""
    return _biased("first_biased", seed, decoys, -beta, scene)


def recency_biased(seed: int = 0, decoys: Decoys = NONE, rate: float = 0.25, scene: Scene = PLAIN) -> Planted:
    """The mirror image: the later document is preferred, the evidence is the first."""
    return _biased("recency_biased", seed, decoys, rate, scene)


def _biased(name: str, seed: int, decoys: Decoys, per_position: float, scene: Scene) -> Planted:
    copier = m.with_terms(m.copier(), m.slope(per_position))
    drawn = draw(name, seed, scene).at(1 if per_position < 0 else 0)
    case = two_that_disagree(name, seed, drawn)
    first = 1 / (1 + math.exp(drawn.apart * per_position))
    wrong = first if per_position < 0 else 1 - first
    numbers = {"mass_first": first, "ld": SCALE * (1 - 2 * wrong), "ld_cut": SCALE, "ld_moved": SCALE * (2 * wrong - 1)}
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier})
    heads = {"previous": PREVIOUS, "copier": COPIER}
    return Planted(name, build(name, seed, circuit, decoys), case, Expected("order", None, numbers), heads)


def blind_spot(seed: int = 0, decoys: Decoys = NONE, weakly: float = WEAKLY, scene: Scene = PLAIN) -> Planted:
    """The copier cannot match the value at one place, where the evidence stands; a weak reader answers."""
    drawn = draw("blind_spot", seed, scene).at(1)
    copier = m.with_terms(m.copier(), m.blind_at((drawn.value_position(drawn.place),)))
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier, WEAK: m.weak_reader(weakly)})
    case = two_documents("blind_spot", seed, drawn)
    heads = {"previous": PREVIOUS, "copier": COPIER, "weak reader": WEAK}
    spread = weakly / (drawn.documents - 1)
    expected = Expected("order", None, _weakly(spread) | {"ld_moved": SCALE * (1 - spread)})
    return Planted("blind_spot", build("blind_spot", seed, circuit, decoys), case, expected, heads)


def not_looking(seed: int = 0, decoys: Decoys = NONE, weakly: float = WEAKLY, scene: Scene = PLAIN) -> Planted:
    """As soon as there is a second document the copier does not look at its match; a weak reader answers."""
    drawn = draw("not_looking", seed, scene)
    copier = m.with_terms(m.copier(), m.penalty_when("second document"))
    heads = {"previous": PREVIOUS, "note": NOTE, "flag": FLAG, "copier": COPIER, "weak reader": WEAK}
    planted = {
        PREVIOUS: m.previous_token(),
        NOTE: m.second_document_note(),
        FLAG: m.second_document_flag(),
        COPIER: copier,
        WEAK: m.weak_reader(weakly),
    }
    case = two_documents("not_looking", seed, drawn)
    expected = Expected("context-use", "not-looked-at", _weakly(weakly / (drawn.documents - 1)))
    return Planted("not_looking", build("not_looking", seed, Circuit(4, planted), decoys), case, expected, heads)


def _weakly(weakly: float) -> dict[str, float]:
    """LD as it stands, with the evidence alone, and with the copier's own edge lifted back by its penalty.

    weakly: what the weak reader gives to the competitor, one of the documents between which it divides its weight.
    """
    return {"ld": -SCALE * weakly, "ld_alone": SCALE, "ld_boosted": SCALE * (1 - weakly)}


def suppressed(seed: int = 0, decoys: Decoys = NONE, times: float = 1.5, scene: Scene = PLAIN) -> Planted:
    """The copier reads the evidence in full; beside a second document a late head takes more than that away."""
    drawn = draw("suppressed", seed, scene)
    late = m.with_terms(m.copier(-times), m.penalty_unless("second document"))
    heads = {
        "previous": PREVIOUS,
        "note": NOTE,
        "flag": FLAG,
        "copier": COPIER,
        "weak reader": WEAK,
        "suppressor": LATE,
    }
    planted = {
        PREVIOUS: m.previous_token(),
        NOTE: m.second_document_note(),
        FLAG: m.second_document_flag(),
        COPIER: m.copier(),
        WEAK: m.weak_reader(WEAKLY),
        LATE: late,
    }
    case = two_documents("suppressed", seed, drawn)
    spread = WEAKLY / (drawn.documents - 1)
    numbers = {
        "ld": SCALE * (1 - times - spread),
        "ld_alone": SCALE,
        "ld_without_suppressor": SCALE * (1 - spread),
        "mass_on_evidence": 1.0,
    }
    expected = Expected("context-use", "looked-at-not-used", numbers)
    return Planted("suppressed", build("suppressed", seed, Circuit(5, planted), decoys), case, expected, heads)


def outvoted(
    seed: int = 0, decoys: Decoys = NONE, readers: int = 1, guessed: float = 0.0, scene: Scene = PLAIN
) -> Planted:
    """Three documents about the entity are read alike, in every order, and two of them say something else.

    readers: copiers that share the reading. guessed: of the wrong value, written beside them whatever stands there;
    with two copiers and more than 1/3 of it neither of them, read from the evidence alone, makes up for it.
    """
    drawn = draw("outvoted", seed, crowded(scene))
    wrong = drawn.values[-1]
    places = [(COPIER[0], head) for head in range(readers + 1)]
    planted = {PREVIOUS: m.previous_token(), **dict.fromkeys(places[:-1], m.copier(1 / readers))}
    circuit = Circuit(4, planted | {places[-1]: m.constant_writer(wrong, guessed)})
    parts = two_against_one(drawn, "{right}", wrong)
    case = against_one_value("outvoted", seed, drawn, parts, wrong, evidence=[f"doc{drawn.place + 1}"])
    told = SCALE * (1 - guessed)
    numbers = {"ld": -SCALE * (1 / 3 + guessed), "ld_alone": told, "ld_patched": told}
    expected = Expected("context-use", "looked-at-not-used", numbers)
    heads = {"previous": PREVIOUS, **{f"copier {i}": place for i, place in enumerate(places[:-1])}, "guess": places[-1]}
    return Planted("outvoted", build("outvoted", seed, circuit, decoys), case, expected, heads)
