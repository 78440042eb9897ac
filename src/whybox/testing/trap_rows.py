"""Planted rows that tempt a verdict: something flips, and it is not the cause."""

from collections.abc import Mapping

from whybox.items import Case
from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import (
    PLAIN,
    VARIED,
    Draw,
    Part,
    Scene,
    beside_other,
    case,
    crowded,
    draw,
    two_against_one,
)
from whybox.testing.circuit import Circuit, Head, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build

PREVIOUS: Place = (0, 0)
GUESS: Place = (1, 0)
WEAK: Place = (1, 1)
COPIER: Place = (2, 0)
MEMORY = 3
GUESSED = 0.2
NARROWLY = 0.2  # nats by which a crowd outvotes the right answer


def hanging(seed: int = 0, decoys: Decoys = NONE, weakly: float = 0.3, scene: Scene = PLAIN) -> Planted:
    """Nothing reads the evidence. A guess happens to be right, and a weak reader of the other document overrules it.

    Any boost, of the evidence or of any other span, dilutes the weak reader, and the guess comes through.
    """
    return _misread("hanging", seed, decoys, weakly, scene)


def misled(seed: int = 0, decoys: Decoys = NONE, strongly: float = 1.2, scene: Scene = PLAIN) -> Planted:
    """As `hanging`, but so strongly misled that no boost helps. Taking the reader of the other document out does, and
    would do so without any evidence: the right answer is a guess.
    """
    return _misread("misled", seed, decoys, strongly, scene)


