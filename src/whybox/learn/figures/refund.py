"""Case R, the shipped wrong answer: weights of the decision row beside what cutting and removing does, in logits."""

import numpy as np
from scipy.stats import spearmanr

from whybox.learn.figures.figure import OnModel, OnModels, Value
from whybox.learn.ground import Ground

EVIDENCE, FOR = 33, 55
HEADS = ((1, 4), (15, 8), (1, 0), (23, 0))
BRIGHT = (17, 5)


def _share(ground: Ground, key: int) -> float:
    """Mean over all heads of the decision row's weight on a key."""
    return float(ground.case_r.pattern[..., key].mean())


def _rank(ground: Ground) -> Value:
    """Place of the evidence digit among the keys before the decision, by share; how many there are."""
    shares = ground.case_r.pattern.mean(axis=(0, 1))[:-1]
    return float((shares > shares[EVIDENCE]).sum() + 1), float(len(shares))


def _rho(ground: Ground) -> Value:
    """Spearman's ρ of share and |effect| over those keys."""
    shares = ground.case_r.pattern.mean(axis=(0, 1))[:-1]
    return float(spearmanr(shares, np.abs(ground.case_r.key_effects)).statistic)


def _bright(ground: Ground) -> Value:
    """Head 17.5: its weight on the evidence digit, and what it brings."""
    return float(ground.case_r.pattern[BRIGHT][EVIDENCE]), ground.case_r.supports([BRIGHT])[0]


ON_MODEL: OnModels = {
    "refund.ld": OnModel(lambda ground: ground.case_r.ld),
    "refund.shares": OnModel(lambda ground: (_share(ground, EVIDENCE), _share(ground, FOR)), runs=0),
    "refund.effects": OnModel(lambda ground: (ground.case_r.key_effects[EVIDENCE], ground.case_r.key_effects[FOR])),
    "refund.rank": OnModel(_rank, runs=0),
    "refund.rho": OnModel(_rho, runs=0),
    "refund.bright": OnModel(_bright, runs=0),
    "refund.supports": OnModel(lambda ground: tuple(ground.case_r.supports(HEADS))),
}
