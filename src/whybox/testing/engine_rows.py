"""Planted rows in which the model is sound and the engine is not: right on the reference engine, wrong on this one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from whybox.items import Case
from whybox.testing import faults
from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import DOCUMENT, PLAIN, Draw, Part, Scene, against_one_value, beside_other, draw
from whybox.testing.circuit import Circuit, Head, Place, Write
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.faults import Fault
from whybox.testing.planted import Expected, Planted, build
from whybox.testing.stream import VALUE_IDS, any_of, rows
from whybox.testing.vocabulary import IDS, VALUES

PREVIOUS: Place = (0, 0)
COPIER: Place = (2, 0)
SECOND: Place = (2, 1)
GUESS: Place = (1, 0)
GUESSED = 0.3
_GUESS_WINS = {"ld": -SCALE * GUESSED, "ld_sound": SCALE * (1 - GUESSED)}


def engine_fault(kind: str, seed: int = 0, decoys: Decoys = NONE, scene: Scene = PLAIN) -> Planted:
    """A model on which this fault turns a right answer into a wrong one. `kind`: a key of `KINDS`.

    Distractors stand only where they leave the mechanism as it is.
    """
    return KINDS[kind](seed, decoys, scene)


def mask_after_softmax(seed: int, decoys: Decoys, scene: Scene) -> Planted:
    """The previous-token head would rather look ahead; only a mask before the softmax keeps its weight behind it."""
    drawn = draw("engine_fault.mask", seed, scene)
    wrong = drawn.values[-1]
    heads = {PREVIOUS: m.previous_token(ahead=100.0), COPIER: m.copier(), GUESS: m.constant_writer(wrong, GUESSED)}
    case = beside_other("engine_fault.mask", seed, drawn, wrong)
    return _planted(faults.MASK_AFTER_SOFTMAX, seed, decoys, Circuit(3, heads), case, _GUESS_WINS)


def no_score_scale(seed: int, decoys: Decoys, scene: Scene, beta: float = 0.05) -> Planted:
    """Two later documents outvote a first one that is a little brighter; without 1/√d the brightest takes all."""
    drawn = draw("engine_fault.scale", seed, replace(scene, distractors=0))
    wrong = drawn.values[-1]
    copier = m.with_terms(m.copier(), m.slope(-beta))
    parts = [drawn.document(0, drawn.entity, wrong), *(drawn.document(i, drawn.entity, "{right}") for i in (1, 2))]
    case = _case("engine_fault.scale", seed, drawn, parts, wrong, ["doc2", "doc3"])
    circuit = Circuit(3, {PREVIOUS: m.previous_token(), COPIER: copier})
    numbers = {"ld": _outvoted(beta * copier.width**0.5), "ld_sound": _outvoted(beta)}
    return _planted(faults.NO_SCORE_SCALE, seed, decoys, circuit, case, numbers)


def _outvoted(beta: float) -> float:
    """LD of the second and third document against the first, each β · 4 below the one before it."""
    later = math.exp(-DOCUMENT * beta) + math.exp(-2 * DOCUMENT * beta)
    return SCALE * (later - 1) / (later + 1)


def cache_slot(seed: int, decoys: Decoys, scene: Scene) -> Planted:
    """The answer opens with `Answer:`, whose row must find the token before it in the cache."""
    drawn = draw("engine_fault.cache", seed, scene)
    wrong = drawn.values[-1]
    heads = {
        PREVIOUS: m.previous_token(),
        GUESS: m.constant_writer(wrong, GUESSED),
        COPIER: m.copier(),
        SECOND: m.carrying_copier(),
    }
    circuit = Circuit(3, heads, {2: (m.answer_opener(),)})
    case = beside_other("engine_fault.cache", seed, drawn, wrong)
    return _planted(faults.CACHE_SLOT, seed, decoys, circuit, case, _GUESS_WINS)


def window_off_by_one(seed: int, decoys: Decoys, scene: Scene, beta: float = 1.0) -> Planted:
    """The wrong document's value would win, but lies one token outside the copier's window."""
    drawn = draw("engine_fault.window", seed, replace(scene, distractors=0))
    wrong = drawn.values[-1]
    copier = m.with_terms(m.copier(), m.slope(-beta))
    parts = [drawn.document(0, drawn.entity, wrong), drawn.document(1, drawn.entity, "{right}")]
    case = _case("engine_fault.window", seed, drawn, parts, wrong, ["doc2"])
    last = drawn.value_position(1) + 1 + len(drawn.question()["text"].split())
    windows = {COPIER[0]: last - drawn.value_position(0)}
    circuit = Circuit(3, {PREVIOUS: m.previous_token(), COPIER: copier}, windows=windows)
    numbers = {"ld": -SCALE * math.tanh(DOCUMENT * beta / 2), "ld_sound": SCALE}
    return _planted(faults.WINDOW_OFF_BY_ONE, seed, decoys, circuit, case, numbers)


def kv_heads_tiled(seed: int, decoys: Decoys, scene: Scene) -> Planted:
    """Two query heads share a key/value head; the next one holds the same keys, and one wrong value for all."""
    drawn = draw("engine_fault.tiled", seed, scene)
    wrong = VALUES[0]
    copier, heads = (2, 1), {PREVIOUS: m.previous_token(), (2, 1): m.copier(), (2, 2): _silent_twin(wrong)}
    case = beside_other("engine_fault.tiled", seed, drawn, wrong)
    circuit = Circuit(3, heads, groups={2: 2})
    return _planted(faults.KV_HEADS_TILED, seed, decoys, circuit, case, {"ld": -SCALE, "ld_sound": SCALE}, copier)


def _silent_twin(value: str) -> Head:
    """A copier's keys, with a query that asks nothing, and values that all say the same."""
    match, rest = m.copier().terms
    return Head(
        (replace(match, weight=0.0), rest), (Write(1.0, any_of("token", VALUE_IDS), rows("out", [IDS[value]])),)
    )


def _planted(
    fault: Fault,
    seed: int,
    decoys: Decoys,
    circuit: Circuit,
    case: Case,
    numbers: dict[str, float],
    copier: Place = COPIER,
) -> Planted:
    name = f"engine_fault.{fault.name}"
    sound = build(name, seed, circuit, decoys)
    heads = {"previous": PREVIOUS, "copier": copier}
    expected = Expected("implementation", None, numbers)
    return Planted(name, fault.of(sound), case, expected, heads, sound=sound)


def _case(row: str, seed: int, drawn: Draw, documents: Sequence[Part], wrong: str, evidence: list[str]) -> Case:
    return against_one_value(row, seed, drawn, [*drawn.opening, *documents, drawn.question()], wrong, evidence=evidence)


KINDS: dict[str, Callable[[int, Decoys, Scene], Planted]] = {
    faults.MASK_AFTER_SOFTMAX.name: mask_after_softmax,
    faults.NO_SCORE_SCALE.name: no_score_scale,
    faults.CACHE_SLOT.name: cache_slot,
    faults.WINDOW_OFF_BY_ONE.name: window_off_by_one,
    faults.KV_HEADS_TILED.name: kv_heads_tiled,
}
