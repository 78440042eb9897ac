"""Heads and MLPs taken out: set to zero at the rows that write the answer, and the same of others as shams."""

from collections.abc import Sequence

import numpy as np

from whybox.cause.answers import Asked, answer, outcome, read
from whybox.cause.claims import Claim, Kind
from whybox.cause.components import Group, Head, Mlp, all_heads, all_mlps, named
from whybox.cause.decision import Decision, moved_to
from whybox.cause.hidden import hide
from whybox.cause.null import other_groups
from whybox.cause.replacement import Zeroed
from whybox.cause.spans import SHAMS
from whybox.cause.trials import Maker, Setting, Sham, Trial, effect_of
from whybox.engine.edit import Edit
from whybox.model import Model
from whybox.spec import Spec

Order = tuple[str, ...]


def removed(group: Group, order: Order = (), hidden: bool = False) -> Maker:
    """A group set to zero at the rows that write the answer; in another order of the parts, where one is given.

    hidden: no later position sees the evidence either.
    """
    moved = f"order {' '.join(order)} and " if order else ""
    what = f"{moved}{named(group)} set to zero{', evidence hidden' if hidden else ''}"
    touches = frozenset({*map(str, group), *(("order",) if order else ())})

    async def trial(model: Model, setting: Setting) -> Trial:
        asked, place = placed(model, setting, order)
        unseen = hide(asked.prompt, setting.roles.evidence) if hidden else ()
        edits = (*taken(group, place), *unseen)
        old = await read(asked, place, edits)
        found = outcome(await answer(model, asked, edits), old, setting.delta)
        return Trial(what, (), touches, found, effect_of(found, setting))

    return trial


def placed(model: Model, setting: Setting, order: Order = ()) -> tuple[Asked, Decision]:
    """The prompt in an order of its parts, and the decision behind the base's prefix there."""
    base = setting.base.decision
    if not order:
        return setting.asked, base
    asked = setting.asked.rendered(model, setting.asked.case.reordered(order))
    return asked, moved_to(model, asked.prompt, base)


def taken(group: Group, place: Decision) -> tuple[Edit, ...]:
    return Zeroed(slice(place.answer_row, None))(group)


def removal(kind: Kind, group: Group, spec: Spec, order: Order = ()) -> Claim:
    """The claim that this group does it. A form is written whatever the evidence says, so it has no control."""
    name = f"order {' '.join(order)} + {named(group)}" if order else named(group)
    shams = [Sham(removed(other, order)) for other in alike(group, spec)]
    control = None if kind is Kind.FORM else removed(group, order, hidden=True)
    return Claim(kind, name, removed(group, order), lambda _: shams, control)


def alike(group: Group, spec: Spec) -> Sequence[Group]:
    """Groups that the claim does not name: all other MLPs of one, the nearest other heads of one, and for more of them
    as many of the same layers (heads) or of other layers (MLPs), drawn. At most 39.
    """
    match group:
        case (Mlp() as own,):
            return [(other,) for other in all_mlps(spec) if other != own]
        case (Head() as own,):
            others = [other for other in all_heads(spec) if other != own]
            return [(other,) for other in sorted(others, key=lambda other: abs(other.layer - own.layer))[:SHAMS]]
        case _:
            return other_groups(group, spec, 0, np.random.default_rng(0), SHAMS).draws
