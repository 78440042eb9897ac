"""The sentences of `diff`, in both languages."""

from whybox.report.document import Lang

WORDS: dict[str, dict[Lang, str]] = {
    "verdict.identical": {"en": "Identical: every number is the same.", "zh": "完全相同：所有数值逐一相等。"},
    "verdict.rounding": {
        "en": "Rounding: nothing beyond what {precision} arithmetic explains.",
        "zh": "舍入误差：差异均可由 {precision} 运算解释。",
    },
    "verdict.named": {"en": "{n} cause(s) named: {named}.", "zh": "已确定 {n} 个原因：{named}。"},
    "verdict.part-named": {
        "en": "Named in part: {named}; what is left is not determined.",
        "zh": "部分确定：{named}；其余原因未定。",
    },
    "verdict.not-determined": {"en": "Different; the cause is not determined.", "zh": "存在差异，原因未定。"},
    "verdict.unlike": {"en": "Not the same experiment: {reason}.", "zh": "不是同一实验：{reason}。"},
    "ladder": {"en": "Alike?", "zh": "前提是否一致"},
    "state.same": {"en": "same", "zh": "相同"},
    "state.different": {"en": "different", "zh": "不同"},
    "state.unknown": {"en": "unknown", "zh": "未知"},
    "check.shape": {"en": "shape", "zh": "结构"},
    "check.weights": {"en": "weights", "zh": "权重"},
    "check.template": {"en": "template", "zh": "模板"},
    "check.ids": {"en": "token ids", "zh": "token id"},
    "check.positions": {"en": "positions", "zh": "位置"},
    "where": {"en": "Where", "zh": "差异位置"},
    "first": {
        "en": "first at {site}, position {position} ({text}): {error} of its size, rounding explains {allowed}",
        "zh": "首次出现于 {site}，位置 {position}（{text}）：相对大小 {error}，舍入可解释 {allowed}",
    },
    "nowhere": {"en": "nowhere beyond rounding", "zh": "没有超出舍入误差之处"},
    "heads": {"en": "only in heads {heads}", "zh": "仅见于头 {heads}"},
    "channels": {"en": "only in channels {first}–{last}", "zh": "仅见于通道 {first}–{last}"},
    "shape.none": {"en": "over positions: nothing", "zh": "按位置：无"},
    "shape.positions": {
        "en": "over positions: zero at 0, then growing — the mark of a fault of position",
        "zh": "按位置：0 处为零，其后增大——位置类故障的特征",
    },
    "shape.window": {
        "en": "over positions: nothing before {first}, the window — the mark of a window",
        "zh": "按位置：{first}（窗口处）之前无差异——窗口故障的特征",
    },
    "shape.everywhere": {
        "en": "over positions: the same everywhere — the mark of a scale, a norm or an activation",
        "zh": "按位置：处处相近——缩放、归一化或激活函数的特征",
    },
    "shape.one-token": {
        "en": "over positions: one token alone — a sink or a massive activation",
        "zh": "按位置：仅一个 token——sink 或巨大激活",
    },
    "shape.uneven": {"en": "over positions: from the first on, uneven", "zh": "按位置：自首个 token 起，大小不一"},
    "shape.from": {"en": "over positions: nothing before {first}", "zh": "按位置：{first} 之前无差异"},
    "why": {"en": "Why", "zh": "原因"},
    "named": {"en": "{what}{layers}", "zh": "{what}{layers}"},
    "named.layers": {"en": " in layers {layers}", "zh": "（层 {layers}）"},
    "undone": {
        "en": "imposed on the first side it leaves {error} at the logits; rounding allows {allowed}",
        "zh": "施加到第一侧后，logits 处剩余 {error}；舍入允许 {allowed}",
    },
    "overflow": {
        "en": "NaN or Inf first at {site}, position {position}; in fp32 its largest value is {value}",
        "zh": "NaN/Inf 首次出现于 {site}，位置 {position}；fp32 下该处最大值为 {value}",
    },
    "tried": {"en": "tried: {tried}; none leaves only rounding", "zh": "已尝试：{tried}；均不能使差异降至舍入水平"},
    "nothing.tried": {"en": "no known fault is felt there", "zh": "没有已知故障会首先出现在该处"},
    "harm": {"en": "Does it matter?", "zh": "是否有影响"},
    "kl": {
        "en": "KL {mean} nats on average, {p999} at the 99.9th percentile of {n} positions",
        "zh": "KL 平均 {mean} nats，{n} 个位置的 99.9 % 分位 {p999}",
    },
    "top": {
        "en": "same most probable token at {share} [{low} … {high}]; {ties} of the others are ties that rounding can turn",
        "zh": "最可能 token 相同的比例 {share} [{low} … {high}]；其余中 {ties} 处为舍入即可翻转的平局",
    },
    "text.differ": {
        "en": "{flips} of {n} texts written on differ [{low} … {high}], first at token {first}",
        "zh": "{n} 段续写中 {flips} 段不同 [{low} … {high}]，最早在第 {first} 个 token",
    },
    "text.same": {"en": "all {n} texts written on are equal", "zh": "{n} 段续写全部相同"},
    "displacement": {
        "en": "Displacement is not harm: logits moved by up to {moved} without changing a choice.",
        "zh": "偏移不等于损害：logits 最多移动 {moved}，但没有改变任何选择。",
    },
    "missing": {"en": "not recorded: {sites}", "zh": "未记录：{sites}"},
    "window.short": {
        "en": "the texts do not reach the window of {windows} tokens: give longer ones with --prompts",
        "zh": "文本未达到 {windows} token 的窗口：请用 --prompts 提供更长文本",
    },
    "no.harm": {"en": "not measured: {reason}", "zh": "未测量：{reason}"},
    "self.passed": {"en": "All ways agree up to rounding.", "zh": "各种运行方式在舍入范围内一致。"},
    "self.failed": {"en": "{n} way(s) differ beyond rounding.", "zh": "{n} 种运行方式超出舍入误差。"},
    "self.way": {"en": "way", "zh": "方式"},
    "self.verdict": {"en": "verdict", "zh": "结论"},
    "self.kl": {"en": "KL, nats", "zh": "KL (nats)"},
    "self.top": {"en": "same top", "zh": "首选相同"},
    "self.moved": {"en": "largest move", "zh": "最大偏移"},
    "self.not_run": {"en": "not run: {what}", "zh": "未运行：{what}"},
}


def say(key: str, lang: Lang, **values: object) -> str:
    """A sentence with its values."""
    return WORDS[key][lang].format(**values)
