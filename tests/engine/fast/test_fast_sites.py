"""The fast engine against the reference at every site, for every kind of model, in every precision."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.random_models import IDS
from whybox.engine import machine
from whybox.engine.edit import Edit, add, boost, cut, scale, set_to, zero
from whybox.engine.fast import FastEngine, Kernel, Precision
from whybox.engine.trace import Trace
from whybox.errors import CapacityError, NonFiniteError, PromptError, SiteError
from whybox.sites import sites_of
from whybox.spec import Spec

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
ERROR = {Precision.FP64: 1e-12, Precision.FP32: 2e-5, Precision.BF16: 0.15, Precision.INT8: 0.4}
"""Largest difference that a site may show, as a share of its largest value (attention of random weights is sharp)."""


def everything(of: Spec) -> list[str]:
    return [site.name for site in sites_of(of)]


def assert_same(mine: Trace, theirs: Trace, error: float) -> None:
    assert set(mine.sites) == set(theirs.sites)
    for key, value in theirs.sites.items():
        size = max(1.0, float(np.abs(value[np.isfinite(value)]).max()))
        np.testing.assert_allclose(mine.sites[key], value, rtol=0, atol=error * size, err_msg=str(key))
    size = min(max(1.0, float(np.abs(theirs.logits).max())), 1e9)
    np.testing.assert_allclose(mine.logits, theirs.logits, rtol=0, atol=error * size)
    assert (mine.rows, mine.start, mine.ids, mine.changed) == (theirs.rows, theirs.start, theirs.ids, theirs.changed)


@EVERY_KIND
@pytest.mark.parametrize("precision", ERROR)
def test_every_site_of_every_kind(kind: str, precision: Precision) -> None:
    """Experts are chosen as in the reference: a near tie may go either way in lower precision."""
    of = KINDS[kind]
    theirs = reference(of).run(IDS, see=everything(of))
    routers = [set_to("router", theirs["router", layer], layer) for name, layer in theirs.sites if name == "router"]
    theirs = reference(of).run(IDS, everything(of), routers)
    mine = fast(of, precision).run(IDS, everything(of), routers)
    assert_same(replace(mine, changed=theirs.changed), theirs, ERROR[precision])


@EVERY_KIND
@pytest.mark.parametrize("kernel", list(Kernel))
def test_every_kernel_gives_the_same_logits(kind: str, kernel: Kernel) -> None:
    of = KINDS[kind]
    np.testing.assert_allclose(fast(of, kernel=kernel).run(IDS).logits, reference(of).run(IDS).logits, atol=1e-12)


@EVERY_KIND
def test_looking_changes_no_bit_on_the_same_kernel(kind: str) -> None:
    engine = fast(KINDS[kind], Precision.FP32, kernel=Kernel.PLAIN)
    seen, plain = engine.run(IDS, see=everything(KINDS[kind])), engine.run(IDS)
    assert np.array_equal(seen.logits, plain.logits)
    assert seen.kernel == plain.kernel


def test_where_looking_needs_another_kernel_the_trace_says_so() -> None:
    engine = fast(KINDS["plain"], Precision.FP32)
    assert engine.run(IDS).kernel == "sdpa attention on cpu"
    assert engine.run(IDS, see=[("pattern", 1)]).kernel == "sdpa attention on cpu, plain in layers 1"
    assert engine.run(IDS, see=["pattern"]).kernel == "plain attention on cpu"
    assert fast(KINDS["cap"]).run(IDS).kernel == "plain attention on cpu"


@EVERY_KIND
@pytest.mark.parametrize("split", [1, 4, 11])
def test_cached_equals_uncached(kind: str, split: int) -> None:
    of = KINDS[kind]
    engine, whole = fast(of), reference(of).run(IDS).logits
    first = engine.run(IDS[:split], cache=engine.fresh_cache(len(IDS)))
    rest = engine.run(IDS[split:], cache=first.cache)
    np.testing.assert_allclose(np.concatenate([first.logits, rest.logits]), whole, atol=1e-12)
    assert rest.rows == range(split, len(IDS))


@EVERY_KIND
def test_one_token_at_a_time_sees_what_the_reference_sees(kind: str) -> None:
    of = KINDS[kind]
    mine, theirs = fast(of), reference(of)
    cache, other = mine.fresh_cache(len(IDS)), theirs.fresh_cache(len(IDS))
    for token in IDS:
        one, two = mine.run([token], everything(of), (), cache), theirs.run([token], everything(of), (), other)
        assert_same(one, two, 1e-12)
        cache, other = one.cache, two.cache


@EVERY_KIND
@pytest.mark.parametrize("chunk", [1, 3, 5, 11])
def test_chunked_equals_whole(kind: str, chunk: int) -> None:
    of = KINDS[kind]
    see = [name for name in everything(of) if name != "scores"]
    theirs = reference(of).run(IDS, see)
    assert_same(replace(fast(of), chunk=chunk).run(IDS, see), theirs, 1e-12)
    assert_same(replace(fast(of), chunk=chunk).run(IDS, tail=4), reference(of).run(IDS, tail=4), 1e-12)


EDITS: dict[str, tuple[Edit, ...]] = {
    "head": (zero("head_out", 1, h=4),),
    "value head": (zero("value", 0, g=1),),
    "rows of the stream": (scale("resid_mid", 1.5, 1, q=slice(3, 7)),),
    "two layers": (scale("mlp_out", -1.0, (0, 2), q=(1, 5, 6)),),
    "units": (set_to("mlp_hidden", 0.7, 2, f=range(3, 9)),),
    "added vector": (add("resid_pre", np.linspace(-1, 1, 13), 1, q=4),),
    "patched rows": (set_to("attn_out", np.linspace(-1, 1, 39).reshape(3, 13), 0, q=slice(2, 5)),),
    "cut": (cut(q=slice(6, None), k=range(2, 5)),),
    "cut of some heads": (cut(1, h=(0, 3), q=11, k=(1, 4)),),
    "boost": (boost(q=11, k=range(3, 6)),),
    "boost of scattered": (boost(2, h=(1, 4), q=(5, 9), k=(0, 2)),),
    "boost of the invisible": (boost(1, q=3, k=(8, 9)),),
    "muted edge": (zero("pattern", 1, h=2, q=8, k=3),),
    "scores scaled": (scale("scores", 0.5),),
    "embedding": (zero("embed", q=3),),
    "keys": (scale("key_pos", 2.0, 1, k=(2, 3), g=0),),
    "logits": (set_to("logits", -9.0, v=3),),
    "final": (scale("final", 2.0, q=11),),
    "jointly": (cut(0, q=11, k=range(2)), zero("head_out", 1, h=0), add("resid_post", np.ones(13), 2, q=7)),
    "weight given to what is not seen": (set_to("pattern", 0.1, 1, h=2, q=range(2, 5)),),
    "nothing": (set_to("head_out", 0.0, 0, h=1), scale("mlp_out", 1.0, 0)),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_act_as_in_the_reference(name: str) -> None:
    of, edits = KINDS["plain"], EDITS[name]
    theirs = reference(of).run(IDS, everything(of), edits)
    assert_same(fast(of).run(IDS, everything(of), edits), theirs, 1e-12)
    assert_same(fast(of).run(IDS, (), edits, tail=1), reference(of).run(IDS, (), edits, tail=1), 1e-12)
    assert_same(replace(fast(of), chunk=5).run(IDS, (), edits), reference(of).run(IDS, (), edits), 1e-12)


def test_a_cut_that_leaves_nothing_to_see_is_refused() -> None:
    with pytest.raises(SiteError, match="query 3 of layer 1, head 0 with no key"):
        fast(KINDS["plain"]).run(IDS, edits=[cut(1, q=3, k=range(4))])


def test_values_that_do_not_fit_are_refused() -> None:
    for shape in (5,), (11, 13), (13, 13), (1, 12, 13):
        with pytest.raises(SiteError, match="does not fit"):
            fast(KINDS["plain"]).run(IDS, edits=[set_to("resid_mid", np.zeros(shape), 1)])


def test_ids_beyond_the_vocabulary_are_refused() -> None:
    with pytest.raises(PromptError, match="expected ids 0 … 18"):
        fast(KINDS["plain"]).run([3, 19])
    with pytest.raises(PromptError, match="expected ids 0 … 18"):
        fast(KINDS["plain"]).run([3, -1])


def test_the_lens_head_is_the_last_layers() -> None:
    engine = fast(KINDS["own head"])
    trace = engine.run(IDS, see=["resid_post"])
    np.testing.assert_allclose(engine.unembed(trace["resid_post", 2]), trace.logits, atol=1e-12)


@pytest.mark.parametrize("site", ["resid_post", "mlp_hidden", "key"])
def test_non_finite_values_are_named_where_they_first_appear(site: str) -> None:
    of = KINDS["plain"]
    found = []
    for engine in (reference(of), fast(of)):
        with pytest.raises(NonFiniteError) as caught:
            engine.run(IDS, edits=[scale(site, np.inf, 1)])
        error = caught.value
        found.append((error.site, error.layer, error.position, error.before.split(" was ")[0]))
    assert found[0] == found[1]


def test_kept_values_cannot_be_changed() -> None:
    trace = fast(KINDS["plain"]).run(IDS, see=["resid_post"])
    with pytest.raises(ValueError, match="read-only"):
        trace["resid_post", 0][0, 0] = 1


def test_a_run_without_room_is_refused_before_a_slot_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(machine, "available", lambda: 1)
    monkeypatch.setattr(FastEngine, "fresh_cache", lambda engine, length: taken.append(length))
    with pytest.raises(CapacityError, match="1 bytes are available"):
        fast(KINDS["plain"]).run(IDS)
    assert not taken
