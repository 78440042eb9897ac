"""What chapter 13 computes: case R by weight and by effect, cuts and boosts with shams, planted leaves.

On the model: the answer of case R (1 s), every key cut (2 s), four answers written anew (4 s), 21 shams and the lens
(2 s), five heads silenced (1 s). Judging an edge set takes 3 s, a regression case 4 s.
"""

import numpy as np

from whybox.learn.course.chapters import l13_planted, l13_refund
from whybox.learn.course.chapters.handed import judged
from whybox.learn.course.chapters.l12 import case_subject, drawn
from whybox.learn.course.chapters.l13_case import judge_case
from whybox.learn.course.computed import Computations, Rows
from whybox.learn.figures.figure import OnModel, OnModels, Value
from whybox.learn.ground import Ground
from whybox.measure.diagnosis import evidence_lift
from whybox.measure.lens import LensRow, logit_lens

RANKED = (33, 6, 0, 55)
KEYS = (0, 6, 55, 54, 49, 23, 21, 33)
HEADS = ((1, 0), (23, 0), (17, 5), (15, 8), (1, 4))
EVIDENCE_DIGIT = 33
ATTEMPTS = {
    "evidence alone": "− doc1",
    "other order": "doc2, doc1",
    "boost doc2": "boost → doc2",
    "cut doc1": "cut → doc1",
}
LAYERS = (0, 5, 10, 14, 16, 18, 20, 22, 24, 26, 28, 29)


def shares(ground: Ground) -> np.ndarray:
    """The decision row's weight on every key, mean over all heads."""
    return np.asarray(ground.case_r.pattern.mean(axis=(0, 1)))


def shade(ground: Ground, key: int) -> str:
    """How dark a key is on the map."""
    return drawn(shares(ground)[[key]])


def _ranked(ground: Ground) -> tuple[str, ...]:
    """Keys by what cutting them does, the largest first."""
    order = sorted(RANKED, key=lambda key: -abs(ground.case_r.key_effects[key]))
    return tuple(f"k{key}" for key in order)


def _tokens(ground: Ground) -> Rows:
    """Key, token, share of the row, change of LD when the decision cannot see it."""
    ids, effects = ground.case_r.base.decision.ids, ground.case_r.key_effects
    labels = {key: repr(ground.model.tokenizer.text([ids[key]])) for key in KEYS}
    return tuple((key, labels[key], float(shares(ground)[key]), effects[key]) for key in KEYS)


def _heads(ground: Ground) -> Rows:
    """Head, its weight on the evidence digit, LD lost when it writes nothing."""
    pattern, supports = ground.case_r.pattern, ground.case_r.supports(HEADS)
    weights = [float(pattern[at][EVIDENCE_DIGIT]) for at in HEADS]
    return tuple(
        (f"{at[0]}.{at[1]}", weight, brings) for at, weight, brings in zip(HEADS, weights, supports, strict=True)
    )


def _bright_rank(ground: Ground) -> Value:
    """Place of head 17.5 among all heads, by weight on the evidence digit; how many there are."""
    weights = ground.case_r.pattern[..., EVIDENCE_DIGIT]
    return float((weights > weights[17, 5]).sum() + 1), float(weights.size)


def _lens_rows(ground: Ground) -> list[LensRow]:
    study, decision = ground.case_r.study, ground.case_r.base.decision
    trace = study.bench.see(decision.ids, ["resid_post"], last=1)
    return logit_lens(trace, ground.model.engine, decision.right[0], decision.wrong[0])


def _lens(ground: Ground) -> Rows:
    rows = ground.once(_lens_rows)
    return tuple(
        (layer, rows[layer].ld, float(np.exp(rows[layer].right)), float(np.exp(rows[layer].wrong))) for layer in LAYERS
    )


def _lens_best(ground: Ground) -> Value:
    """The largest LD after any layer, and that layer."""
    best = max(ground.once(_lens_rows), key=lambda row: row.ld)
    return best.ld, float(best.layer)


def _attempts(ground: Ground) -> Rows:
    """What was changed, LD on the old path, the answer written anew, whether it is right."""
    said = {
        "evidence alone": "− doc1",
        "other order": "doc2, doc1",
        "boost doc2": "boost → doc2",
        "cut doc1": "cut → doc1",
    }
    found = ground.once(l13_refund.attempts)
    rows = [(said[name], found[name].outcome) for name in said]
    return tuple(
        (name, one.old.ld if one.old else float("nan"), one.answer.strip()[:60], "✓" if one.flips else "✗")
        for name, one in rows
    )


def _boosted(ground: Ground) -> Value:
    """LD with the evidence boosted, with the other passage cut, with the evidence alone, in the other order."""
    found = ground.once(l13_refund.attempts)
    names = ("boost doc2", "cut doc1", "evidence alone", "other order")
    return tuple(old.ld for name in names if (old := found[name].outcome.old) is not None)


def _shams(ground: Ground) -> Value:
    """How many spans, smallest and largest LD after boosting one, how many with the right answer ahead, p."""
    after = ground.once(l13_refund.shams)
    ahead = sum(ld > 5 * l13_refund.NOISE for ld in after)
    return float(len(after)), min(after), max(after), float(ahead), (1 + ahead) / (1 + len(after))


def _lift(ground: Ground) -> Value:
    found = evidence_lift(ground.once(case_subject))
    assert found is not None, "case R names its evidence"
    return found


def _other_digit(ground: Ground) -> Value:
    """Cutting the digit of the other passage."""
    return ground.case_r.key_effects[21]


def _paths(ground: Ground) -> Rows:
    own = ground.case_r.base.decision.prefix
    found = zip((own, *l13_refund.PREFIXES), (ground.case_r.ld, *ground.once(l13_refund.forced)), strict=True)
    return tuple((repr(prefix), ld) for prefix, ld in found)


ON_MODEL: OnModels = {
    "l13.bright_rank": OnModel(_bright_rank, runs=0),
    "l13.lens_best": OnModel(_lens_best, runs=1),
    "l13.boosted": OnModel(_boosted, runs=8),
    "l13.shams": OnModel(_shams, runs=21),
    "l13.lift": OnModel(_lift, runs=1),
    "l13.other_digit": OnModel(_other_digit, runs=0),
    "l13.forced": OnModel(lambda ground: ground.once(l13_refund.forced), runs=3),
}

COMPUTED = Computations(
    on_model=ON_MODEL,
    tables={
        "tokens": _tokens,
        "heads": _heads,
        "lens": _lens,
        "attempts": _attempts,
        "paths": _paths,
        "planted": l13_planted.steps,
    },
    answers={
        "ranked": _ranked,
        "silenced": lambda _: ("nothing",),
        "leaves": lambda ground: tuple(l13_planted.leaf(each.expected) for each in ground.once(l13_planted.planted)),
        "trajectory": lambda _: ("same_again", "taken_before", "one_early_token"),
    },
    judges={"edge_set": judged(l13_refund.judge_edges), "regression": judged(judge_case)},
)
