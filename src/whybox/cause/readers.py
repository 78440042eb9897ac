"""Heads that read the evidence, patched from the run with the evidence alone.

A head reads the evidence where, with nothing beside it, cutting the head's edge from the decision to it lowers LD. What
such heads write there is put into the run that goes wrong, row by row from the last row of the prompt on: behind the
base's prefix for the metric, and as they write the answer that is given there when the answer is written anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybox.cause.answers import STEPS, Asked, answer, outcome, read
from whybox.cause.asking import Ids, See, Write
from whybox.cause.bench import Work
from whybox.cause.claims import TRIED, Claim, Kind, best_of
from whybox.cause.components import Group, Head, named
from whybox.cause.decision import Decision, moved_to
from whybox.cause.effects import Base, head_effects
from whybox.cause.hidden import hide
from whybox.cause.parts import alone
from whybox.cause.removed import alike
from whybox.cause.sets import MOST, first_that_flips, nested, small_sets
from whybox.cause.sets import WORK as SETS
from whybox.cause.spans import keys_of
from whybox.cause.study import Study
from whybox.cause.trials import Maker, Setting, Sham, Trial, effect_of
from whybox.engine.edit import Edit, set_to
from whybox.engine.trace import Trace
from whybox.model import Model

PATCH = Work(4, 2)  # runs of one patch at most: its own and those that the values come from
Values = dict[Head, np.ndarray]
"""What each head writes [q d] at some rows."""


@dataclass(frozen=True)
class Donor:
    """The case with its evidence alone, its decision behind the base's prefix, and edits that hold in all its runs."""

    asked: Asked
    behind: Decision
    edits: tuple[Edit, ...] = ()

    @property
    def since(self) -> int:
        """The row that begins to write the answer."""
        return self.behind.answer_row


def donor(model: Model, setting: Setting, hidden: bool = False) -> Donor:
    """hidden: the evidence is there, and no later position sees it."""
    asked, base = setting.asked.rendered(model, alone(setting.asked.case, setting.roles)), setting.base.decision
    behind = moved_to(model, asked.prompt, base)
    return Donor(asked, behind, hide(asked.prompt, setting.roles.evidence) if hidden else ())


def work(heads: int) -> Work:
    """Runs at most: the search for heads that read, sets of them, and the patches that are written."""
    return Work(reads=2 + heads) + SETS + PATCH * TRIED


def readers(study: Study) -> list[Claim]:
    """The smallest set found that flips, of the heads that read the evidence most."""
    model, setting = study.bench.model, study.decided
    source, base = donor(model, setting), setting.base.decision
    ranked = _ranked(study, source)
    if not ranked:
        return []
    values = study.bench.result(_values(source, source.behind.ids, ranked))

    def leads(groups: Sequence[Group]) -> list[float]:
        edits = [_last_rows(_of(values, group), base) for group in groups]
        return [found.ld for found in study.bench.results([read(setting.asked, base, each) for each in edits])]

    sets = small_sets(study, "heads that read it patched, one or several", nested(ranked), leads)
    return first_that_flips(study, (_claim(study, group) for group in sets))


def _ranked(study: Study, source: Donor) -> Group:
    """Heads whose edge to the evidence carries the right answer where nothing else stands beside it."""
    bench = study.bench
    base = Base(source.asked, source.behind, bench.result(read(source.asked, source.behind)))
    keys = keys_of(source.asked.prompt, study.roles.evidence)
    effects = bench.result(head_effects(bench.model, base, keys))
    names = [Head(*place) for place in effects]
    what = "each head cut off from the evidence, with the evidence alone (its weight for the right answer)"
    study.screens.append(best_of(what, names, [-effect for effect in effects.values()], of_ld=False))
    lowered = [Head(*place) for place, effect in effects.items() if effect < -STEPS * study.decided.delta]
    return tuple(sorted(lowered, key=lambda head: effects[head.layer, head.head])[:MOST])


def _claim(study: Study, group: Group) -> Claim:
    others = alike(group, study.bench.model.spec)
    return Claim(
        Kind.READER,
        f"{named(group)} patched",
        patched(group),
        lambda _: [Sham(patched(other)) for other in others],
        patched(group, hidden=True),
        PATCH,
    )


def patched(group: Group, hidden: bool = False) -> Maker:
    """Heads write what they write with the evidence alone. hidden: where they could not see it either."""
    what = f"{named(group)} patched from {'the evidence alone, hidden' if hidden else 'the evidence alone'}"

    async def trial(model: Model, setting: Setting) -> Trial:
        source, asked, base = donor(model, setting, hidden), setting.asked, setting.base.decision
        said = await Write(source.asked.prompt.ids, asked.settings, lambda written, _: written.ids, source.edits)
        behind = await _values(source, source.behind.ids, group)
        along = await _values(source, (*source.asked.prompt.ids, *said), group)
        old = await read(asked, base, _last_rows(behind, base))
        written = await answer(model, asked, _patches(along, base.answer_row))
        found = outcome(written, old, setting.delta)
        return Trial(what, (), frozenset(map(str, group)), found, effect_of(found, setting))

    return trial


async def _values(source: Donor, ids: Ids, group: Group) -> Values:
    heads = [part for part in group if isinstance(part, Head)]

    def keep(trace: Trace) -> Values:
        return {head: trace["head_out", head.layer][:, head.head].copy() for head in heads}

    return await See(ids, ("head_out",), keep, source.edits, len(ids) - source.since)


def _of(values: Values, group: Group) -> Values:
    return {head: value for head, value in values.items() if head in group}


def _last_rows(values: Values, base: Decision) -> tuple[Edit, ...]:
    """The decision row and those before it, as far as both runs write the answer."""
    count = min(base.row - base.answer_row + 1, *map(len, values.values()))
    return _patches({head: value[-count:] for head, value in values.items()}, base.row - count + 1)


def _patches(values: Values, first: int) -> tuple[Edit, ...]:
    """One edit a row: rows that are not written yet have nothing to edit."""
    return tuple(
        set_to("head_out", value, head.layer, q=slice(first + offset, first + offset + 1), h=head.head)
        for head, written in values.items()
        for offset, value in enumerate(written)
    )
