"""Planted rows in which the weights decide: what they remember, what they lack, and what nothing can undo."""

import math

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import Draw, against_one_value, beside_other, draw
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build
from whybox.text.prompt import Part

PREVIOUS: Place = (0, 0)
COPIER: Place = (2, 0)
GUESS: Place = (2, 1)
REMEMBERED = 2.0
GUESSED = 0.2
_HEADS = {"previous": PREVIOUS, "copier": COPIER}


def memoriser(seed: int = 0, decoys: Decoys = NONE, layer: int = 3) -> Planted:
    """The evidence is read in full, but an MLP writes what it remembers of the entity twice as loudly."""
    drawn = draw("memoriser", seed)
    wrong = drawn.values[-1]
    units = {layer: (m.memory(_facts(drawn) | {drawn.entity: wrong}, REMEMBERED),)}
    circuit = Circuit(max(layer + 1, 3), {PREVIOUS: m.previous_token(), COPIER: m.copier()}, units)
    numbers = {"ld": SCALE * (1 - REMEMBERED), "ld_without_mlp": SCALE, "ld_closed": -SCALE * REMEMBERED}
    expected = Expected("knowledge", "overruled", numbers | {"mass_on_evidence": 1.0, "ld_renamed": SCALE})
    case = beside_other("memoriser", seed, drawn, wrong)
    model = build("memoriser", seed, circuit, decoys)
    return Planted("memoriser", model, case, expected, _HEADS, {"memory": layer})


def missing_fact(seed: int = 0, decoys: Decoys = NONE) -> Planted:
    """The weights do not know this entity and the prompt does not say: a faint guess answers."""
    drawn = draw("missing_fact", seed)
    wrong = drawn.values[-1]
    heads = {PREVIOUS: m.previous_token(), COPIER: m.copier(), GUESS: m.constant_writer(wrong, GUESSED)}
    circuit = Circuit(4, heads, {3: (m.memory(_facts(drawn), REMEMBERED),)})
    parts = [drawn.document(0, drawn.others[0], "{other}"), drawn.question()]
    case = against_one_value("missing_fact", seed, drawn, parts, wrong)
    fact = Part("fact", f"{drawn.labels[1]} {drawn.entity} {case.filled().right} .")
    numbers = {"ld": -SCALE * GUESSED, "ld_told": SCALE * (1 - GUESSED)}
    expected = Expected("knowledge", "missing", numbers)
    model = build("missing_fact", seed, circuit, decoys)
    return Planted("missing_fact", model, case, expected, {**_HEADS, "guess": GUESS}, {"memory": 3}, fact=fact)


def beyond(seed: int = 0, decoys: Decoys = NONE) -> Planted:
    """Nothing reads the context; one value is always written faintly, and taking it away gives nothing right."""
    drawn = draw("beyond", seed)
    wrong = drawn.values[-1]
    circuit = Circuit(3, {PREVIOUS: m.previous_token(), GUESS: m.constant_writer(wrong, GUESSED)})
    case = beside_other("beyond", seed, drawn, wrong)
    numbers = {"ld": -SCALE * GUESSED, "ld_alone": -SCALE * GUESSED, "ld_closed": -SCALE * GUESSED, "ld_without": 0.0}
    expected = Expected("not-determined", "beyond-the-model", numbers)
    model = build("beyond", seed, circuit, decoys)
    return Planted("beyond", model, case, expected, {"previous": PREVIOUS, "guess": GUESS})


def mixed(seed: int = 0, decoys: Decoys = NONE, beta: float = 1.0) -> Planted:
    """The first of two documents that disagree wins, and the weights remember the same wrong value."""
    drawn = draw("mixed", seed)
    wrong = drawn.values[-1]
    copier = m.with_terms(m.copier(), m.slope(-beta))
    units = {3: (m.memory(_facts(drawn) | {drawn.entity: wrong}, REMEMBERED),)}
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier}, units)
    parts = [
        drawn.document(0, drawn.entity, wrong),
        drawn.document(1, drawn.entity, "{right}"),
        drawn.question(),
    ]
    case = against_one_value("mixed", seed, drawn, parts, wrong, evidence=["doc2"])
    gap = SCALE * math.tanh(4 * beta / 2)  # of the two masses, the documents four positions apart
    memory = SCALE * REMEMBERED
    numbers = {"ld": -gap - memory, "ld_moved": gap - memory, "ld_without_mlp": -gap, "ld_both": gap}
    expected = Expected("joint", "order + knowledge", numbers)
    return Planted("mixed", build("mixed", seed, circuit, decoys), case, expected, _HEADS, {"memory": 3})


def _facts(drawn: Draw) -> dict[str, str]:
    """What the weights hold of half the other entities; the rest, and the distractor's, are unknown to them."""
    known = drawn.others[1:8]
    return dict(zip(known, drawn.values, strict=False))
