"""Where a planted model keeps what: named blocks of the residual stream, and features as rows of maps on it.

ballast 1 | token v | position p | previous v | stage 16 | flags 3 | out v | unread 16

The ballast coordinate holds 100, so that an RMSNorm divides by almost the same number whatever else is added or
removed (under 0.2 %); the norms' gain is chosen so that unit features come back as units.
"""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float

from whybox.testing.vocabulary import ENTITIES, IDS, VALUES, WORDS, ids_of

BALLAST = 100.0
CONTEXT = 96
FLAGS = ("noted", "second document", "answered")
UNREAD = 16
EPS = 1e-6
_USUAL_FEATURES = 4.0  # token, position, previous token and what was written: their squares beside the ballast's

Rows = Float[np.ndarray, "n c"]

_SIZES = {
    "ballast": 1,
    "token": len(WORDS),
    "position": CONTEXT,
    "previous": len(WORDS),
    "stage": len(VALUES),
    "flag": len(FLAGS),
    "out": len(WORDS),
    "unread": UNREAD,
}
WIDTH = sum(_SIZES.values())
_STARTS = dict(zip(_SIZES, np.cumsum([0, *_SIZES.values()]).tolist(), strict=False))

ENTITY_IDS = ids_of(ENTITIES)
VALUE_IDS = ids_of(VALUES)
BOS_ID = IDS["<bos>"]


def gain() -> Float[np.ndarray, "c"]:
    """√(mean square of a usual row): the norm of a stream with this gain is the stream."""
    return np.full(WIDTH, np.sqrt((BALLAST**2 + _USUAL_FEATURES) / WIDTH + EPS))


def rows(block: str, places: Iterable[int]) -> Rows:
    """One row per place of a block: a map that reads (or, transposed, writes) exactly these features."""
    chosen = list(places)
    found = np.zeros((len(chosen), WIDTH))
    found[np.arange(len(chosen)), [_STARTS[block] + place for place in chosen]] = 1.0
    return found


def any_of(block: str, places: Iterable[int]) -> Rows:
    """One row, the sum of these features: 1 where one of them is on."""
    total: Rows = rows(block, places).sum(axis=0, keepdims=True)
    return total


def constant() -> Rows:
    """One row that reads 1 everywhere."""
    return rows("ballast", [0]) / BALLAST


def flag(name: str) -> Rows:
    """One row that reads or writes a flag."""
    return rows("flag", [FLAGS.index(name)])


def embedding() -> Float[np.ndarray, "v c"]:
    """Each token writes itself and the ballast."""
    return rows("token", range(len(WORDS))) + BALLAST * rows("ballast", [0])


def positions() -> Float[np.ndarray, "p c"]:
    """The learned table: each position writes itself."""
    return rows("position", range(CONTEXT))
