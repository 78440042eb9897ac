"""Counterfactuals in batches against fresh runs: every kind of change, alone and jointly, on every kind of model."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.fast.pairs import KINDS, fast, reference
from tests.engine.fast.test_fast_sites import EDITS, everything
from tests.engine.random_models import IDS
from whybox.engine import machine
from whybox.engine.counterfactual import fresh_run, sweep
from whybox.engine.edit import add, boost, cut, scale, set_to, zero
from whybox.engine.fast import FastEngine, Precision
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_sweep
from whybox.engine.read import log_prob_of
from whybox.engine.trace import Change, Trace
from whybox.errors import CapacityError, NonFiniteError, SiteError, UsageError
from whybox.sites import exists_in
from whybox.spec import Spec

LENGTH = len(IDS)
MOVED = (*IDS[6:9], *IDS[:6], *IDS[9:])
CHANGES: dict[str, Change] = {
    **{name: Change(edits) for name, edits in EDITS.items()},
    "nothing at all": Change(),
    "last token": Change(ids=(*IDS[:-1], 3)),
    "changed from 5 on": Change(ids=(*IDS[:5], 11, 12, *IDS[7:])),
    "moved segment": Change(ids=MOVED),
    "dropped segment": Change(ids=(*IDS[:4], *IDS[7:])),
    "cut short": Change(ids=IDS[:7]),
    "longer": Change(ids=(*IDS[:8], 1, 2, 3, *IDS[8:])),
    "continuation": Change(continuation=(4, 9, 2)),
    "one more": Change(continuation=(4,)),
    "edit and continuation": Change((cut(q=slice(LENGTH - 1, None), k=range(2, 5)),), continuation=(4, 9)),
    "edit and other ids": Change((zero("head_out", 1, h=2),), ids=(*IDS[:9], 4, 4, 4)),
    "all at once": Change(
        (scale("mlp_out", 0.5, 2, q=slice(3, None)),), ids=(*IDS[:6], 7, *IDS[7:]), continuation=(1,)
    ),
}
ERROR = {Precision.FP64: 1e-11, Precision.FP32: 2e-4}


def possible(of: Spec) -> list[Change]:
    """Changes whose edits name what every layer of this model has, in the sizes that it has."""
    plain = of.layers[0].attention.heads == 6 and all(exists_in("resid_mid", layer) for layer in of.layers)
    rotary = all(exists_in("key_pos", layer) for layer in of.layers)
    names = [name for name in CHANGES if (plain or not CHANGES[name].edits) and (rotary or name != "keys")]
    dense = all(layer.mlp.width == 17 for layer in of.layers)
    return [CHANGES[name] for name in names if dense or name != "units"]


def assert_like_fresh_runs(
    engine: FastEngine, base: Trace, changes: Sequence[Change], see: Sequence[str] = (), error: float = 1e-11
) -> None:
    seen = dict(engine.counterfactuals(base, changes, see))
    assert sorted(seen) == list(range(len(changes)))
    for index, change in enumerate(changes):
        mine, theirs = seen[index], fresh_run(engine, base, change, see)
        assert (mine.ids, mine.rows, mine.edits) == (theirs.ids, theirs.rows, theirs.edits)
        size = max(1.0, float(np.abs(theirs.logits).max()))
        assert_near(mine.logits, theirs.logits, error * size, change)
        assert set(mine.sites) == set(theirs.sites)
        for key, value in theirs.sites.items():
            shown = _shown(theirs, key) if key[0] in ("scores", "pattern") else True
            mask = np.broadcast_to(shown, value.shape)
            size = max(1.0, float(np.abs(value[mask & np.isfinite(value)]).max(initial=0)))
            assert mine.sites[key].shape == value.shape, key
            assert_near(mine.sites[key][mask], value[mask], error * size, (key, change))


def assert_near(mine: np.ndarray, theirs: np.ndarray, error: float, where: object) -> None:
    """Told in full only where it is not so, and where NaN or Inf stand: that takes longer than what it is about."""
    if mine.shape == theirs.shape and np.isfinite(theirs).all() and np.abs(mine - theirs).max(initial=0) <= error:
        return
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=error, err_msg=str(where))


def _shown(trace: Trace, key: tuple[str, int | None]) -> np.ndarray:
    assert key[1] is not None
    return trace.visible(key[1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", [None, 1, 3])
def test_sweep_equals_fresh_runs_on_every_kind_of_model(kind: str, tail: int | None) -> None:
    engine = fast(KINDS[kind])
    assert_like_fresh_runs(engine, engine.run(IDS, tail=tail), possible(KINDS[kind]))


@pytest.mark.parametrize(
    "kind", ["plain", "global and local", "sinks, window", "layer norm, post", "experts", "own head"]
)
def test_every_site_of_a_counterfactual(kind: str) -> None:
    engine = fast(KINDS[kind])
    assert_like_fresh_runs(engine, engine.run(IDS), possible(KINDS[kind]), everything(KINDS[kind]))


def test_edits_of_the_base_hold_in_all() -> None:
    engine = fast(KINDS["plain"])
    held = (
        zero("head_out", 0, h=3),
        set_to("resid_mid", np.linspace(-1, 1, 12 * 13).reshape(12, 13), 1, q=slice(0, None)),
        cut(2, q=11, k=(0, 4)),
        scale("final", 1.5),
    )
    changes = [change for change in CHANGES.values() if change.ids is None and not change.continuation]
    assert_like_fresh_runs(engine, engine.run(IDS, edits=held), changes, ["resid_post", "pattern"])
    assert_like_fresh_runs(engine, engine.run(IDS, edits=held[:1] + held[2:]), list(CHANGES.values()), ["resid_post"])


def test_in_float32_within_the_floor_that_is_reported() -> None:
    engine = fast(KINDS["plain"], Precision.FP32)
    base = engine.run(IDS)
    assert_like_fresh_runs(engine, base, list(CHANGES.values()), error=ERROR[Precision.FP32])
    swept = sweep(engine, base, list(CHANGES.values()), lambda trace: trace.logits[-1])
    assert 0 <= swept.floor < 1e-3


AT = st.integers(0, LENGTH - 1)
SPANS = st.tuples(AT, AT).map(lambda ends: range(min(ends), max(ends) + 1))
LAYERS = st.one_of(st.none(), st.integers(0, 2), st.sets(st.integers(0, 2), min_size=1).map(lambda s: tuple(sorted(s))))
ONE_EDIT = st.one_of(
    st.builds(lambda layer, h, q: zero("head_out", layer, h=h, q=q), LAYERS, st.integers(0, 5), SPANS),
    st.builds(lambda layer, q: scale("mlp_out", 0.3, layer, q=q), LAYERS, SPANS),
    st.builds(lambda layer, q: add("resid_post", np.linspace(0, 1, 13), layer, q=q), LAYERS, SPANS),
    st.builds(lambda layer, q, k: cut(layer, q=q, k=k), LAYERS, AT.filter(lambda q: q > 2), st.just(range(1, 3))),
    st.builds(lambda layer, q, k: boost(layer, q=q, k=k), LAYERS, SPANS, SPANS),
    st.builds(lambda layer, k: scale("value", 2.0, layer, k=k, g=1), LAYERS, SPANS),
)
TEXTS = st.one_of(
    st.none(),
    st.builds(lambda at, ids: (*IDS[:at], *ids), AT, st.lists(st.integers(0, 18), min_size=1, max_size=5)),
    st.builds(lambda at, ids: (*IDS[:at], *ids, *IDS[at:]), AT, st.lists(st.integers(0, 18), max_size=3)),
)
DRAWN = st.builds(
    lambda edits, ids, more: Change(tuple(edits), ids, tuple(more)),
    st.lists(ONE_EDIT, max_size=3),
    TEXTS,
    st.lists(st.integers(0, 18), max_size=3),
)


def fits(change: Change) -> bool:
    """Edits name positions of the changed text."""
    length = len(change.text(IDS))
    places = [index for edit in change.edits for letter, index in edit.at if letter in ("q", "k")]
    return all((index if isinstance(index, int) else index.stop - 1) < length for index in places)  # type: ignore[union-attr]


@settings(max_examples=60)
@given(
    st.sampled_from(["plain", "window 5", "sinks", "alibi", "global and local", "dynamic ntk", "parallel"]),
    st.lists(DRAWN.filter(fits), min_size=1, max_size=6),
    st.sampled_from([None, 1, 4]),
)
def test_any_changes_together(kind: str, changes: list[Change], tail: int | None) -> None:
    engine = fast(KINDS[kind])
    assert_like_fresh_runs(engine, engine.run(IDS, tail=tail), changes)


def test_reads_of_an_answer_of_several_tokens_equal_the_references() -> None:
    mine, theirs = fast(KINDS["plain"]), reference(KINDS["plain"])
    answer = (4, 9, 2)
    changes = [Change(edits, continuation=answer) for edits in EDITS.values()]
    read = log_prob_of(answer)
    found = sweep(mine, mine.run(IDS, tail=1), changes, read)
    np.testing.assert_allclose(found, sweep(theirs, theirs.run(IDS, tail=1), changes, read), atol=1e-11)


def test_a_run_that_is_not_whole_is_refused() -> None:
    engine = fast(KINDS["plain"])
    first = engine.run(IDS[:5])
    with pytest.raises(SiteError, match="began at position 5"):
        list(engine.counterfactuals(engine.run(IDS[5:], cache=first.cache), [Change()]))
    (_, trace), *_ = engine.counterfactuals(engine.run(IDS), [CHANGES["head"]])
    with pytest.raises(UsageError, match="keeps no cache"):
        engine.run([3], cache=trace.cache)


def test_a_change_that_overflows_is_named() -> None:
    engine = fast(KINDS["plain"])
    with pytest.raises(NonFiniteError, match="mlp_out of layer 1, position 4"):
        list(engine.counterfactuals(engine.run(IDS), [Change((scale("mlp_out", np.inf, 1, q=4),))]))


def test_only_what_can_change_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows × layers that pass through blocks: the base run, and what lies after each change."""
    from whybox.engine.fast import block

    work: list[int] = []
    run = block.Block.run

    def counted(self, x, keys):  # type: ignore[no-untyped-def]
        work.append(x.shape[0] * x.shape[1])
        return run(self, x, keys)

    monkeypatch.setattr(block.Block, "run", counted)
    engine = fast(KINDS["plain"])
    base = engine.run(IDS, tail=1)
    work.clear()
    changes = [Change((zero("head_out", 2, h=h, q=11),)) for h in range(6)]
    list(engine.counterfactuals(base, changes))
    assert sum(work) == 3 * LENGTH + 6


