"""Gradient estimates: a map that says which experiments to make, never a verdict.

    attribution patching   ê = ⟨x′ − x, ∂m/∂x⟩, x′ the value that would replace x       (arXiv 2403.00745)

One gradient run estimates every component at once. An estimate is no effect: only what `verify` has intervened on goes
further, and it goes as `Measured`. Needs the torch engine.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.cause.components import Component, Group, Mlp, Positions, Selection, selections, wishes
from whybox.cause.ground import Ground
from whybox.cause.measured import STEPS
from whybox.cause.patching import Pair
from whybox.cause.replacement import Replacement
from whybox.engine.edit import Edit, apply, site_axes
from whybox.engine.gradient import Gradient
from whybox.engine.trace import Change, Trace, Wish

SATURATED_ENTROPY = 0.1  # nats
SATURATED_ODDS = 0.01  # p(1 − p)
FLAT = 0.1  # of what replacing all of a site does: an estimate that sees less of it is blind
_STREAM = ("embed", "resid_pre", "resid_mid", "resid_post", "final")
_LOOKUP = ("query", "key", "query_pos", "key_pos", "scores")

SATURATED = "saturated softmax"
BLIND = "flat here: replacing the whole site moves the read, the gradient does not see it"
OPPOSITE = "good → bad and bad → good differ in sign"
PLACE = "first token, first MLP or a whole residual stream"


@dataclass(frozen=True)
class Estimate:
    """value: what replacing the component would do to first order, in the unit of the read. Not an effect.

    flags: why it deserves little confidence; empty where nothing speaks against it.
    """

    component: Component
    value: float
    flags: tuple[str, ...]

    @property
    def low_confidence(self) -> bool:
        return bool(self.flags)


@dataclass(frozen=True, eq=False)
class Step:
    """One edit as a step: the selection's value before and after, and where in the site it lies."""

    site: str
    layer: int | None
    before: np.ndarray
    after: np.ndarray

    @property
    def by(self) -> np.ndarray:
        return self.after.astype(np.float64) - self.before


def steps(trace: Trace, edits: Iterable[Edit]) -> Iterator[Step]:
    """What each edit would make of a site's value, whole."""
    places = {axis: np.arange(len(trace.ids)) for axis in "qk"}
    for edit in edits:
        for layer in edit.layers if edit.layers is not None else (None,):
            value = trace[edit.site] if layer is None else trace[edit.site, layer]
            axes = site_axes(edit.site, None if layer is None else trace.spec.layers[layer].mlp)
            yield Step(edit.site, layer, value, apply(edit, value, axes, places, None)[0])


@dataclass(frozen=True)
class Estimated:
    """What one gradient says of all components. joint: what replacing all of one site and layer at once does."""

    all: tuple[Estimate, ...]
    joint: dict[Group, float]

    @property
    def blind(self) -> list[tuple[Group, float]]:
        """Sites that the gradient does not see, with their joint effect; the largest first."""
        unseen = {one.component for one in self.all if BLIND in one.flags}
        found = [(group, effect) for group, effect in self.joint.items() if unseen.issuperset(group)]
        return sorted(found, key=lambda one: -abs(one[1]))


def estimates(
    ground: Ground, replacement: Replacement, components: Sequence[Component], pair: Pair | None = None
) -> list[Estimate]:
    """ê for each component, as `estimated` makes them."""
    return list(estimated(ground, replacement, components, pair).all)


def estimated(
    ground: Ground, replacement: Replacement, components: Sequence[Component], pair: Pair | None = None
) -> Estimated:
    """ê for each component. pair: the two prompts, where the replacement is a patch between them; then the estimate is
    made from the other end as well, and signs are compared.
    """
    sites = wishes(tuple(components))
    trace = ground.seen(sites)
    gradient = ground.model.gradient(ground.trace, ground.read, sites)
    moves = {one: list(steps(trace, replacement((one,)))) for one in components}
    values = {one: sum(_along(step, gradient) for step in found) for one, found in moves.items()}
    flags = {one: list(_of_place(one)) for one in components}
    _flag(flags, _saturated(ground, components), SATURATED)
    joint = _joint_effects(ground, replacement, components)
    _flag(flags, _blind(ground, joint, values), BLIND)
    if pair is not None:
        _flag(flags, _opposite(pair, sites, moves, values), OPPOSITE)
    return Estimated(tuple(Estimate(one, values[one], tuple(flags[one])) for one in components), joint)


