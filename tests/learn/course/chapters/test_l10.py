"""L10: right code passes, classic mistakes are named, numbers are the documents' right ones."""

import pytest

from tests.learn.course.chapters.decoders import changed, starter
from tests.learn.course.driving import (
    chapter,
    computations,
    failed,
    right_numbers,
    run,
    sources_exist,
    without_model,
)

NAME = "l10"
COMPUTED = computations(NAME)
BEGUN = starter(NAME, "kv_cache").partition("def start(model):")[0]
CACHED = (
    BEGUN
    + """
def start(model):
    return 0, [None] * len(model["blocks"])

def step(token, cache, model):
    place, layers = cache
    x = model["embedding"][[token]]
    x = x + sinusoid(place + 1, x.shape[1])[place:]
    grown = []
    for block, old in zip(model["blocks"], layers):
        row = rms_norm(x, block["attention_gain"])
        key, value = row @ block["key"].T, row @ block["value"].T
        if old is not None:
            key, value = np.concatenate([old[0], key]), np.concatenate([old[1], value])
        grown.append((key, value))
        x = x + look(row, key, value, block, model["heads"])
        x = x + mlp(rms_norm(x, block["mlp_gain"]), block)
    return rms_norm(x, model["final_gain"])[0] @ model["embedding"].T, (place + 1, grown)

def look(row, key, value, block, heads):
    d = key.shape[1] // heads
    query, key, value = (x.reshape(len(x), heads, d).transpose(1, 0, 2) for x in (row @ block["query"].T, key, value))
    mixed = softmax(query @ key.transpose(0, 2, 1) / np.sqrt(d)) @ value
    return mixed.transpose(1, 0, 2).reshape(1, -1) @ block["out"].T
"""
)
RECOMPUTED = (
    BEGUN
    + """
def start(model):
    return np.zeros(0, int)

def step(token, cache, model):
    ids = np.append(cache, token)
    return decoder(ids, model)[-1], ids
"""
)
IN_PLACE = changed(
    CACHED,
    ("return 0, [None]", "return [0, [None]"),
    ('len(model["blocks"])\n\ndef step', 'len(model["blocks"])]\n\ndef step'),
    ('old in zip(model["blocks"], layers)', 'old in zip(model["blocks"], list(layers))'),
    ("    grown = []\n", "    grown = cache[1] = []\n    cache[0] = place + 1\n"),
    ("(place + 1, grown)", "cache"),
)
SLOTS = """
import numpy as np

def turned(x, place, base):
    half = len(x) // 2
    angle = place * base ** (-np.arange(half) * 2 / len(x))
    first, second = x[:half], x[half:]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos])

def misplaced(plain, cached, base):
    for slot, (key, there) in enumerate(zip(plain, cached)):
        if not np.allclose(turned(key, slot, base), there):
            apart = [np.abs(turned(key, place, base) - there).max() for place in range(len(plain) + 9)]
            return slot, int(np.argmin(apart))
    return -1, -1
"""
PAGES = """
def grow(blocks, free, length, count, size):
    lacking = -(-(length + count) // size) - len(blocks)
    return blocks + free[:lacking], free[lacking:]

def locate(blocks, position, size):
    return blocks[position // size], position % size

def waste(blocks, length, size):
    return len(blocks) * size - length
"""
PLACED = "sinusoid(place + 1, x.shape[1])[place:]"
WRONG = [
    ("cached", RECOMPUTED, "keys made in each block"),
    ("cached", IN_PLACE, "the cache after 3 tokens"),
    ("cached", changed(CACHED, (PLACED, "sinusoid(1, x.shape[1])")), "placed at position 0"),
    ("cached", changed(CACHED, (PLACED, "sinusoid(place + 2, x.shape[1])[place + 1 :]")), "one position too far"),
    ("cached", changed(CACHED, ("if old is not None:", "if False:")), "saw only itself"),
    ("cached", starter(NAME, "kv_cache"), "the code stopped"),
    ("slots", changed(SLOTS, ("return slot, int(np.argmin(apart))", "return slot, slot")), "not its own"),
    ("slots", changed(SLOTS, ("    return -1, -1", "    return 0, 0")), "expected -1"),
    ("pages", changed(PAGES, ("-(-(length + count) // size)", "((length + count) // size + 1)")), "just full"),
    ("pages", changed(PAGES, ("len(blocks) * size - length", "length % size")), "waste: expected"),
]


@pytest.mark.parametrize(("task", "code"), [("cached", CACHED), ("slots", SLOTS), ("pages", PAGES)])
def test_right_code_passes(task: str, code: str) -> None:
    assert failed(run(COMPUTED.tasks[task], code)) == ""
    assert failed(run(COMPUTED.tasks[task], code, seed=1)) == ""


@pytest.mark.parametrize(("task", "code", "told"), WRONG)
def test_mistakes_are_named(task: str, code: str, told: str) -> None:
    assert told in failed(run(COMPUTED.tasks[task], code))


def test_numbers() -> None:
    questions = {q.id: q for q in (*chapter(NAME).predict, *chapter(NAME).exercises)}
    expected = {
        "llama_70b": (1.342177280,),
        "without": (50, 477),
        "bytes": (23_040, 188_743_680, 1_342_177_280),
        "pages_by_hand": (1, 1, 2, 63, 38),
    }
    for name, right in expected.items():
        asked = questions[name]
        assert asked.kind == "numbers"
        assert right_numbers(asked, COMPUTED, without_model()) == pytest.approx(
            right, abs=0.5 if name == "without" else 0
        )


def test_pages() -> None:
    ground = without_model()
    held = COMPUTED.grids["pool"](ground)
    assert held.hidden is not None
    assert [int((held.values == row).sum()) for row in (1, 2, 3)] == [9, 5, 2]
    assert held.values[3].tolist() == [1, 1, 1, 1]
    assert COMPUTED.figures["l10.paged_error"]() < 1e-12
    assert COMPUTED.figures["l10.most_waste"]() == 15
    sources_exist(chapter(NAME))
