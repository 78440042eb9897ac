"""L11: tiles pass, classic mistakes are named; what rounding alone does to a model."""

import numpy as np
import pytest

from tests.learn.course.chapters.decoders import changed, starter
from tests.learn.course.driving import chapter, computations, failed, right_numbers, run, sources_exist, without_model
from tests.real import real
from whybox.learn.course.chapters import l11_runs
from whybox.learn.ground import Ground

NAME = "l11"
COMPUTED = computations(NAME)
TILED = """
import numpy as np

def attention(query, tiles):
    peak = np.full((len(query), 1), np.finfo(float).min)
    total, mixed = np.zeros_like(peak), 0
    for key, value, seen in tiles:
        scores = np.where(seen, query @ key.T / np.sqrt(query.shape[1]), -np.inf)
        higher = np.maximum(peak, scores.max(axis=1, keepdims=True))
        kept, weights = np.exp(peak - higher), np.exp(scores - higher)
        total = total * kept + weights.sum(axis=1, keepdims=True)
        mixed = mixed * kept + weights @ value
        peak = higher
    return mixed / np.where(total == 0, 1, total)
"""
AT_ONCE = """
import numpy as np

def attention(query, tiles):
    key, value, seen = (np.concatenate(each, axis=axis) for each, axis in zip(zip(*tiles), (0, 0, 1)))
    scores = np.where(seen, query @ key.T / np.sqrt(query.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=np.finfo(float).min))
    total = weights.sum(axis=1, keepdims=True)
    return weights @ value / np.where(total == 0, 1, total)
"""
WRONG = [
    (changed(TILED, ("total * kept + weights", "total + weights")), "running sum was not rescaled"),
    (changed(TILED, ("mixed * kept + weights", "mixed + weights")), "values mixed so far"),
    (changed(TILED, (" / np.sqrt(query.shape[1])", "")), "divided by √d"),
    (changed(TILED, ("np.finfo(float).min", "-np.inf")), "NaN"),
    (AT_ONCE, "numbers held at once"),
    (starter(NAME, "online"), "the code stopped"),
]


def test_right_code_passes() -> None:
    assert failed(run(COMPUTED.tasks["tiled"], TILED)) == ""
    assert failed(run(COMPUTED.tasks["tiled"], TILED, seed=1)) == ""


@pytest.mark.parametrize(("code", "told"), WRONG)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_mistakes_are_named(code: str, told: str) -> None:
    assert told in failed(run(COMPUTED.tasks["tiled"], code))


def test_numbers() -> None:
    questions = {q.id: q for q in (*chapter(NAME).predict, *chapter(NAME).exercises)}
    for name, right in {"held": (256, 8), "sizes": (256, 8, 1024)}.items():
        asked = questions[name]
        assert asked.kind == "numbers"
        assert right_numbers(asked, COMPUTED, without_model()) == right
    assert COMPUTED.figures["l11.tile_reads"]() == 1
    assert COMPUTED.figures["l11.stuck"]() == (256, 2048, 5000)
    assert COMPUTED.answers["profiles"](without_model()) == ("everywhere", "rounding", "cache", "positions")
    sources_exist(chapter(NAME))


def test_ties_are_counted_apart() -> None:
    """Three rows flip; in the first and the second the best two are equal on one side."""
    first = np.array([[2.0, 2.0, 0], [1, 3, 0], [0, 5, 1], [4, 0, 0]])
    second = np.array([[1.0, 2.0, 0], [3, 3, 0], [0, 1, 5], [4, 1, 0]])
    found = l11_runs.compared(first, second, (0, 1, 2, 0))
    assert (found.flips, found.at_ties, found.largest) == (3, 2, 4)
    assert found.by_row == pytest.approx(np.sqrt([1 / 3, 4 / 3, 32 / 3, 1 / 3]))


@pytest.mark.model
@pytest.mark.thorough
def test_rounding_flips_first_choices_and_leaves_the_likelihood() -> None:
    """The whole text: bf16 flips some of 512, fp32 none, and the profiles have the shapes that their names claim."""
    ground = Ground(lambda: real("smollm2"))
    bf16, fp16, fp32 = (COMPUTED.on_model[f"l11.{name}"].compute(ground) for name in ("bf16", "fp16", "fp32"))
    assert isinstance(bf16, tuple)
    assert isinstance(fp16, tuple)
    assert isinstance(fp32, tuple)
    assert 3 <= bf16[0] <= 40
    assert 0.5 < bf16[3] < 3
    assert fp16[0] < bf16[0]
    assert fp32[0] == 0
    assert 1e-6 < fp32[3] < 2e-4
    for precision in ("fp32", "fp16", "bf16"):
        assert l11_runs.kernels(ground, precision).likely == pytest.approx((2.762, 2.762), abs=0.005)
    rows = {row[:2]: [each for each in row[2:] if isinstance(each, float)] for row in l11_runs.profiles(ground)}
    everywhere, vanished, cache, positions = rows["A", "fp32"], rows["B", "fp32"], rows["C", "fp32"], rows["D", "fp32"]
    assert min(everywhere) > 0.05
    assert rows["B", "bf16"][0] == 0  # a single key: nothing to sum
    assert max(vanished) < 1e-4 < 1e-2 < min(rows["B", "bf16"][1:])
    assert max(cache[:3]) < 1e-4 < 1e-2 < min(cache[3:])
    assert positions[0] < 1e-4 < 1e-2 < min(positions[1:])
