"""The ledger: edits in one line, and one entry for every run that is counted."""

import numpy as np
import pytest

from tests.cause.test_bench import IDS, LAST, answer, bench, logits
from whybox.cause.asking import Settings
from whybox.cause.ledger import NOTHING, Ledger, said
from whybox.engine.edit import Edit, add, boost, cut, scale, set_to, zero


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        ((), NOTHING),
        ((zero("head_out", 5, h=3, q=slice(56, None)),), "head_out 5 h=3 q=56… := 0"),
        ((cut(q=slice(2, 5), k=(7, 9)),), "scores k=7,9 q=2…4 cut"),
        ((boost((1, 2, 3), k=range(30, 40)), scale("mlp_out", 0.5, 2)), "scores 1…3 k=30…39 boosted; mlp_out 2 × 0.5"),
        ((set_to("final", np.ones(3)), add("final", 1.0, q=0)), "final := given; final q=0 + given"),
        ((cut(k=tuple(range(0, 40, 2))),), "scores k=0,2,4,6 and 16 more cut"),
        (
            (*(set_to("head_out", 0.0, layer) for layer in range(6)), zero("mlp_out", 1)),
            "head_out := given in 6 places; mlp_out 1 := 0",
        ),
    ],
)
def test_edits_in_one_line(edits: tuple[Edit, ...], line: str) -> None:
    assert said(edits) == line


def test_every_counted_run_is_entered_once_with_its_text() -> None:
    found = bench()
    found.stage = "first"
    hidden = (cut(q=LAST, k=(2,)),)
    found.results([logits(), logits(), logits(edits=hidden)])
    found.stage = "second"
    found.result(answer(Settings(limit=2)))
    found.see(IDS[:4], ["pattern"])
    entries = found.ledger.entries
    assert len(entries) == found.made.runs == 4
    assert [(one.stage, one.kind, one.text) for one in entries] == [
        ("first", "read", 1),
        ("first", "read", 1),
        ("second", "write", 1),
        ("second", "read", 2),
    ]
    assert sorted(one.what for one in entries[:2]) == sorted([NOTHING, said(hidden)])
    assert entries[2].answer is not None
    assert len(entries[2].answer.split()) <= 2
    assert entries[3].what == f"{NOTHING}, values kept"
    assert list(found.ledger.texts) == [tuple(IDS), tuple(IDS[:4])]


def test_a_text_has_one_number() -> None:
    ledger = Ledger()
    for ids in ((1, 2), (3,), (1, 2)):
        ledger.enter("stage", "read", ids, NOTHING, ("LD", 0.5))
    assert [entry.text for entry in ledger.entries] == [1, 2, 1]
    assert ledger.entries[0].value == 0.5
