"""A sound model is not accused: recordings whose states were taken elsewhere than their names say (B65)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

import whybox
from tests.targets.folder import tiny_folder
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.observation import Observation, observation
from whybox.compare.readings import ALL_NORMED, LAST_NORMED, LATE
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sides import Live
from whybox.engine.trace import Key
from whybox.jobs.diff import diff
from whybox.model import Model
from whybox.report.text_diff import verdict_line
from whybox.sites import sites_of
from whybox.testing import faults

IDS = tuple(np.random.default_rng(0).integers(0, 60, 16).tolist())
States = dict[Key, np.ndarray]


@pytest.fixture(scope="module")
def model() -> Model:
    return whybox.open(str(tiny_folder()), engine="numpy")


def seen(model: Model, fault: faults.Fault = faults.NO_FAULT) -> Observation:
    run = fault.engine_for(model.spec, model.weights).run(IDS, ["embed", "attn_in", "resid_post", "final"])
    return observation(run)


def recorded(found: Observation) -> Recorded:
    return Recorded("theirs.npz", (Recording(replace(found, precision="fp32")),))


def compared(model: Model, found: Observation) -> Comparison:
    return compare(Live("ours", model), recorded(found), Asked())


def told(found: Comparison) -> list[str]:
    return [rung.detail for rung in found.rungs if rung.check == "sites"]


def names(found: Comparison) -> list[str]:
    return [each.fault.what for each in found.named]


def hidden(model: Model, found: Observation, *also: str) -> States:
    """What programs hand out as hidden states: embeddings, states of layers, logits."""
    return {key: value for key, value in found.sites.items() if key[0] in ("embed", "resid_post", "logits", *also)}


def last_normed(model: Model, found: Observation) -> Observation:
    last = ("resid_post", len(model.spec.layers) - 1)
    return replace(found, sites=hidden(model, found) | {last: found.sites["final", None]})


def all_normed(model: Model, found: Observation) -> Observation:
    count = len(model.spec.layers)
    normed = [found.sites["attn_in", at] for at in range(1, count)] + [found.sites["final", None]]
    return replace(found, sites=hidden(model, found) | {("resid_post", at): normed[at] for at in range(count)})


def late(model: Model, found: Observation) -> Observation:
    states = [found.sites["embed", None], *(found.sites["resid_post", at] for at in range(len(model.spec.layers) - 1))]
    return replace(found, sites=hidden(model, found) | {("resid_post", at): each for at, each in enumerate(states)})


def test_hidden_states_of_transformers_end_behind_the_norm(model: Model) -> None:
    library = AutoModelForCausalLM.from_pretrained(tiny_folder())
    with torch.no_grad():
        out = library(torch.tensor([IDS]), output_hidden_states=True)
    first, *states = (each[0].numpy() for each in out.hidden_states)
    sites: States = {("embed", None): first, ("logits", None): out.logits[0].numpy()}
    found = compared(model, Observation(IDS, sites | {("resid_post", at): each for at, each in enumerate(states)}))
    assert (found.verdict, found.named, found.first) == ("rounding", (), None)
    assert told(found) == [LAST_NORMED]


@pytest.mark.parametrize(
    ("taken", "words"),
    [(last_normed, LAST_NORMED), (all_normed, ALL_NORMED), (late, LATE)],
    ids=["last normed", "all normed", "late"],
)
def test_states_taken_elsewhere_are_compared_there(
    model: Model, taken: Callable[[Model, Observation], Observation], words: str
) -> None:
    found = compared(model, taken(model, seen(model)))
    assert (found.verdict, found.named, told(found)) == ("identical", (), [words])


def test_a_fault_is_named_behind_states_that_end_after_the_norm(model: Model) -> None:
    found = compared(model, last_normed(model, seen(model, faults.ROPE_PAIRING)))
    assert (found.verdict, names(found), told(found)) == ("named", [faults.ROPE_PAIRING.what], [LAST_NORMED])


def test_a_norm_that_is_missing_is_still_named(model: Model) -> None:
    shown = seen(model, faults.FINAL_NORM_MISSING)
    found = compared(model, replace(shown, sites=hidden(model, shown)))
    assert (found.verdict, names(found), told(found)) == ("named", [faults.FINAL_NORM_MISSING.what], [])


def test_where_logits_agree_no_cause_is_named_and_the_odd_site_is_told(model: Model) -> None:
    shown = seen(model)
    odd = {("attn_in", 0): shown.sites["attn_in", 0] + 1}
    document = diff(Live("ours", model), recorded(replace(shown, sites={**shown.sites, **odd})), Asked(), lang="zh")
    assert (document.verdict, document.named, document.undone) == ("unlike", (), None)
    assert document.reason == "sites: the logits agree, and attn_in.0 is no part of the run that gives them"
    assert verdict_line(document, "zh") == "不是同一实验：位点：logits 一致，attn_in.0 不属于该次运行。"


def test_what_leaves_the_logits_apart_is_no_cause(model: Model) -> None:
    """A missing norm beside noise in a tensor, which nobody can name without the other file."""
    both = faults.together((faults.FINAL_NORM_MISSING, faults.corrupt("layers.0.value", slice(0, 3))))
    run = both.engine_for(model.spec, model.weights).run(IDS, [site.name for site in sites_of(model.spec)])
    found = compared(model, observation(run))
    assert (found.verdict, found.named, found.undone) == ("not-determined", (), None)
    assert any(each.fault is faults.FINAL_NORM_MISSING and not each.named for each in found.tried)
