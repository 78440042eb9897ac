"""Steps behind a cache seen as one run, and the faults that such steps alone can show."""

import numpy as np
import pytest

from tests.engine.random_models import IDS, drawn, spec
from whybox.compare.naming import Walker
from whybox.compare.observation import Observation, observation
from whybox.compare.pieces import Described
from whybox.compare.stepping import joined, stepped
from whybox.sites import sites_of
from whybox.testing import faults
from whybox.testing.faults import Fault

FIRST = 7
SPECS = {"plain": spec(), "windows": spec(window=3)}


def described(name: str) -> Described:
    return SPECS[name], drawn(SPECS[name], dtype=np.float32)


def seen(model: Described, fault: Fault) -> Observation:
    see = [site.name for site in sites_of(model[0])]
    return joined(stepped(fault.engine_for(*model), IDS, FIRST, see), len(IDS))


@pytest.mark.parametrize("name", SPECS)
def test_sound_steps_are_the_whole_run_without_scores_and_patterns(name: str) -> None:
    model = described(name)
    steps = seen(model, faults.NO_FAULT)
    whole = observation(faults.NO_FAULT.engine_for(*model).run(IDS, [site.name for site in sites_of(model[0])]))
    assert set(whole.sites) - set(steps.sites) == {(site, n) for site in ("scores", "pattern") for n in range(3)}
    for key, value in steps.sites.items():
        np.testing.assert_allclose(value, whole.sites[key], atol=2e-5)


@pytest.mark.parametrize(
    ("fault", "name"),
    [(faults.CACHE_SLOT, "plain"), (faults.CACHE_POSITION, "plain"), (faults.MASK_BY_INDEX, "windows")],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_a_fault_behind_a_cache_is_named_with_the_token_where_it_begins(fault: Fault, name: str) -> None:
    model = described(name)
    walk = Walker(model, seen(model, fault)).walk()
    assert [each.fault.what for each in walk.named] == [f"{fault.what}, from token {FIRST} on"]
    assert walk.parted is not None
    assert walk.parted.position == FIRST
    assert walk.left == ()


def test_sound_steps_are_not_accused() -> None:
    model = described("windows")
    assert Walker(model, seen(model, faults.NO_FAULT)).walk().parted is None
