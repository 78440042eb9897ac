"""Ablation by values of other runs: what a part writes elsewhere, put in place of what it writes here.

    mean      := mean over reference runs, at rows that play the same role
    resample  := value of one other run, drawn anew for each of some draws

Zero needs no other run (`edit.zero`), and lies off the distribution that the model knows. A head is ablated at
`head_out` (h), before the output projection mixes all heads; an MLP at `mlp_out`; a position at a site of the residual
stream (q), or by `edit.cut` of its keys.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.engine.edit import Edit, Index, check, selected, set_to, site_axes
from whybox.engine.trace import Trace
from whybox.errors import SiteError, UsageError
from whybox.sites import require_site

Array = np.ndarray
Layers = int | Iterable[int] | None

REFERENCES = 32  # runs that a mean is taken over, at least
DRAWS = 16  # runs that a resampled effect's mean and spread rest on


@dataclass(frozen=True, eq=False)
class Donor:
    """A run that values come from. rows: for each ablated row, in rising order, that of this run; None: the same."""

    trace: Trace
    rows: tuple[int, ...] | None = None


def mean(base: Trace, donors: Sequence[Donor], site: str, layers: Layers = None, **at: Index) -> tuple[Edit, ...]:
    """The selection := mean over the donors, one edit a layer. UsageError for fewer than 32 donors."""
    if len(donors) < REFERENCES:
        raise UsageError(
            f"a mean is taken over at least {REFERENCES} reference runs, found {len(donors)}", "run more, or resample"
        )
    return _edits(base, donors, site, layers, at)


def resample(base: Trace, donor: Donor, site: str, layers: Layers = None, **at: Index) -> tuple[Edit, ...]:
    """The selection := its value in one other run, one edit a layer."""
    return _edits(base, [donor], site, layers, at)


def draw(donors: Sequence[Donor], generator: np.random.Generator, count: int = DRAWS) -> list[Donor]:
    """Donors to resample from: no one twice while there are enough of them."""
    if not donors:
        raise UsageError("there is no other run to draw from", "give at least one reference run")
    chosen = generator.choice(len(donors), size=count, replace=count > len(donors))
    return [donors[index] for index in chosen]


def _edits(base: Trace, donors: Sequence[Donor], site: str, layers: Layers, at: dict[str, Index]) -> tuple[Edit, ...]:
    found = require_site(site, base.spec)
    if "q" in found.axes and "k" in found.axes:
        raise SiteError(
            f"{site} joins two positions, so no value of another run has its place here",
            "ablate head_out, or cut and boost edges",
        )
    each: Sequence[int | None] = [None]
    if found.per_layer:
        each = [layers] if isinstance(layers, int) else list(range(len(base.spec.layers)) if layers is None else layers)
    return tuple(_edit(base, donors, site, layer, at) for layer in each)


def _edit(base: Trace, donors: Sequence[Donor], site: str, layer: int | None, at: dict[str, Index]) -> Edit:
    total: Array = sum((_value(base, donor, site, layer, at) for donor in donors), start=np.zeros(()))
    edit = set_to(site, total / len(donors), layer, **at)
    check(edit, base.spec)
    return edit


def _value(base: Trace, donor: Donor, site: str, layer: int | None, at: dict[str, Index]) -> Array:
    """What the donor has at the selection, float64; its own rows stand in for those of the base run."""
    axes = site_axes(site, None if layer is None else base.spec.layers[layer].mlp)
    value = donor.trace[site] if layer is None else donor.trace[site, layer]
    rows = next(letter for letter in axes if letter in "qk")
    chosen = [selected(at.get(letter), np.arange(size)) for letter, size in zip(axes, value.shape, strict=True)]
    chosen[axes.index(rows)] = _rows(donor, selected(at.get(rows), np.arange(len(base.ids))), len(value))
    return value[np.ix_(*chosen)].astype(np.float64)


def _rows(donor: Donor, wanted: Array, held: int) -> Array:
    rows = wanted if donor.rows is None else np.asarray(donor.rows, np.int64)
    if len(rows) != len(wanted):
        raise SiteError(f"the selection has {len(wanted)} rows, {len(rows)} were named in the other run")
    if rows.size and not 0 <= rows.min() <= rows.max() < held:
        raise SiteError(
            f"the other run has rows 0 … {held - 1}; {int(rows.max())} has no counterpart there",
            "name the rows that play the same role: Donor(trace, rows)",
        )
    return rows
