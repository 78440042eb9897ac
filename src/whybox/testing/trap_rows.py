"""Planted rows that tempt a verdict: something flips, and it is not the cause."""

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import PLAIN, VARIED, Scene, case, draw
from whybox.testing.circuit import Circuit, Place
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build

PREVIOUS: Place = (0, 0)
GUESS: Place = (1, 0)
WEAK: Place = (1, 1)
GUESSED = 0.2


def hanging(seed: int = 0, decoys: Decoys = NONE, weakly: float = 0.3, scene: Scene = PLAIN) -> Planted:
    """Nothing reads the evidence. A guess happens to be right, and a weak reader of the other document overrules it.

    Any boost, of the evidence or of any other span, dilutes the weak reader, and the guess comes through.
    """
    drawn = draw("hanging", seed, scene)
    right = drawn.values[0]
    heads = {PREVIOUS: m.previous_token(), GUESS: m.constant_writer(right, GUESSED), WEAK: m.weak_reader(weakly)}
    evidence = drawn.document(drawn.place, drawn.entity, right)
    other = drawn.document(drawn.places[1], drawn.others[0], "{wrong}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)))
    asked = case(
        "hanging",
        seed,
        parts,
        {"right": right, "wrong": "{wrong}"},
        vary={"wrong": list(drawn.values[1 : 1 + 2 * VARIED])},
        evidence=[evidence["name"]],
    )
    spread = weakly / (drawn.documents - 1)
    numbers = {"ld": SCALE * (GUESSED - spread), "ld_alone": SCALE * GUESSED}
    model = build("hanging", seed, Circuit(2, heads), decoys)
    return Planted("hanging", model, asked, Expected("not-determined", None, numbers), {"weak reader": WEAK})
