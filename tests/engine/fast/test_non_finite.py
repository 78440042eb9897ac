"""NaN and Inf are told where they first appear, whichever way a model is run: by hand, and as the reference does."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.engine.fast.pairs import KINDS
from tests.engine.random_models import IDS, drawn
from whybox.engine.edit import scale, set_to
from whybox.engine.fast import FastEngine, Kernel, Precision, pack
from whybox.engine.fast import engine as fast_engine
from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Change, Draft, Engine
from whybox.errors import NonFiniteError
from whybox.statistics.rows import AttentionWish
from whybox.weights import Weights

POISON = IDS[10]  # an id that the text has at position 10 alone
Place = tuple[str, int | None, int]


def bad_row(arrays: dict[str, np.ndarray]) -> None:
    """Of one token's embedding a single number is Inf."""
    arrays["embed"][POISON, 3] = np.inf


def overflow(arrays: dict[str, np.ndarray]) -> None:
    """What layer 1 would write from its MLP is beyond float32 at every position."""
    arrays["layers.1.down"] *= np.float32(1e38)
    arrays["layers.1.up"] *= np.float32(1e6)


def bad_value(arrays: dict[str, np.ndarray]) -> None:
    """One NaN in what layer 2 makes its values of."""
    arrays["layers.2.value"].flat[7] = np.nan


def bad_query(arrays: dict[str, np.ndarray]) -> None:
    """And of its queries: torch's fused attention gives 0 for such a row, and would hide it."""
    arrays["layers.2.query"].flat[7] = np.nan


CAUSES: Mapping[str, tuple[Callable[[dict[str, np.ndarray]], None], Place]] = {
    "a token's row": (bad_row, ("embed", None, 10)),
    "overflow": (overflow, ("mlp_out", 1, 0)),
    "a value's weight": (bad_value, ("value", 2, 0)),
    "a query's weight": (bad_query, ("query", 2, 0)),
}


def engines(cause: str, kind: str = "plain") -> tuple[FastEngine, ReferenceEngine]:
    of = replace(KINDS[kind], tied=False)  # so that a token's row is no row of the head
    whole = drawn(of, 0, np.float32)
    arrays = {role: np.array(array) for role, array in whole.items()}
    if cause in CAUSES:
        CAUSES[cause][0](arrays)
    weights = Weights(arrays, whole.ledger)
    return FastEngine(pack(of, weights, Precision.FP32, torch.device("cpu")), Kernel.AUTO), ReferenceEngine(of, weights)


WAYS: dict[str, Callable[[Engine], object]] = {
    "run": lambda engine: engine.run(IDS),
    "last row": lambda engine: engine.run(IDS, tail=1),
    "statistics": lambda engine: engine.run(IDS, tail=1, statistics=AttentionWish()),
    "behind a cache": lambda engine: engine.run(IDS[3:], cache=engine.run(IDS[:3]).cache),
    "writing": lambda engine: engine.write([Draft(IDS[:2], 2), Draft(IDS, 3)], lambda drafts, _: [None] * len(drafts)),
}


def place_of(work: Callable[[], object]) -> Place:
    with pytest.raises(NonFiniteError) as caught:
        work()
    return caught.value.site, caught.value.layer, caught.value.position


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("way", WAYS)
def test_the_first_bad_value_is_named(cause: str, way: str) -> None:
    for engine in engines(cause):
        assert place_of(lambda engine=engine: WAYS[way](engine)) == CAUSES[cause][1]


@pytest.mark.parametrize("size", [1, 5 * 6 * len(IDS)])
def test_a_long_text_is_looked_through_in_pieces(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_engine, "SCORES", size)
    for cause, (_, place) in CAUSES.items():
        mine, _ = engines(cause)
        assert place_of(lambda mine=mine: mine.run(IDS, tail=1)) == place
    plain, _ = engines("a token's row")
    edit = scale("mlp_out", np.inf, 1, q=7)
    assert place_of(lambda: plain.run(IDS, edits=[edit])) == ("mlp_out", 1, 7)


def test_statistics_of_rows_that_nobody_reads_are_looked_at_too() -> None:
    """The last row lies in a tile that no longer holds the bad one: its logits are sound."""
    engine, _ = engines("a token's row", "window 1")
    ids = (*IDS[:11], *[5] * 189)
    assert replace(engine, attention=Kernel.TILED).run(ids, tail=1).finite
    assert place_of(lambda: engine.run(ids, tail=1, statistics=AttentionWish())) == ("embed", None, 10)


def test_a_counterfactual_among_sound_ones() -> None:
    sound, bad = Change(ids=(*IDS[:10], 6, 5)), Change(ids=IDS)
    for engine in engines("a token's row"):
        base = engine.run((*IDS[:10], 3, 5), tail=1)
        assert [index for index, _ in engine.counterfactuals(base, [sound])] == [0]
        found = place_of(lambda engine=engine, base=base: list(engine.counterfactuals(base, [sound, bad, sound])))
        assert found == ("embed", None, 10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("site", ["query", "query_pos", "key", "key_pos"])
@pytest.mark.parametrize("kernel", list(Kernel))
def test_an_edit_that_sets_queries_or_keys_to_no_number_is_named(bad: float, site: str, kernel: Kernel) -> None:
    """torch's fused attention gives 0 for such a query."""
    mine, _ = engines("nothing")
    mine = replace(mine, attention=kernel)
    axes = {"q": 2, "h": 4} if site.startswith("query") else {"k": 2, "g": 1}
    edit = set_to(site, bad, 1, **axes)
    assert place_of(lambda: mine.run(IDS, edits=[edit])) == (site, 1, 2)
    base = mine.run(IDS)
    sound = Change((scale("mlp_out", 0.5, 2),))
    assert place_of(lambda: list(mine.counterfactuals(base, [sound, Change((edit,)), sound]))) == (site, 1, 2)
    drafts = [Draft(IDS[:5], 3), Draft(IDS[:4], 3, (edit,)), Draft(IDS[:4], 3, (scale("mlp_out", 0.5, 2),))]
    assert place_of(lambda: mine.write(drafts, lambda drafts, _: [None] * len(drafts))) == (site, 1, 2)


@pytest.mark.parametrize("role", ["query_norm", "key_norm"])
def test_gains_and_biases_of_queries_are_looked_at_too(role: str) -> None:
    kind = next(name for name, of in KINDS.items() if of.layers[1].attention.qk_norm is not None)
    of = KINDS[kind]
    arrays = {name: np.array(array) for name, array in drawn(of, 0, np.float32).items()}
    arrays[f"layers.1.{role}.gain"].flat[0] = np.nan
    bad = FastEngine(pack(of, arrays, Precision.FP32, torch.device("cpu")), Kernel.SDPA)
    assert place_of(lambda: bad.run(IDS)) == (role.removesuffix("_norm"), 1, 0)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT4])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("role", ["layers.1.down", "layers.2.out", "layers.0.key", "head"])
def test_weights_without_a_code_are_refused_by_name(precision: Precision, bad: float, role: str) -> None:
    of = replace(KINDS["plain"], tied=False)
    arrays = {name: np.array(array) for name, array in drawn(of, 0, np.float32).items()}
    pack(of, arrays, precision, torch.device("cpu"))
    arrays[role][1].flat[1] = bad
    with pytest.raises(
        NonFiniteError, match=f"non-finite weight first at {role}, position 1; before it: largest"
    ) as at:
        pack(of, arrays, precision, torch.device("cpu"))
    assert at.value.site == role
