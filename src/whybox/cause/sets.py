"""Small sets of parts: the strongest together, as many as it takes, and none that is not needed."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from whybox.cause.bench import Work
from whybox.cause.claims import TRIED, Claim, best_of
from whybox.cause.components import Group, named
from whybox.cause.minimal import reduced
from whybox.cause.study import Study

SIZES = (1, 2, 3, 4, 6, 8)
MOST = SIZES[-1]
REDUCING = sum(range(2, MOST + 1))  # runs at most until no part can be dropped
WORK = Work(reads=len(SIZES) + 1 + TRIED * REDUCING)

Leads = Callable[[Sequence[Group]], list[float]]
"""Groups → LD with each of them changed, in nats."""


def nested(ranked: Group) -> list[Group]:
    """The strongest, the two strongest, and so on."""
    return [ranked[:size] for size in SIZES if size <= len(ranked)]


def small_sets(study: Study, what: str, groups: Sequence[Group], leads: Leads) -> Iterator[Group]:
    """Of these groups those that bring the right answer ahead, each without what it does not need. In their order."""
    if not groups:
        return
    together = leads(groups)
    study.screens.append(best_of(what, map(named, groups), together))
    found: set[frozenset[object]] = set()
    for group, lead in zip(groups, together, strict=True):
        if lead <= 0 or len(found) == TRIED:
            continue
        small = reduced(group, leads)
        if frozenset(small) not in found:
            found.add(frozenset(small))
            yield small


def strongest(groups: Sequence[Group], leads: Sequence[float]) -> list[Group]:
    """Those with the largest leads above 0."""
    ranked = sorted(zip(leads, range(len(groups)), strict=True), key=lambda pair: -pair[0])
    return [groups[index] for lead, index in ranked if lead > 0][:TRIED]


def first_that_flips(study: Study, claims: Iterable[Claim]) -> list[Claim]:
    """Those after it are not run."""
    for claim in claims:
        if study.run({claim.name: claim.make}) and study.trials[claim.name].flips:
            return [claim]
    return []
