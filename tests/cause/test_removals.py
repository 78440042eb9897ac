"""What is announced for each stage is enough, and no branch is searched to which the verdict tree cannot come."""

import pytest

from tests.cause.studies import opened
from whybox.cause.bench import Work
from whybox.cause.claims import Kind
from whybox.cause.stages import stages
from whybox.testing import context_rows, form_rows, knowledge_rows
from whybox.testing.decoys import Decoys
from whybox.testing.planted import Planted

FEW = Decoys(heads=2)
CASES: dict[str, tuple[Planted, set[Kind]]] = {
    "moved": (context_rows.first_biased(1), set()),
    "outvoted": (context_rows.outvoted(1, FEW, 2, 0.5), {Kind.SUPPRESSOR, Kind.READER}),
    "remembered": (knowledge_rows.shared_memory(1, FEW), {Kind.WRITER}),
    "both": (knowledge_rows.mixed(1, FEW), {Kind.WRITER, Kind.PAIR}),
    "formed": (form_rows.usurper(1, FEW), {Kind.FORM}),
    "right": (context_rows.induction(1, FEW), set()),
}


@pytest.mark.parametrize("name", CASES)
def test_no_stage_makes_more_runs_than_were_announced(name: str) -> None:
    planted, searched = CASES[name]
    study = opened(planted)
    announced = stages(study)
    for number, first in enumerate(announced):
        promised = stages(study)[number]
        assert within(promised.work, first.work), first.name
        before = study.bench.made
        promised.act(study)
        study.done.append(promised.name)
        made = Work(study.bench.made.reads - before.reads, study.bench.made.writes - before.writes)
        assert within(made, promised.work), promised.name
    assert set(study.claims) == searched


def within(small: Work, large: Work) -> bool:
    return small.reads <= large.reads and small.writes <= large.writes