def test_sweeps_keep_precision_of_the_engine() -> None:
    engine = fast(KINDS["plain"], Precision.BF16)
    base = engine.run(IDS)
    (_, trace), *_ = engine.counterfactuals(base, [Change((zero("head_out", 1),))])
    assert (trace.precision, trace.engine) == ("bf16", "torch")
    again = fresh_run(engine, base, Change((zero("head_out", 1),)))
    assert np.abs(trace.logits - again.logits).max() < 0.25
    assert replace(trace, sites={}).changed == (True,)


def test_a_read_may_reckon_with_gradients() -> None:
    """It is called outside of the mode in which the runs are made."""
    mine = fast(KINDS["plain"])

    def slope(run: Trace) -> float:
        logits = torch.tensor(run.logits[-1], requires_grad=True)
        torch.softmax(logits, dim=0)[3].backward()
        return float(logits.grad[3])

    found = sweep(mine, mine.run(IDS), [Change(), Change((zero("head_out", 1, h=2),)), Change(ids=IDS[:7])], slope)
    assert len({round(value, 12) for value in found}) == 3
    assert not torch.is_inference_mode_enabled()


@pytest.mark.parametrize("see", [(), ("final",), ("resid_post",)])
@pytest.mark.parametrize("site", ["final", "logits", "mlp_out"])
def test_the_base_runs_edits_are_known_to_have_changed_something(site: str, see: tuple[str, ...]) -> None:
    mine = fast(KINDS["plain"])
    base = mine.run(IDS, edits=[scale(site, 0.5), scale(site, 1.0)])
    changes = [Change(), Change((zero("head_out", 1, h=2),)), Change(continuation=(4,))]
    for index, found in mine.counterfactuals(base, changes, see):
        assert found.changed == fresh_run(mine, base, changes[index], see).changed
        assert found.changed[:2] == (True, False)


