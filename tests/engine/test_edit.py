"""Edits: exactly what was named changes, nothing else; brute force beside the engine."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_models import IDS, engine, spec
from whybox.engine.edit import Edit, add, boost, cut, require_places, scale, set_to, zero
from whybox.errors import SiteError
from whybox.sites import sites_of

MODEL = engine(spec())
SITES = [site for site in sites_of(spec()) if site.name not in ("scores", "pattern")]


def test_one_query_head_changes_only_its_slice() -> None:
    base, trace = MODEL.run(IDS, see=["head_out"]), MODEL.run(IDS, see=["head_out"], edits=[zero("head_out", 0, h=4)])
    assert np.all(trace["head_out", 0][:, 4] == 0)
    kept = [0, 1, 2, 3, 5]
    assert np.array_equal(trace["head_out", 0][:, kept], base["head_out", 0][:, kept])
    assert trace.changed == (True,)


def test_a_kv_head_changes_the_query_heads_of_its_group_and_no_other() -> None:
    base, trace = MODEL.run(IDS, see=["head_out"]), MODEL.run(IDS, see=["head_out"], edits=[zero("value", 0, g=1)])
    changed = [h for h in range(6) if not np.array_equal(trace["head_out", 0][:, h], base["head_out", 0][:, h])]
    assert changed == [3, 4, 5]


def test_zeroing_all_heads_of_a_layer_removes_its_attention() -> None:
    heads = MODEL.run(IDS, edits=[zero("head_out", 1)]).logits
    assert np.array_equal(heads, MODEL.run(IDS, edits=[zero("attn_out", 1)]).logits)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_replacing_by_the_same_value_changes_nothing_and_says_so(site) -> None:  # type: ignore[no-untyped-def]
    layer = 1 if site.per_layer else None
    base = MODEL.run(IDS, see=[site.name])
    trace = MODEL.run(IDS, edits=[set_to(site.name, base[site.name, layer] if layer else base[site.name], layer)])
    assert trace.changed == (False,)
    assert np.array_equal(trace.logits, base.logits)


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.name)
def test_every_site_can_be_edited_and_the_edit_is_felt(site) -> None:  # type: ignore[no-untyped-def]
    layer = 1 if site.per_layer else None
    edit = scale(site.name, 1.5, layer)
    trace = MODEL.run(IDS, see=[site.name], edits=[edit])
    assert trace.changed == (True,)
    assert not np.allclose(trace.logits, MODEL.run(IDS).logits, atol=1e-9)


def test_a_patch_from_another_run_carries_its_value_over() -> None:
    other = MODEL.run(IDS[::-1], see=["resid_post"])
    patched = MODEL.run(IDS, see=["resid_post"], edits=[set_to("resid_post", other["resid_post", 2], 2)])
    np.testing.assert_allclose(patched.logits, other.logits, atol=1e-12)


@given(
    query=st.integers(1, 11), keys=st.sets(st.integers(0, 11), min_size=1), heads=st.sets(st.integers(0, 5), min_size=1)
)
def test_a_cut_edge_has_no_weight_and_its_row_renormalises(query: int, keys: set[int], heads: set[int]) -> None:
    if set(range(query + 1)) <= keys:
        return
    base = MODEL.run(IDS, see=["pattern"])["pattern", 0]
    edit = cut(0, q=query, k=tuple(keys), h=tuple(heads))
    pattern = MODEL.run(IDS, see=["pattern"], edits=[edit])["pattern", 0]
    expected = base.copy()
    for head in heads:
        expected[head, query, list(keys)] = 0
        expected[head, query] /= expected[head, query].sum()
    np.testing.assert_allclose(pattern, expected, atol=1e-12)


def test_a_cut_that_leaves_nothing_to_see_is_refused() -> None:
    with pytest.raises(SiteError, match="query 2 of layer 1, head 0 with no key"):
        MODEL.run(IDS, edits=[cut(1, q=2, k=(0, 1, 2))])


def test_cutting_only_what_is_invisible_changes_nothing() -> None:
    trace = MODEL.run(IDS, edits=[cut(q=3, k=range(4, 12)), cut(q=3, k=range(3, 12))])
    assert trace.changed == (False, True)
    trace = MODEL.run(IDS, edits=[cut(q=3, k=range(4, 12))])
    assert trace.changed == (False,)
    assert np.array_equal(trace.logits, MODEL.run(IDS).logits)


def test_boost_lifts_the_strongest_named_key_to_the_strongest_key() -> None:
    base = MODEL.run(IDS, see=["scores"])["scores", 0]
    boosted = MODEL.run(IDS, see=["scores"], edits=[boost(0, q=9, k=(2, 3), h=1)])["scores", 0]
    lift = base[1, 9, :10].max() - base[1, 9, 2:4].max()
    assert lift > 0
    np.testing.assert_allclose(boosted[1, 9, 2:4], base[1, 9, 2:4] + lift, atol=1e-12)
    assert np.array_equal(np.delete(boosted[1, 9], [2, 3]), np.delete(base[1, 9], [2, 3]))


def test_edits_reach_later_steps_of_a_cached_run() -> None:
    edits = [cut(q=slice(8, None), k=(1, 2)), zero("head_out", 1, h=2, q=slice(9, None))]
    whole = MODEL.run(IDS, edits=edits).logits
    first = MODEL.run(IDS[:9], edits=edits)
    rest = MODEL.run(IDS[9:], edits=edits, cache=first.cache)
    np.testing.assert_allclose(np.concatenate([first.logits, rest.logits]), whole, atol=1e-12)


def test_windowed_cache_edits_name_positions_not_slots() -> None:
    model = engine(spec(window=4))
    edits = [cut(q=slice(8, None), k=7)]
    whole = model.run(IDS, edits=edits).logits
    first = model.run(IDS[:10], edits=edits)
    rest = model.run(IDS[10:], edits=edits, cache=first.cache)
    np.testing.assert_allclose(rest.logits, whole[10:], atol=1e-12)
    assert not np.allclose(whole[8:], model.run(IDS).logits[8:], atol=1e-9)


def test_an_edit_never_reaches_back() -> None:
    trace = MODEL.run(IDS, edits=[add("resid_mid", np.ones(13), 1, q=6)])
    base = MODEL.run(IDS)
    assert np.array_equal(trace.logits[:6], base.logits[:6])
    assert not np.allclose(trace.logits[6], base.logits[6])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (zero("head_outs", 0), "did you mean 'head_out'"),
        (zero("head_out", 3), "layers 0 … 2"),
        (zero("head_out", 0, h=6), "6 entries"),
        (zero("head_out", 0, h=-1), "counts from 0"),
        (zero("head_out", 0, g=0), "no axis 'g'"),
        (zero("embed", 0), "takes no layer"),
        (set_to("resid_mid", np.ones(5), 0), "does not fit"),
        (replace(cut(0), site="pattern"), "acts on scores"),
        (zero("head_out", 0, h=slice(20, None)), "6 entries"),
    ],
)
def test_what_does_not_exist_is_refused_by_name(edit: Edit, message: str) -> None:
    with pytest.raises(SiteError, match=message):
        MODEL.run(IDS, edits=[edit])


@pytest.mark.parametrize("nothing", [[], (), range(9, 9), slice(3, 3), slice(None, 0)])
def test_a_selection_of_nothing_is_refused(nothing: Any) -> None:
    with pytest.raises(SiteError, match="axis 'h' of head_out: nothing is selected"):
        zero("head_out", 0, h=nothing)


def test_no_layers_and_truths_are_refused() -> None:
    with pytest.raises(SiteError, match="layers of head_out: nothing is selected"):
        zero("head_out", [], h=1)
    with pytest.raises(SiteError, match="expected a whole number or several, found True"):
        zero("head_out", 0, h=True)
    with pytest.raises(SiteError, match="found True"):
        zero("head_out", True)


def test_a_slice_with_an_end_begins_within_the_text() -> None:
    with pytest.raises(SiteError, match="position 50 on axis 'q'"):
        require_places([zero("head_out", 0, q=slice(50, 60))], 12)
    require_places([zero("head_out", 0, q=slice(50, None)), zero("head_out", 0, q=slice(5, 60))], 12)


def test_whole_numbers_of_any_kind_and_any_collection_select_alike() -> None:
    for keys in (1, 4), [1, 4], {1, 4}, np.array([1, 4]), range(1, 5, 3):
        assert np.array_equal(
            MODEL.run(IDS, edits=[cut(np.int64(1), q=np.int64(9), k=keys)]).logits,
            MODEL.run(IDS, edits=[cut(1, q=9, k=(1, 4))]).logits,
        )
