"""Planted rows with a right answer, on which single removals mislead: sinks, pairs that cancel, backups, spares."""

from whybox.testing import mechanisms as m
from whybox.testing.assembly import SCALE
from whybox.testing.cases import PLAIN, Scene, draw, two_documents
from whybox.testing.circuit import Circuit, Place, Write
from whybox.testing.decoys import NONE, Decoys
from whybox.testing.planted import Expected, Planted, build
from whybox.testing.stream import VALUE_IDS, any_of, flag

PREVIOUS: Place = (0, 0)
COPIER: Place = (2, 0)


def sink(seed: int = 0, decoys: Decoys = NONE, place: Place = (1, 1), scene: Scene = PLAIN) -> Planted:
    """A head beside the mechanism rests on BOS with all its mass and writes nothing, however bright it looks."""
    heads = {"previous": PREVIOUS, "copier": COPIER, "sink": place}
    planted = {PREVIOUS: m.previous_token(), COPIER: m.copier(), place: m.sink()}
    numbers = {"ld": SCALE, "ld_without_sink": SCALE, "mass_on_bos": 1.0}
    return _right("sink", seed, decoys, scene, Circuit(3, planted), heads, numbers)


def cancel(seed: int = 0, decoys: Decoys = NONE, scene: Scene = PLAIN) -> Planted:
    """Two heads write +1 and −1 of the same value beside a copier: each alone moves LD by 20, both together by 0."""
    plus, minus = (2, 1), (2, 2)
    heads = {"previous": PREVIOUS, "copier": COPIER, "plus": plus, "minus": minus}
    planted = {PREVIOUS: m.previous_token(), COPIER: m.copier(), plus: m.copier(1.0), minus: m.copier(-1.0)}
    numbers = {"ld": SCALE, "ld_without_plus": 0.0, "ld_without_minus": 2 * SCALE, "ld_without_both": SCALE}
    return _right("cancel", seed, decoys, scene, Circuit(3, planted), heads, numbers)


def backup(seed: int = 0, decoys: Decoys = NONE, scene: Scene = PLAIN) -> Planted:
    """The primary copier raises a flag while it answers; a second copier answers only when the flag is down."""
    spare = (3, 0)
    heads = {"previous": PREVIOUS, "primary": COPIER, "backup": spare}
    raises = Write(1.0, any_of("token", VALUE_IDS), flag("answered"))
    planted = {
        PREVIOUS: m.previous_token(),
        COPIER: m.with_writes(m.copier(), raises),
        spare: m.with_terms(m.copier(), m.penalty_when("answered")),
    }
    numbers = {"ld": SCALE, "ld_without_primary": SCALE, "ld_without_backup": SCALE, "ld_without_both": 0.0}
    numbers["ld_direct"] = 0.0
    return _right("backup", seed, decoys, scene, Circuit(4, planted), heads, numbers)


def redundant_or(seed: int = 0, decoys: Decoys = NONE, copies: int = 3, scene: Scene = PLAIN) -> Planted:
    """Several copiers stage the value, an MLP writes it once: any but the last of them can go, and gradients are 0."""
    places: list[Place] = [(2, head) for head in range(copies)]
    heads = {"previous": PREVIOUS} | {f"copier {i}": place for i, place in enumerate(places)}
    planted = {PREVIOUS: m.previous_token()} | dict.fromkeys(places, m.stager())
    numbers = {"ld": SCALE, "ld_without_but_one": SCALE, "ld_without_all": 0.0}
    circuit = Circuit(3, planted, {COPIER[0]: (m.saturating_or(),)})
    return _right("redundant_or", seed, decoys, scene, circuit, heads, numbers)


def _right(
    name: str,
    seed: int,
    decoys: Decoys,
    scene: Scene,
    circuit: Circuit,
    heads: dict[str, Place],
    numbers: dict[str, float],
) -> Planted:
    model = build(name, seed, circuit, decoys)
    case = two_documents(name, seed, draw(name, seed, scene))
    mlps = dict.fromkeys(("or",), COPIER[0]) if circuit.units else {}
    return Planted(name, model, case, Expected("none", None, numbers), heads, mlps)
