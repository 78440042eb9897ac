"""Figures of the default model are what was recorded: all that follow from text A and case R, and some faults.

The other faults are a run of two seconds each: `test_faults_on_text_a.py`, which is thorough.
"""

import pytest

from tests.real import real
from whybox.learn.figures import ON_MODEL
from whybox.learn.ground import Ground
from whybox.learn.ledger import shipped
from whybox.learn.recompute import Number

pytestmark = pytest.mark.model
OF_FAULTS = ("faults.no_rope", "faults.late_mask", "faults.cached", "faults.no_sink")
QUICK = [name for name, figure in ON_MODEL.items() if not name.startswith("faults.") or not figure.runs]


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground(lambda: real("smollm2"))


@pytest.mark.parametrize("name", [*QUICK, *OF_FAULTS])
def test_it_is_what_was_recorded(name: str, ground: Ground) -> None:
    assert misfits(name, ground) == []


def misfits(name: str, ground: Ground) -> list[tuple[str, object]]:
    """Claims whose record is another than what is computed now; every figure must have a claim that rests on it."""
    value = ON_MODEL[name].compute(ground)
    values = value if isinstance(value, tuple) else (value,)
    rests = [(claim.id, rest) for claim in shipped().claims for rest in claim.rests.values() if rest.figure == name]
    assert rests
    taken = [values if rest.take is None else values[rest.take : rest.take + 1] for _, rest in rests]
    numbers = [(claim, Number(name, rest, part)) for (claim, rest), part in zip(rests, taken, strict=True)]
    return [(claim, values) for claim, number in numbers if not number.fits]


def test_text_a(ground: Ground) -> None:
    assert len(ground.text_a.ids) == 512
    assert ground.opened is ground.model


def test_case_r(ground: Ground) -> None:
    """The evidence digit stands at 33, the decision behind 57 ids."""
    tokenizer, ids = ground.model.tokenizer, ground.case_r.base.decision.ids
    assert (tokenizer.text([ids[33]]), tokenizer.text([ids[55]]), len(ids)) == ("7", " for", 57)
    assert ground.case_r.base.decision.prefix == "A refund is only available for "
