"""What a verdict would rest on: the first trial of each kind that flips, with how it is repeated and its shams."""

from collections.abc import Iterator
from dataclasses import dataclass

from whybox.cause import trials
from whybox.cause.study import Study
from whybox.cause.trials import Maker, ShamMakers


@dataclass(frozen=True)
class Proof:
    """A trial that a verdict would rest on, with how it is repeated and, where there are any, its shams."""

    name: str
    make: Maker
    shams: ShamMakers | None


def proofs(study: Study) -> Iterator[Proof]:
    """What needs variants and shams: the first of each kind that flips."""
    flips = {name for name, trial in study.trials.items() if trial.flips}
    if "contract" in flips:
        yield Proof("contract", trials.behind_prefix(study.asked.case.contract_prefix or ""), None)
    if "greedy" in flips:
        yield Proof("greedy", trials.greedily, None)
    for order in [order for order in study.orders if order in flips][:1]:
        yield Proof(order, trials.moved(order.removeprefix("order ").split()), None)
    yield from _edge_proof(study, flips)
    for name in study.suppressors:
        layer, head = map(int, name.removeprefix("head ").split("."))
        heads = [described.attention.heads for described in study.bench.model.spec.layers]
        yield Proof(name, trials.removed("head_out", layer, head), trials.other_heads(layer, head, heads))
    for name in study.writers:
        layer = int(name.removeprefix("MLP "))
        yield Proof(name, trials.removed("mlp_out", layer), trials.other_layers(layer))
    for name in study.pairs:
        order, _, last = name.removeprefix("order ").partition(" + MLP ")
        names, layer = order.split(), int(last)
        yield Proof(name, trials.moved_and_removed(names, layer), trials.other_writers(names, layer))


def _edge_proof(study: Study, flips: set[str]) -> Iterator[Proof]:
    """The boost where it flips; else, where another order is right too, the first cut that flips."""
    if "boost" in flips:
        yield Proof("boost", trials.boost_evidence, trials.other_spans_of("boost", study.roles.evidence))
    elif any(order in flips for order in study.orders):
        for cut in [cut for cut in study.cuts if cut in flips][:1]:
            part = cut.removeprefix("cut ")
            yield Proof(cut, trials.cut_part(part), trials.other_spans_of("cut", (part,)))
