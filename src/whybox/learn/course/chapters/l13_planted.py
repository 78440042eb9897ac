"""Eight planted models, unnamed: what every step did to their wrong answer, and the leaf that each must get."""

from dataclasses import dataclass

from whybox.cause.bench import Bench
from whybox.cause.claims import Kind
from whybox.cause.proofs import REMOVALS
from whybox.cause.stages import run_stages, stages
from whybox.cause.study import Study, closed_same_wrong, open_study
from whybox.learn.course.computed import Rows
from whybox.learn.ground import Ground
from whybox.testing.decoys import NONE
from whybox.testing.planted import Expected
from whybox.testing.rows import ROWS

PLANTED = (
    "not_looking", "memoriser", "first_biased", "near_tie", "suppressed", "beyond", "format_derailer", "missing_fact",
)  # fmt: skip
SEED = 3
ANSWER = 4  # tokens
UNTRIED, RIGHT, WRONG = "–", "✓", "✗"
SAME, ANOTHER = "=", "≠"  # the wrong answer, without any context


@dataclass(frozen=True, eq=False)
class Seen:
    """A planted model's study up to the removals, and the verdict that it must get."""

    study: Study
    expected: Expected


def planted(_: Ground) -> tuple[Seen, ...]:
    """All eight; each takes a tenth of a second."""
    return tuple(_seen(name) for name in PLANTED)


def _seen(name: str) -> Seen:
    row = ROWS[name](SEED, NONE)
    fact = "" if row.fact is None else row.fact.text
    study = open_study(Bench(row.model), row.case.instances(seed=0)[:1], ANSWER, fact=fact)
    plan = stages(study)
    run_stages(study, plan[: [stage.name for stage in plan].index(REMOVALS) + 1])
    return Seen(study, row.expected)


def leaf(expected: Expected) -> str:
    """The option that says it."""
    if expected.code == "not-determined":
        return "not_determined"
    return (expected.detail or expected.code).replace("-", "_")


def steps(ground: Ground) -> Rows:
    """A row a model: LD as it stands, then the answer after each step."""
    return tuple(
        (f"m{number}", each.study.decided.base.reading.ld, *_answers(each.study))
        for number, each in enumerate(ground.once(planted), 1)
    )


def _answers(study: Study) -> tuple[str, ...]:
    orders = [study.trials[name].flips for name in study.orders]
    out = [kind for kind in (Kind.SUPPRESSOR, Kind.WRITER) if study.claims.get(kind) is not None]
    written = [f"{name} {_flip(study, name)}" for name in ("greedy", "contract") if name in study.trials]
    return (
        _right(study.alone_right),
        _right(any(orders) if orders else None),
        _flip(study, "boost"),
        UNTRIED if "closed" not in study.trials else SAME if closed_same_wrong(study) else ANOTHER,
        _right(any(study.claims[kind] for kind in out) if out else None),
        _flip(study, "fact"),
        ", ".join(written) or UNTRIED,
    )


def _flip(study: Study, name: str) -> str:
    return _right(study.trials[name].flips if name in study.trials else None)


def _right(flips: bool | None) -> str:
    return UNTRIED if flips is None else RIGHT if flips else WRONG
