"""What chapter 15 computes: one suite on planted bots, and five failures with every step that was tried. No model.

A small suite of six probes is played on seven bots (5 s); judging a suite that was handed in takes about as long.
"""

from whybox.learn.course.chapters import l15_bots
from whybox.learn.course.chapters.handed import judged
from whybox.learn.course.chapters.l15_judges import counts, judge_reports, judge_suite, worst_sham
from whybox.learn.course.computed import Computations, Rows
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said
from whybox.probes.design import Estimate, Finding
from whybox.probes.failure_reading import ALONE, CHANGED, CLOSED, RENAMED, RETRY
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.judgement import Judged

SUITE = """
suite: six traits
targets: [bot:honest]
probes:
  order: {items: 20}
  edit: {items: 24}
  memory: {items: 20, runs: 1, explaining: [], explained: 4}
  evidence: {items: 20}
  documents: {items: 18}
gates:
  - {probe: order, statistic: changed, at_most: 0.2}
  - {probe: edit, statistic: follows, at_least: 0.8}
  - {probe: memory, statistic: obeyed, at_least: 0.8}
  - {probe: evidence, statistic: right, at_least: 0.8}
  - {probe: documents, statistic: right, at_least: 0.8}
"""
SHOWN = (l15_bots.HONEST, "tie_flipper(epsilon=0.1)", "always_first", "middle_blind(d=0.6)", "forgets_at(t0=7, q=0.2)")
BUGS = (
    "order", "edit", "memory", "evidence", "documents", "consistency", "knowledge", "failure", "consistency",
    "knowledge",
)  # fmt: skip


def _said(en: str, zh: str) -> Said:
    return Said(en=en, zh=zh)


PATTERNS: tuple[tuple[str, Said, str], ...] = (
    ("10.2", _said("system column low", "System 列很低"), "memory"),
    ("10.2", _said("a row on itself", "一行只看自己"), "edit"),
    ("10.2", _said("flat rows", "平坦"), "edit"),
    ("10.2", _said("last rows look at recent tokens", "最后几行看最近"), "evidence"),
    ("11.2", _said("early system rule fails", "早期系统指令失效"), "memory"),
    ("11.2", _said("retrieved and not used", "RAG 命中却未使用"), "evidence"),
    ("11.2", _said("one word changes everything", "一个词改动全局"), "edit"),
    ("11.2", _said("the middle is lost", "中间丢失"), "evidence"),
    ("11.2", _said("documents mixed up", "多文档张冠李戴"), "documents"),
)
LISTS: tuple[tuple[str, Said, str], ...] = (
    ("A", _said("prompt order", "Prompt 顺序敏感性"), "order"),
    ("A", _said("place of key facts", "关键信息位置"), "evidence"),
    ("A", _said("memory over turns", "长上下文记忆衰减"), "memory"),
    ("A", _said("who said what", "多文档归属"), "documents"),
    ("B", _said("cut-off, conflict, boundary", "截止日期、冲突、边界"), "knowledge"),
    ("B", _said("loss by quantisation", "量化损失"), "consistency"),
    ("C", _said("KV cache, FlashAttention", "KV Cache、FlashAttention"), "consistency"),
    ("C", _said("what GQA costs; speed", "GQA 退化；速度"), "consistency"),
    ("12.2", _said("one keyword rewritten", "最小改写对照"), "edit"),
    ("12.2", _said("structured attribution", "结构化归因"), "failure"),
)


Play = tuple[str, dict[str, Finding], list[Judged]]


def _play(_: Ground) -> tuple[Play, ...]:
    """Five bots under one suite."""
    suite = Behaviour.parse(SUITE)
    plans = l15_bots.planned(suite)
    return tuple((bot, *l15_bots.played(suite, plans, bot)) for bot in SHOWN)


def _played(ground: Ground) -> Rows:
    """The verdict of each probe's gate."""
    return tuple((bot, *(str(one.verdict.state) for one in judged)) for bot, _, judged in ground.once(_play))


def _order(ground: Ground) -> Rows:
    """One probe in full: the effect with interval, floor, null and p, on three bots."""
    return tuple((bot, *_estimate(found["order"].estimates[0])) for bot, found, _ in ground.once(_play)[:3])


def _estimate(one: Estimate) -> tuple[str, str, str, str, str]:
    interval = "–" if one.interval is None else f"[{one.interval[0]:.3f}, {one.interval[1]:.3f}]"
    return (
        _number(one.value),
        interval,
        _number(one.floor),
        _number(one.null_95),
        "–" if one.p is None else f"{one.p:.4f}",
    )


def _number(value: float | Unknown) -> str:
    return "–" if isinstance(value, Unknown) else f"{value:.3f}"


def _reports(ground: Ground) -> Rows:
    """Steps as rows, the five failures as columns: runs that are right."""
    cases = ground.once(l15_bots.failures)
    arms = {"retry": RETRY, "alone": ALONE, "closed": CLOSED, "changed": CHANGED, "renamed": RENAMED}
    rows = [(step, *(str(case.right(arm)) for case in cases)) for step, arm in arms.items()]
    rows.insert(1, ("lenient", *(str(counts("lenient", case)) for case in cases)))
    rows.insert(3, ("order", *(str(counts("order", case)) for case in cases)))
    for step, arm in (("closed = plain", CLOSED), ("changed = plain", CHANGED)):
        rows.append((step, *("✓" if case.as_before(arm) else "✗" for case in cases)))
    return (*rows, ("sham", *(str(worst_sham(case)) for case in cases)))


def _answers(ground: Ground) -> Rows:
    """What the five wrote, and what was right."""
    return tuple(
        (f"r{n}", str(getattr(case.plain.outcome, "text", "–")), case.item.instance.right)
        for n, case in enumerate(ground.once(l15_bots.failures), 1)
    )


COMPUTED = Computations(
    tables={
        "patterns": lambda _: PATTERNS,
        "lists": lambda _: LISTS,
        "played": _played,
        "order": _order,
        "reports": _reports,
        "answers": _answers,
    },
    answers={"bugs": lambda _: BUGS},
    judges={"suite": judged(judge_suite), "reports": judged(judge_reports)},
)
