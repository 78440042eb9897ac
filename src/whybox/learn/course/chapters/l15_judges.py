"""Judges of chapter 15: a suite by playing it on seven bots, five reports by what was run."""

import re
from collections.abc import Sequence
from typing import Any

from whybox.learn.course.chapters import l15_bots
from whybox.learn.course.chapters.handed import Remarks, Unusable, listed, mapping
from whybox.learn.course.computed import Remark
from whybox.learn.ground import Ground
from whybox.probes import PROBES
from whybox.probes.failure_reading import ALONE, ORDER, RENAMED, RETRY, SHAM, Case, Cause, cause_of
from whybox.statistics.intervals import Rate
from whybox.suite.behaviour import Behaviour
from whybox.suite.gates import State

MOST_CALLS = 5_000
STEPS = {"order": ORDER, "alone": ALONE, "renamed": RENAMED}
CAUSES = {
    "order": "order",
    "alone": "context-use",
    "renamed": "knowledge",
    "lenient": "format",
    "none": "not-determined",
}
NAMES = ("r1", "r2", "r3", "r4", "r5")
MECHANISMS = re.compile(
    r"attention|\bffn\b|\bmlp\b|\bheads?\b|\blayers?\b|neuron|hallucinat|\bmad\b|crazy|random"
    r"|注意力|神经元|幻觉|抽风|随机|(?:第.{1,4}|某|中间|深)层|注意头|参数记忆",
    re.IGNORECASE,
)


def judge_suite(text: str, _: Ground) -> Remarks:
    """Nothing is raised on `honest`; every one of the six fails a gate."""
    suite = Behaviour.parse(text, "the suite")
    plans = l15_bots.planned(suite)
    calls = sum(len(plan.calls) for plan in plans.values())
    if calls > MOST_CALLS:
        said = f"{calls} calls for one target; at most {MOST_CALLS} are played here"
        raise Unusable(said, f"每个目标 {calls} 次调用；这里至多 {MOST_CALLS} 次")
    honest = _raised(suite, plans, l15_bots.HONEST)
    caught = [(bot, _raised(suite, plans, bot, State.FAIL)) for bot in l15_bots.SIX]
    alarm = Remark(not honest, f"on honest: {_told(honest)}", f"honest：{_told(honest)}")
    return (alarm, *(Remark(bool(by), f"{bot}: {_told(by)}", f"{bot}：{_told(by)}") for bot, by in caught))


def _raised(suite: Behaviour, plans: dict[str, Any], bot: str, *states: State) -> list[str]:
    """Gates that fail; where no state is named, those that are in error as well."""
    wanted = states or (State.FAIL, State.ERROR)
    _, judged = l15_bots.played(suite, plans, bot)
    return [
        f"{one.text.probe}.{one.text.statistic} {one.verdict.state}" for one in judged if one.verdict.state in wanted
    ]


def _told(gates: Sequence[str]) -> str:
    return ", ".join(gates) or "–"


def judge_reports(text: str, ground: Ground) -> Remarks:
    """Each report by the same rules: what was seen, which step undid it, counts, cause, the test that follows."""
    given = {
        str(one.get("id")): one for one in listed(mapping(text).get("reports"), "reports") if isinstance(one, dict)
    }
    if missing := [name for name in NAMES if name not in given]:
        raise Unusable(f"no report {', '.join(missing)}", f"缺少报告 {', '.join(missing)}")
    cases = dict(zip(NAMES, ground.once(l15_bots.failures), strict=True))
    return tuple(remark for name in NAMES for remark in _report(name, given[name], cases[name]))


def _report(name: str, given: dict[str, Any], case: Case) -> Remarks:
    found = cause_of(case)
    return (_plain_words(name, given), _counted(name, given, case), _named(name, given, found), _followed(name, given))


def _plain_words(name: str, given: dict[str, Any]) -> Remark:
    said, whole = str(given.get("saw", "")), " ".join(map(str, given.values()))
    word = MECHANISMS.search(whole)
    holds = len(said) >= 12 and word is None
    told = word[0] if word else said or "–"
    return Remark(
        holds,
        f"{name}.saw: what was asked and answered, and no mechanism or mood of the model; found {told!r}",
        f"{name}.saw：写问了什么、答了什么，不写机制，也不写模型的脾气；得到 {told!r}",
    )


def _counted(name: str, given: dict[str, Any], case: Case) -> Remark:
    """The step that is named, its runs, and the retries, as they were measured."""
    step = str(given.get("undone_by"))
    due, retries = counts(step, case), case.right(RETRY)
    if due is None:
        return Remark(
            False, f"{name}.undone_by: one of {', '.join(CAUSES)}", f"{name}.undone_by：应为 {', '.join(CAUSES)} 之一"
        )
    came = f"{given.get('right')} of {given.get('of')}, retries {given.get('retries')}"
    wanted = f"{due}, retries {retries.hits}"
    return Remark(
        came == wanted,
        f"{name}: the table says {wanted} for {step}; the report says {came}",
        f"{name}：表中 {step} 为 {wanted}；报告写 {came}",
    )


def counts(step: str, case: Case) -> Rate | None:
    """Right runs after a step; for orders the best of them. None for a step that nobody made."""
    if step == "none":
        return case.right(RETRY)
    if step == "lenient":
        return Rate(int(cause_of(case).undone_by.startswith("a lenient")), 1)
    if step not in STEPS:
        return None
    arms = [arm for arm in case.after if arm.startswith(STEPS[step])]
    return max((case.right(arm) for arm in arms), key=lambda rate: rate.hits, default=None)


def _named(name: str, given: dict[str, Any], found: Cause) -> Remark:
    """A cause follows from its step, and only where that step undoes the failure while nothing else does."""
    cause, step = str(given.get("cause")), str(given.get("undone_by"))
    holds = cause == found.code and CAUSES.get(step) == cause
    why = f"{step} undoes it" if step != "none" else "nothing undoes it"
    return Remark(
        holds,
        f"{name}: {cause!r} because {why}; a cause is named by the step that undid it in 4 of 5 runs while retries and "
        "shams did not, and by nothing else",
        f"{name}：写了 {cause!r}，依据 {step}；只有在 5 次中消除 4 次、而重试和对照编辑都不行的那一步，才能命名原因",
    )


def _followed(name: str, given: dict[str, Any]) -> Remark:
    test = str(given.get("test"))
    return Remark(
        test in PROBES,
        f"{name}.test: a probe for CI, found {test!r}",
        f"{name}.test：进入 CI 的探针，得到 {test!r}",
    )


def worst_sham(case: Case) -> Rate:
    """The sham after which most runs are right."""
    rates = [case.right(arm) for arm in case.after if arm.startswith(SHAM)]
    return max(rates, key=lambda rate: rate.hits, default=Rate(0, 0))
