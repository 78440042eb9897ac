"""L1, L2, L3, L5 and L6 on the default model: all of it is there, and the answers are the recorded ones."""

import math

import pytest

from tests.learn.course.driving import (
    chapter,
    computations,
    everything_fills,
    ids_fit,
    numbers_of,
    remembered,
    right_numbers,
    sources_exist,
    tables_fit,
)
from tests.real import real
from whybox.learn.course.chapter import Numbers
from whybox.learn.figures import ON_MODEL
from whybox.learn.ground import Ground
from whybox.spec import PlainRope

pytestmark = pytest.mark.model
NAMES = ("l01", "l02", "l03", "l05", "l06")


@pytest.fixture(scope="module")
def ground() -> Ground:
    return remembered(Ground(lambda: real("smollm2")))


@pytest.mark.parametrize("name", NAMES)
def test_all_of_it_is_there(name: str, ground: Ground) -> None:
    words, computed = chapter(name), computations(name)
    assert everything_fills(words, computed, ground) == []
    ids_fit(words, computed, ground)
    tables_fit(words, computed, ground)
    sources_exist(words)


def numbers(name: str, question: str, ground: Ground) -> tuple[float, ...]:
    """What is right in a chapter's question that asks for numbers."""
    words = chapter(name)
    (asked,) = [each for each in (*words.predict, *words.exercises) if each.id == question]
    assert isinstance(asked, Numbers)
    return right_numbers(asked, computations(name), ground)


def test_l1_ids_and_rows(ground: Ground) -> None:
    computed = computations("l01")
    assert numbers("l01", "ids_of_words", ground) == (2, 1, 5, 4)
    assert computed.answers["same_row"](ground) == ("same",)
    assert computed.answers["same_ids"](ground) == ("process", "cat", "the_dog", "days")
    assert [row[1] for row in computed.tables["stages"](ground)] == [504, 3575, 282, 4649, 314]
    labels = [row[3] for row in computed.tables["cut"](ground)]
    assert labels[3:8] == ["退 1/2", "退 2/2", "款 1/3", "款 2/3", "款 3/3"]


def test_l2_order_names_the_victim(ground: Ground) -> None:
    rows = computations("l02").tables["victims"](ground)
    (dog, man), (dog_bit, man_bit) = (numbers_of(row[1:3]) for row in rows)
    assert man > dog
    assert dog_bit > man_bit


def test_l3_harm_and_profiles(ground: Ground) -> None:
    computed = computations("l03")
    assert computed.answers["harm"](ground) == ("rope_base_1e4", "no_rope", "rope_pairing", "rope_of_model_width")
    assert computed.answers["causes"](ground) == ("alike", "positions", "token", "alike", "positions")
    for row, case in zip(computed.tables["profiles"](ground), computed.answers["causes"](ground), strict=True):
        first, *later = numbers_of(row[1:])
        growing = first == 0 and later == sorted(set(later))
        alone = first == 0 and sum(value > 0 for value in later) == 1
        assert (first > 1e-4, growing, alone) == (case == "alike", case == "positions", case == "token"), row


def test_l5_scores_after_training(ground: Ground) -> None:
    assert numbers("l05", "spread", ground) == pytest.approx((8, 22.627), abs=0.001)
    assert numbers("l05", "width_256", ground) == (256, 1)
    assert computations("l05").answers["after_training"](ground) == ("larger",)


def test_l6_without_a_mask(ground: Ground) -> None:
    late, without = numbers("l06", "late", ground)
    assert (late, without) == pytest.approx((7.427, 3.488), abs=0.005)
    assert numbers("l06", "two_one_hidden", ground) == pytest.approx((0.7311, 0.2689, 0), abs=5e-5)


def test_what_questions_quote_is_so(ground: Ground) -> None:
    """Questions have no blanks: numbers that they name for orientation are held against the model here."""
    spec, nll = ground.model.spec, ground.once(ON_MODEL["faults.none"].compute)
    guess, even = f"{ground.once(ON_MODEL['faults.chance'].compute):.2f}", f"{math.log(256):.2f}"
    attention = spec.layers[0].attention
    assert isinstance(attention.rope, PlainRope)
    assert (spec.width, attention.head_width, attention.rope.base, spec.context) == (576, 64, 100_000, 8_192)
    quoted = {
        ("l02", "without_rope"): (f"{nll:.2f}", guess),
        ("l03", "moved_away"): (f"{nll:.4f}", f"{spec.context:,}"),
        ("l05", "entropy"): (even,),
        ("l06", "late"): (f"{nll:.2f}", guess),
    }
    for (name, question), numbers_of_it in quoted.items():
        (asked,) = [each for each in chapter(name).predict if each.id == question]
        for number in numbers_of_it:
            assert number in asked.ask.en
            assert number in asked.ask.zh
