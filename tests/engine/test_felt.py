"""Where a change is first felt: by brute force, on whole runs of small random models with everything kept."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.engine.random_models import IDS, engine, spec
from whybox.engine.edit import Edit, Index, add, boost, cut, portion, scale, set_to, site_axes, zero
from whybox.engine.felt import Felt, first_felt, rope_length
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Change, Trace
from whybox.errors import SiteError
from whybox.parts.mask import visible
from whybox.sites import Site, sites_of
from whybox.spec import Activation, LongRope, Moe, NtkRope, PlainRope, Spec

Recipe = tuple[Callable[..., Edit], tuple[object, ...], dict[str, Index]]
LENGTH, LAYERS = len(IDS), 3
NTK = NtkRope(PlainRope(100.0, 4), factor=4.0, original=11)
LONG = LongRope(PlainRope(100.0, 4), (1.0, 1.0), (2.0, 3.0), original=12, magnitude=1.1)


def mixed() -> Spec:
    """A dense layer, a mixture of experts with a window, and a dense layer with learned sinks."""
    plain = spec()
    first, second, third = plain.layers
    moe = Moe(5, 2, 17, Activation.SILU, normalise=True)
    windowed = replace(second, mlp=moe, attention=replace(second.attention, window=5))
    return replace(plain, layers=(first, windowed, replace(third, attention=replace(third.attention, sinks=True))))


SPECS = {"plain": spec(), "windows, experts, sinks": mixed(), "dynamic NTK": spec(rope=NTK), "long": spec(rope=LONG)}
SITES = {name: sites_of(of) for name, of in SPECS.items()}
ENGINES = {name: engine(of) for name, of in SPECS.items()}


def run(model: ReferenceEngine, ids: tuple[int, ...], edits: tuple[Edit, ...], length: int) -> Trace:
    see = [site.name for site in sites_of(model.spec)]
    return model.run(ids, see, edits, model.fresh_cache(length))


def base_run(model: ReferenceEngine, held: tuple[Edit, ...] = ()) -> Trace:
    return run(model, IDS, held, LENGTH)


def changed_run(model: ReferenceEngine, base: Trace, change: Change) -> Trace:
    ids = change.text(base.ids)
    return run(model, ids, (*base.edits, *change.edits), rope_length(ids, base))


def differences(base: Trace, changed: Trace) -> np.ndarray:
    """Largest |difference| of all values by layer (the head last) and position, over rows that both runs have."""
    rows = min(len(base.ids), len(changed.ids))
    found = np.zeros((len(base.spec.layers) + 1, rows))
    for name, layer in base.sites:
        axes = site_axes(name, None if layer is None else base.spec.layers[layer].mlp)
        before, after = (by_row(trace, name, layer, axes, rows) for trace in (base, changed))
        at = layer if layer is not None else 0 if name == "embed" else -1
        with np.errstate(invalid="ignore"):
            apart = np.where(before == after, 0.0, np.abs(before - after))
        found[at] = np.maximum(found[at], apart.reshape(rows, -1).max(axis=1))
    return found


def by_row(trace: Trace, name: str, layer: int | None, axes: tuple[str, ...], rows: int) -> np.ndarray:
    value = trace.sites[name, layer]
    if name in ("scores", "pattern"):
        assert layer is not None
        places = np.arange(len(trace.ids))
        seen = visible(places, places, trace.spec.layers[layer].attention.window)
        return np.moveaxis(np.where(seen, value, 0)[:, :rows, :rows], 1, 0)
    return np.moveaxis(value, axes.index("q" if "q" in axes else "k"), 0)[:rows]


indices = st.one_of(
    st.integers(0, LENGTH - 1),
    st.builds(slice, st.integers(0, LENGTH - 1), st.none()),
    st.builds(slice, st.integers(0, 5), st.integers(6, LENGTH), st.sampled_from([None, 2, 3])),
    st.builds(range, st.integers(0, 4), st.integers(5, LENGTH)),
    st.lists(st.integers(0, LENGTH - 1), min_size=1, max_size=3).map(tuple),
)
layers = st.one_of(
    st.none(), st.integers(0, LAYERS - 1), st.lists(st.integers(0, LAYERS - 1), min_size=1, max_size=2).map(tuple)
)


@st.composite
def recipes(draw: st.DrawFn, of: tuple[Site, ...]) -> Recipe:
    """Maker, layers and selection of an edit: built in the test, where signatures may be checked."""
    site = draw(st.sampled_from(of))
    axes = [letter for letter in site.axes.split() if letter in "qk"]
    at = {letter: draw(indices) for letter in axes if draw(st.booleans())}
    if "h" in site.axes.split() and draw(st.booleans()):
        at["h"] = draw(st.integers(0, 5))
    where = (draw(layers),) if site.per_layer else (None,)
    if site.name == "scores" and draw(st.booleans()):
        return (cut, boost)[draw(st.integers(0, 1))], where, at
    return MAKERS[draw(st.integers(0, 3))], (site.name, *where), at


def made(recipes: list[Recipe]) -> tuple[Edit, ...]:
    return tuple(maker(*arguments, **at) for maker, arguments, at in recipes)


def _scale(site: str, where: object, **at: object) -> Edit:
    return scale(site, 1.5, where, **at)  # type: ignore[arg-type]


def _set(site: str, where: object, **at: object) -> Edit:
    return set_to(site, np.array(0.3), where, **at)  # type: ignore[arg-type]


def _add(site: str, where: object, **at: object) -> Edit:
    return add(site, np.array(0.7), where, **at)  # type: ignore[arg-type]


MAKERS: list[Callable[..., Edit]] = [zero, _scale, _set, _add]
tokens = st.integers(0, 18)
texts = st.one_of(
    st.none(),
    st.integers(0, LENGTH).map(lambda end: (*IDS[:end], 9, *IDS[end + 1 :])),  # one token changed
    st.integers(1, LENGTH).map(lambda end: IDS[:end]),  # cut short
    st.integers(1, LENGTH - 1).map(lambda gone: (*IDS[:gone], *IDS[gone + 1 :])),  # one token dropped
    st.lists(tokens, min_size=1, max_size=15).map(tuple),
)


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_nothing_before_and_below_is_altered(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(SPECS)))
    model = ENGINES[name]
    held = made(data.draw(st.lists(recipes(SITES[name]), max_size=1)))
    chosen = made(data.draw(st.lists(recipes(SITES[name]), max_size=2)))
    change = Change(chosen, data.draw(texts), data.draw(st.lists(tokens, max_size=2).map(tuple)))
    try:
        base = base_run(model, held)
        changed = changed_run(model, base, change)
    except SiteError:  # a cut that blinds a row is refused, in the base run or in the changed one
        assume(False)
    felt = first_felt(change, base)
    # At equal shapes BLAS adds in the same order, and values stay to the bit; experts get other rows beside them.
    bound = 0.0 if len(changed.ids) == LENGTH and name != "windows, experts, sinks" else 1e-12
    found = differences(base, changed)
    assert found[: felt.layer].max(initial=0) <= bound
    assert found[:, : felt.position].max(initial=0) <= bound


LAST = slice(LENGTH - 1, None)
TIGHT = [
    ((zero("embed", q=4),), Felt(0, 4)),
    ((zero("resid_mid", 1, q=(9, 6)),), Felt(1, 6)),
    ((zero("head_out", 2, h=4),), Felt(2, 0)),
    ((scale("mlp_hidden", 2.0, (2, 1), q=slice(3, None, 2)),), Felt(1, 3)),
    ((zero("value", 1, g=1, k=range(5, 9)),), Felt(1, 5)),
    ((scale("key_pos", 2.0, k=7),), Felt(0, 7)),
    ((cut(k=range(5, 8)),), Felt(0, 5)),
    ((cut((1, 2), q=LAST, k=range(5, 8)),), Felt(1, 11)),
    ((cut(2, q=(3, 10), k=6),), Felt(2, 10)),
    ((cut(2, q=slice(3, 9), k=(1, 2), h=3),), Felt(2, 3)),
    ((boost(2, q=slice(4, None), k=(1, 2)),), Felt(2, 4)),
    ((_set("pattern", 1, q=4, k=9),), Felt(1, 4)),
    ((zero("pattern", 1, k=9),), Felt(1, 9)),
    ((zero("final", q=8),), Felt(3, 8)),
    ((zero("logits"),), Felt(3, 0)),
    ((zero("mlp_out", 2, q=8), zero("mlp_out", 1, q=10)), Felt(1, 8)),
]


@pytest.mark.parametrize(("chosen", "felt"), TIGHT, ids=[str(felt) + str(e[0].site) for e, felt in TIGHT])
def test_it_is_felt_no_later(chosen: tuple[Edit, ...], felt: Felt) -> None:
    model, change = ENGINES["plain"], Change(chosen)
    base = base_run(model)
    assert first_felt(change, base) == felt
    found = differences(base, changed_run(model, base, change))
    assert found[felt.layer].max() > 0
    assert found[:, felt.position].max() > 0


@pytest.mark.parametrize(
    ("change", "felt"),
    [
        (Change(ids=(*IDS[:5], 9, *IDS[6:])), Felt(0, 5)),
        (Change(ids=(*IDS[:5], *IDS[6:])), Felt(0, 5)),
        (Change(continuation=(3, 4)), Felt(0, LENGTH)),
        (Change(ids=IDS[:7], continuation=(0,)), Felt(0, 7)),
        (Change((zero("mlp_out", 2, q=3),), continuation=(3,)), Felt(0, 3)),
        (Change((cut(2, q=LAST, k=2),), continuation=(3,)), Felt(0, 11)),
        (Change((zero("mlp_out", 2, q=3),), ids=IDS[:7]), Felt(2, 3)),
    ],
)
def test_other_texts_and_joint_changes(change: Change, felt: Felt) -> None:
    assert first_felt(change, base_run(ENGINES["plain"])) == felt


@pytest.mark.parametrize(
    "change",
    [
        Change(),
        Change(ids=IDS),
        Change(ids=IDS[:5]),
        Change((cut(q=slice(LENGTH, None), k=2),)),
        Change((cut(q=3, k=range(4, 9)),)),
        Change((zero("mlp_out", 1, q=slice(7, None)),), ids=IDS[:7]),
    ],
)
def test_what_cannot_alter_anything_is_felt_nowhere(change: Change) -> None:
    assert first_felt(change, base_run(ENGINES["plain"])) == Felt(LAYERS + 1, len(change.text(IDS)))


def test_a_cut_beyond_the_window_is_felt_in_the_layers_without_one() -> None:
    base = base_run(ENGINES["windows, experts, sinks"])
    assert first_felt(Change((cut((1, 2), q=9, k=3),)), base) == Felt(2, 9)
    assert first_felt(Change((cut(1, q=slice(8, None), k=(2, 6)),)), base) == Felt(1, 8)
    assert first_felt(Change((cut(1, q=9, k=4),)), base) == Felt(4, LENGTH)
    assert first_felt(Change((zero("router", q=6),)), base) == Felt(1, 6)


@pytest.mark.parametrize("name", ["dynamic NTK", "long"])
def test_another_length_turns_every_key_anew_where_the_frequencies_depend_on_it(name: str) -> None:
    model, longer = ENGINES[name], Change(continuation=(4,))
    base = base_run(model)
    assert first_felt(longer, base) == Felt(0, 0)
    assert differences(base, changed_run(model, base, longer))[0, 1] > 1e-3
    assert first_felt(Change(ids=(*IDS[:5], 9, *IDS[6:])), base) == Felt(0, 5)  # as long as the base


def test_a_layer_below_the_first_one_that_is_turned_anew_stays() -> None:
    plain = spec()
    turned = replace(plain.layers[1], attention=replace(plain.layers[1].attention, rope=LONG))
    base = base_run(engine(replace(plain, layers=(plain.layers[0], turned, plain.layers[2]))))
    assert first_felt(Change((zero("mlp_out", 2),), continuation=(4,)), base) == Felt(0, 0)
    assert first_felt(Change(ids=IDS[:7]), base) == Felt(4, 7)  # both lengths are within the original context


def test_the_reserve_of_the_base_run_is_kept() -> None:
    base = run(ENGINES["long"], IDS, (), 40)
    assert rope_length((*IDS, 4), base) == 41
    assert first_felt(Change(continuation=(4,)), base) == Felt(0, LENGTH)


def test_a_held_edit_that_reads_ahead_feels_what_changes_later() -> None:
    model, change = ENGINES["plain"], Change((zero("embed", q=9),))
    ahead, behind = (_set("pattern", 1, q=4, k=9),), (_set("pattern", 1, q=4, k=2),)
    assert first_felt(change, base_run(model, ahead)) == Felt(0, 4)
    assert first_felt(change, base_run(model, behind)) == Felt(0, 9)
    base = base_run(model, ahead)
    assert differences(base, changed_run(model, base, change))[1, 4] > 0


@pytest.mark.parametrize(
    "edit",
    [
        set_to("resid_mid", np.random.default_rng(0).normal(size=(LENGTH, 13)), 1),
        add("head_out", np.random.default_rng(1).normal(size=(4, 1, 4)), 1, q=(3, 6, 8, 10), h=2),
        add("value", np.random.default_rng(2).normal(size=(8, 2, 4)), k=slice(4, None)),
        add("scores", np.random.default_rng(3).normal(size=(6, LENGTH, LENGTH)), 1),
        add("mlp_out", np.random.default_rng(4).normal(size=13), 1),
        add("mlp_out", np.random.default_rng(5).normal(size=(1, 13)), 1, q=9),
        zero("mlp_out", 1, q=slice(2, 9)),
    ],
    ids=lambda edit: edit.site,
)
def test_an_edit_of_all_rows_serves_a_run_of_the_later_ones(edit: Edit) -> None:
    model, start = ENGINES["plain"], 7
    whole = run(model, IDS, (edit,), LENGTH)
    cache = replace(whole.cache, layers=tuple(layer.crop(start) for layer in whole.cache.layers), seen=start)
    later = model.run(
        IDS[start:], ["resid_post"], [portion(edit, range(LENGTH), range(start, LENGTH), model.spec)], cache
    )
    np.testing.assert_allclose(later.logits, whole.logits[start:], atol=1e-12)


def test_a_row_that_reads_ahead_feels_what_was_cut_off_behind_it() -> None:
    model = ENGINES["plain"]
    base, change = base_run(model, (_set("pattern", 1, q=4, k=9),)), Change(ids=IDS[:7])
    assert first_felt(change, base) == Felt(0, 4)
    assert differences(base, changed_run(model, base, change))[1, 4] > 0
