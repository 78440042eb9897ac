"""The reference engine: looking changes nothing, cached = uncached, the order of sites, NaN named where it starts."""

import numpy as np
import pytest

from tests.engine.random_models import IDS, engine, spec
from whybox.engine.edit import set_to
from whybox.errors import NonFiniteError, SiteError
from whybox.sites import sites_of

ALL = [site.name for site in sites_of(spec())]


def test_looking_changes_nothing() -> None:
    run = engine(spec(), dtype=np.float32).run
    assert np.array_equal(run(IDS, see=ALL).logits, run(IDS).logits)


def test_sites_come_in_the_published_order_with_the_published_shapes() -> None:
    trace = engine(spec()).run(IDS, see=ALL)
    sizes = {"q": 12, "k": 12, "h": 6, "g": 2, "d": 4, "c": 13, "f": 17, "v": 19}
    per_layer = [(name, layer) for name, layer in trace.sites if layer == 1]
    assert [name for name, _ in per_layer] == [s.name for s in sites_of(spec()) if s.per_layer]
    for site in sites_of(spec()):
        value = trace[site.name, 2] if site.per_layer else trace[site.name]
        assert value.shape == tuple(sizes[letter] for letter in site.axes.split()), site.name


def test_kept_values_cannot_be_changed() -> None:
    trace = engine(spec()).run(IDS, see=["resid_post"])
    with pytest.raises(ValueError, match="read-only"):
        trace["resid_post", 0][0, 0] = 1


def test_residual_stream_is_the_sum_of_what_is_written() -> None:
    trace = engine(spec()).run(IDS, see=ALL)
    written = trace["embed"] + sum(trace[site, layer] for layer in range(3) for site in ("attn_out", "mlp_out"))
    np.testing.assert_allclose(trace["resid_post", 2], written, atol=1e-12)


def test_pattern_rows_sum_to_one_and_never_look_ahead() -> None:
    pattern = engine(spec()).run(IDS, see=["pattern"])["pattern", 1]
    np.testing.assert_allclose(pattern.sum(-1), 1, atol=1e-12)
    assert np.all(pattern[:, ~np.tri(12, dtype=bool)] == 0)


@pytest.mark.parametrize("window", [None, 1, 5, 12, 40])
@pytest.mark.parametrize("split", [1, 3, 7, 11])
def test_cached_equals_uncached(window: int | None, split: int) -> None:
    run = engine(spec(window=window)).run
    whole, first = run(IDS).logits, run(IDS[:split])
    rest = run(IDS[split:], cache=first.cache)
    np.testing.assert_allclose(np.concatenate([first.logits, rest.logits]), whole, atol=1e-12)
    assert rest.rows == range(split, 12)
    assert rest.cache.seen == 12


def test_a_cache_is_a_value() -> None:
    run = engine(spec()).run
    prefix = run(IDS[:7]).cache
    first, second = run((3, 4, 5), cache=prefix), run((6, 7), cache=prefix)
    assert (prefix.seen, first.cache.seen, second.cache.seen) == (7, 10, 9)
    np.testing.assert_allclose(second.logits, run((*IDS[:7], 6, 7)).logits[7:], atol=1e-12)


def test_window_first_differs_at_the_window() -> None:
    plain = engine(spec(layers=1)).run(IDS).logits
    for window in (4, 5):
        windowed = engine(spec(layers=1, window=window)).run(IDS).logits
        differs = np.abs(plain - windowed).max(axis=-1) > 0
        assert int(np.argmax(differs)) == window


def test_tail_limits_the_logits_and_nothing_else() -> None:
    run = engine(spec(), dtype=np.float32).run
    whole, tail = run(IDS, see=["resid_post"]), run(IDS, see=["resid_post"], tail=2)
    assert tail.rows == range(10, 12)
    np.testing.assert_allclose(tail.logits, whole.logits[-2:], atol=1e-5)
    assert np.array_equal(tail["resid_post", 2], whole["resid_post", 2])


@pytest.mark.parametrize(("site", "layer"), [("resid_mid", 1), ("value", 0), ("mlp_hidden", 2), ("query_pos", 2)])
def test_non_finite_is_named_where_it_first_appears(site: str, layer: int) -> None:
    edit = set_to(site, np.array(np.inf), layer, q=4) if site != "value" else set_to(site, np.array(np.nan), layer, k=4)
    with pytest.raises(NonFiniteError) as caught:
        engine(spec(), dtype=np.float32).run(IDS, edits=[edit])
    assert (caught.value.site, caught.value.layer, caught.value.position) == (site, layer, 4)
    assert "largest |" in caught.value.before


def test_overflow_is_named_with_the_size_before_it() -> None:
    model = engine(spec(), dtype=np.float32)
    model.weights.arrays["layers.1.down"][:] = 3e38  # type: ignore[index]
    with pytest.raises(NonFiniteError) as caught:
        model.run(IDS)
    assert (caught.value.site, caught.value.layer) == ("mlp_out", 1)
    assert caught.value.before.startswith("largest |mlp_hidden| was ")


def test_asking_for_what_is_not_there_is_an_error_that_lists_what_is() -> None:
    model = engine(spec())
    with pytest.raises(SiteError, match="did you mean 'pattern'"):
        model.run(IDS, see=["patern"])
    with pytest.raises(SiteError, match="layers 0 … 2"):
        model.run(IDS, see=[("pattern", 3)])
    with pytest.raises(SiteError, match='run again with see=\\["key"\\]'):
        model.run(IDS, see=["pattern"])["key", 0]
    with pytest.raises(SiteError, match="every layer"):
        model.run(IDS, see=["pattern"])["pattern"]
