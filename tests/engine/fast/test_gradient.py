"""Gradients against central finite differences through edits, in float64, at every site of every kind of model."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.fast.test_fast_sites import EDITS
from tests.engine.random_models import IDS
from whybox.engine.edit import add, scale, zero
from whybox.engine.fast import FastEngine, Kernel, Precision
from whybox.engine.gradient import Gradient
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_gradient
from whybox.engine.read import Readable, Reading, divergence, log_prob_of, logit_difference, site
from whybox.engine.trace import Key, Trace
from whybox.errors import CapacityError, NonFiniteError, SiteError, UsageError
from whybox.sites import sites_of
from whybox.spec import Spec

BASE = reference(KINDS["plain"], seed=1).run(IDS)
READS: dict[str, Reading] = {
    "logit difference": logit_difference(3, 8),
    "answer of three ids": log_prob_of(IDS[-3:]),
    "divergence": divergence(BASE, (4, 11)),
    "early row": logit_difference(3, 8, row=5),
}


def everything(of: Spec) -> list[str]:
    return [each.name for each in sites_of(of)]


def slope(engine: FastEngine, base: Trace, read: Reading, along: dict[Key, np.ndarray], step: float) -> float:
    """(m(x + h·v) − m(x − h·v)) / 2h, by two runs of their own, in which every site moves along its v at once."""
    see = [name if layer is None else (name, layer) for name, layer in base.sites]
    up, down = (
        engine.run(IDS, see, (*base.edits, *(add(name, h * v, layer) for (name, layer), v in along.items())))
        for h in (step, -step)
    )
    return float((read(up) - read(down)) / (2 * step))


def assert_slopes(engine: FastEngine, base: Trace, read: Reading, found: Gradient, step: float = 1e-6) -> None:
    """For each site a random direction through all elements of all layers, and one element of one layer alone."""
    generator, floor = np.random.default_rng(0), 3e-14 / step * max(1, abs(found.value))
    for name in dict.fromkeys(name for name, _ in found):
        keys = [key for key in found if key[0] == name]
        alone = keys[generator.integers(len(keys))]
        element = np.zeros_like(found[alone])
        element[tuple(generator.integers(0, size) for size in element.shape)] = 1
        for along in ({key: generator.normal(size=found[key].shape) for key in keys}, {alone: element}):
            expected = slope(engine, base, read, along, step)
            mine = sum(float((found[key] * v).sum()) for key, v in along.items())
            assert mine == pytest.approx(expected, rel=1e-6, abs=floor), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_site_of_every_kind(kind: str) -> None:
    engine, read = fast(KINDS[kind]), READS["logit difference"]
    base, shown = engine.run(IDS), engine.run(IDS, everything(KINDS[kind]))
    found = engine.gradient(base, read, everything(KINDS[kind]))
    assert {key: grad.shape for key, grad in found.items()} == {key: v.shape for key, v in shown.sites.items()}
    assert found.value == pytest.approx(float(read(base)), abs=1e-12)
    assert_slopes(engine, base, read, found)


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", ["plain", "experts", "sinks, window", "post, capped"])
def test_every_read(name: str, kind: str) -> None:
    of = replace(KINDS["layer norm, post"], logit_cap=3.0) if kind == "post, capped" else KINDS[kind]
    engine, read = fast(of), READS[name]
    base = engine.run(IDS)
    assert_slopes(engine, base, read, engine.gradient(base, read, SOME))


SOME = ["embed", ("resid_pre", 1), ("key_pos", (0, 2)), ("scores", 1), "head_out", ("mlp_hidden", 0), "final"]


@dataclass(frozen=True)
class Square:
    """Half the squared length of what a site holds, weighted by position on its first axis."""

    name: str
    layer: int | None = None

    def __call__(self, run: Readable) -> object:
        value = site(self.name, self.layer)(run)
        weights = run.constant(np.arange(value.shape[0], dtype=np.float64))
        return (weights.reshape(-1, *[1] * (value.ndim - 1)) * value * value).sum() / 2


@pytest.mark.parametrize("key", [("embed", None), ("pattern", 1), ("router", 1), ("resid_post", 0), ("final", None)])
def test_the_read_of_a_site_itself(key: Key) -> None:
    """Sites behind it have gradient 0, and so have others of its own layer that come later."""
    engine, read = fast(KINDS["experts"]), Square(*key)
    base = engine.run(IDS, see=[key[0] if key[1] is None else key])
    found = engine.gradient(base, read, [*SOME, "pattern", "router", "resid_post"])
    assert_slopes(engine, base, read, found)
    value = base.sites[key]
    own = engine.gradient(base, read, [key[0]])[key]
    np.testing.assert_allclose(own, value * np.arange(len(value)).reshape(-1, *[1] * (value.ndim - 1)), atol=1e-12)


def test_a_read_of_several_layers_and_of_logits_at_once() -> None:
    engine = fast(KINDS["plain"])

    def read(run: Readable) -> object:
        return READS["logit difference"](run) * Square("pattern", 2)(run) + Square("head_out", 0)(run)

    base = engine.run(IDS, see=["pattern", "head_out"])
    assert_slopes(engine, base, read, engine.gradient(base, read, everything(KINDS["plain"])))


def test_the_gradient_of_a_sum_is_the_sum_of_the_gradients() -> None:
    engine = fast(KINDS["experts"])
    base = engine.run(IDS)
    first, second = READS["logit difference"], READS["divergence"]
    whole = engine.gradient(base, lambda run: 2 * first(run) - second(run), SOME)
    parts = [engine.gradient(base, read, SOME) for read in (first, second)]
    assert whole.value == pytest.approx(2 * parts[0].value - parts[1].value, abs=1e-12)
    for key, grad in whole.items():
        np.testing.assert_allclose(grad, 2 * parts[0][key] - parts[1][key], atol=1e-11)
        assert np.abs(grad).max() > 1e-6


@pytest.mark.parametrize("name", EDITS)
def test_the_edits_of_the_base_run_hold(name: str) -> None:
    engine, read = fast(KINDS["plain"]), READS["logit difference"]
    base = engine.run(IDS, edits=EDITS[name])
    found = engine.gradient(base, read, everything(KINDS["plain"]))
    assert found.value == pytest.approx(float(read(base)), abs=1e-12)
    assert_slopes(engine, base, read, found, step=1e-7 if name == "embedding" else 1e-6)  # a norm of 0 is curved


def test_experts_edited_and_watched() -> None:
    engine, read = fast(KINDS["experts"]), READS["logit difference"]
    base = engine.run(IDS, edits=[scale("mlp_hidden", 1.5, 1, e=2), scale("router", 0.9), zero("mlp_out", 0, q=3)])
    assert_slopes(engine, base, read, engine.gradient(base, read, everything(KINDS["experts"])))
    chosen = engine.run(IDS, see=["mlp_hidden"])["mlp_hidden", 2] != 0
    grad = engine.gradient(engine.run(IDS), read, [("mlp_hidden", 2)])["mlp_hidden", 2]
    assert not grad[~chosen].any()
    assert grad[-1][chosen[-1]].all()


@pytest.mark.parametrize("kernel", list(Kernel))
@pytest.mark.parametrize("kind", ["plain", "multi-query", "window 5", "alibi", "cap"])
def test_every_kernel_gives_the_same_gradient(kind: str, kernel: Kernel) -> None:
    """The one that is fused, and the one that shows scores and pattern, differ by their rounding alone."""
    base, read = fast(KINDS[kind]).run(IDS), READS["answer of three ids"]
    plain = fast(KINDS[kind], kernel=Kernel.PLAIN).gradient(base, read, ["resid_pre"])
    other = fast(KINDS[kind], kernel=kernel).gradient(base, read, ["resid_pre"])
    for key, grad in plain.items():
        np.testing.assert_allclose(other[key], grad, atol=1e-11)


@pytest.mark.parametrize(("precision", "error"), [(Precision.FP32, 1e-4), (Precision.BF16, 0.2), (Precision.INT8, 0.3)])
@pytest.mark.parametrize("kind", ["plain", "sandwich", "biases", "sinks"])
def test_lower_precision_stays_near(kind: str, precision: Precision, error: float) -> None:
    """Share of the largest gradient of the site; weights are the same numbers, rounded."""
    exact, rounded, read = fast(KINDS[kind]), fast(KINDS[kind], precision), READS["logit difference"]
    wishes = ["resid_mid", "value", "mlp_out"]
    mine, truth = (engine.gradient(engine.run(IDS), read, wishes) for engine in (rounded, exact))
    for key, grad in truth.items():
        assert mine[key].dtype == np.float32
        np.testing.assert_allclose(mine[key], grad, rtol=0, atol=error * np.abs(grad).max(), err_msg=str(key))


def test_after_plain_runs_and_inside_inference_mode() -> None:
    """Tables that a plain run has made may be part of the graph."""
    engine, read = fast(KINDS["global and local"]), READS["logit difference"]
    with torch.inference_mode():
        base = engine.run(IDS)
        inside = engine.gradient(base, read, ["embed"])
    outside = engine.gradient(base, read, ["embed"])
    with torch.no_grad():
        silent = engine.gradient(base, read, ["embed"])
    assert np.array_equal(inside["embed"], outside["embed"])
    assert np.array_equal(silent["embed"], outside["embed"])


def test_rows_are_those_of_the_base_run() -> None:
    engine, read = fast(KINDS["plain"]), READS["logit difference"]
    found = engine.gradient(engine.run(IDS, tail=2), read, ["final", "logits", ("resid_post", 2)])
    assert [found[key].shape for key in found] == [(12, 13), (2, 13), (2, 19)]
    expected = np.zeros((2, 19))
    expected[1, [3, 8]] = 1, -1
    np.testing.assert_array_equal(found["logits"], expected)
    whole = engine.gradient(engine.run(IDS), read, ["final", ("resid_post", 2)])
    np.testing.assert_allclose(found["final"], whole["final"][-2:], atol=1e-12)
    np.testing.assert_allclose(found["resid_post", 2], whole["resid_post", 2], atol=1e-12)
    assert not found["resid_post", 2][:-1].any()


def test_what_comes_back_is_a_mapping_in_the_order_of_the_computation() -> None:
    engine = fast(KINDS["plain"])
    found = engine.gradient(engine.run(IDS), READS["logit difference"], ["logits", ("mlp_out", (2, 0)), "embed"])
    assert list(found) == [("embed", None), ("mlp_out", 0), ("mlp_out", 2), ("logits", None)]
    assert "embed" in found
    assert ("mlp_out", 1) not in found
    assert repr(found) == f"<Gradient of a read of {found.value:.6g}: embed, mlp_out, logits>"
    with pytest.raises(SiteError, match="no gradient was asked for at mlp_out 1") as caught:
        found["mlp_out", 1]
    assert caught.value.remedy == "there is one at embed, mlp_out 0, mlp_out 2, logits"
    with pytest.raises(ValueError, match="read-only"):
        found["embed"][0] = 1


def test_reads_that_give_no_gradient_are_refused() -> None:
    engine = fast(KINDS["plain"])
    base = engine.run(IDS)
    silent: list[Callable[[Readable], object]] = [
        lambda run: float(run.logits[-1, 3].detach()),
        lambda run: run.logits.detach().sum(),
        lambda run: run.constant(np.ones(1)).sum(),
    ]
    for read in silent:
        with pytest.raises(UsageError, match="does not carry a gradient back to the run") as caught:
            engine.gradient(base, read, ["embed"])
        assert "without float()" in caught.value.remedy
    with pytest.raises(UsageError, match=r"of shape \(19,\)"):
        engine.gradient(base, lambda run: run.logits[-1], ["embed"])


def test_what_cannot_be_differentiated_is_refused() -> None:
    engine, read = fast(KINDS["plain"]), READS["logit difference"]
    base = engine.run(IDS)
    with pytest.raises(SiteError, match="no site 'patern'"):
        engine.gradient(base, read, ["patern"])
    with pytest.raises(SiteError, match="layers 0 … 2"):
        engine.gradient(base, read, [("pattern", 3)])
    with pytest.raises(UsageError, match="no site was named"):
        engine.gradient(base, read, [])
    with pytest.raises(SiteError, match="exists in every layer"):
        engine.gradient(base, lambda run: run["pattern"].sum(), ["embed"])
    with pytest.raises(SiteError, match="began at position 4"):
        engine.gradient(engine.run(IDS[4:], cache=engine.run(IDS[:4]).cache), read, ["embed"])
    with pytest.raises(UsageError, match="numpy engine computes no gradients") as caught:
        reference(KINDS["plain"]).gradient(base, read, ["embed"])
    assert 'variant(engine="torch")' in caught.value.remedy


def test_what_would_not_fit_is_refused_with_the_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind all layers four streams of 12 tokens · width 13 · 8 bytes; behind the first one, and all that is asked."""
    engine = fast(KINDS["plain"])
    base = engine.run(IDS, tail=1)
    monkeypatch.setattr("whybox.engine.machine.available", lambda: 5000)
    with pytest.raises(CapacityError, match="5,000 bytes are available"):
        engine.gradient(base, READS["logit difference"], ["embed"])
    need = need_of_gradient(engine.spec, Run(12, tail=1, see=("mlp_out",), bytes_each=8, scores=0))
    assert need.stays == ()
    assert [[item.nbytes for item in phase[:2]] for phase in need.phases[1:]] == [
        [1248, 3744],
        [2496, 2496],
        [3744, 1248],
    ]
    assert need.phases[0][0].nbytes == 4 * 1248


