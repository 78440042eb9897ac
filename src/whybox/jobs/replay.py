"""A finding asked again elsewhere: are its answers the same, are they different, or can so few items not tell?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from whybox.errors import EndpointError
from whybox.probes.design import AnyOutcome, said
from whybox.statistics.intervals import Interval, Rate, clopper_pearson
from whybox.statistics.need import Need, more_for_rate
from whybox.statistics.rates import p_rate_above, p_rate_below
from whybox.suite.bundle import Bundle
from whybox.suite.executor import LocalExecutor
from whybox.targets.target import Failure, Target
from whybox.targets.until_done import until_closed

ALPHA = 0.05


@dataclass(frozen=True)
class Replayed:
    """same: items all of whose answers came again, of those without a lost call. interval: Clopper–Pearson.

    p_same: of "more than 1 − margin come again". p_different: of "fewer do". needs: None where it is settled.
    """

    answer: Literal["same", "different", "underpowered"]
    same: Rate
    interval: Interval | None
    margin: float
    p_same: float
    p_different: float
    lost: int
    needs: Need | None


def replay(bundle: Bundle, target: Target, margin: float = 0.1) -> Replayed:
    """Asks everything again. EndpointError where the target refuses in a way that every call would meet."""
    outcomes = until_closed(_asked(bundle, target), [target])
    items: dict[str, list[tuple[str, AnyOutcome]]] = {}
    for each, outcome in zip(bundle.calls, outcomes, strict=True):
        items.setdefault(each.call.item, []).append((each.answer, outcome))
    whole = [seen for seen in items.values() if not any(isinstance(outcome, Failure) for _, outcome in seen)]
    came_again = sum(all(answer == said(outcome) for answer, outcome in seen) for seen in whole)
    return judged(Rate(came_again, len(whole)), len(items) - len(whole), margin)


def judged(same: Rate, lost: int, margin: float) -> Replayed:
    """The verdict of so many items. An item is the unit: its calls are not independent."""
    p_same, p_different = p_rate_above(same, 1 - margin), p_rate_below(same, 1 - margin)
    answer: Literal["same", "different", "underpowered"] = "underpowered"
    if p_different <= ALPHA:
        answer = "different"
    elif p_same <= ALPHA:
        answer = "same"
    needs = more_for_rate(same, 1 - margin) if answer == "underpowered" else None
    return Replayed(answer, same, clopper_pearson(same), margin, p_same, p_different, lost, needs)


async def _asked(bundle: Bundle, target: Target) -> Sequence[AnyOutcome]:
    calls = [each.call for each in bundle.calls]
    found: dict[int, AnyOutcome] = {}
    async for position, outcome in LocalExecutor(target).outcomes(calls):
        if isinstance(outcome, Failure) and outcome.fatal:
            raise EndpointError(outcome.cause, outcome.remedy)
        found[position] = outcome
    return [found[i] for i in range(len(calls))]