@pytest.mark.parametrize("tail", [None, 1])
def test_an_edit_of_the_base_that_a_change_leaves_nothing_to_alter_is_told(tail: int | None) -> None:
    """Where its rows are computed again, what it changed in the base run says nothing."""
    held = (scale("mlp_out", 2.0, 1, q=slice(6, None)), scale("mlp_out", 2.0, 0, q=2), scale("mlp_out", 2.0, 1, q=2))
    changes = [Change((zero("mlp_hidden", 1, q=slice(6, None)),)), Change(ids=IDS[:6]), Change(ids=(4,))]
    for engine in (fast(KINDS["plain"]), reference(KINDS["plain"])):
        base = engine.run(IDS, edits=held, tail=tail)
        found = dict(engine.counterfactuals(base, changes[:1]))
        assert found[0].changed == (False, True, True, True)
        for index, trace in engine.counterfactuals(base, changes):
            assert trace.changed == fresh_run(engine, base, changes[index]).changed


def test_what_a_read_is_given_cannot_be_written_to() -> None:
    for one in (fast(KINDS["plain"]), reference(KINDS["plain"])):
        base = one.run(IDS)
        for _, found in one.counterfactuals(base, possible(KINDS["plain"]), ["resid_post"]):
            assert not found.logits.flags.writeable
            assert not any(array.flags.writeable for array in found.sites.values())


def test_what_would_not_fit_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of 24 counterfactuals of 12 rows: 3 layers · 24 · 6 heads · 12 · 12 numbers of 8 bytes are 498 kB."""
    mine = fast(KINDS["plain"])
    base, changes = mine.run(IDS), [Change((scale("mlp_out", unit / 24, 0),)) for unit in range(24)]
    monkeypatch.setattr(machine, "available", lambda: 450_000)
    assert len(dict(mine.counterfactuals(base, changes[:2], ["pattern"]))) == 2
    monkeypatch.setattr(FastEngine, "embed", lambda *_: pytest.fail("it was computed"))
    with pytest.raises(CapacityError, match=r"needs .* of memory, 450 kB|450,000 bytes are available") as caught:
        next(mine.counterfactuals(base, [Change(ids=IDS[:7]), *changes], ["pattern"]))
    assert "kept pattern: b · h · q · k · bytes" in caught.value.cause
    assert "keep fewer sites" in caught.value.remedy
    whole = need_of_sweep(KINDS["plain"], Run(12, batch=24, tail=12, see=("pattern",), bytes_each=8))
    kept = next(item for item in whole.items if item.name == "kept pattern")
    assert kept.nbytes == 3 * 24 * 6 * 12 * 12 * 8
