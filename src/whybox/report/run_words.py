"""Sentences of a report of a run, in English and Chinese."""

from whybox.report.document import Lang

RUNS: dict[str, tuple[str, str]] = {
    "state.pass": ("pass", "通过"),
    "state.fail": ("fail", "未通过"),
    "state.inconclusive": ("inconclusive", "未定"),
    "state.error": ("error", "错误"),
    "state.skipped": ("skipped", "已跳过"),
    "state.none": ("measured, no gate", "已测量，未设门限"),
    "run.counts": (
        "{finished} calls finished, of {chosen} chosen and those of the floor · {failed} failed · {cached} from the cache",
        "已完成 {finished} 次调用（选中 {chosen} 次，另有底噪调用）· 失败 {failed} 次 · 来自缓存 {cached} 次",
    ),
    "run.floor": (
        "floor of {target}, {condition}: {hits} of {n} equal calls were answered otherwise",
        "{target} 的底噪（{condition}）：{n} 次相同请求中有 {hits} 次回答不同",
    ),
    "run.table": ("| probe | target | verdict | estimate |", "| 探针 | 目标 | 结论 | 估计 |"),
    "run.left_out": ("{n} rows are left out; report.json holds them.", "省略了 {n} 行；report.json 包含全部。"),
    "why.head": ("why", "原因"),
    "why.code": ("{code}{effect}. {sentence}", "{code}{effect}。{sentence}"),
    "why.undone": (" (undone by {what})", "（可由“{what}”消除）"),
    "why.effect": (
        " (undone by {what}, LD {effect} nats{interval})",
        "（可由“{what}”消除，LD {effect} nats{interval}）",
    ),
    "why.this-prompt": (" This prompt only.", " 仅此提示。"),
    "why.none": ("could not be explained: {reason}", "无法解释：{reason}"),
    "run.cut": (
        "{n} answers were cut by max_tokens before they gave a whole value: raise it",
        "{n} 个回答还没给出完整的答案就被 max_tokens 截断：请调大该值",
    ),
    "run.cut.one": (
        "1 answer was cut by max_tokens before it gave a whole value: raise it",
        "1 个回答还没给出完整的答案就被 max_tokens 截断：请调大该值",
    ),
    "run.needs": ("About {n} more items would settle it.", "再增加约 {n} 个样本即可判定。"),
    "because.shown.pass": ("The demand is shown to hold (p {holds}).", "数据表明要求成立（p {holds}）。"),
    "because.shown.fail": ("{demand} is shown not to hold (p {broken}).", "数据表明 {demand} 不成立（p {broken}）。"),
    "because.open.inconclusive": (
        "Neither that {demand} holds (p {holds}) nor that it does not (p {broken}) is shown.",
        "{demand} 成立（p {holds}）或不成立（p {broken}）均未得到证明。",
    ),
    "because.several-gates.inconclusive": (
        "Alone it would be decided; adjusted for all gates of the probe it is not (p {holds} and {broken}).",
        "单独看可以判定；按该探针的全部门限校正后不能（p {holds} 与 {broken}）。",
    ),
    "because.errors-decide.inconclusive": (
        "It depends on what the lost calls would have answered (p {holds} and {broken} without them).",
        "结论取决于丢失的调用会如何回答（不计它们时 p {holds} 与 {broken}）。",
    ),
    "because.calls-lost.error": ("{detail}.", "丢失的调用过多：{detail}。"),
    "because.broken-design.error": ("The design did not hold: {detail}.", "实验设计不成立：{detail}。"),
    "because.not-run.skipped": ("Not run: {detail}.", "未运行：{detail}。"),
}


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence of that key in that language, with its blanks filled."""
    english, chinese = RUNS[key]
    return (chinese if lang == "zh" else english).format_map(values)