def test_a_site_that_a_layer_lacks_is_left_out_and_cannot_be_read() -> None:
    dense, mixed = KINDS["plain"], KINDS["experts"]
    engine = fast(replace(dense, layers=(dense.layers[0], mixed.layers[1], dense.layers[2])))
    base = engine.run(IDS)
    assert list(engine.gradient(base, READS["logit difference"], ["router"])) == [("router", 1)]
    with pytest.raises(SiteError, match="layer 0 has no site 'router'"):
        engine.gradient(base, lambda run: run["router", 0].sum(), ["embed"])


@pytest.mark.parametrize(
    ("read", "where"),
    [
        (lambda run: (run.logits[5, 3] - run.logits[5, 3]).sqrt() + run.logits[-1, 3], ("logits", None, 5)),
        (lambda run: (run["value", 1][4] * 0).sqrt().sum() + run.logits[-1, 3], ("value", 1, 4)),
        (lambda run: (run["mlp_out", 0][7] * 0).sqrt().sum(), ("mlp_out", 0, 7)),
    ],
)
def test_a_gradient_that_is_not_finite_is_named_where_it_first_appears(
    read: Reading, where: tuple[str, int | None, int]
) -> None:
    engine = fast(KINDS["plain"])
    with pytest.raises(NonFiniteError, match="non-finite gradient first at") as caught:
        engine.gradient(engine.run(IDS), read, ["embed"])
    assert (caught.value.site, caught.value.layer, caught.value.position) == where


def test_a_value_that_is_not_finite_is_named_as_in_a_run() -> None:
    """The base run was another engine's, in which nothing overflowed."""
    base = reference(KINDS["plain"]).run(IDS)
    with pytest.raises(NonFiniteError, match="non-finite value first at mlp_out of layer 1"):
        fast(KINDS["plain"]).gradient(
            replace(base, edits=(scale("mlp_out", np.inf, 1),)), READS["logit difference"], ["embed"]
        )
