"""What a study is looked at with: the attention budget of the decision row, the lens, and one heat map."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from whybox.cause.bench import Bench
from whybox.cause.effects import Unknown
from whybox.cause.study import Study
from whybox.engine.trace import Trace
from whybox.measure.budget import Budget, budget
from whybox.measure.lens import LensRow, decided_at, logit_lens
from whybox.parts.mask import visible
from whybox.statistics.ranks import Correlation, spearman

Array = np.ndarray
MAP_TOKENS = 512  # beyond, no heat map of all heads is kept
MAP_BLOCKS = 64
_LAYERS_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class HeatMap:
    """Mean attention over all layers and heads in blocks of tokens; NaN-free: `shown` tells which cells exist."""

    blocks: tuple[range, ...]
    values: Array
    shown: Array


@dataclass(frozen=True, eq=False)
class Views:
    """budget: shares of the decision row. lift: of the evidence. by_key, by_head: attention share against |effect|."""

    budget: Budget
    key_shares: Array
    lift: float | None
    lens: tuple[LensRow, ...]
    decided: int | None
    by_key: Correlation | None
    by_head: Correlation | None
    by_head_signed: Correlation | None
    heat: HeatMap | Unknown


def see(study: Study) -> Views:
    """Two more runs: the decision row with its patterns and residual stream, and the whole prompt for the map."""
    decision = study.decided.base.decision
    trace = study.bench.see(decision.ids, ["pattern", "resid_post", *_sinks(study.bench)], last=1)
    rows = [_row(trace, layer, decision.row) for layer in range(len(trace.spec.layers))]
    found = budget(
        [pattern for pattern, _ in rows],
        {stretch.name: stretch.keys for stretch in study.stretches},
        [places for _, places in rows],
        _sink_masses(trace),
    )
    lens = logit_lens(trace, study.bench.model.engine, decision.right[0], decision.wrong[0])
    shares = _key_shares(rows, decision.row)
    return Views(
        budget=found,
        key_shares=shares,
        lift=_evidence_lift(study, found),
        lens=tuple(lens),
        decided=decided_at(lens, 5 * study.decided.delta),
        by_key=_by_key(study, shares),
        by_head=_by_head(study, found, abs),
        by_head_signed=_by_head(study, found, float),
        heat=_heat(study),
    )


def view_runs(study: Study) -> int:
    """How many runs `see` makes at most."""
    return 1 + -(-len(study.bench.model.spec.layers) // _LAYERS_AT_ONCE)


def evidence_share(study: Study, found: Budget) -> dict[tuple[int, int], float]:
    """Share of all evidence together for every (layer, head); empty where no evidence is named."""
    held = [found.per_head(name) for name in study.roles.evidence if name in found.names]
    return {
        (layer, head): float(sum(part[layer][head] for part in held))
        for layer in range(len(found.shares))
        for head in range(len(found.shares[layer]))
        if held
    }


def _evidence_lift(study: Study, found: Budget) -> float | None:
    """Mean lift of the evidence parts, each by its length."""
    held = [name for name in study.roles.evidence if name in found.names]
    lifts = [(found.mean_lift(name), found.behind_first(name)) for name in held]
    known = [(lift, length) for lift, length in lifts if lift is not None]
    return sum(lift * length for lift, length in known) / sum(length for _, length in known) if known else None


def _row(trace: Trace, layer: int, row: int) -> tuple[Array, Array]:
    """Pattern [h k] of the last row and the positions of the keys that it can see."""
    pattern = trace["pattern", layer][:, -1]
    places = np.arange(row + 1 - pattern.shape[1], row + 1)
    seen = visible(np.array([row]), places, trace.spec.layers[layer].attention.window)[0]
    return pattern[:, seen], places[seen]


def _sinks(bench: Bench) -> list[str]:
    return ["sink_mass"] if any(layer.attention.sinks for layer in bench.model.spec.layers) else []


def _sink_masses(trace: Trace) -> list[Array]:
    return [
        trace["sink_mass", index][:, -1] if layer.attention.sinks else np.zeros(layer.attention.heads)
        for index, layer in enumerate(trace.spec.layers)
    ]


def _key_shares(rows: list[tuple[Array, Array]], row: int) -> Array:
    """Share of every key [k], mean over layers and heads."""
    total = np.zeros(row + 1)
    for pattern, places in rows:
        total[places] += pattern.mean(axis=0)
    return total / len(rows)


def _by_key(study: Study, shares: Array) -> Correlation | None:
    if study.keys is None:
        return None
    return spearman(shares[: len(study.keys)].tolist(), [abs(effect) for effect in study.keys], _generator(study))


def _by_head(study: Study, found: Budget, size: Callable[[float], float]) -> Correlation | None:
    shares = evidence_share(study, found)
    if study.heads is None or not shares:
        return None
    effects = [size(effect) for effect in study.heads.values()]
    return spearman([shares[key] for key in study.heads], effects, _generator(study))


def _heat(study: Study) -> HeatMap | Unknown:
    ids = study.decided.base.decision.ids
    if len(ids) > MAP_TOKENS:
        return Unknown(f"the prompt has {len(ids)} tokens; a map of all heads is kept up to {MAP_TOKENS}")
    layers = range(len(study.bench.model.spec.layers))
    total = np.zeros((len(ids), len(ids)))
    for group in (layers[start : start + _LAYERS_AT_ONCE] for start in range(0, len(layers), _LAYERS_AT_ONCE)):
        trace = study.bench.see(ids, [("pattern", tuple(group))])
        total += sum(trace["pattern", layer].mean(axis=0, dtype=np.float64) for layer in group)
    return _pooled(total / len(layers))


def _pooled(pattern: Array) -> HeatMap:
    """Mean over the cells of a block that lie on or below the diagonal."""
    size = len(pattern)
    width = -(-size // MAP_BLOCKS)
    blocks = tuple(range(start, min(start + width, size)) for start in range(0, size, width))
    starts = [block.start for block in blocks]
    seen = np.tril(np.ones_like(pattern))
    counts = np.add.reduceat(np.add.reduceat(seen, starts, axis=0), starts, axis=1)
    sums = np.add.reduceat(np.add.reduceat(pattern * seen, starts, axis=0), starts, axis=1)
    return HeatMap(blocks, np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0), counts > 0)


def _generator(study: Study) -> np.random.Generator:
    """Fresh for each correlation, so that one does not depend on the other."""
    return np.random.default_rng(study.seed)
