"""L6: who sees whom by hand, and exercises that tell right from wrong."""

import pytest

from tests.learn.course.driving import computations, failed, numbers_of, run, without_model

COMPUTED = computations("l06")
VISIBLE, LEAK = COMPUTED.tasks["visible"], COMPUTED.tasks["leak"]

RIGHT_VISIBLE = """
def visible(query_pos, key_pos, query_valid, key_valid):
    return (key_pos <= query_pos[:, None]) & query_valid[:, None] & key_valid
"""
RIGHT_LEAK = """
import numpy as np

def leak(attend, scores, seen, value):
    step, out = 1e-5, np.zeros(scores.shape)
    for i in range(len(scores)):
        for j in range(scores.shape[1]):
            up, down = scores.copy(), scores.copy()
            up[i, j] += step
            down[i, j] -= step
            out[i, j] = ((attend(up, seen) - attend(down, seen)) @ value)[i] / (2 * step)
    return out

def weights(scores, seen):
    hidden = np.where(seen, scores, -np.inf)
    peak = np.where(seen.any(axis=1), hidden.max(axis=1), 0)[:, None]
    powers = np.exp(hidden - peak)
    total = powers.sum(axis=1, keepdims=True)
    return powers / np.where(total == 0, 1, total)
"""
REST = "\n\ndef other(scores, seen):\n"
LATE = """    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) * seen
"""
NEARLY = """    e = np.where(seen, scores, -1e9)
    e = np.exp(e - e.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
"""
PLAIN = """    e = np.exp(np.where(seen, scores, -np.inf))
    return e / e.sum(axis=1, keepdims=True)
"""
DEFINITION = "def weights(scores, seen):\n"


def test_answers() -> None:
    ground = without_model()
    assert COMPUTED.answers["changed_rows"](ground) == ("row_5", "row_6", "row_7")
    assert COMPUTED.answers["reached"](ground) == ("itself", "deciding")


def test_padding_changes_nothing() -> None:
    for length, blind, left, right in map(numbers_of, COMPUTED.tables["padding"](without_model())):
        assert blind == 7 - length
        assert max(left, right) <= 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_right_code_passes(seed: int) -> None:
    assert failed(run(VISIBLE, RIGHT_VISIBLE, seed)) == ""
    assert failed(run(LEAK, RIGHT_LEAK, seed)) == ""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("~((key_pos <= query_pos[:, None]) & query_valid[:, None] & key_valid)", "True says what is hidden"),
        (
            "np.tril(np.ones((len(query_pos), len(key_pos)), bool)) & query_valid[:, None] & key_valid",
            "by rows and columns",
        ),
        ("(key_pos < query_pos[:, None]) & query_valid[:, None] & key_valid", "a token does not see itself"),
        ("(key_pos <= query_pos[:, None])", "padding is seen"),
        ("(key_pos <= query_pos[:, None]) & key_valid", "11 tokens, padding at both ends: expected 0 at"),
        (
            "((key_pos <= query_pos[:, None]) & query_valid[:, None] & key_valid).T",
            "expected shape 3 × 13, found 13 × 3",
        ),
    ],
)
def test_a_wrong_mask_is_told(body: str, told: str) -> None:
    signature = "import numpy as np\n\ndef visible(query_pos, key_pos, query_valid, key_valid):\n    return "
    assert told in failed(run(VISIBLE, signature + body))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("for j in range(scores.shape[1])", "for j in range(i + 1)", "only visible scores were nudged"),
        ("(2 * step)", "step", "the leak of a mask behind the softmax, 7 × 7 scores: expected"),
        (DEFINITION, DEFINITION + LATE + REST, "the mask came after the softmax"),
        (DEFINITION, DEFINITION + NEARLY + REST, "as −1e9 makes them"),
        (DEFINITION, DEFINITION + PLAIN + REST, "0 throughout: expected 0 at [0, 0], found nan"),
    ],
)
def test_a_wrong_leak_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT_LEAK.count(old) == 1
    assert told in failed(run(LEAK, RIGHT_LEAK.replace(old, new)))
