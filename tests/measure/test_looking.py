"""A walk in pieces against whole patterns; sizes of values, silent units, dilution: by brute force."""

import numpy as np
import pytest

from tests.engine import random_models
from tests.measure.looked_at import model_of, random_prompt
from whybox.engine.needs import need_of_walk
from whybox.errors import CapacityError, PromptError
from whybox.measure import looking
from whybox.measure.heads import decision_budget
from whybox.measure.looking import look_at, map_block, pieces
from whybox.statistics.rows import from_pattern

KINDS = {"plain": {}, "window": {"window": 5}, "cap": {"cap": 1.5}, "sinks": {"sinks": True}}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "PIECE_NUMBERS", 7 * 3 * 17)
    monkeypatch.setattr(looking, "SMALLEST_PIECE", 7)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_say_what_whole_patterns_say(kind: str, engine: str) -> None:
    model, prompt = model_of(random_models.spec(**KINDS[kind])), random_prompt()
    looked = look_at(model.variant(engine=engine, precision="fp64"), prompt)
    sites = ["pattern", "scores", "value", "mlp_hidden", *(["sink_mass"] if kind == "sinks" else [])]
    trace = model.engine.run(prompt.ids, sites)
    for layer, rows in enumerate(looked.attention):
        mass = trace["sink_mass", layer] if kind == "sinks" else None
        whole = from_pattern(
            trace["pattern", layer],
            trace.visible(layer),
            rows.wish,
            sink_mass=mass,
            scores=trace["scores", layer],
        )
        for field in ("entropy", "sink", "shares", "marked", "scores", "received", "map_total", "distance"):
            np.testing.assert_allclose(vars(rows)[field], vars(whole)[field], rtol=1e-9, atol=1e-9, err_msg=field)
        decision = looked.decision[layer]
        np.testing.assert_allclose(decision.pattern, trace["pattern", layer][:, -1][:, decision.places], atol=1e-12)
        seen = np.flatnonzero(trace.visible(layer)[-1])
        assert decision.places.tolist() == seen.tolist()
        out, value = model.weights[f"layers.{layer}.out"], trace["value", layer]
        for head in range(6):
            size = np.linalg.norm(value[seen, head // 3] @ out[:, head].T, axis=1)
            np.testing.assert_allclose(decision.sizes[head], size, rtol=1e-9)
        np.testing.assert_allclose(decision.value_shares.sum(axis=1), 1)
        total = decision_budget(looked).shares[layer].sum(axis=1) + decision.sink_mass
        np.testing.assert_allclose(total, 1)
        scores = trace["scores", layer][:, trace.visible(layer)]
        np.testing.assert_allclose(rows.score_sd, scores.std(axis=1), rtol=1e-6)
    np.testing.assert_allclose(looked.logits, trace.logits[-1], atol=1e-9)
    assert list(looked.entries) == [0, 1, 2]
    whole = model.engine.run(prompt.ids, ["resid_pre"])
    for layer, entered in looked.entries.items():
        np.testing.assert_allclose(entered, whole["resid_pre", layer], atol=1e-9)


def test_units_that_stay_silent_are_counted() -> None:
    weights = random_models.drawn(random_models.spec())
    up = weights["layers.1.up"]
    up.flags.writeable = True
    up[[2, 5, 11]] = 0
    looked = look_at(model_of(random_models.spec(), weights), random_prompt())
    assert [(silence.units, silence.dead) for silence in looked.silence] == [(17, 0), (17, 3), (17, 0)]


def test_pieces_cover_the_text_and_leave_the_last_token_alone() -> None:
    spec = random_models.spec()
    assert list(pieces(spec, 2)) == [range(1), range(1, 2)]
    assert list(pieces(spec, 16)) == [range(7), range(7, 14), range(14, 15), range(15, 16)]
    assert [map_block(n) for n in (1, 32, 33, 4000)] == [1, 1, 2, 125]


def test_what_the_walk_keeps_has_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = 3 * 16 * (2 * 4 + 13) * 4  # layers, tokens, values of 2 heads of width 4 beside a stream of 13, bytes
    assert need_of_walk(random_models.spec(), 16, (0, 1, 2)).total == kept
    monkeypatch.setattr(looking.machine, "available", lambda: kept - 1)
    with pytest.raises(CapacityError, match="this look needs"):
        look_at(model_of(), random_prompt(16))


def test_one_token_sees_nothing() -> None:
    with pytest.raises(PromptError, match="one token"):
        look_at(model_of(), random_prompt(1))
