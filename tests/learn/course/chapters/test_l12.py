"""Chapter 12: heads read by what they look at, and the entropy exercise."""

import numpy as np
import pytest

from tests.learn.course.driving import (
    assert_whole,
    chapter,
    computations,
    failed,
    filled,
    run,
)
from tests.learn.course.grounds import number, on_smollm2
from whybox.learn.course.chapters import l12

WORDS, COMPUTED = chapter("l12"), computations("l12")
ENTROPY = COMPUTED.tasks["entropy"]
RIGHT = """
import numpy as np

def attention_entropy(pattern, visible):
    a = np.where(visible, pattern, 0.0)
    logs = np.log(a, out=np.zeros_like(a), where=a > 0)
    return -(a * logs).sum(axis=-1)
"""


@pytest.mark.model
def test_the_chapter_is_whole() -> None:
    assert_whole(WORDS, COMPUTED, on_smollm2())


@pytest.mark.model
def test_right_answers() -> None:
    ground = on_smollm2()
    unnamed, brightest = (COMPUTED.answers[name](ground) for name in ("unnamed", "brightest"))
    assert unnamed == ("previous", "diagonal", "sink", "flat", "vertical_stripe")
    assert brightest == ("first",)
    table = {str(row[0]): row for row in COMPUTED.tables["ten"](ground)}
    assert table["12.5"][4] == pytest.approx(0.48, abs=0.01)
    told = filled(WORDS.predict[0].after, COMPUTED, ground)  # type: ignore[arg-type]
    assert told == {"previous": "0.767", "own": "0.670"}


@pytest.mark.model
def test_unnamed_heads_are_drawn_as_they_are() -> None:
    """The only picture that the words hold: each line is what the model computes."""
    ground = on_smollm2()
    (asked,) = [one for one in WORDS.predict if one.kind == "match"]
    layers = tuple(sorted({layer for layer, _ in l12.UNNAMED}))
    trace = ground.model.engine.run(ground.text_a.ids[: l12.DRAWN_ROW + 1], [("pattern", layers)])
    rows = [trace["pattern", layer][head, -1] for layer, head in l12.UNNAMED]
    assert [item.say.en for item in asked.items] == [item.say.zh for item in asked.items]
    assert [item.say.en for item in asked.items] == [l12.drawn(row) for row in rows]


@pytest.mark.model
def test_ten_heads_are_those_of_the_table() -> None:
    (asked,) = [one for one in WORDS.exercises if one.kind == "match" and one.id == "ten_heads"]
    assert [item.say.en for item in asked.items] == [row[0] for row in COMPUTED.tables["ten"](on_smollm2())]


@pytest.mark.model
def test_case_r_is_diagnosed_with_what_is_common() -> None:
    """Nothing that fires there is rare: the text says so."""
    rows = COMPUTED.tables["diagnosed"](on_smollm2())
    assert ("UNSEEN", "108 / 200") in [row[:2] for row in rows]
    assert all(int(str(row[1]).split(" / ")[0]) > 20 for row in rows)
    shares = {row[0]: row for row in COMPUTED.tables["budget"](on_smollm2())}
    assert shares["doc2"][3] == pytest.approx(0.35, abs=0.01)
    assert sum(number(row[2]) for row in shares.values()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_entropy_right(seed: int) -> None:
    assert failed(run(ENTROPY, RIGHT, seed)) == ""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("np.log(a, out=np.zeros_like(a), where=a > 0)", "np.log(a)", "a row with all its weight on one key"),
        ("np.where(visible, pattern, 0.0)", "pattern", "anything at hidden keys"),
        ("np.where(visible, pattern, 0.0)", "pattern * visible", "anything at hidden keys"),
        (".sum(axis=-1)", ".sum(axis=-1) / np.log(2)", "softmax(2, 1, 0)"),
        (".sum(axis=-1)", ".mean(axis=-1)", "even over what they see"),
        (".sum(axis=-1)", ".sum(axis=0)", "rows"),
    ],
)
def test_entropy_wrong(before: str, after: str, told: str) -> None:
    with np.errstate(all="ignore"):
        remarks = failed(run(ENTROPY, RIGHT.replace(before, after)))
    assert told in remarks


def test_entropies_of_known_rows() -> None:
    assert l12.COMPUTED.figures["l12.entropies"]() == pytest.approx((0, np.log(4), 0.8324), abs=5e-5)


def test_arrays_from_elsewhere_are_read_alike() -> None:
    rows = l12._brought(on_smollm2())
    assert [str(row[2]).split(", ")[0] for row in rows] == ["diagonal", "previous", "flat", "sink", "vertical stripe"]
