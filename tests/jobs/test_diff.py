"""`diff` on a small planted model: verdicts, the document, the page, the table of ways."""

from dataclasses import replace

import numpy as np
import pytest

from whybox.compare.comparison import Asked
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sides import Live
from whybox.errors import UsageError
from whybox.jobs.diff import diff
from whybox.jobs.diff_self import diff_self
from whybox.model import Model
from whybox.report.document import DiffDocument, to_json
from whybox.report.html.diff import diff_page
from whybox.testing import faults
from whybox.testing.noise import noisy
from whybox.weights import Weights

IDS = (5, 9, 3, 7, 11, 4, 8, 6, 10, 2)
ASKED = Asked((Text("ids", IDS, None),), 4)


@pytest.fixture(scope="module")
def model() -> Model:
    return noisy(0).model


def against(model: Model, fault: faults.Fault) -> DiffDocument:
    return diff(Live("ours", model), Live("theirs", fault.of(model)), ASKED)


def test_a_model_is_identical_to_itself(model: Model) -> None:
    found = diff(Live("ours", model), Live("theirs", model), ASKED)
    assert (found.verdict, found.named, found.first, found.suspects) == ("identical", (), None, ())
    assert found.harm is not None
    assert (found.harm.same_top, found.harm.flips, found.harm.moved) == (1.0, 0, 0.0)


def test_torch_and_numpy_differ_by_rounding(model: Model) -> None:
    found = diff(Live("ours", model), Live("theirs", model.variant(engine="torch")), ASKED)
    assert found.verdict in ("identical", "rounding")


@pytest.mark.parametrize("fault", [faults.NO_SCORE_SCALE, faults.MASK_AFTER_SOFTMAX, faults.FINAL_NORM_MISSING])
def test_a_fault_of_an_engine_is_named_and_proved(model: Model, fault: faults.Fault) -> None:
    found = against(model, fault)
    assert found.verdict == "named"
    assert len(found.named) == 1
    assert found.undone is not None
    assert found.undone.at_floor


def test_a_recording_is_compared_as_a_model_is(model: Model) -> None:
    seen = Live("theirs", faults.NO_SCORE_SCALE.of(model)).observe(IDS, 64)
    found = diff(Live("ours", model), Recorded("theirs.npz", (Recording(seen),)), ASKED)
    assert [each.what for each in found.named] == ["scores without 1/√d"]
    assert found.harm is not None
    assert found.harm.prompts is None


def test_sites_of_another_shape_are_said_to_be_left_out(model: Model) -> None:
    seen = Live("theirs", model).observe(IDS, 64)
    sites = {key: value for key, value in seen.sites.items() if key[0] != "router"} | {
        ("query", 0): np.zeros((3, 3, 3), np.float32)
    }
    recorded = Recorded("theirs.npz", (Recording(replace(seen, sites=sites)),))
    found = diff(Live("ours", model), recorded, ASKED)
    assert "query.0 (3×3×3)" in found.missing_sites
    assert found.verdict == "identical"


def test_nan_is_placed(model: Model) -> None:
    seen = Live("theirs", model).observe(IDS, 64)
    broken = seen.sites["resid_post", 0].copy()
    broken[4] = np.nan
    recorded = Recorded("theirs.npz", (Recording(Observation(IDS, seen.sites | {("resid_post", 0): broken})),))
    found = diff(Live("ours", model), recorded, ASKED)
    assert found.verdict == "not-determined"
    assert found.overflow is not None
    assert (found.overflow.site, found.overflow.layer, found.overflow.position) == ("resid_post", 0, 4)


def test_other_positions_are_no_experiment(model: Model) -> None:
    seen = Live("theirs", model).observe(IDS, 64)
    recorded = Recorded("theirs.npz", (Recording(seen, positions=np.arange(1, len(IDS) + 1)),))
    found = diff(Live("ours", model), recorded, ASKED)
    assert (found.verdict, found.same_experiment) == ("unlike", False)
    assert "positions" in (found.reason or "")


def test_a_tensor_of_noise_is_named_from_the_files(model: Model) -> None:
    role = "layers.0.value"
    fault = faults.corrupt(role, slice(0, 1))
    spec, weights = fault.changed(model.spec, model.weights)
    other = replace(model, engine=fault.engine_for(model.spec, model.weights), weights=weights)
    found = diff(Live("ours", model), Live("theirs", other), ASKED)
    assert spec == model.spec
    assert found.verdict == "named"
    assert role in found.named[0].what


def test_weights_of_another_training_are_refused(model: Model) -> None:
    generator = np.random.default_rng(0)
    strange = Weights({role: generator.standard_normal(a.shape).astype(a.dtype) for role, a in model.weights.items()})
    other = replace(model, engine=faults.NO_FAULT.engine_for(model.spec, strange), weights=strange)
    with pytest.raises(UsageError, match="nothing to do with each other"):
        diff(Live("ours", model), Live("theirs", other), ASKED)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_says_what_the_document_says(model: Model, lang: str) -> None:
    found = against(model, faults.NO_SCORE_SCALE)
    evil = found.model_copy(update={"sides": (found.sides[0], found.sides[1].model_copy(update={"name": "<script>x"}))})
    page = diff_page(evil, lang)  # type: ignore[arg-type]
    assert "scale 1.0 for" in page
    assert "<script>x" not in page
    assert len(page) < 200_000
    assert '"whybox.diff"' in to_json(found)


def test_every_way_of_a_small_model_agrees_with_the_plainest(model: Model) -> None:
    found = diff_self(model.variant(engine="torch"), ASKED)
    assert found.passed, [row for row in found.rows if row.verdict not in ("identical", "rounding")]
    assert {"cache", "reference engine", "tiled kernel", "bf16"} <= {row.way for row in found.rows}


def test_a_way_is_seen_as_it_is_run(model: Model) -> None:
    """To see scores or patterns would be to run plain attention, and every kernel would be identical to it."""
    torch = model.variant(engine="torch")
    for kernel in ("tiled", "sdpa"):
        seen = Live(kernel, torch.variant(kernel=kernel)).observe(IDS, 4)
        assert not {"scores", "pattern"} & {site for site, _ in seen.sites}
    plain = Live("plain", torch.variant(kernel="plain")).observe(IDS, 4)
    assert {"scores", "pattern"} <= {site for site, _ in plain.sites}


def test_without_torch_the_rest_is_said_to_be_not_run(model: Model) -> None:
    found = diff_self(model, ASKED)
    assert [row.way for row in found.rows] == ["cache"]
    assert any("torch" in line for line in found.not_run)
