"""The noise floor: how much the metric moves when nothing was changed."""

from collections.abc import Sequence

import numpy as np

from whybox.cause.asking import Read
from whybox.cause.bench import Bench
from whybox.cause.decision import Decision, read_at
from whybox.cause.ledger import said
from whybox.engine.edit import Edit, cut, scale
from whybox.errors import InfrastructureError

RANDOM_EDITS = 5
RUNS = 5 * (RANDOM_EDITS + 1)


def noise(bench: Bench, decision: Decision, generator: np.random.Generator) -> float:
    """δ_m: the largest |ΔLD| over (repeat, no-op edit, cached against not, one of a batch), on the base and on 5
    random edits.

    Never below the spacing of numbers at the logits' size. A no-op edit must give exactly the same number:
    InfrastructureError otherwise.
    """
    kinds = [(), *(_random_edit(bench, decision, generator) for _ in range(RANDOM_EDITS))]
    batch = bench.results([Read(decision.ids, lambda logits: logits[-1], edits) for edits in kinds])
    spacing = float(np.spacing(np.abs(batch[0]).max()))
    among = [read_at(logits, decision).ld for logits in batch]
    return max(spacing, *(_noise_of(bench, decision, edits, one) for edits, one in zip(kinds, among, strict=True)))


def _noise_of(bench: Bench, decision: Decision, edits: Sequence[Edit], among: float) -> float:
    """among: LD of this run as it was made beside others."""
    nothing = scale("resid_post", 1.0)
    first = _ld(bench, decision, edits)
    again = _ld(bench, decision, edits)
    without_effect = _ld(bench, decision, (*edits, nothing))
    if without_effect != again:
        raise InfrastructureError(
            f"an edit that changes nothing moved LD by {without_effect - again:.3g} nats",
            "this engine cannot be used for effects: please report it with the model's name",
        )
    return max(abs(other - first) for other in (again, _cached(bench, decision, edits), among))


def _ld(bench: Bench, decision: Decision, edits: Sequence[Edit]) -> float:
    """LD of one pass over all ids, nothing reused."""
    trace = bench.see(decision.ids, (), edits)
    return read_at(trace.logits[-1], decision).ld


def _cached(bench: Bench, decision: Decision, edits: Sequence[Edit]) -> float:
    """LD of the last row alone, behind a cache that was computed under the same edits."""
    engine = bench.model.engine
    before = engine.run(decision.ids[:-1], (), edits, engine.fresh_cache(len(decision.ids)), tail=1)
    last = engine.run(decision.ids[-1:], (), edits, before.cache, tail=1)
    found = read_at(last.logits[-1], decision).ld
    bench.enter(decision.ids, f"{said(edits)}, behind a cache", ("LD", found))
    return found


def _random_edit(bench: Bench, decision: Decision, generator: np.random.Generator) -> tuple[Edit, ...]:
    """A head scaled, an MLP's output scaled, or a few keys cut from the decision row."""
    spec = bench.model.spec
    layer = int(generator.integers(len(spec.layers)))
    match int(generator.integers(3)):
        case 0:
            head = int(generator.integers(spec.layers[layer].attention.heads))
            return (scale("head_out", 0.5, layer, h=head),)
        case 1:
            return (scale("mlp_out", 0.9, layer),)
        case _:
            hidden = generator.choice(max(decision.row, 1), size=min(3, max(decision.row, 1)), replace=False)
            return (cut(q=decision.row, k=tuple(sorted(int(key) for key in hidden))),) if decision.row else ()
