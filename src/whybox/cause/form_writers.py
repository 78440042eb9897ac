"""Who writes a form that holds no answer: heads and MLPs without which something else comes first, and it is right."""

import numpy as np

from whybox.cause.asking import Array, Read
from whybox.cause.bench import Work
from whybox.cause.claims import TRIAL, TRIED, Claim, Kind, best_of
from whybox.cause.components import Group, all_heads, all_mlps
from whybox.cause.removed import removal, taken
from whybox.cause.sets import first_that_flips, strongest
from whybox.cause.study import Study
from whybox.model import Model


def work(model: Model) -> Work:
    heads = sum(layer.attention.heads for layer in model.spec.layers)
    return Work(reads=heads + len(model.spec.layers)) + TRIAL * TRIED


def is_illegal(study: Study) -> bool:
    """Something was written, and it asserts none of the known answers, nor may it give another."""
    own = study.answered
    asserts = own.score.outcome not in ("invalid", "error") or study.asked.case.may_answer(own.text)
    return study.wrong_here and not asserts and bool(own.written.ids)


def is_explained(study: Study) -> bool:
    """A lenient parse, the contract's prefix, or a choice between the two answers at the start gives the right one."""
    return any(study.trials[name].flips for name in ("lenient", "contract", "choice") if name in study.trials)


def form_writers(study: Study) -> list[Claim]:
    """The first head or MLP whose removal flips; what takes the form's first token back most is tried first."""
    spec, base, first = study.bench.model.spec, study.decided.base.decision, study.answered.written.ids[0]
    groups: list[Group] = [*((head,) for head in all_heads(spec)), *((mlp,) for mlp in all_mlps(spec))]

    def margin(logits: Array) -> float:
        """How far anything else is ahead of the form's first token."""
        return float(np.delete(logits[-1], first).max() - logits[-1][first])

    ids = study.asked.prompt.ids
    length = len(ids) + study.asked.settings.limit
    reads = [Read(ids, margin, taken(group, base), length) for group in groups]
    margins = study.bench.results(reads)
    what = "each head and MLP set to zero, where the answer begins (how far the form's first token falls behind)"
    study.screens.append(best_of(what, [group[0] for group in groups], margins, of_ld=False))
    return first_that_flips(study, (removal(Kind.FORM, group, spec) for group in strongest(groups, margins)))
