"""Every fault on text A: about a minute."""

import pytest

from tests.learn.test_on_model import OF_FAULTS, QUICK, misfits
from tests.real import real
from whybox.learn.figures import ON_MODEL
from whybox.learn.ground import Ground

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground(lambda: real("smollm2"))


@pytest.mark.parametrize("name", [name for name in ON_MODEL if name not in (*QUICK, *OF_FAULTS)])
def test_it_is_what_was_recorded(name: str, ground: Ground) -> None:
    assert misfits(name, ground) == []
