"""The share of a part as the context grows: each point is a fresh run."""

from dataclasses import replace

import numpy as np
import pytest

from tests.engine import random_models
from tests.measure.looked_at import PART, model_of, prompt_of, random_prompt
from whybox.errors import PromptError
from whybox.measure import dilution
from whybox.measure.budget import budget

WORDS = [f"{i % 7}" for i in range(30)]
PIECES = (("system", PART, "system", 4), ("doc", PART, "user", 5), ("question", PART, "user", 11))


def test_each_point_is_a_fresh_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model, prompt = model_of(), random_prompt(20)
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


def test_a_last_segment_moves_with_the_end() -> None:
    prompt = prompt_of(WORDS[:20], PIECES)
    what = dilution.subject(prompt, "question")
    assert (len(what.before), len(what.after), what.places(50)) == (9, 11, range(39, 50))
    assert dilution.subject(prompt, "6").keys == range(6, 7)


def test_what_cannot_be_diluted() -> None:
    prompt = prompt_of(WORDS[:20], PIECES)
    with pytest.raises(PromptError, match="no segment 'dok'; this prompt has system, doc, question"):
        dilution.subject(prompt, "dok")
    with pytest.raises(PromptError, match="no token 77"):
        dilution.subject(prompt, "77")
    with pytest.raises(PromptError, match="whole prompt"):
        dilution.subject(prompt_of(WORDS), "prompt")


def test_lengths_stop_at_the_trained_context() -> None:
    model, prompt = model_of(replace(random_models.spec(), context=600)), random_prompt(20)
    assert dilution.lengths(model, prompt) == [20, 100, 200, 500]
    assert dilution.lengths(replace(model, allow_long=True), prompt)[-1] == 10_000
