"""Heads, MLP units and whole layers that do something, somewhere that nobody reads: the crowd for matched nulls."""

from dataclasses import dataclass, replace

import numpy as np

from whybox.testing.circuit import Circuit, Head, Term, Units, Write
from whybox.testing.stream import UNREAD, Rows, constant, rows
from whybox.testing.vocabulary import WORDS

_UNITS = 4
_CLASSES = 8
_SPREAD = 1.0  # scores of a decoy: soft, so that it looks at much
_LENGTH = 0.25  # of what a decoy writes: a crowd of them must not move the norms' scale


@dataclass(frozen=True)
class Decoys:
    """heads: how many stand beside the planted ones in their layers. layers: how many layers the model then has."""

    heads: int = 0
    layers: int = 0


NONE = Decoys()
CROWD = Decoys(heads=20, layers=21)  # enough that 0 of 19 others can be said of a head and of an MLP


def with_decoys(circuit: Circuit, decoys: Decoys, generator: np.random.Generator) -> Circuit:
    """The circuit among decoys; layers that hold nothing planted get one decoy head."""
    layers = max(circuit.layers, decoys.layers)
    heads = dict(circuit.heads)
    for layer in range(layers):
        planted = [head for at, head in circuit.heads if at == layer]
        wanted = decoys.heads if planted else min(decoys.heads, 1)
        first = max(planted, default=-1) + 1
        heads |= {(layer, first + i): _head(generator) for i in range(wanted)}
    units = dict(circuit.units)
    for layer in range(layers if decoys.layers else 0):
        units[layer] = (*units.get(layer, ()), _decoy_units(generator))
    return replace(circuit, layers=layers, heads=heads, units=units)


def _head(generator: np.random.Generator) -> Head:
    """Soft scores by the key's token, and a write by its class."""
    words = rows("token", range(len(WORDS)))
    classes = np.eye(_CLASSES)[generator.integers(_CLASSES, size=len(WORDS))].T
    term = Term(1.0, constant(), _SPREAD * generator.normal(size=(1, len(WORDS))) @ words)
    return Head((term,), (Write(_LENGTH, classes @ words, _directions(generator, _CLASSES)),))


def _decoy_units(generator: np.random.Generator) -> Units:
    tokens = generator.choice(len(WORDS), _UNITS, replace=False)
    return Units(rows("token", tokens.tolist()), _LENGTH * _directions(generator, _UNITS), np.zeros(_UNITS))


def _directions(generator: np.random.Generator, count: int) -> Rows:
    """Random directions of length 1 in the unread block."""
    drawn = generator.normal(size=(count, UNREAD))
    found: Rows = drawn / np.linalg.norm(drawn, axis=1, keepdims=True) @ rows("unread", range(UNREAD))
    return found
