"""A rate is read in %, a difference of two rates in points: what each probe estimates, and what its gates set."""

import pytest

from tests.probes.playing import played
from whybox.probes.design import Design
from whybox.probes.documents import DocumentsProbe
from whybox.probes.edit import EditProbe
from whybox.probes.evidence import EvidenceProbe
from whybox.probes.memory import MemoryProbe
from whybox.probes.order import OrderProbe
from whybox.targets.bots import kinds

GAINS = {"rescue by restating", "turns beyond their tokens", "one message", "talk on the topic"}


@pytest.mark.parametrize(
    ("probe", "differences", "shares"),
    [
        (
            OrderProbe(items=6),
            {"changed", "spread", "slope over order", "gain where first", "gain where last"},
            {"right"},
        ),
        (EditProbe(items=6), {"flips", "gap"}, {"follows"}),
        (EvidenceProbe(items=6), {"ends", "lean"}, {"right", "grounded", "unchanged without it"}),
        (DocumentsProbe(items=6), {"changed", "primacy"}, {"right", "blend"}),
        (MemoryProbe(items=6), {"drop", *GAINS}, {"obeyed"}),
    ],
    ids=lambda each: each.NAME if isinstance(each, Design) else "",
)
def test_differences_are_told_from_rates(probe: Design, differences: set[str], shares: set[str]) -> None:
    found = played(probe, kinds.TieFlipper(0.3))
    units = {each.statistic: each.unit for each in found.estimates}
    told = {unit: {name for name in units if units[name] == unit} for unit in ("difference", "share")}
    assert (told["difference"] - differences, differences - told["difference"]) == (set(), set())
    assert shares <= told["share"], told["share"]
    for statistic in found.measured:
        if statistic in units:
            assert probe.MEASURES[statistic].unit == units[statistic], "an estimate and its gate are in one unit"
