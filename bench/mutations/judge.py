"""From a comparison to right, in part, not determined or wrong.

Right: every cause that was planted is named and no other is, and the proof on the whole model holds. A cause under
another name counts where it describes the very same model. Wrong: a cause is named that was not planted, or identical
sides are accused.
"""

import time
from collections.abc import Sequence

import numpy as np

from bench.mutations.row import Judged, Row, State
from bench.mutations.subjects import model_of
from whybox.compare.comparison import Comparison
from whybox.compare.naming import Named, imposed
from whybox.testing.faults import Fault

ALIKE = ("identical", "rounding")


def judged(row: Row) -> Judged:
    """Runs a row."""
    began = time.perf_counter()
    found = row.compare()
    took = time.perf_counter() - began
    planted = row.planted
    names = () if found is None else _names(found)
    return Judged(
        key=row.key,
        subject=row.subject,
        kind=row.kind,
        what=planted.what,
        why=planted.why,
        by=planted.by,
        silent=planted.silent,
        seen=row.seen,
        verdict="none" if found is None else found.verdict,
        named=names,
        said=() if found is None else _said(found),
        place=None if found is None else _place(found),
        proved=None if found is None or found.undone is None else found.undone.at_floor,
        state="no effect" if found is None else _state(row, found, names),
        took_s=round(took, 2),
    )


def _state(row: Row, found: Comparison, names: tuple[str, ...]) -> State:
    wanted = row.planted.names
    if not wanted:
        return "right" if found.verdict in ALIKE and not names else "wrong"
    if row.planted.by == "feeding":
        return "right" if len(names) == 1 and wanted[0] in names[0] else "not-determined"
    if not names:
        return "not-determined"
    if set(names) == set(wanted) and found.verdict == "named":
        return "right"
    if _the_same_model(row, found.named):
        return "right"
    return "part" if set(names) < set(wanted) else "wrong"


def _names(found: Comparison) -> tuple[str, ...]:
    """Of causes; of unlike experiments the reason, by its first words."""
    if found.verdict == "unlike":
        return (str(found.reason),)
    if found.overflow is not None:
        return ("fp16-overflow",) if found.overflow.explained else ()
    apart = next((rung.detail for rung in found.rungs if rung.check == "template" and rung.state == "different"), None)
    named = [name for each in found.named for name in each.fault.name.split(" + ")]
    return tuple(named if apart is None else [*named, f"template: {apart}"])


def _said(found: Comparison) -> tuple[str, ...]:
    if found.verdict == "unlike":
        return (str(found.reason),)
    over = found.overflow
    if over is not None:
        where = over.site if over.layer is None else f"{over.site} of layer {over.layer}"
        value = "" if over.value is None else f"; ours is {over.value:,.0f} there"
        kind = "beyond float16" if over.explained else "NaN or Inf first"
        return (f"{kind} at {where}, token {over.position}{value}",)
    layers = [f"{each.fault.what}{_where(each)}" for each in found.named]
    templates = [rung.detail for rung in found.rungs if rung.check == "template" and rung.state == "different"]
    return (*layers, *templates)


def _where(named: Named) -> str:
    if named.layers is None:
        return ""
    return f" (layer {named.layers[0]})" if len(named.layers) == 1 else f" (layers {', '.join(map(str, named.layers))})"


def _place(found: Comparison) -> str | None:
    if found.first is None:
        return None
    at = found.first
    site = at.site if at.layer is None else f"{at.site}.{at.layer}"
    return f"{site}, position {at.position}"


def _the_same_model(row: Row, named: Sequence[Named]) -> bool:
    """Whether all that was named describes the model that was planted, number by number."""
    if row.fault is None:
        return False
    mine, theirs = row.fault, imposed(named)
    return (
        not mine.rewires and not theirs.rewires and not mine.cached and not theirs.cached and _same(row, mine, theirs)
    )


def _same(row: Row, one: Fault, other: Fault) -> bool:
    model = model_of(row.subject)
    (spec, weights), (same_spec, same_weights) = (each.changed(model.spec, model.weights) for each in (one, other))
    return spec == same_spec and all(np.array_equal(weights[role], same_weights[role]) for role in weights)
