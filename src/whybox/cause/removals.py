"""Heads and MLPs that may undo a wrong answer: each kind is searched only where the tree can come to it."""

from whybox.cause import followed, form_writers, readers, writers
from whybox.cause.answers import read
from whybox.cause.bench import Work
from whybox.cause.claims import TRIAL, TRIED, Claim, Kind, best_of
from whybox.cause.components import Group, all_heads
from whybox.cause.parts import other_orders
from whybox.cause.removed import placed, removal, taken
from whybox.cause.sets import first_that_flips, strongest
from whybox.cause.study import Study, closed_same_wrong

EDGES = "attention edges"  # the stage after which it is known what is searched


def remove(study: Study) -> None:
    """Writers of a form; suppressors and readers, or writers and pairs."""
    claims = study.claims
    if _forms(study):
        claims[Kind.FORM] = form_writers.form_writers(study)
    if _unread(study):
        claims[Kind.SUPPRESSOR] = _suppressors(study)
        claims[Kind.READER] = readers.readers(study)
    elif _overruled(study):
        claims[Kind.WRITER] = writers.writers(study)
        if claims[Kind.WRITER]:
            study.changed += followed.changed(study)
        elif _in_no_order(study):
            claims[Kind.PAIR] = writers.pairs(study)


def work(study: Study) -> Work:
    """Runs at most: of all that may be searched, and once the edges are known of what is going to be."""
    if study.own is not None and not study.wrong_here:
        return Work()
    known = EDGES in study.done
    heads = sum(layer.attention.heads for layer in study.bench.model.spec.layers)
    orders = len(other_orders(study.asked.case, study.roles)) if study.roles.evidence else 0
    reading = Work(reads=heads) + TRIAL * TRIED + readers.work(heads)
    writing = writers.work(study.bench.model, orders) + followed.WORK
    forms = form_writers.work(study.bench.model) if not known or _forms(study) else Work()
    if not known:
        return forms + (reading | writing if study.roles.evidence else Work())
    return forms + (reading if _unread(study) else writing if _overruled(study) else Work())


def _forms(study: Study) -> bool:
    return form_writers.is_illegal(study) and not form_writers.is_explained(study)


def _unread(study: Study) -> bool:
    """Right with the evidence alone, and the decision was made to look at it in vain."""
    return study.alone_right is True and _flips(study, "boost") is False and _in_no_order(study)


def _overruled(study: Study) -> bool:
    """Wrong with the evidence alone, and wrong alike without any context."""
    return study.alone_right is False and closed_same_wrong(study)


def _in_no_order(study: Study) -> bool:
    return not any(study.trials[name].flips for name in study.orders)


def _flips(study: Study, name: str) -> bool | None:
    """None where it was not run."""
    return study.trials[name].flips if name in study.trials else None


def _suppressors(study: Study) -> list[Claim]:
    """The first head whose removal flips, of those without which the right answer is ahead."""
    model = study.bench.model
    asked, place = placed(model, study.decided)
    groups: list[Group] = [(head,) for head in all_heads(model.spec)]
    found = study.bench.results([read(asked, place, taken(group, place)) for group in groups])
    leads = [reading.ld for reading in found]
    study.screens.append(best_of("each head set to zero", [group[0] for group in groups], leads))
    ahead = strongest(groups, leads)
    return first_that_flips(study, (removal(Kind.SUPPRESSOR, group, model.spec) for group in ahead))
