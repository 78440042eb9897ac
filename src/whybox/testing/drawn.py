"""One more case of a row, with everything about it drawn: scene, margins, places of the mechanism, decoys.

The rows' plain form guided the code that explains them; these are what it is judged on.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from whybox.items.seeds import item_generator
from whybox.testing import context_rows, engine_rows, form_rows, knowledge_rows, pair_rows, trap_rows
from whybox.testing.cases import Scene
from whybox.testing.decoys import Decoys
from whybox.testing.planted import Planted

HEADS = Decoys(heads=20)  # enough others for shams of a head
LAYERS = Decoys(heads=1, layers=22)  # enough others for shams of an MLP
_DEEPEST = 8
_KEEPERS: tuple[tuple[tuple[knowledge_rows.Keeper, ...], Decoys], ...] = (
    (("head",), HEADS),
    (("head", "head"), HEADS),
    (("head", "mlp"), HEADS),
    (("mlp", "mlp"), Decoys(heads=1, layers=10)),
)  # where a memory is kept, and enough others for shams of as many

Making = Callable[[int, np.random.Generator, Scene], Planted]


def drawn(row: str, seed: int) -> Planted:
    """The case number `seed` of a row. KeyError for a row that does not exist."""
    generator = item_generator(seed, "drawn", row)
    return DRAWN[row](seed, generator, _scene(generator))


def _scene(generator: np.random.Generator) -> Scene:
    lead = int(generator.integers(2, 7)) if generator.random() < 0.5 else 0
    return Scene(lead, int(generator.integers(4)), (30, 44))


def _few(generator: np.random.Generator) -> Decoys:
    """A small crowd, or none."""
    return Decoys(heads=int(generator.integers(4)))


def _induction(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    copier = (int(generator.integers(1, 5)), int(generator.integers(4)))
    return context_rows.induction(seed, _few(generator), copier, scene)


def _first(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return context_rows.first_biased(seed, _few(generator), generator.uniform(0.05, 1), scene)


def _recency(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return context_rows.recency_biased(seed, _few(generator), generator.uniform(0.05, 1), scene)


def _blind(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return context_rows.blind_spot(seed, _few(generator), generator.uniform(0.15, 0.45), scene)


def _not_looking(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return context_rows.not_looking(seed, _few(generator), generator.uniform(0.15, 0.45), scene)


def _suppressed(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return context_rows.suppressed(seed, HEADS, generator.uniform(1.1, 2.5), scene)


def _memoriser(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    layer = int(generator.integers(3, _DEEPEST))
    return knowledge_rows.memoriser(seed, LAYERS, layer, generator.uniform(1.1, 3), scene)


def _missing(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return knowledge_rows.missing_fact(seed, _few(generator), generator.uniform(0.1, 0.45), scene)


def _sink(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    place = (int(generator.integers(1, 3)), int(generator.integers(1, 4)))
    return pair_rows.sink(seed, _few(generator), place, scene)


def _cancel(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return pair_rows.cancel(seed, _few(generator), scene)


def _backup(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return pair_rows.backup(seed, _few(generator), scene)


def _redundant(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return pair_rows.redundant_or(seed, _few(generator), int(generator.integers(2, 6)), scene)


def _derailer(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return form_rows.format_derailer(seed, _few(generator), generator.uniform(1.2, 3), scene)


def _tie(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return form_rows.near_tie(seed, _few(generator), generator.uniform(0.2, 0.8), scene)


def _fault(kind: str, seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return engine_rows.engine_fault(kind, seed, _few(generator), scene)


def _mixed(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return knowledge_rows.mixed(seed, LAYERS, generator.uniform(0.1, 1), generator.uniform(1.1, 3), scene)


def _beyond(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return knowledge_rows.beyond(seed, _few(generator), generator.uniform(0.1, 0.45), scene)


def _hanging(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    loud = (scene.distractors + 1) * generator.uniform(0.22, 0.36)
    return trap_rows.hanging(seed, _few(generator), loud, scene)


def _outvoted(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    if generator.random() < 0.5:
        return context_rows.outvoted(seed, HEADS, 1, generator.uniform(0, 0.6), scene)
    return context_rows.outvoted(seed, HEADS, 2, generator.uniform(0.36, 0.6), scene)


def _shared(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    keepers, decoys = _KEEPERS[int(generator.integers(len(_KEEPERS)))]
    return knowledge_rows.shared_memory(seed, decoys, keepers, generator.uniform(1.1, 1.8), scene)


def _usurper(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return form_rows.usurper(seed, HEADS, generator.uniform(1.1, 2), scene)


def _bystanders(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return form_rows.bystanders(seed, _few(generator), int(generator.integers(20, 25)), scene)


def _misled(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    strongly = (scene.distractors + 4) * generator.uniform(0.25, 0.4)
    return trap_rows.misled(seed, HEADS, strongly, scene)


def _leaning(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return trap_rows.leaning(seed, _few(generator), int(generator.integers(20, 25)), scene)


def _memories(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return trap_rows.two_memories(seed, LAYERS, generator.uniform(1.1, 3), scene)


def _averse(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    return trap_rows.averse(seed, LAYERS, generator.uniform(1.1, 3), scene)


def _suggested(seed: int, generator: np.random.Generator, scene: Scene) -> Planted:
    loud = (scene.distractors + 2) * generator.uniform(1.2, 2)
    return trap_rows.suggested(seed, HEADS, loud, scene)


DRAWN: dict[str, Making] = {
    "induction": _induction,
    "first_biased": _first,
    "recency_biased": _recency,
    "blind_spot": _blind,
    "not_looking": _not_looking,
    "suppressed": _suppressed,
    "outvoted": _outvoted,
    "memoriser": _memoriser,
    "shared_memory": _shared,
    "missing_fact": _missing,
    "sink": _sink,
    "cancel": _cancel,
    "backup": _backup,
    "redundant_or": _redundant,
    "format_derailer": _derailer,
    "usurper": _usurper,
    "near_tie": _tie,
    **{f"engine_fault.{kind}": partial(_fault, kind) for kind in engine_rows.KINDS},
    "mixed": _mixed,
    "beyond": _beyond,
    "hanging": _hanging,
    "misled": _misled,
    "leaning": _leaning,
    "two_memories": _memories,
    "averse": _averse,
    "bystanders": _bystanders,
    "suggested": _suggested,
}
