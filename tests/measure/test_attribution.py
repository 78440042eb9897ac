"""Direct logit attribution: its sum is LD on every family that allows one, and each part is what it wrote."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS
from tests.engine.random_models import IDS, drawn
from tests.real import real
from whybox.engine.edit import zero
from whybox.engine.reference import ReferenceEngine
from whybox.errors import SiteError, UnsupportedError
from whybox.measure.attribution import DirectAttribution, direct_attribution, wishes
from whybox.spec import Layout, Moe, Norm, NormKind, Spec

RIGHT, WRONG = 4, 11
LAYER_NORM = Norm(NormKind.LAYER, 1e-5, bias=True)


def _with(of: Spec, **changes: object) -> Spec:
    return replace(of, layers=tuple(replace(layer, **changes) for layer in of.layers))  # type: ignore[arg-type]


ELIGIBLE = {name: of for name, of in KINDS.items() if name != "layer norm, post"} | {
    "sandwich, layer norm, experts": _with(KINDS["experts"], layout=Layout.SANDWICH, norm=LAYER_NORM),
    "inner post, layer norm, biases": _with(KINDS["biases"], layout=Layout.INNER_POST, norm=LAYER_NORM),
    "last norm centres": replace(KINDS["own head"], final_norm=LAYER_NORM),
    "parallel experts": _with(KINDS["experts, not normalised"], layout=Layout.PARALLEL),
}


def attributed(of: Spec, row: int = -1, tail: int | None = None) -> DirectAttribution:
    engine = ReferenceEngine(of, drawn(of, 3, np.float64))
    trace = engine.run(IDS, wishes(of), tail=tail)
    return direct_attribution(trace, engine.weights, RIGHT, WRONG, row)


@pytest.mark.parametrize("name", ELIGIBLE)
def test_contributions_sum_to_the_difference_on_every_eligible_family(name: str) -> None:
    of = ELIGIBLE[name]
    found = attributed(of)
    engine = ReferenceEngine(of, drawn(of, 3, np.float64))
    logits = engine.run(IDS).logits[-1]
    if of.logit_cap is not None:
        logits = of.logit_cap * np.arctanh(logits / of.logit_cap)
    assert found.ld == pytest.approx(float(logits[RIGHT] - logits[WRONG]), rel=1e-9)
    assert found.total == pytest.approx(found.ld, rel=1e-9)
    assert abs(found.ld) > 1e-3, "too flat to prove anything"


@pytest.mark.parametrize("row", [0, 5, 11])
def test_any_row_and_any_tail(row: int) -> None:
    found = attributed(KINDS["sandwich"], row)
    assert found.total == pytest.approx(found.ld, rel=1e-9)
    if row == 11:
        assert attributed(KINDS["sandwich"], row, tail=2).heads[1] == pytest.approx(found.heads[1])


def test_float32_keeps_the_promise_of_a_ten_thousandth() -> None:
    for of in ELIGIBLE.values():
        engine = ReferenceEngine(of, drawn(of, 3, np.float32))
        found = direct_attribution(engine.run(IDS, wishes(of)), engine.weights, RIGHT, WRONG)
        assert abs(found.total - found.ld) <= 1e-4 * abs(found.ld)


@pytest.mark.parametrize("name", ["plain", "sandwich", "experts"])
def test_a_head_wrote_what_its_removal_from_the_sum_takes_away(name: str) -> None:
    """Norms frozen by hand: the last residual without one head's write, read at the old scale."""
    of = KINDS[name]
    engine = ReferenceEngine(of, drawn(of, 3, np.float64))
    trace = engine.run(IDS, (*wishes(of), "attn_out"))
    found = direct_attribution(trace, engine.weights, RIGHT, WRONG)
    weight, layer = engine.weights["layers.1.out"], 1
    share = np.einsum("chd,hd->hc", weight, trace["head_out", layer][-1])
    written = share.sum(axis=0)
    if name == "sandwich":
        gain = engine.weights["layers.1.attn_post_norm.gain"]
        share = share * gain / np.sqrt((written**2).mean() + of.layers[1].norm.eps)
    np.testing.assert_allclose(share.sum(axis=0), trace["attn_out", layer][-1], rtol=1e-9)
    residual = trace["resid_post", 2][-1]
    scale = np.sqrt((residual**2).mean() + of.final_norm.eps)
    direction = engine.weights["embed"][RIGHT] - engine.weights["embed"][WRONG]
    by_hand = share @ (engine.weights["final_norm.gain"] * direction) / scale
    np.testing.assert_allclose(found.heads[layer], by_hand, rtol=1e-9)


def test_experts_that_were_not_chosen_wrote_nothing() -> None:
    of = KINDS["experts"]
    for values in attributed(of).mlps:
        assert values.shape == (5,)
        assert (values != 0).sum() == (moe.active if isinstance(moe := of.layers[0].mlp, Moe) else 0)


def test_the_largest_writers_come_first() -> None:
    found = attributed(KINDS["plain"])
    names = [name for name, _ in found.writers(4)]
    sizes = [abs(value) for _, value in found.writers(50)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 3 * (6 + 1)
    assert len(set(names)) == 4


def test_a_norm_behind_the_addition_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"random has a norm behind the addition \(layers 0, 1, 2\)"):
        wishes(KINDS["layer norm, post"])


def test_a_trace_without_the_sites_is_an_error_and_an_edited_stream_breaks_the_sum() -> None:
    of = KINDS["plain"]
    engine = ReferenceEngine(of, drawn(of, 3, np.float64))
    with pytest.raises(SiteError, match="was not kept"):
        direct_attribution(engine.run(IDS), engine.weights, RIGHT, WRONG)
    edited = engine.run(IDS, wishes(of), [zero("resid_mid", 1)])
    found = direct_attribution(edited, engine.weights, RIGHT, WRONG)
    assert abs(found.total - found.ld) > 1e-3


REAL = [pytest.param("smollm2", marks=pytest.mark.model), pytest.param("gemma3-270m", marks=pytest.mark.gemma)]


@pytest.mark.parametrize("name", REAL)
def test_contributions_sum_to_the_difference_on_the_real_models(name: str) -> None:
    model = real(name, "torch")
    prompt = model.prompt("The capital of France is")
    right, wrong = (model.tokenizer.encode(text)[-1] for text in (" Paris", " London"))
    trace = model.run(prompt, see=wishes(model.spec), tail=1)
    found = direct_attribution(trace, model.weights, right, wrong)
    assert found.ld == pytest.approx(float(trace.logits[-1][right] - trace.logits[-1][wrong]), rel=1e-4)
    assert abs(found.total - found.ld) <= 1e-4 * abs(found.ld)
