"""Who writes the wrong answer: heads and MLPs whose removal undoes it, alone, together, or in another order.

Candidates are all MLPs, the heads that wrote most against the right answer (direct logit attribution), and small sets
of both: those that wrote most, and those of the layer at which the logit lens turns most.
"""

from dataclasses import dataclass

import numpy as np

from whybox.cause.answers import STEPS, Asked, read
from whybox.cause.asking import See
from whybox.cause.bench import Work
from whybox.cause.claims import TRIAL, TRIED, Claim, Kind, best_of
from whybox.cause.components import Component, Group, Head, Mlp, all_mlps
from whybox.cause.decision import Decision
from whybox.cause.removed import Order, placed, removal, taken
from whybox.cause.sets import MOST, Leads, first_that_flips, nested, small_sets, strongest
from whybox.cause.sets import WORK as SETS
from whybox.cause.study import Study
from whybox.engine.trace import Trace
from whybox.errors import UnsupportedError
from whybox.measure.attribution import direct_attribution, wishes
from whybox.measure.lens import logit_lens
from whybox.model import Model

HEADS = 20  # that wrote most against the right answer


@dataclass(frozen=True)
class Against:
    """What wrote against the right answer at the decision, strongest first; and that of the layer where the lens falls
    most. Both empty for a family whose residual stream is no sum of writes.
    """

    ranked: Group
    jump: Group

    @property
    def heads(self) -> list[Head]:
        return [part for part in self.ranked if isinstance(part, Head)][:HEADS]


def work(model: Model, orders: int) -> Work:
    """Runs at most: one attribution and one screening, here and in some orders, sets of parts, and what is written."""
    screening = Work(reads=1 + len(model.spec.layers) + HEADS) + TRIAL * TRIED
    return screening * (1 + min(orders, TRIED)) + SETS + TRIAL * TRIED


def writers(study: Study) -> list[Claim]:
    """The first single part whose removal flips, else the first small set."""
    model, setting = study.bench.model, study.decided
    at = placed(model, setting)
    against = _against(study, at)
    found = first_that_flips(study, _singles(study, at, against, Kind.WRITER, ()))
    if found:
        return found
    groups = [group for group in (*nested(against.ranked), against.jump) if len(group) > 1]
    sets = small_sets(study, "several of them set to zero together", groups, _leads(study, at))
    return first_that_flips(study, (removal(Kind.WRITER, group, model.spec) for group in sets))


def pairs(study: Study) -> list[Claim]:
    """Another order and one part removed together. Orders that bring the right answer nearest come first."""
    for name in sorted(study.orders, key=lambda name: -(study.trials[name].effect or 0.0))[:TRIED]:
        order = tuple(name.removeprefix("order ").split())
        at = placed(study.bench.model, study.decided, order)
        found = first_that_flips(study, _singles(study, at, _against(study, at), Kind.PAIR, order))
        if found:
            return found
    return []


def _singles(study: Study, at: tuple[Asked, Decision], against: Against, kind: Kind, order: Order) -> list[Claim]:
    """Parts without which the right answer is ahead, the largest lead first."""
    spec = study.bench.model.spec
    groups: list[Group] = [*((mlp,) for mlp in all_mlps(spec)), *((head,) for head in against.heads)]
    leads = _leads(study, at)(groups)
    where = f" in the order {' '.join(order)}" if order else ""
    study.screens.append(
        best_of(
            f"each MLP, and the heads that wrote most against it, set to zero{where}", [g[0] for g in groups], leads
        )
    )
    return [removal(kind, group, spec, order) for group in strongest(groups, leads)]


def _leads(study: Study, at: tuple[Asked, Decision]) -> Leads:
    asked, place = at
    return lambda groups: [
        found.ld for found in study.bench.results([read(asked, place, taken(group, place)) for group in groups])
    ]


def _against(study: Study, at: tuple[Asked, Decision]) -> Against:
    model, place, floor = study.bench.model, at[1], STEPS * study.decided.delta
    try:
        sites = (*wishes(model.spec), "resid_post")
    except UnsupportedError:
        return Against((), ())
    return study.bench.result(See(place.ids, sites, lambda trace: _read(model, trace, place, floor)))


def _read(model: Model, trace: Trace, place: Decision, floor: float) -> Against:
    right, wrong = place.right[0], place.wrong[0]
    written = direct_attribution(trace, model.weights, right, wrong)
    parts: dict[Component, float] = {
        Head(layer, head): float(value) for layer, row in enumerate(written.heads) for head, value in enumerate(row)
    }
    parts |= {Mlp(layer): float(row.sum()) for layer, row in enumerate(written.mlps)}
    ranked = tuple(part for part in sorted(parts, key=lambda part: parts[part]) if parts[part] < -floor)
    lens = [0.0, *(row.ld for row in logit_lens(trace, model.engine, right, wrong))]
    jump = int(np.diff(lens).argmin())
    return Against(ranked, tuple(part for part in ranked if _layer(part) == jump)[:MOST])


def _layer(part: Component) -> int | None:
    return part.layer if isinstance(part, Head | Mlp) else None
