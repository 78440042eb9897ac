"""`diff` on a small planted model: verdicts, the document, the page, the table of ways."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import whybox
from tests.report import run_fixtures
from whybox.compare.comparison import Asked
from whybox.compare.observation import Observation
from whybox.compare.prompts import Text
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sides import Live
from whybox.errors import NonFiniteError, UsageError
from whybox.jobs.diff import diff
from whybox.jobs.diff_prompts import texts_of
from whybox.jobs.diff_self import diff_self
from whybox.model import Model
from whybox.report.document import DiffDocument, to_json
from whybox.report.draw import diff_picture, svg_text
from whybox.report.html.diff import diff_page
from whybox.report.text_diff import verdict_line
from whybox.suite.store import Store
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


def recorded(model: Model, changes: dict[tuple[str, int | None], np.ndarray | None]) -> DiffDocument:
    """Against what the model itself records, some arrays changed, or left out (None)."""
    seen = Live("theirs", model).observe(IDS, len(IDS))
    kept = {key: value for key, value in (dict(seen.sites) | changes).items() if value is not None}
    return diff(Live("ours", model), Recorded("theirs", (Recording(replace(seen, sites=kept)),)), ASKED)


def test_a_recorded_array_of_another_shape_is_a_difference(model: Model) -> None:
    query = Live("ours", model).observe(IDS, 4).sites["query", 1]
    found = recorded(model, {("query", 1): query[:, :-1]})
    assert found.verdict == "unlike"
    assert found.reason is not None
    assert "query.1" in found.reason


def test_a_layer_that_was_not_recorded_is_told(model: Model) -> None:
    found = recorded(model, {("resid_mid", 1): None})
    assert (found.verdict, "resid_mid.1" in found.missing_sites) == ("identical", True)
    assert "that was recorded" in verdict_line(found, "en")


def test_where_one_recorded_site_was_scaled(model: Model) -> None:
    """The last stream is alike, so the profile is that of the place."""
    out = Live("ours", model).observe(IDS, 4).sites["attn_out", 1]
    found = recorded(model, {("attn_out", 1): out * np.float32(1.01)})
    assert found.first is not None
    assert (found.first.site, found.first.layer) == ("attn_out", 1)
    assert found.profile is not None
    assert found.profile.shape == "everywhere"


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


def test_sites_of_another_shape_are_said_to_be_so(model: Model) -> None:
    seen = Live("theirs", model).observe(IDS, 64)
    sites = {key: value for key, value in seen.sites.items() if key[0] != "router"} | {
        ("query", 0): np.zeros((3, 3, 3), np.float32)
    }
    recorded = Recorded("theirs.npz", (Recording(replace(seen, sites=sites)),))
    found = diff(Live("ours", model), recorded, ASKED)
    assert found.verdict == "unlike"
    assert "query.0 (3×3×3)" in str(found.reason)


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


def shortened(model: Model, layers: int) -> Model:
    """The same model without its last layers."""
    spec = replace(model.spec, layers=model.spec.layers[:layers])
    return replace(model, engine=faults.NO_FAULT.engine_for(spec, model.weights))


def test_another_number_of_layers_is_compared_as_far_as_it_goes(model: Model) -> None:
    found = diff(Live("ours", model), Live("theirs", shortened(model, 3)), ASKED)
    assert (found.verdict, found.same_experiment, found.named) == ("unlike", False, ())
    assert found.reason == "shape: 5 layers and 3"
    assert found.profile is not None
    assert found.profile.by_layer[:3] == (0.0, 0.0, 0.0)
    assert found.profile.by_layer[3:] == (None, None)
    assert found.first is not None
    assert found.first.site == "final"
    assert found.harm is not None
    assert found.harm.positions == len(IDS)
    assert [each.what for each in found.unsaid if "layers" in each.what] == ["layers 3 … 4"]


def test_another_tokenizer_is_compared_by_what_is_written(model: Model) -> None:
    def widened(array: np.ndarray) -> np.ndarray:
        return np.concatenate([array, np.zeros((1, array.shape[1]), array.dtype)])

    spec = replace(model.spec, vocab=model.spec.vocab + 1)
    arrays = {**model.weights, "embed": widened(model.weights["embed"]), "head": widened(model.weights["head"])}
    engine = faults.NO_FAULT.engine_for(spec, Weights(arrays))
    other = replace(model, engine=engine, tokenizer=model.tokenizer.covering(spec.vocab))
    asked = Asked((Text("text", model.prompt(TEXT).ids, TEXT),), 4)
    found = diff(Live("ours", model), Live("theirs", other), asked)
    assert found.verdict == "unlike"
    assert found.harm is not None
    assert (found.harm.positions, found.harm.same_top, found.harm.kl_mean, found.harm.prompts) == (0, None, None, 1)
    assert any("other token ids" in each.why for each in found.unsaid)


TEXT = "The office answers within seven days ."


def broken(model: Model, role: str, value: float) -> Model:
    """The same model with one tensor that ends in no number."""
    bad = model.weights[role].copy()
    bad.reshape(-1)[0] = value
    weights = Weights({**model.weights, role: bad})
    return replace(model, engine=faults.NO_FAULT.engine_for(model.spec, weights))


@pytest.mark.parametrize("first", [True, False])
def test_nan_on_either_side_is_placed_and_the_rest_compared(model: Model, first: bool) -> None:
    sick = Live("sick", broken(model, "layers.2.value", np.nan))
    sides = (sick, Live("sound", model)) if first else (Live("sound", model), sick)
    found = diff(*sides, ASKED)
    assert found.verdict == "not-determined"
    assert found.overflow is not None
    assert (found.overflow.site, found.overflow.layer) == ("value", 2)
    assert [side.name for side in found.sides] == ["sound", "sick"]
    assert any("NaN" in each.what for each in found.unsaid)


def test_nan_on_both_sides_is_an_error_that_says_where(model: Model) -> None:
    sick = Live("sick", broken(model, "layers.2.value", np.nan))
    with pytest.raises(NonFiniteError, match="value of layer 2"):
        diff(sick, sick, ASKED)


def test_checks_stand_in_their_order(model: Model) -> None:
    found = diff(Live("ours", model), Live("theirs", model), ASKED)
    checks = [rung.check for rung in found.ladder]
    assert checks == ["shape", "weights", "template", "ids", "positions", "mask"]
    assert {rung.state for rung in found.ladder if rung.check != "template"} == {"same"}


def test_a_mask_that_hides_nothing_is_said_before_any_number(model: Model) -> None:
    found = against(model, faults.NO_MASK)
    rung = next(rung for rung in found.ladder if rung.check == "mask")
    assert rung.state == "different"
    assert "query 0 sees key 1 on the second side alone" in rung.detail


def test_ties_and_what_was_turned_are_counted_apart(model: Model) -> None:
    found = against(model, faults.NO_SCORE_SCALE)
    assert found.harm is not None
    assert found.harm.same_top is not None
    if found.harm.same_top < 1:
        assert found.harm.widest_turned is not None
        assert found.harm.widest_turned > 1


def test_a_picture_and_a_notebook(model: Model, tmp_path: Path) -> None:
    found = against(model, faults.NO_SCORE_SCALE)
    drawn = svg_text(diff_picture(found, "en"))
    assert drawn.startswith("<svg")
    assert "Error over positions" in drawn
    assert "scores without" in drawn or "scale 1.0" in drawn
    result = whybox.diff(model, model, prompts=[TEXT], tokens=2)
    assert repr(result) == f"<{model.name} ↔ {model.name}: identical>"
    assert result._repr_html_().startswith("<iframe")
    for suffix in ("html", "json", "png", "svg"):
        result.save(tmp_path / f"a.{suffix}")
        assert (tmp_path / f"a.{suffix}").stat().st_size > 500
    with pytest.raises(UsageError, match="cannot write"):
        result.save(tmp_path / "a.docx")


def test_failed_items_of_a_run_are_texts(tmp_path: Path) -> None:
    item = "{id: capital, prompt: [{role: user, parts: [{name: q, text: Who is it}]}], answer: {right: A, kind: text}}"
    line = json.dumps(yaml.safe_load(item))
    with Store(tmp_path / "run.sqlite") as store:
        store.write_notes({"document": to_json(run_fixtures.run()), "failed": line + "\n"})
    for path in (tmp_path, tmp_path / "run.sqlite"):
        (text,) = texts_of(path, None)
        assert (text.name, text.text) == ("capital", None)
        assert text.chat is not None
        assert text.chat.turns[0].content == "Who is it"
    with Store(tmp_path / "run.sqlite") as store:
        store.write_notes({"failed": ""})
    with pytest.raises(UsageError, match="no item failed"):
        texts_of(tmp_path, None)
    with pytest.raises(UsageError, match="cannot read"):
        texts_of(tmp_path / "none.txt", None)
