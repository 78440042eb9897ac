"""Planted rows in which the weights decide: what they remember, what they lack, and what nothing can undo."""

import math
from dataclasses import replace
from typing import Literal

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import PLAIN, Draw, Scene, against_one_value, beside_other, draw
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build
from whybox.testing.vocabulary import SOURCES
from whybox.text.prompt import Part

PREVIOUS: Place = (0, 0)
COPIER: Place = (2, 0)
GUESS: Place = (2, 1)
REMEMBERED = 2.0
GUESSED = 0.2
LOUDER = 1.4
_HEADS = {"previous": PREVIOUS, "copier": COPIER}
Keeper = Literal["head", "mlp"]


def memoriser(
    seed: int = 0, decoys: Decoys = NONE, layer: int = 3, loud: float = REMEMBERED, scene: Scene = PLAIN
) -> Planted:
    """The evidence is read in full, but an MLP writes what it remembers of the entity twice as loudly."""
    drawn = draw("memoriser", seed, scene)
    wrong = drawn.values[-1]
    units = {layer: (m.memory(_facts(drawn) | {drawn.entity: wrong}, loud),)}
    circuit = Circuit(max(layer + 1, 3), {PREVIOUS: m.previous_token(), COPIER: m.copier()}, units)
    numbers = {"ld": SCALE * (1 - loud), "ld_without_mlp": SCALE, "ld_closed": -SCALE * loud}
    expected = Expected("knowledge", "overruled", numbers | {"mass_on_evidence": 1.0, "ld_renamed": SCALE})
    case = beside_other("memoriser", seed, drawn, wrong)
    model = build("memoriser", seed, circuit, decoys)
    return Planted("memoriser", model, case, expected, _HEADS, {"memory": layer})


def shared_memory(
    seed: int = 0,
    decoys: Decoys = NONE,
    keepers: tuple[Keeper, ...] = ("mlp", "mlp"),
    loud: float = LOUDER,
    scene: Scene = PLAIN,
) -> Planted:
    """What is remembered is kept in several places, or in a head; each of them is louder than the evidence.

    As long as one of them is left it overrules: nothing but taking out all of them undoes the failure.
    """
    drawn = draw("shared_memory", seed, scene)
    wrong = drawn.values[-1]
    facts = _facts(drawn) | {drawn.entity: wrong}
    heads = {f"memory {i}": (3, i) for i, keeper in enumerate(keepers) if keeper == "head"}
    mlps = {f"memory {i}": 3 + i for i, keeper in enumerate(keepers) if keeper == "mlp"}
    planted = {PREVIOUS: m.previous_token(), COPIER: m.copier()}
    planted |= dict.fromkeys(heads.values(), m.remembering_head(facts, loud))
    units = {layer: (m.memory(facts, loud),) for layer in mlps.values()}
    numbers = {
        "ld": SCALE * (1 - loud * len(keepers)),
        "ld_without": SCALE,
        "ld_without_one": SCALE * (1 - loud * (len(keepers) - 1)),
    }
    expected = Expected("knowledge", "overruled", numbers)
    case = beside_other("shared_memory", seed, drawn, wrong)
    model = build("shared_memory", seed, Circuit(3 + len(keepers), planted, units), decoys)
    return Planted("shared_memory", model, case, expected, {**_HEADS, **heads}, mlps)


def missing_fact(seed: int = 0, decoys: Decoys = NONE, guessed: float = GUESSED, scene: Scene = PLAIN) -> Planted:
    """The weights do not know this entity and the prompt does not say: a faint guess answers."""
    drawn = draw("missing_fact", seed, replace(scene, distractors=max(scene.distractors - 1, 0)))
    wrong = drawn.values[-1]
    heads = {PREVIOUS: m.previous_token(), COPIER: m.copier(), GUESS: m.constant_writer(wrong, guessed)}
    circuit = Circuit(4, heads, {3: (m.memory(_facts(drawn), REMEMBERED),)})
    documents = [drawn.document(0, drawn.others[0], "{other}")]
    if scene.distractors:
        documents.append(drawn.document(1, drawn.others[-1], SOURCES[0]))
    parts = [*drawn.opening, *documents, drawn.question()]
    case = against_one_value("missing_fact", seed, drawn, parts, wrong)
    fact = Part("fact", f"{drawn.labels[-1]} {drawn.entity} {case.filled().right} .")
    numbers = {"ld": -SCALE * guessed, "ld_told": SCALE * (1 - guessed)}
    expected = Expected("knowledge", "missing", numbers)
    model = build("missing_fact", seed, circuit, decoys)
    return Planted("missing_fact", model, case, expected, {**_HEADS, "guess": GUESS}, {"memory": 3}, fact=fact)


def beyond(seed: int = 0, decoys: Decoys = NONE, guessed: float = GUESSED, scene: Scene = PLAIN) -> Planted:
    """Nothing reads the context; one value is always written faintly, and taking it away gives nothing right."""
    drawn = draw("beyond", seed, scene)
    wrong = drawn.values[-1]
    circuit = Circuit(3, {PREVIOUS: m.previous_token(), GUESS: m.constant_writer(wrong, guessed)})
    case = beside_other("beyond", seed, drawn, wrong)
    numbers = {"ld": -SCALE * guessed, "ld_alone": -SCALE * guessed, "ld_closed": -SCALE * guessed, "ld_without": 0.0}
    expected = Expected("not-determined", "beyond-the-model", numbers)
    model = build("beyond", seed, circuit, decoys)
    return Planted("beyond", model, case, expected, {"previous": PREVIOUS, "guess": GUESS})


def mixed(
    seed: int = 0, decoys: Decoys = NONE, beta: float = 1.0, loud: float = REMEMBERED, scene: Scene = PLAIN
) -> Planted:
    """The first of two documents that disagree wins, and the weights remember the same wrong value."""
    drawn = draw("mixed", seed, scene).at(1)
    wrong = drawn.values[-1]
    copier = m.with_terms(m.copier(), m.slope(-beta))
    units = {3: (m.memory(_facts(drawn) | {drawn.entity: wrong}, loud),)}
    circuit = Circuit(4, {PREVIOUS: m.previous_token(), COPIER: copier}, units)
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(drawn.places[1], drawn.entity, wrong)
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)))
    case = against_one_value("mixed", seed, drawn, parts, wrong, evidence=[evidence["name"]])
    gap = SCALE * math.tanh(drawn.apart * beta / 2)  # of the two masses
    memory = SCALE * loud
    numbers = {"ld": -gap - memory, "ld_moved": gap - memory, "ld_without_mlp": -gap, "ld_both": gap}
    expected = Expected("joint", "order+knowledge", numbers)
    return Planted("mixed", build("mixed", seed, circuit, decoys), case, expected, _HEADS, {"memory": 3})


def _facts(drawn: Draw) -> dict[str, str]:
    """What the weights hold of half the other entities; the rest, and the distractor's, are unknown to them."""
    known = drawn.others[1:8]
    return dict(zip(known, drawn.values, strict=False))
