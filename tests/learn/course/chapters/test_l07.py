"""L7: right code passes, classic mistakes are named, numbers are the documents' right ones."""

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

NAME = "l07"
COMPUTED = computations(NAME)
GROUPED = changed(
    starter(NAME, "gqa"),
    ("def attention(x, block, heads):", "def attention(x, block, heads, kv_heads):"),
    (
        """    query, key, value = (
        (x @ block[name].T).reshape(n, heads, d).transpose(1, 0, 2) for name in ("query", "key", "value")
    )
""",
        """    query, key, value = (
        (x @ block[name].T).reshape(n, -1, d).transpose(1, 0, 2) for name in ("query", "key", "value")
    )
    key, value = (np.repeat(each, heads // kv_heads, axis=0) for each in (key, value))
""",
    ),
    ('block, model["heads"])', 'block, model["heads"], model["kv_heads"])'),
)
SPLIT = """
def split_heads(x, heads):
    return x.reshape(len(x), heads, -1).transpose(1, 0, 2)

def join_heads(x):
    return x.transpose(1, 0, 2).reshape(x.shape[1], -1)

def straight(x, heads):
    return x.reshape(heads, len(x), -1)
"""


def test_right_code_passes() -> None:
    assert failed(run(COMPUTED.tasks["shared"], GROUPED)) == ""
    assert failed(run(COMPUTED.tasks["split"], SPLIT)) == ""


REPEATED = "np.repeat(each, heads // kv_heads, axis=0)"
TURNED = "x.reshape(len(x), heads, -1).transpose(1, 0, 2)"
WRONG = [
    ("shared", changed(GROUPED, (REPEATED, "np.tile(each, (heads // kv_heads, 1, 1))")), "h % g"),
    (
        "shared",
        changed(
            GROUPED,
            (
                f"({REPEATED} for each in (key, value))",
                "np.repeat(key, heads // kv_heads, axis=0), np.tile(value, (heads // kv_heads, 1, 1))",
            ),
        ),
        "shared alike",
    ),
    ("shared", starter(NAME, "gqa"), "the code stopped"),
    ("split", changed(SPLIT, (TURNED, "x.reshape(heads, len(x), -1)")), "cut rows"),
    ("split", changed(SPLIT, (".transpose(1, 0, 2).reshape(x.shape[1]", ".reshape(x.shape[1]")), "turn the heads back"),
    ("split", starter(NAME, "split"), "no array"),
]


@pytest.mark.parametrize(("task", "code", "told"), WRONG)
def test_mistakes_are_named(task: str, code: str, told: str) -> None:
    assert told in failed(run(COMPUTED.tasks[task], code))


def test_numbers() -> None:
    questions = {q.id: q for q in (*chapter(NAME).predict, *chapter(NAME).exercises)}
    expected = {
        "parameters": (1_048_576, 1_048_576),
        "cache": (32, 4),
        "counts": (16_777_216, 8_388_608, 1_048_576),
    }
    for name, right in expected.items():
        asked = questions[name]
        assert asked.kind == "numbers"
        assert right_numbers(asked, COMPUTED, without_model()) == right


def test_reshape_alone_is_the_wrong_way() -> None:
    assert COMPUTED.answers["wrong_split"](without_model()) == ("straight",)


def test_grids_and_sources() -> None:
    assert COMPUTED.grids["repeated"](without_model()).values.argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert COMPUTED.grids["tiled"](without_model()).values.argmax(axis=1).tolist() == [0, 1, 2] * 3
    sources_exist(chapter(NAME))
