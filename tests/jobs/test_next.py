"""`next` on the default model: the figures of transformers (float32, eager) on the same weights, and its documents."""

import json

import numpy as np
import pytest

from tests.real import real
from whybox.engine.sampling import Decoding
from whybox.engine.trace import log_softmax
from whybox.jobs.next import Wanted, next_token
from whybox.report.document import to_json

pytestmark = pytest.mark.model

FOX = (
    "The quick brown fox jumps over the lazy dog. The quick brown fox jumps over the lazy",
    [504, 2365, 6354, 16438, 27003, 690, 260, 23790, 2767, 30, 378, 2365, 6354, 16438, 27003, 690, 260, 23790],
    [(" dog", 0.99431)],
    2.81697,
    0.5659,
    1.4510,
)
PARIS = (
    "The capital of France is",
    [504, 3575, 282, 4649, 314],
    [(" Paris", 0.77253), (" the", 0.06452), (" London", 0.01247)],
    3.69163,
    0.7441,
    0.7486,
)
WEATHER = (
    "天氣很好，我想",
    [18614, 119, 177, 125, 113, 29157, 226, 48392, 138, 12831, 19805, 235, 177, 221, 128],
    [("要", 0.10207)],
    3.29845,
    0.7186,
    0.9519,
)


@pytest.mark.parametrize("row", [PARIS, WEATHER, FOX], ids=["paris", "weather", "fox"])
def test_ground_truth(row) -> None:  # type: ignore[no-untyped-def]
    text, ids, expected, nll, sink, entropy = row
    trace = real("smollm2").run(text, see=["pattern"])
    assert list(trace.ids) == ids
    for (label, probability), (expected_label, expected_probability) in zip(trace.next(3), expected, strict=False):
        assert label == expected_label
        assert probability == pytest.approx(expected_probability, abs=2e-5)
    picked = log_softmax(trace.logits[:-1])[np.arange(len(ids) - 1), ids[1:]]
    assert -picked.mean() == pytest.approx(nll, abs=2e-4)
    patterns = [trace["pattern", layer] for layer in range(30)]
    assert np.mean([p[:, 1:, 0].mean() for p in patterns]) == pytest.approx(sink, abs=2e-4)
    last = np.concatenate([p[:, -1] for p in patterns]).astype(np.float64)
    entropies = -(last * np.log(np.where(last > 0, last, 1))).sum(axis=-1)
    assert entropies.mean() == pytest.approx(entropy, abs=2e-4)


def test_greedy_text_is_that_of_transformers() -> None:
    written = real("smollm2").generate("The capital of France is", 16)
    assert written.text == " Paris.\n\nThe answer is: 2018-01"


def test_generation_with_the_cache_is_generation_without_it() -> None:
    model = real("smollm2")
    written = model.generate("天氣很好，我想", 6)
    prompt = model.prompt("天氣很好，我想").ids
    for count, token in enumerate(written.ids):
        assert model.run([*prompt, *written.ids[:count]], tail=1).next_ids(1)[0][0] == token


def test_sampling_repeats_with_its_seed() -> None:
    model = real("smollm2")

    def text(seed: int) -> str:
        return model.generate("Once upon a time", 8, Decoding(temperature=1.5, seed=seed)).text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(4)}) > 1


def test_document_of_a_walk() -> None:
    document = next_token(
        real("smollm2"), real("smollm2").prompt("天氣很好，我想"), Wanted(top=5, generate=2, trace=True)
    )
    data = json.loads(to_json(document))
    assert data["schema"] == {"name": "whybox.next", "version": 1}
    assert data["model"]["family"] == "llama"
    assert [t["part"] for t in data["tokens"][:5]] == [1, 2, 1, 2, 3]
    assert data["tokens"][0] | {"bytes": "e5a4", "of": 2, "span": [0, 1], "text": "天"} == data["tokens"][0]
    assert data["next"][0]["text"] == "要"
    assert sum(row["prob"] for row in data["next"]) < 1
    stages = data["stages"]
    sites = [stage["site"] for stage in stages]
    assert sites[:4] == ["text", "ids", "embed", "query_pos, key_pos"]
    assert [stage["layer"] for stage in stages if stage["layer"] is not None] == list(range(30))
    assert sites[-3:] == ["final", "logits", "softmax(logits)"]
    shapes = {stage["site"]: stage["shape"] for stage in stages}
    assert shapes["embed"] == "[q c] = [15 576]"
    assert shapes["logits"] == "[q v] = [15 49152]"
    assert stages[-1]["numbers"]["probability"] == pytest.approx(0.10207, abs=2e-5)


def test_walking_changes_nothing() -> None:
    model = real("smollm2")
    prompt = model.prompt("The capital of France is")
    plain, walked = (next_token(model, prompt, Wanted(trace=trace)) for trace in (False, True))
    for one, other in zip(plain.next, walked.next, strict=True):
        assert one.id == other.id
        assert one.prob == pytest.approx(other.prob, rel=1e-4)
