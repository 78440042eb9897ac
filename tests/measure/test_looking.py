"""A walk in pieces against whole patterns; sizes of values, silent units, dilution: by brute force."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine import random_models
from tests.measure.looked_at import PART, model_of, prompt_of
from whybox.errors import PromptError
from whybox.measure import dilution, looking
from whybox.measure.anchors import anchors
from whybox.measure.budget import budget
from whybox.measure.heads import decision_budget, heads_of, secondary_sinks
from whybox.measure.looking import look_at, map_block, pieces
from whybox.model import Model
from whybox.statistics.marks import Behind, Duplicate, Induction, Keys, marked
from whybox.statistics.rows import AttentionWish, from_pattern
from whybox.text.prompt import Prompt

WORDS = [f"{i % 7}" for i in range(30)]
PIECES = (("system", PART, "system", 4), ("doc", PART, "user", 5), ("question", PART, "user", 11))
KINDS = {"plain": {}, "window": {"window": 5}, "cap": {"cap": 1.5}, "sinks": {"sinks": True}}


def random_prompt(length: int = 30) -> Prompt:
    ids = tuple(int(i) for i in np.random.default_rng(1).integers(0, 19, length))
    return replace(prompt_of([str(i) for i in ids]), ids=ids)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "PIECE_NUMBERS", 7 * 3 * 17)
    monkeypatch.setattr(looking, "SMALLEST_PIECE", 7)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_say_what_whole_patterns_say(kind: str) -> None:
    model, prompt = model_of(random_models.spec(**KINDS[kind])), random_prompt()
    looked = look_at(model, prompt)
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


def test_one_token_sees_nothing() -> None:
    with pytest.raises(PromptError, match="one token"):
        look_at(model_of(), random_prompt(1))


def test_the_table_is_complete_and_sorts() -> None:
    heads = heads_of(look_at(model_of(), random_prompt()), "none")
    assert len(heads.classes) == len(heads.table["layer"]) == 18
    by_sink = heads.table.sorted("sink")["sink"]
    assert by_sink == sorted(by_sink, reverse=True)
    assert heads.table["induction"] == [None] * 18
    assert heads.table.sorted("induction")["layer"] == heads.table["layer"]


def test_a_secondary_sink_is_a_key_behind_the_first() -> None:
    pattern = np.zeros((2, 20, 20))
    pattern[:, :, 0] = 1
    pattern[1, 4:, 0], pattern[1, 4:, 3] = 0.6, 0.4
    seen = np.tril(np.ones((20, 20), bool))
    found = secondary_sinks(from_pattern(pattern, seen, AttentionWish(top=1)))
    assert found == [(), ((3, pytest.approx(0.4 * 16 / 17)),)]


def test_marks_by_hand() -> None:
    ids, places = np.array([4, 5, 4, 4]), np.arange(4)
    pairs = {
        Behind(1): [(1, 0), (2, 1), (3, 2)],
        Behind(-1): [(0, 1), (1, 2), (2, 3)],
        Duplicate(ids): [(2, 0), (3, 0), (3, 2)],
        Induction(ids): [(2, 1), (3, 1), (3, 3)],
        Keys(frozenset({2})): [(0, 2), (1, 2), (2, 2), (3, 2)],
    }
    for mark, expected in pairs.items():
        assert [tuple(pair) for pair in np.argwhere(marked(mark, places, places)).tolist()] == expected, mark
    filled = np.array([0, 1, 2, 3, 99])
    assert not marked(Duplicate(ids), places, filled, nowhere=99)[:, 4].any()


def test_anchors_are_pauses() -> None:
    prompt = prompt_of(["The", "end", ".", "\n", " (", "a", "<|x|>", "3.5", "。"])
    assert anchors(prompt) == {2, 3, 4, 6, 8}
    assert anchors(prompt_of([".", "a"])) == frozenset()


class TestDilution:
    def model(self) -> Model:
        return model_of(random_models.spec())

    def test_each_point_is_a_fresh_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        model, prompt = self.model(), random_prompt(20)
        prompt = replace(prompt, segments=prompt_of(WORDS[:20], PIECES).segments)
        monkeypatch.setattr(dilution, "LENGTHS", (10, 25, 40))
        filler = tuple(int(i) for i in np.random.default_rng(2).integers(0, 19, 60))
        monkeypatch.setattr(dilution, "_filler", lambda model, prompt, tokens, seed: filler[:tokens])
        points = list(dilution.dilute(model, prompt, "doc", lambda done, of: None))
        assert [point.tokens for point in points] == [20, 25, 40]
        for point in points:
            ids = (*prompt.ids[:9], *filler[: point.tokens - 20], *prompt.ids[9:])
            trace = model.engine.run(ids, ["pattern"])
            rows = [trace["pattern", layer][:, -1] for layer in range(3)]
            found = budget(rows, {"doc": range(4, 9)}, [np.arange(point.tokens)] * 3)
            assert point.share == pytest.approx(found.mean()["doc"])
            assert point.lift == pytest.approx(found.mean_lift("doc"))
            layer, head = point.brightest
            assert point.brightest_share == pytest.approx(max(row.max() for row in found.per_head("doc")))
            assert found.per_head("doc")[layer][head] == pytest.approx(point.brightest_share)

    def test_a_last_segment_moves_with_the_end(self) -> None:
        prompt = prompt_of(WORDS[:20], PIECES)
        what = dilution.subject(prompt, "question")
        assert (len(what.before), len(what.after), what.places(50)) == (9, 11, range(39, 50))
        assert dilution.subject(prompt, "6").keys == range(6, 7)

    def test_what_cannot_be_diluted(self) -> None:
        prompt = prompt_of(WORDS[:20], PIECES)
        with pytest.raises(PromptError, match="no segment 'dok'; this prompt has system, doc, question"):
            dilution.subject(prompt, "dok")
        with pytest.raises(PromptError, match="no token 77"):
            dilution.subject(prompt, "77")
        with pytest.raises(PromptError, match="whole prompt"):
            dilution.subject(prompt_of(WORDS), "prompt")

    def test_lengths_stop_at_the_trained_context(self) -> None:
        model, prompt = model_of(replace(random_models.spec(), context=600)), random_prompt(20)
        assert dilution.lengths(model, prompt) == [20, 100, 200, 500]
        assert dilution.lengths(replace(model, allow_long=True), prompt)[-1] == 10_000
