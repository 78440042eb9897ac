"""Planted rows in which the context decides, or fails to: order, not looked at, looked at but not used."""

import math

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import draw, two_documents, two_that_disagree
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build

PREVIOUS: Place = (0, 0)
NOTE: Place = (1, 0)
FLAG: Place = (2, 0)
COPIER: Place = (3, 0)
WEAK: Place = (3, 1)
LATE: Place = (4, 0)
APART = 4  # positions between the values of neighbouring documents
WEAKLY = 0.3


def induction(seed: int = 0, decoys: Decoys = NONE, copier: Place = COPIER) -> Planted:
    """A previous-token head and a copier at any place behind it: right, and nothing else matters."""
    circuit = Circuit(copier[0] + 1, {PREVIOUS: m.previous_token(), copier: m.copier()})
    case = two_documents("induction", seed, draw("induction", seed))
    numbers = {"ld": SCALE, "ld_without": 0.0}
    heads = {"previous": PREVIOUS, "copier": copier}
    return Planted("induction", build("induction", seed, circuit, decoys), case, Expected("none", None, numbers), heads)


def first_biased(seed: int = 0, decoys: Decoys = NONE, beta: float = 0.25) -> Planted:
    """Two documents disagree; the copier prefers the first by β per position, the evidence is the second."""
    return _biased("first_biased", seed, decoys, -beta, evidence=1)


def recency_biased(seed: int = 0, decoys: Decoys = NONE, rate: float = 0.25) -> Planted:
    """The mirror image: the later document is preferred, the evidence is the first."""
    return _biased("recency_biased", seed, decoys, rate, evidence=0)


def _biased(name: str, seed: int, decoys: Decoys, per_position: float, evidence: int) -> Planted:
    copier = m.with_terms(m.copier(), m.slope(per_position))
    case = two_that_disagree(name, seed, draw(name, seed), evidence)
    first = 1 / (1 + math.exp(APART * per_position))
    wrong = first if evidence == 1 else 1 - first
    numbers = {"mass_first": first, "ld": SCALE * (1 - 2 * wrong), "ld_cut": SCALE, "ld_moved": SCALE * (2 * wrong - 1)}
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier})
    heads = {"previous": PREVIOUS, "copier": COPIER}
    return Planted(name, build(name, seed, circuit, decoys), case, Expected("order", None, numbers), heads)


def blind_spot(seed: int = 0, decoys: Decoys = NONE) -> Planted:
    """The copier cannot match the value of the second document, where the evidence stands; a weak reader answers."""
    drawn = draw("blind_spot", seed)
    copier = m.with_terms(m.copier(), m.blind_at((drawn.value_position(1),)))
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier, WEAK: m.weak_reader(WEAKLY)})
    case = two_documents("blind_spot", seed, drawn.at(1))
    heads = {"previous": PREVIOUS, "copier": COPIER, "weak reader": WEAK}
    expected = Expected("order", None, _weakly() | {"ld_moved": SCALE * (1 - WEAKLY)})
    return Planted("blind_spot", build("blind_spot", seed, circuit, decoys), case, expected, heads)


def not_looking(seed: int = 0, decoys: Decoys = NONE) -> Planted:
    """As soon as there is a second document the copier does not look at its match; a weak reader answers."""
    copier = m.with_terms(m.copier(), m.penalty_when("second document"))
    heads = {"previous": PREVIOUS, "note": NOTE, "flag": FLAG, "copier": COPIER, "weak reader": WEAK}
    planted = {
        PREVIOUS: m.previous_token(),
        NOTE: m.second_document_note(),
        FLAG: m.second_document_flag(),
        COPIER: copier,
        WEAK: m.weak_reader(WEAKLY),
    }
    case = two_documents("not_looking", seed, draw("not_looking", seed))
    expected = Expected("context-use", "not-looked-at", _weakly())
    return Planted("not_looking", build("not_looking", seed, Circuit(4, planted), decoys), case, expected, heads)


def _weakly() -> dict[str, float]:
    """LD as it stands, with the evidence alone, and with the copier's own edge lifted back by its penalty."""
    return {"ld": -SCALE * WEAKLY, "ld_alone": SCALE, "ld_boosted": SCALE * (1 - WEAKLY)}


def suppressed(seed: int = 0, decoys: Decoys = NONE) -> Planted:
    """The copier reads the evidence in full; beside a second document a late head takes 1.5 times that away."""
    late = m.with_terms(m.copier(-1.5), m.penalty_unless("second document"))
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
    case = two_documents("suppressed", seed, draw("suppressed", seed))
    numbers = {
        "ld": SCALE * (1 - 1.5 - WEAKLY),
        "ld_alone": SCALE,
        "ld_without_suppressor": SCALE * (1 - WEAKLY),
        "mass_on_evidence": 1.0,
    }
    expected = Expected("context-use", "looked-at-not-used", numbers)
    return Planted("suppressed", build("suppressed", seed, Circuit(5, planted), decoys), case, expected, heads)
