import numpy as np
import pytest

from whybox.engine.sampling import Decoding, choose, distribution, penalised
from whybox.errors import UsageError

LOGITS = np.log(np.array([0.5, 0.3, 0.15, 0.05]))


def test_greedy_takes_the_largest_and_ties_go_to_the_lowest_id() -> None:
    generator = np.random.default_rng(0)
    assert choose(LOGITS, Decoding(), generator, ()) == 0
    assert choose(np.array([1.0, 3.0, 3.0]), Decoding(), generator, ()) == 1
    assert choose(LOGITS, Decoding(banned=(0,)), generator, ()) == 1


@pytest.mark.parametrize(
    ("decoding", "expected"),
    [
        (Decoding(temperature=1), [0.5, 0.3, 0.15, 0.05]),
        (Decoding(temperature=0.5), np.array([0.25, 0.09, 0.0225, 0.0025]) / 0.365),
        (Decoding(temperature=1, top_k=2), [0.625, 0.375, 0, 0]),
        (Decoding(temperature=1, top_p=0.79), [0.625, 0.375, 0, 0]),
        (Decoding(temperature=1, top_p=0.81), [0.5 / 0.95, 0.3 / 0.95, 0.15 / 0.95, 0]),
        (Decoding(temperature=1, top_k=3, top_p=0.5), [1, 0, 0, 0]),
        (Decoding(temperature=1, top_p=1.0), [0.5, 0.3, 0.15, 0.05]),
    ],
)
def test_narrowed_distributions_by_hand(decoding: Decoding, expected: list[float]) -> None:
    np.testing.assert_allclose(distribution(LOGITS, decoding), expected, atol=1e-12)


def test_draws_follow_the_distribution_and_repeat_with_the_seed() -> None:
    def draws(seed: int) -> list[int]:
        generator = np.random.default_rng(seed)
        return [choose(LOGITS, Decoding(temperature=1), generator, ()) for _ in range(4000)]

    counts = np.bincount(draws(1), minlength=4) / 4000
    np.testing.assert_allclose(counts, [0.5, 0.3, 0.15, 0.05], atol=0.03)
    assert draws(1) == draws(1) != draws(2)


@pytest.mark.parametrize("temperature", [1e-12, 1e-300, 5e-324])
def test_the_smallest_temperatures_are_greedy(temperature: float) -> None:
    assert choose(LOGITS, Decoding(temperature=temperature), np.random.default_rng(0), ()) == LOGITS.argmax()


@pytest.mark.parametrize(
    "wrong",
    [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_p": 0.0}, {"top_p": 1.1}, {"seed": -1}],
)
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Decoding(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("banned", "message"),
    [
        ((-1,), "count from 0"),
        ((len(LOGITS),), "banned ids must be 0"),
        (tuple(range(len(LOGITS))), "every id is banned"),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ids_that_cannot_be_banned_are_refused(banned: tuple[int, ...], message: str, temperature: float) -> None:
    with pytest.raises(UsageError, match=message):
        choose(LOGITS, Decoding(temperature, banned=banned), np.random.default_rng(0), ())


def test_repetition_penalty_lowers_ids_seen_before_whatever_their_sign() -> None:
    found = np.array([2.0, -2.0, 1.0])
    assert penalised(found, [0, 1, 1], 2.0).tolist() == [1.0, -4.0, 1.0]
    assert penalised(found, [0], 1.0) is found
