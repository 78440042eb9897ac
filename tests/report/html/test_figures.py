import pytest

from tests.report import fixtures
from whybox.report.html import figures
from whybox.report.html.scale import Scale


def test_bars_start_at_zero_and_carry_interval_band_and_total() -> None:
    document = fixtures.why()
    drawn = figures.evidence(document.segments, document.prompt.segments, 16)
    doc2 = next(item for item in drawn.rows if item.row.name == "doc2")
    assert doc2.bar.tone == "hurts"
    assert doc2.bar.body.x + doc2.bar.body.width == pytest.approx(drawn.zero, abs=0.01)
    assert doc2.bar.whisker is not None
    assert doc2.bar.whisker.x < doc2.bar.body.x < doc2.bar.whisker.x + doc2.bar.whisker.width
    assert doc2.bar.band is not None
    assert doc2.bar.mark is not None
    assert next(item for item in drawn.rows if item.row.name == "template").bar.band is None


def test_share_bars_are_relative_to_the_largest_share() -> None:
    document = fixtures.why()
    shares = {
        item.row.name: item.share for item in figures.evidence(document.segments, document.prompt.segments, 16).rows
    }
    assert shares["template"] == 100
    assert shares["doc2"] == pytest.approx(100 * 0.047179 / 0.45158, abs=0.01)


def test_only_the_largest_effects_are_drawn_in_prompt_order() -> None:
    document = fixtures.why()
    drawn = figures.evidence(document.segments, document.prompt.segments, 3)
    assert [item.row.name for item in drawn.rows] == ["policy", "doc1", "doc2"]
    assert drawn.left_out == 3


def test_what_was_not_obtained_is_hatched_over_the_whole_axis() -> None:
    bar = figures.bar(Scale(-1.0, 1.0), None, 0.02)
    assert (bar.tone, bar.body.x, bar.body.width) == ("undefined", 3, 94)


def test_the_number_line_has_zero_between_base_and_after() -> None:
    document = fixtures.why()
    line = figures.verdict_line(document.verdict.causes[0], document.metric)
    assert line is not None
    assert line.base < line.zero < line.after
    assert len(line.shams) == 21
    assert max(line.shams) < line.zero
    assert line.after_helps
    assert figures.verdict_line(fixtures.not_determined().verdict.causes[0], document.metric) is None


def test_the_lens_turns_larger_values_upwards_and_colours_by_the_floor() -> None:
    document = fixtures.why()
    curve = figures.lens_curve(document.lens, 6.0, 0)
    assert curve is not None
    by_value = sorted(zip((row.ld for row in document.lens), (dot.y for dot in curve.dots), strict=True))
    assert [y for _, y in by_value] == sorted((y for _, y in by_value), reverse=True)
    assert {dot.tone for dot in curve.dots} == {"floor", "hurts"}
    assert figures.lens_curve((), 0.1, None) is None


@pytest.mark.parametrize("layer", [0, 12, 29])
def test_no_point_of_the_lens_reaches_the_strip_of_its_label(layer: int) -> None:
    document = fixtures.why()
    curve, plain = (figures.lens_curve(document.lens, 0.1, at) for at in (layer, None))
    assert curve is not None
    assert plain is not None
    assert min(dot.y for dot in curve.dots) >= figures.STRIP
    assert plain.zero < figures.STRIP <= curve.zero, "without a label its room is used"


def test_share_against_effect_is_a_dot_for_each_head_and_two_have_names() -> None:
    document = fixtures.why()
    found = figures.shares(document.heads, document.agreement, document.metric.noise)
    assert found is not None
    dots = [place for path in found.paths.values() for place in path.split("M") if place]
    assert len(dots) == len(document.heads)
    assert set(found.paths) <= {"helps", "hurts", "floor"}
    assert found.strongest is not None
    assert found.brightest.x == 97.0, "the largest share stands at the right end"
    assert min(found.strongest.y, found.brightest.y) >= 7.0
    alone = document.agreement.model_copy(update={"strongest_layer": document.agreement.brightest_layer})
    same = alone.model_copy(update={"strongest_head": document.agreement.brightest_head})
    assert figures.shares(document.heads, same, document.metric.noise).strongest is None
    assert figures.shares((), None, 0.1) is None
