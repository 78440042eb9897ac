"""Where knowledge of dated facts fades: a step in time, with a set that holds it, inverted by simulation.

Accuracy is λ before month c and γ from c on, λ ≥ γ; controls that nobody can know belong to the γ part. Every c is
tested against the likelihood ratio of 199 tables drawn under its own fit: χ² does not hold for a step.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer
from scipy.special import xlogy

from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown

DRAWS, ALPHA = 199, 0.05
FACTS_A_MONTH, FACTS, CONTROLS = 3, 120, 60
WIDEST = 12  # months; a wider set locates nothing

Months = Integer[np.ndarray, "*draws month"]
Ends = Float[np.ndarray, "*draws step"]


@dataclass(frozen=True)
class Dated:
    """Right answers and facts of every month, in order, and those of the controls."""

    right: Integer[np.ndarray, "month"]
    asked: Integer[np.ndarray, "month"]
    controls: Rate


@dataclass(frozen=True)
class Fading:
    """step: months that are known, the likeliest c. plausible: the 95 % set. before, after: λ and γ at the step."""

    step: int
    plausible: tuple[int, ...]
    before: float
    after: float

    @property
    def span(self) -> tuple[int, int]:
        return self.plausible[0], self.plausible[-1]


def fading(dated: Dated, generator: np.random.Generator, draws: int = DRAWS) -> Fading | Unknown:
    """The step and its set; Unknown where there are too few facts, or where the set locates nothing."""
    lacking = _lacking(dated)
    if lacking is not None:
        return lacking
    found = plausible(dated, generator, draws)
    months = len(dated.asked)
    if found[0] == 0 or found[-1] == months:
        return Unknown("not located: the set reaches an end of the table")
    if found[-1] - found[0] > WIDEST:
        return Unknown(f"not located: the set spans {found[-1] - found[0]} months")
    step = int(profile(dated.right, dated.asked, np.int64(dated.controls.hits), dated.controls.n).argmax())
    return Fading(step, found, *fitted(dated, step))


def plausible(dated: Dated, generator: np.random.Generator, draws: int = DRAWS) -> tuple[int, ...]:
    """Every c whose own tables show as large a likelihood ratio in more than 5 % of the draws, (1 + #)/(1 + R)."""
    steps = range(len(dated.asked) + 1)
    return tuple(step for step in steps if p_of_step(dated, step, generator, draws) > ALPHA)


def p_of_step(dated: Dated, step: int, generator: np.random.Generator, draws: int = DRAWS) -> float:
    """p of "the step lies at c": how often tables drawn under its fit are as much better explained by another c."""
    seen = _ratio(profile(dated.right, dated.asked, np.int64(dated.controls.hits), dated.controls.n), step)
    before, after = fitted(dated, step)
    rates = np.where(np.arange(len(dated.asked)) < step, before, after)
    right = generator.binomial(dated.asked, rates, (draws, len(dated.asked)))
    controls = generator.binomial(dated.controls.n, after, draws)
    drawn = _ratio(profile(right, dated.asked, controls, dated.controls.n), step)
    return float((1 + np.count_nonzero(drawn >= seen - 1e-9)) / (1 + draws))


def fitted(dated: Dated, step: int) -> tuple[float, float]:
    """λ and γ that explain the table best when the step lies at c."""
    before = Rate(int(dated.right[:step].sum()), int(dated.asked[:step].sum()))
    hits = int(dated.right[step:].sum()) + dated.controls.hits
    after = Rate(hits, int(dated.asked[step:].sum()) + dated.controls.n)
    pooled = (before.hits + after.hits) / (before.n + after.n)
    known = before.hits / before.n if before.n else pooled
    guessed = after.hits / after.n if after.n else pooled
    return (known, guessed) if known >= guessed else (pooled, pooled)


def profile(
    right: Months, asked: Integer[np.ndarray, "month"], controls: Integer[np.ndarray, "*draws"] | np.int64, n: int
) -> Ends:
    """Log-likelihood of every c, each at its own λ ≥ γ, up to a constant, for one table or many."""
    start = np.zeros((*right.shape[:-1], 1), np.int64)
    hits = np.concatenate([start, np.cumsum(right, axis=-1)], axis=-1)
    trials = np.concatenate([[0], np.cumsum(asked)])
    total = hits[..., -1:] + np.asarray(controls)[..., None]
    after, left = total - hits, trials[-1] - trials + n
    apart = _log_likelihood(hits, trials) + _log_likelihood(after, left)
    pooled = _log_likelihood(total, trials[-1:] + n)
    return np.where(hits * left >= after * trials, apart, pooled)


def _log_likelihood(hits: np.ndarray, n: np.ndarray) -> np.ndarray:
    """k ln(k/n) + (n − k) ln(1 − k/n), 0 where n is 0."""
    share = hits / np.maximum(n, 1)
    return np.asarray(xlogy(hits, share) + xlogy(n - hits, 1 - share))


def _ratio(likelihood: Ends, step: int) -> Float[np.ndarray, "*draws"]:
    return np.asarray(likelihood.max(axis=-1) - likelihood[..., step])


def _lacking(dated: Dated) -> Unknown | None:
    facts, fewest = int(dated.asked.sum()), int(dated.asked.min()) if dated.asked.size else 0
    if facts < FACTS:
        return Unknown(f"{facts} dated facts, at least {FACTS} are needed")
    if fewest < FACTS_A_MONTH:
        return Unknown(f"a month has {fewest} facts, at least {FACTS_A_MONTH} are needed")
    if dated.controls.n < CONTROLS:
        return Unknown(f"{dated.controls.n} controls, at least {CONTROLS} are needed")
    return None
