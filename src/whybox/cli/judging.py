"""`whybox report RUN --judge TARGET`: what a judge model makes of the answers that no scorer could read."""

import time
from pathlib import Path

from whybox.cli.options import Language, language
from whybox.cli.telling import print_document
from whybox.jobs.run_judge import JudgedProbe, JudgedRun, judged_run
from whybox.model import open_model
from whybox.report.document import Lang
from whybox.report.estimate_line import points
from whybox.report.visible import one_line
from whybox.statistics.unknown import Unknown
from whybox.targets.naming import target_of

_WORDS = {
    "en": (
        "judge {name}: calls {se} of the right answers right, {sp} of the others not right · {calls} calls, {failed} "
        "without yes or no",
        "{probe}: right {value} % [{low}, {high}], {plain} before its errors are taken off · n {n} items, {open} "
        "for the judge",
        "{probe}: — ({reason}) · n {n} items, {open} for the judge",
    ),
    "zh": (
        "评判模型 {name}：正确答案中判对 {se}，其余中判为不对 {sp} · {calls} 次调用，{failed} 次没有是或否",
        "{probe}：正确率 {value} % [{low}, {high}]，扣除其误差前 {plain} · n {n} 个样本，其中 {open} 个由其评判",
        "{probe}：—（{reason}）· n {n} 个样本，其中 {open} 个由其评判",
    ),
}


def judge(run: Path, name: str, json: bool, lang: Language) -> None:
    """Asks, and says it on stdout. Nothing of the run changes."""
    begun = time.perf_counter()
    found = judged_run(run, target_of(name, open_model))
    if json:
        print_document("judged", begun, _plain(found, name))
        return
    words, accuracy = _WORDS[language(lang)], found.judge
    rates = {"se": accuracy.sensitivity, "sp": accuracy.specificity}
    print(words[0].format(name=one_line(name), **rates, calls=found.calls, failed=found.failed))
    for probe in found.probes:
        print(_line(probe, language(lang)))


def _line(row: JudgedProbe, lang: Lang) -> str:
    told = {"probe": one_line(f"{row.probe} · {row.target}"), "n": row.seen.n, "open": row.seen.open + row.unread}
    if isinstance(row.found, Unknown):
        return _WORDS[lang][2].format(**told, reason=row.found.reason)
    low, high = map(points, row.found.interval)
    numbers = {"value": points(row.found.value), "low": low, "high": high, "plain": points(row.found.plain)}
    return _WORDS[lang][1].format(**told, **numbers)


def _plain(found: JudgedRun, name: str) -> dict[str, object]:
    accuracy = {
        each: {"hits": rate.hits, "n": rate.n}
        for each, rate in (("sensitivity", found.judge.sensitivity), ("specificity", found.judge.specificity))
    }
    rows = [_row(each) for each in found.probes]
    return {"judge": name, **accuracy, "calls": found.calls, "failed": found.failed, "probes": rows}


def _row(row: JudgedProbe) -> dict[str, object]:
    unknown = row.found.reason if isinstance(row.found, Unknown) else None
    known = None if isinstance(row.found, Unknown) else row.found
    return {
        "probe": row.probe,
        "target": row.target,
        "n": row.seen.n,
        "open": row.seen.open,
        "unread": row.unread,
        "right": known and known.value,
        "right_reason": unknown,
        "interval": known and known.interval,
        "interval_reason": unknown,
        "plain": known and known.plain,
        "plain_reason": unknown,
    }
