"""A planted model in a crowd that moves the answers a little: changes of it mean nothing and do something."""

import numpy as np

from whybox.items.seeds import item_generator
from whybox.testing import mechanisms as m
from whybox.testing.assembly import model_of
from whybox.testing.cases import PLAIN, Scene, draw, two_documents
from whybox.testing.circuit import Circuit, Head, Place, Term, Write
from whybox.testing.planted import Expected, Planted
from whybox.testing.stream import constant, rows
from whybox.testing.vocabulary import WORDS

NOISY = 8  # heads in each of the layers below
LAYERS = 4
_CLASSES = 8
_LOUD = 0.02  # of a value written with weight 1
COPIER: Place = (LAYERS, 0)


def noisy(seed: int, scene: Scene = PLAIN) -> Planted:
    """An induction head above layers of heads that look at whatever they like and nudge every value by a little."""
    generator = item_generator(seed, "noise", "crowd")
    places = [(layer, head) for layer in range(1, LAYERS) for head in range(NOISY)]
    crowd = {place: _nudging(generator) for place in places}
    circuit = Circuit(LAYERS + 1, {(0, 0): m.previous_token(), COPIER: m.copier(), **crowd})
    case = two_documents("noise", seed, draw("noise", seed, scene))
    return Planted("noise", model_of("noise", circuit), case, Expected("none"), {"copier": COPIER})


def _nudging(generator: np.random.Generator) -> Head:
    """Soft scores by the key's token; what it writes depends on the class of the token that it finds."""
    words, size = rows("token", range(len(WORDS))), len(WORDS)
    scores = Term(1.0, constant(), generator.normal(size=(1, size)) @ words)
    classes = np.eye(_CLASSES)[generator.integers(_CLASSES, size=size)].T @ words
    return Head((scores,), (Write(_LOUD, classes, generator.normal(size=(_CLASSES, size)) @ rows("out", range(size))),))
