"""What a verdict would rest on: the first trial of each kind that flips, with how it is repeated and its controls."""

from collections.abc import Iterator

from whybox.cause import hidden, supplied, trials
from whybox.cause.bench import Work
from whybox.cause.claims import TRIAL, Claim, Kind
from whybox.cause.readers import PATCH
from whybox.cause.spans import SHAMS, keys_of, other_spans
from whybox.cause.study import Study
from whybox.cause.trials import ENOUGH_VARIANTS, MOST_VARIANTS

REMOVALS = "removals"  # the stage after which it is known what is to be proved
_CONTROL = TRIAL * 2  # an answer that the limit cut is written on, once
_FIVE = TRIAL * 4 + PATCH  # a prefix, choice or form, a parse, greedy, and order and edge, or suppressor and reader


def proofs(study: Study) -> Iterator[Claim]:
    """What needs variants and shams: the first of each kind that flips."""
    flips = {name for name, trial in study.trials.items() if trial.flips}
    if "contract" in flips:
        yield Claim(Kind.PROMPT, "contract", trials.behind_prefix(study.asked.case.contract_prefix or ""))
    if "lenient" in flips:
        yield Claim(Kind.PROMPT, "lenient", trials.leniently)
    if "choice" in flips:
        yield Claim(Kind.PROMPT, "choice", trials.chosen)
    if "greedy" in flips:
        yield Claim(Kind.PROMPT, "greedy", trials.greedily)
    for order in [order for order in study.orders if order in flips][:1]:
        yield Claim(Kind.PROMPT, order, trials.moved(order.removeprefix("order ").split()))
    yield from _edge_proof(study, flips)
    for found in study.claims.values():
        yield from found


def _edge_proof(study: Study, flips: set[str]) -> Iterator[Claim]:
    """The boost where it flips; else, where another order is right too, the first cut that flips."""
    if "boost" in flips:
        yield Claim(Kind.PROMPT, "boost", trials.boost_evidence, trials.other_boosts(study.roles.evidence))
    elif any(order in flips for order in study.orders):
        for cut in [cut for cut in study.cuts if cut in flips][:1]:
            part = cut.removeprefix("cut ")
            yield Claim(Kind.PROMPT, cut, trials.cut_part(part), trials.other_cuts((part,)))


def variants_work(study: Study) -> Work:
    """Runs at most: variants are drawn until ten fail alike, and every proof is repeated on those."""
    drawn = min(len(study.variants), MOST_VARIANTS)
    each = sum((claim.cost for claim in proofs(study)), Work()) if REMOVALS in study.done else _FIVE
    return Work(drawn, drawn) + each * min(drawn, ENOUGH_VARIANTS - 1)


def shams_work(study: Study) -> Work:
    """Runs at most: shams and control of every proof."""
    if REMOVALS in study.done:
        return sum((_controls(study, claim) for claim in proofs(study)), Work()) + facts_work(study)
    layers, prompt = study.bench.model.spec.layers, study.asked.prompt
    parts = [study.roles.evidence, *((other,) for other in study.roles.others)]
    spans = max(len(other_spans(len(keys), keys, len(prompt))) for keys in (keys_of(prompt, part) for part in parts))
    others = max(min(SHAMS, sum(layer.attention.heads for layer in layers)), len(layers))
    read_of = _CONTROL * (2 * others) + (TRIAL + PATCH) * 4
    return (_CONTROL * spans | read_of) + _CONTROL * others + facts_work(study)


def facts_work(study: Study) -> Work:
    """Runs at most: a fact's words without its answer, the prompt without each sentence, and the question alone."""
    known = "fact" in study.trials and not study.trials["fact"].flips
    return Work() if known or not study.fact else _CONTROL * (supplied.MOST + 1) + Work(writes=supplied.MOST_HIDDEN)


def _controls(study: Study, claim: Claim) -> Work:
    """What a sham needs beside its own runs, the values of another run, is the same for all of them."""
    shams = 0 if claim.shams is None else len(claim.shams(study.decided))
    return _CONTROL * shams + claim.cost * (0 if claim.control is None else 4)


def hidden_work(study: Study) -> Work:
    """Runs at most: the evidence hidden, and what is hidden beside it."""
    return hidden.WORK if REMOVALS not in study.done or asks_of_all_evidence(study) else Work()


def asks_of_all_evidence(study: Study) -> bool:
    """Whether something that was found speaks of evidence that was read, or a right answer may rest on any of several
    parts, of which none alone is missed.
    """
    read = any(study.claims.get(kind) for kind in (Kind.SUPPRESSOR, Kind.READER))
    return read or (not study.wrong_here and len(study.roles.evidence) > 1)
