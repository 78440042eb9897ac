"""Chapter 13: case R by weight and by effect, planted leaves, and files that are judged by running them."""

from importlib.resources import files

import pytest

from tests.learn.course.driving import (
    assert_whole,
    chapter,
    computations,
    failed,
    figure,
)
from tests.learn.course.grounds import on_smollm2
from whybox.learn.course.chapter import Computed
from whybox.learn.course.chapters import l13, l13_planted
from whybox.learn.course.chapters.l13_planted import PLANTED

WORDS, COMPUTED = chapter("l13"), computations("l13")
EDGES, CASE = COMPUTED.judges["edge_set"], COMPUTED.judges["regression"]
SHIPPED = (files("whybox.learn") / "data" / "refund.yaml").read_text(encoding="utf-8")
STARTERS = {one.id: one.starter for one in WORDS.exercises if one.kind == "file"}

pytestmark = pytest.mark.model


@pytest.mark.thorough
def test_the_chapter_is_whole() -> None:
    assert_whole(WORDS, COMPUTED, on_smollm2())


def value(name: str, take: int | None = None) -> float:
    return figure(Computed(figure=name, take=take), COMPUTED, on_smollm2())


def test_case_r_is_what_was_recorded() -> None:
    assert COMPUTED.answers["ranked"](on_smollm2()) == ("k33", "k6", "k0", "k55")
    assert value("l13.other_digit") == pytest.approx(3.238, abs=0.02)
    assert [value("l13.boosted", take) for take in range(4)] == pytest.approx([0.176, 1.105, 1.590, -1.369], abs=0.02)
    assert [value("l13.shams", take) for take in range(4)] == pytest.approx([21, -4.58, -0.72, 0], abs=0.02)
    assert value("l13.shams", 4) == pytest.approx(1 / 22)
    assert value("l13.lift") == pytest.approx(0.35, abs=0.01)
    assert [value("l13.forced", take) for take in range(3)] == pytest.approx([0.433, 0.621, -0.143], abs=0.02)
    heads = {row[0]: row[2] for row in COMPUTED.tables["heads"](on_smollm2())}
    recorded = {"1.0": 1.115, "23.0": 0.575, "17.5": -0.006, "15.8": -1.179, "1.4": -1.437}
    assert heads == pytest.approx(recorded, abs=0.02)


def test_what_the_words_say_of_it() -> None:
    """Sentences that hold no number rest on these."""
    ground = on_smollm2()
    assert value("l13.lens_best", 0) < 0
    assert value("l13.bright_rank", 0) <= 3
    rows = {row[0]: row[3] for row in COMPUTED.tables["attempts"](ground)}
    assert rows == {"− doc1": "✓", "doc2, doc1": "✗", "boost → doc2": "✓", "cut → doc1": "✓"}
    assert all("7 days" in row[2] for row in COMPUTED.tables["attempts"](ground) if row[3] == "✓")
    shades = {f"k{key}": l13.shade(ground, key) for key in l13.RANKED}
    (asked,) = [one for one in WORDS.predict if one.kind == "order"]
    assert {option.id: option.say.en[0] for option in asked.options} == shades
    assert {option.id: option.say.zh[0] for option in asked.options} == shades


def test_planted_leaves() -> None:
    """Their names stand beside them in the product; eight leaves, all different."""
    leaves = COMPUTED.answers["leaves"](on_smollm2())
    assert dict(zip(PLANTED, leaves, strict=True)) == {
        "not_looking": "not_looked_at",
        "memoriser": "overruled",
        "first_biased": "order",
        "near_tie": "decoding",
        "suppressed": "looked_at_not_used",
        "beyond": "not_determined",
        "format_derailer": "format",
        "missing_fact": "missing",
    }
    rows = dict(zip(leaves, l13_planted.steps(on_smollm2()), strict=True))
    assert rows["not_looked_at"][2:5] == ("✓", "✗", "✓")
    assert rows["not_determined"][2:7] == ("✗", "✗", "✗", "=", "✗")
    assert len({row[1:] for row in rows.values()}) == 8


def edges(action: str, part: str, heads: str) -> str:
    return f"action: {action}\nto: {part}\nheads: [{heads}]\n"


def test_an_edge_set_that_passes() -> None:
    remarks = EDGES(edges("boost", "doc2", "18.7, 18.8, 20.1, 22.4"), on_smollm2())
    assert (len(remarks), failed(remarks)) == (3, "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STARTERS["edge_set"], "30 days"),
        (edges("cut", "doc1", "22.4, 23.0, 23.2"), "it flips without 22.4 as well"),
        (edges("cut", "doc1", "22.4, 23.0, 23.2, 1.0, 1.1"), "5 heads"),
        (edges("boost", "doc3", "18.7"), "expected one of policy, doc1, doc2, question, found 'doc3'"),
        (edges("lift", "doc2", "18.7"), "expected boost or cut"),
        (edges("boost", "doc2", "30.1"), "layer.head such as 18.7, found '30.1'"),
        ("heads: [", "no YAML"),
        ("- 1", "expected a mapping, found list"),
        (edges("boost", "doc2", ""), "heads: expected a list"),
    ],
)
def test_edge_sets_that_fail(text: str, told: str) -> None:
    assert told in failed(EDGES(text, on_smollm2()))


def test_a_regression_case_that_passes() -> None:
    remarks = CASE(SHIPPED, on_smollm2())
    assert (len(remarks), failed(remarks)) == (5, "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STARTERS["regression"], "evidence: –"),
        (SHIPPED.replace("evidence: [doc2]", "evidence: [doc1]"), "does not stand there"),
        (SHIPPED.replace("[7, 5, 9]", "[7, 5]"), "6 variants by its slots"),
        ("id: none", "it cannot be read"),
    ],
)
def test_regression_cases_that_fail(text: str, told: str) -> None:
    assert told in failed(CASE(text, on_smollm2()))


def test_a_case_that_passes_today_is_no_regression() -> None:
    turned = SHIPPED.replace(
        'right: "{right} days", wrong: "{other} days"', 'right: "{other} days", wrong: "{right} days"'
    )
    told = failed(CASE(turned.replace("evidence: [doc2]", "evidence: [doc1]"), on_smollm2()))
    assert told.startswith("wrong in 0 of the 4 variants")
