"""NaN and Inf on one side: placed, and told from the range of float16."""

from dataclasses import replace

import numpy as np
import pytest

from whybox.compare.comparison import Asked, compare
from whybox.compare.harm import forced, harm
from whybox.compare.overflow import first_non_finite
from whybox.compare.prompts import Text
from whybox.compare.sides import Live, emulated
from whybox.engine.reference import ReferenceEngine
from whybox.jobs.diff import diff
from whybox.model import Model
from whybox.report.text_diff import why
from whybox.testing.faults.fault import with_arrays
from whybox.testing.noise import noisy

IDS = (5, 9, 3, 7, 11, 4, 8, 6, 10, 2)
ASKED = Asked((Text("ids", IDS, None),), 4)


@pytest.fixture(scope="module")
def model() -> Model:
    return noisy(0).model


@pytest.fixture(scope="module")
def loud(model: Model) -> Model:
    """What layer 1 writes is six hundred thousand times as large."""
    role = "layers.1.out"
    arrays = with_arrays(model.weights, {role: model.weights[role] * np.float32(6e5)})
    return replace(model, engine=ReferenceEngine(model.spec, arrays), weights=arrays)


def test_a_range_that_ends_is_named_with_site_layer_token_and_value(loud: Model) -> None:
    found = compare(Live("ours", loud), Live("theirs", emulated(loud)), ASKED)
    over = found.overflow
    assert over is not None
    sound = loud.engine.run(IDS, [(over.site, 1)])[over.site, 1]
    assert (over.layer, over.explained, found.verdict) == (1, True, "named")
    assert over.value == pytest.approx(float(np.abs(sound).max()), rel=1e-3)
    assert over.value > 65_504
    document = diff(Live("ours", loud), Live("theirs", emulated(loud)), ASKED)
    assert [each.name for each in document.named] == ["fp16-overflow"]
    assert list(why(document, "en"))[1] == "fp16 ends at 65,504: use bf16 or fp32"


def test_float16_that_suffices_is_rounding(model: Model) -> None:
    found = compare(Live("ours", model), Live("theirs", emulated(model)), ASKED)
    assert (found.overflow, found.verdict) == (None, "rounding")


def test_a_run_that_broke_off_says_where(loud: Model) -> None:
    seen = Live("theirs", emulated(loud)).observe(IDS, 4)
    assert seen.sites == {}
    assert seen.broken is not None
    assert first_non_finite(seen, loud.spec) == seen.broken


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("rows", "moved"), [(slice(2, 3), 0.0), (slice(None), None)])
def test_nan_in_logits_is_no_move_and_no_warning(rows: slice, moved: float | None) -> None:
    logits = np.random.default_rng(0).normal(size=(4, 7)).astype(np.float32)
    broken = logits.copy()
    broken[rows] = np.nan
    found = harm([forced(logits, broken, 4)], 1e-3, [])
    assert found.kl_mean == np.inf
    assert (None if np.isnan(found.moved) else found.moved) == moved