def _misread(row: str, seed: int, decoys: Decoys, weakly: float, scene: Scene) -> Planted:
    drawn = draw(row, seed, scene)
    right = drawn.values[0]
    heads = {PREVIOUS: m.previous_token(), GUESS: m.constant_writer(right, GUESSED), WEAK: m.weak_reader(weakly)}
    evidence = drawn.document(drawn.place, drawn.entity, right)
    other = drawn.document(drawn.places[1], drawn.others[0], "{wrong}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)))
    spread = weakly / (drawn.documents - 1)
    numbers = {"ld": SCALE * (GUESSED - spread), "ld_alone": SCALE * GUESSED, "ld_without": SCALE * GUESSED}
    model = build(row, seed, Circuit(2, heads), decoys)
    asked = _of_one_answer(row, seed, drawn, parts, right)
    return Planted(row, model, asked, Expected("not-determined", None, numbers), {"weak reader": WEAK})


def _of_one_answer(row: str, seed: int, drawn: Draw, parts: list[Part], right: str) -> Case:
    """The right answer is one fixed value, which the model guesses; the wrong one varies."""
    wrongs = list(drawn.values[1 : 1 + 2 * VARIED])
    answer = {"right": right, "wrong": "{wrong}"}
    return case(row, seed, parts, answer, vary={"wrong": wrongs}, evidence=[f"doc{drawn.place + 1}"])


def leaning(seed: int = 0, decoys: Decoys = NONE, many: int = 20, scene: Scene = PLAIN) -> Planted:
    """As many heads read three documents, two of which are wrong, against a guess that is right: it is lost by a hair.

    Taking out any of them turns the answer, and so does any of them patched: none of them is the one.
    """
    drawn = draw("leaning", seed, crowded(scene))
    right = drawn.values[0]
    places = [(COPIER[0], head) for head in range(many)]
    guess = m.constant_writer(right, 1 / 3 - NARROWLY / SCALE)
    planted = {PREVIOUS: m.previous_token(), GUESS: guess, **dict.fromkeys(places, m.copier(1 / many))}
    parts = two_against_one(drawn, right, "{wrong}")
    numbers = {"ld": -NARROWLY, "ld_without_one": SCALE / 3 / many - NARROWLY}
    model = build("leaning", seed, Circuit(3, planted), decoys)
    asked = _of_one_answer("leaning", seed, drawn, parts, right)
    return Planted("leaning", model, asked, Expected("not-determined", None, numbers), {"reader": places[0]})


def two_memories(seed: int = 0, decoys: Decoys = NONE, loud: float = 2.0, scene: Scene = PLAIN) -> Planted:
    """Nothing reads the evidence. What the weights remember loudly is wrong, what they say faintly happens to be right:
    with the loud memory taken out the text has still not been read.
    """
    drawn = draw("two_memories", seed, scene)
    right, wrong = drawn.values[0], drawn.values[-1]
    heads = {PREVIOUS: m.previous_token(), GUESS: m.constant_writer(right, GUESSED)}
    evidence = drawn.document(drawn.place, drawn.entity, right)
    other = drawn.document(drawn.places[1], drawn.others[0], "{other}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)))
    vary = {"other": list(drawn.values[1 : 1 + 2 * VARIED])}
    asked = case("two_memories", seed, parts, {"right": right, "wrong": wrong}, vary=vary, evidence=[evidence["name"]])
    numbers = {"ld": SCALE * (GUESSED - loud), "ld_without": SCALE * GUESSED}
    model = build("two_memories", seed, _remembering(heads, {drawn.entity: wrong}, loud), decoys)
    expected = Expected("not-determined", None, numbers)
    return Planted("two_memories", model, asked, expected, {"guess": GUESS}, {"memory": MEMORY})


def averse(seed: int = 0, decoys: Decoys = NONE, loud: float = 2.0, scene: Scene = PLAIN) -> Planted:
    """The evidence is read, and the weights will not say this one value of it; any other value is followed.

    Nothing is remembered that could overrule the text, although taking the aversion out turns the answer right.
    """
    drawn = draw("averse", seed, scene)
    wrong = drawn.values[-1]
    heads: Mapping[Place, Head] = {
        PREVIOUS: m.previous_token(),
        GUESS: m.constant_writer(wrong, GUESSED),
        COPIER: m.copier(),
    }
    asked = beside_other("averse", seed, drawn, wrong)
    circuit = _remembering(heads, {drawn.entity: asked.filled().right}, -loud)
    numbers = {
        "ld": SCALE * (1 - loud - GUESSED),
        "ld_without": SCALE * (1 - GUESSED),
        "ld_other": SCALE * (1 - GUESSED),
    }
    expected = Expected("not-determined", None, numbers)
    model = build("averse", seed, circuit, decoys)
    return Planted("averse", model, asked, expected, {"guess": GUESS, "copier": COPIER}, {"aversion": MEMORY})


def _remembering(heads: Mapping[Place, Head], facts: Mapping[str, str], loud: float) -> Circuit:
    return Circuit(MEMORY + 1, heads, {MEMORY: (m.memory(facts, loud),)})


def suggested(seed: int = 0, decoys: Decoys = NONE, loud: float = 4.0, scene: Scene = PLAIN) -> Planted:
    """The question itself holds another value, and a head that reads it overrules the evidence.

    The wrong answer comes without any document as well, and taking that head out turns it right; yet nothing was
    remembered: what was read stands in the prompt.
    """
    drawn = draw("suggested", seed, scene)
    heads = {PREVIOUS: m.previous_token(), WEAK: m.weak_reader(loud), COPIER: m.copier()}
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    parts = drawn.around({drawn.place: evidence}, f"{drawn.labels[-1]} {drawn.others[0]} {{wrong}} .")
    vary = {"right": drawn.rights, "wrong": drawn.wrongs}
    answer = {"right": "{right}", "wrong": "{wrong}"}
    asked = case("suggested", seed, parts, answer, vary=vary, evidence=[evidence["name"]])
    numbers = {"ld": SCALE * (1 - loud / drawn.documents), "ld_alone": SCALE * (1 - loud), "ld_without": SCALE}
    model = build("suggested", seed, Circuit(3, heads), decoys)
    return Planted("suggested", model, asked, Expected("not-determined", None, numbers), {"weak reader": WEAK})
