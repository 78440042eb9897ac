"""Heads and MLPs whose removal may undo a wrong answer: the strongest are tried until one flips."""

from collections.abc import Sequence

from whybox.cause import trials
from whybox.cause.answers import read
from whybox.cause.decision import decision_after
from whybox.cause.study import Study, closed_same_wrong
from whybox.cause.trials import Maker

TRIED = 3  # of those that bring the right answer ahead


def remove(study: Study) -> None:
    """Writers, suppressors and pairs, each searched only where the tree can come to it."""
    if "alone" not in study.trials or any(study.trials[name].flips for name in (*study.orders, "boost")):
        return
    if study.trials["alone"].flips:
        _suppressors(study)
    elif closed_same_wrong(study):
        _writers(study)
        if not study.writers:
            _pairs(study)


def _suppressors(study: Study) -> None:
    """Heads whose removal brings the right answer ahead."""
    base = study.decided.base.decision
    layers = study.bench.model.spec.layers
    heads = [(layer, head) for layer, described in enumerate(layers) for head in range(described.attention.heads)]
    edits = [trials.removal("head_out", layer, head, base.answer_row) for layer, head in heads]
    found = study.bench.results([read(study.asked, base, edit) for edit in edits])
    ahead = [heads[index] for index in _ahead([reading.ld for reading in found])]
    makers = {f"head {layer}.{head}": trials.removed("head_out", layer, head) for layer, head in ahead}
    study.suppressors += _first(study, makers)


def _writers(study: Study) -> None:
    """MLPs whose removal flips."""
    layers = _ahead_without(study, ())
    study.writers += _first(study, {f"MLP {layer}": trials.removed("mlp_out", layer) for layer in layers})


def _pairs(study: Study) -> None:
    """Another order and one MLP removed together, where neither alone flips."""
    for order in study.orders[:TRIED]:
        names = tuple(order.removeprefix("order ").split())
        layers = _ahead_without(study, names)
        makers = {f"{order} + MLP {layer}": trials.moved_and_removed(names, layer) for layer in layers}
        study.pairs += _first(study, makers)
        if study.pairs:
            return


def _first(study: Study, makers: dict[str, Maker]) -> list[str]:
    """The name of the first that flips; those after it are not run."""
    for name, make in makers.items():
        if study.run({name: make}) and study.trials[name].flips:
            return [name]
    return []


def _ahead_without(study: Study, order: tuple[str, ...]) -> list[int]:
    """Layers without whose MLP the right answer is ahead behind the base's prefix, in this order of the parts."""
    asked, base = study.asked, study.decided.base.decision
    if order:
        asked = asked.rendered(study.bench.model, asked.case.reordered(order))
    place = decision_after(study.bench.model, asked.prompt, base.prefix, asked.right, asked.wrong, "forced")
    edits = [trials.removal("mlp_out", layer, None, place.answer_row) for layer in range(study.decided.layers)]
    return _ahead([found.ld for found in study.bench.results([read(asked, place, edit) for edit in edits])])


def _ahead(leads: Sequence[float]) -> list[int]:
    """Indices of the largest leads above 0."""
    ranked = sorted(range(len(leads)), key=lambda index: -leads[index])
    return [index for index in ranked if leads[index] > 0][:TRIED]