def _along(step: Step, gradient: Gradient) -> float:
    slope = gradient[step.site] if step.layer is None else gradient[step.site, step.layer]
    return float((step.by * slope).sum())


def _flag(flags: dict[Component, list[str]], concerned: Iterable[Component], flag: str) -> None:
    for component in concerned:
        flags[component].append(flag)


def _of_place(component: Component) -> Iterator[str]:
    match component:
        case Positions(rows):
            doubtful = 0 in rows
        case Selection(site, _, at):
            named = {letter: index for letter, index in at if letter in ("q", "k")}
            doubtful = 0 in named.values() or (site in _STREAM and not named)
        case _:
            doubtful = component == Mlp(0)
    if doubtful:
        yield PLACE


def _saturated(ground: Ground, components: Sequence[Component]) -> Iterator[Component]:
    """Lookups whose row at the decision has entropy < .1 nat, or a strongest edge with p(1−p) < .01."""
    asked = [one for one in components if isinstance(one, Selection) and one.site in _LOOKUP and one.layer is not None]
    if not asked:
        return
    trace = ground.seen([("pattern", tuple(sorted({one.layer for one in asked if one.layer is not None})))])
    for one in asked:
        rows = trace["pattern", one.layer or 0][_heads(one, ground), ground.row]
        if any(_is_saturated(row) for row in rows):
            yield one


def _heads(one: Selection, ground: Ground) -> list[int]:
    """The query heads that a selection concerns."""
    attention = ground.spec.layers[one.layer or 0].attention
    chosen, per_group = dict(one.at), attention.heads // attention.kv_heads
    match chosen.get("h"), chosen.get("g"):
        case int(head), _:
            return [head]
        case _, int(group):
            return list(range(group * per_group, (group + 1) * per_group))
        case _:
            return list(range(attention.heads))


def _is_saturated(row: np.ndarray) -> bool:
    seen = row[row > 0].astype(np.float64)
    entropy, strongest = -float((seen * np.log(seen)).sum()), float(row.max())
    return entropy < SATURATED_ENTROPY or strongest * (1 - strongest) < SATURATED_ODDS


def _blind(ground: Ground, joint: dict[Group, float], values: dict[Component, float]) -> Iterator[Component]:
    """Components of one site and layer whose estimates, summed, see less than a tenth of their joint replacement."""
    for group, effect in joint.items():
        seen = abs(sum(values[one] for one in group))
        if abs(effect) > STEPS * ground.floor and seen < FLAT * abs(effect):
            yield from group


def _joint_effects(ground: Ground, replacement: Replacement, components: Sequence[Component]) -> dict[Group, float]:
    """What replacing all components of one site and layer at once does."""
    together: dict[tuple[tuple[str, int | None], ...], list[Component]] = {}
    for one in components:
        together.setdefault(tuple((s.site, s.layer) for s in selections(one)), []).append(one)
    groups: list[Group] = [tuple(members) for members in together.values()]
    moved = ground.moved([Change(replacement(group)) for group in groups])
    return {group: one.effect for group, one in zip(groups, moved, strict=True)}


def _opposite(
    pair: Pair, sites: Sequence[Wish], moves: dict[Component, list[Step]], values: dict[Component, float]
) -> Iterator[Component]:
    """The gradient of the good run, along the same step: a straight line would have the same slope at both ends."""
    slope = pair.bad.model.gradient(pair.good, pair.bad.read, sites)
    for one, found in moves.items():
        back = sum(_along_mapped(step, slope, pair) for step in found)
        if back * values[one] < 0 and max(abs(back), abs(values[one])) > STEPS * pair.bad.floor:
            yield one


def _along_mapped(step: Step, slope: Gradient, pair: Pair) -> float:
    """⟨step, gradient⟩ with the rows of the gradient brought to those of the bad text."""
    own = sorted(pair.rows)
    theirs = [pair.rows[row] for row in own]
    found = slope[step.site] if step.layer is None else slope[step.site, step.layer]
    axes = site_axes(step.site, None if step.layer is None else pair.bad.spec.layers[step.layer].mlp)
    by = step.by
    for axis in (i for i, letter in enumerate(axes) if letter in "qk"):
        by, found = by.take(own, axis), found.take(theirs, axis)
    return float((by * found).sum())
