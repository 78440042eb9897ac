"""Drawn cases have the mechanism that their row promises: LD, and LD when it is undone, by brute force."""

import pytest

from tests.testing.reading import answer, ld, without
from whybox.engine.edit import zero
from whybox.testing.drawn import DRAWN, drawn
from whybox.testing.planted import Planted

SEEDS = range(60, 64)
FAULTY = [row for row in DRAWN if row.startswith("engine_fault")]


def near(value: float) -> object:
    """LD within .02, and 1 %: a steep slope over many positions feels the norms' scale."""
    return pytest.approx(value, abs=0.02 + 0.01 * abs(value))


@pytest.mark.parametrize("row", [row for row in DRAWN if row not in FAULTY])
def test_ld_is_what_the_row_states(row: str) -> None:
    for seed in SEEDS:
        planted = drawn(row, seed)
        assert ld(planted.model, planted.instance) == near(planted.expected.numbers["ld"]), seed


@pytest.mark.parametrize("row", FAULTY)
def test_the_fault_turns_a_right_answer_wrong(row: str) -> None:
    for seed in SEEDS:
        planted = drawn(row, seed)
        assert planted.sound is not None
        sound = Planted(planted.name, planted.sound, planted.case, planted.expected)
        assert (answer(planted), answer(sound)) == ("wrong", "right"), seed


def test_scenes_differ() -> None:
    cases = [drawn("first_biased", seed).instance for seed in range(60, 80)]
    assert len({len(case.parts) for case in cases}) >= 4
    assert {case.parts[0].name for case in cases} == {"intro", "doc1"}
    assert len({case.evidence for case in cases}) >= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_what_undoes_the_failure_is_where_the_row_says(seed: int) -> None:
    suppressed, memoriser = drawn("suppressed", seed), drawn("memoriser", seed)
    assert ld(suppressed.model, suppressed.instance, without(suppressed.heads["suppressor"])) == near(
        suppressed.expected.numbers["ld_without_suppressor"]
    )
    edit = zero("mlp_out", memoriser.mlps["memory"])
    assert ld(memoriser.model, memoriser.instance, [edit]) == near(memoriser.expected.numbers["ld_without_mlp"])


def test_a_row_that_does_not_exist() -> None:
    with pytest.raises(KeyError):
        drawn("magic", 0)
