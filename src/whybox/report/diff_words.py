"""The sentences of `diff`, English and Chinese."""

DIFFS: dict[str, tuple[str, str]] = {
    "diff.verdict.identical": ("Identical: every number is the same.", "完全相同：所有数值逐一相等。"),
    "diff.verdict.identical.recorded": (
        "Identical: every number that was recorded is the same.",
        "完全相同：凡是记录下来的数值，逐一相等。",
    ),
    "diff.verdict.rounding": (
        "Rounding: nothing beyond what {precision} arithmetic explains.",
        "舍入误差：差异均可由 {precision} 运算解释。",
    ),
    "diff.verdict.named": ("Cause named: {named}.", "已确定原因：{named}。"),
    "diff.verdict.part-named": (
        "Named in part: {named}; what is left is not determined.",
        "部分确定：{named}；其余原因未定。",
    ),
    "diff.verdict.not-determined": ("Different; the cause is not determined.", "存在差异，原因未定。"),
    "diff.codes": (
        "Holding these weights in int8 moves them by {eight} of their size, in int4 by {four}: int8 has one scale for a "
        "row, int4 one for 32 numbers, and these weights lie nearer to int4's grid.",
        "以 int8 保存这些权重使其偏移自身大小的 {eight}，int4 则为 {four}：int8 每行一个缩放，int4 每 32 个数一个，这些权重更接近 int4 的网格。",
    ),
    "diff.verdict.unlike": ("Not the same experiment: {reason}.", "不是同一实验：{reason}。"),
    "diff.verdict.within-repeats": (
        "No more than equal calls of an endpoint differ among themselves.",
        "差异不超过端点重复调用自身的差异。",
    ),
    "diff.verdict.same-text": (
        "The texts are the same; without log-probabilities nothing more can be said.",
        "文本相同；没有对数概率，无法得出更多结论。",
    ),
    "diff.first.served": (
        "first at position {position} ({text}): a log-probability is {error} nats away, {allowed} are allowed there",
        "首次出现于位置 {position}（{text}）：对数概率相差 {error} nats，该处允许 {allowed}",
    ),
    "diff.repeats": (
        "equal calls among themselves: log-probabilities move by up to {moved} nats, {texts} of {calls} texts differ (below {below})",
        "重复调用自身：对数概率最多变动 {moved} nats，{calls} 次中 {texts} 次文本不同（低于 {below}）",
    ),
    "diff.rivals": (
        "several known faults give the endpoint's numbers, so none is named: {rivals}",
        "多种已知故障都能得到该端点的数值，因此不予确定：{rivals}",
    ),
    "diff.unsaid": ("not compared — {what}: {why}", "未比较——{what}：{why}"),
    "diff.kl.least": (
        "KL at least {mean} nats on average, {p999} at the 99.9th percentile of {n} positions",
        "KL 平均至少 {mean} nats，{n} 个位置的 99.9 % 分位至少 {p999}",
    ),
    "diff.variation": (
        "total variation between {low} and {high}: what the endpoint does not list is bounded, not known",
        "总变差介于 {low} 与 {high} 之间：端点未列出的部分只有界限，并非已知",
    ),
    "diff.widest": (
        "the widest gap that was turned is {times} times what rounding moves",
        "被翻转的最大差距是舍入移动量的 {times} 倍",
    ),
    "diff.text.apart": (
        "{flips} of {n} texts written on differ [{low} … {high}]",
        "{n} 段续写中 {flips} 段不同 [{low} … {high}]",
    ),
    "diff.check.mask": ("mask", "掩码"),
    "diff.ladder": ("Alike?", "前提是否一致"),
    "diff.state.same": ("same", "相同"),
    "diff.state.different": ("different", "不同"),
    "diff.state.unknown": ("unknown", "未知"),
    "diff.check.shape": ("shape", "结构"),
    "diff.check.weights": ("weights", "权重"),
    "diff.check.template": ("template", "模板"),
    "diff.check.ids": ("token ids", "token id"),
    "diff.check.positions": ("positions", "位置"),
    "diff.check.sites": ("sites", "位点"),
    "diff.where": ("Where", "差异位置"),
    "diff.first": (
        "first at {site}, position {position} ({text}): {error} of its size, rounding explains {allowed}",
        "首次出现于 {site}，位置 {position}（{text}）：相对大小 {error}，舍入可解释 {allowed}",
    ),
    "diff.nowhere": ("nowhere beyond rounding", "没有超出舍入误差之处"),
    "diff.heads": ("only in heads {heads}", "仅见于头 {heads}"),
    "diff.channels": ("only in channels {first}–{last}", "仅见于通道 {first}–{last}"),
    "diff.shape.none": ("over positions: nothing", "按位置：无"),
    "diff.shape.positions": (
        "over positions: zero at 0, then growing — the mark of a fault of position",
        "按位置：0 处为零，其后增大——位置类故障的特征",
    ),
    "diff.shape.window": (
        "over positions: nothing before {first}, the window — the mark of a window",
        "按位置：{first}（窗口处）之前无差异——窗口故障的特征",
    ),
    "diff.shape.everywhere": (
        "over positions: the same everywhere — the mark of a scale, a norm or an activation",
        "按位置：处处相近——缩放、归一化或激活函数的特征",
    ),
    "diff.shape.one-token": (
        "over positions: one token alone — a sink or a massive activation",
        "按位置：仅一个 token——沉淀或巨大激活",
    ),
    "diff.shape.uneven": ("over positions: from the first on, uneven", "按位置：自首个 token 起，大小不一"),
    "diff.shape.from": ("over positions: nothing before {first}", "按位置：{first} 之前无差异"),
    "diff.why": ("Why", "原因"),
    "diff.named": ("{what}{layers}", "{what}{layers}"),
    "diff.named.layers": (" in layers {layers}", "（层 {layers}）"),
    "diff.undone": (
        "imposed on the first side it leaves {error} at the logits; rounding allows {allowed}",
        "施加到第一侧后，logits 处剩余 {error}；舍入允许 {allowed}",
    ),
    "diff.overflow": (
        "NaN or Inf first at {site}, position {position}; in fp32 its largest value is {value}",
        "NaN/Inf 首次出现于 {site}，位置 {position}；fp32 下该处最大值为 {value}",
    ),
    "diff.overflow.remedy": ("fp16 ends at 65,504: use bf16 or fp32", "fp16 的上限是 65,504：请改用 bf16 或 fp32"),
    "diff.tried": ("tried: {tried}; none leaves only rounding", "已尝试：{tried}；均不能使差异降至舍入水平"),
    "diff.nothing.tried": ("no known fault is felt there", "没有已知故障会首先出现在该处"),
    "diff.harm": ("Does it matter?", "是否有影响"),
    "diff.kl": (
        "KL {mean} nats on average, {p999} at the 99.9th percentile of {n} positions",
        "KL 平均 {mean} nats，{n} 个位置的 99.9 % 分位 {p999}",
    ),
    "diff.top": (
        "same most probable token at {share} [{low} … {high}]; {ties} of the others are ties that rounding can turn",
        "最可能 token 相同的比例 {share} [{low} … {high}]；其余中 {ties} 处为舍入即可翻转的平局",
    ),
    "diff.text.differ": (
        "{flips} of {n} texts written on differ [{low} … {high}], first at token {first}",
        "{n} 段续写中 {flips} 段不同 [{low} … {high}]，最早在第 {first} 个 token",
    ),
    "diff.text.same": ("all {n} texts written on are equal", "{n} 段续写全部相同"),
    "diff.displacement": (
        "Displacement is not harm: logits moved by up to {moved} without changing a choice.",
        "偏移不等于损害：logits 最多移动 {moved}，但没有改变任何选择。",
    ),
    "diff.missing": ("not recorded: {sites}", "未记录：{sites}"),
    "diff.window.short": (
        "the texts do not reach the window of {windows} tokens: give longer ones with --prompts",
        "文本未达到 {windows} token 的窗口：请用 --prompts 提供更长文本",
    ),
    "diff.no.harm": ("not measured: {reason}", "未测量：{reason}"),
    "diff.self.passed": ("All ways agree up to rounding.", "各种运行方式在舍入范围内一致。"),
    "diff.self.failed": ("{n} way(s) differ beyond rounding.", "{n} 种运行方式超出舍入误差。"),
    "diff.self.way": ("way", "方式"),
    "diff.self.verdict": ("verdict", "结论"),
    "diff.self.kl": ("KL, nats", "KL (nats)"),
    "diff.self.top": ("same top", "首选相同"),
    "diff.self.moved": ("largest move", "最大偏移"),
    "diff.self.not_run": ("not run: {what}", "未运行：{what}"),
    "page.diff": ("diff", "对比"),
    "page.diff.skip": ("To the verdict", "跳到结论"),
    "diff.ladder.note": ("What must be alike before numbers are compared.", "比较数值之前必须一致的内容。"),
    "diff.where.note": (
        "The first value, in the order of computing, that rounding does not explain.",
        "按计算顺序，首个舍入无法解释的数值。",
    ),
    "diff.why.note": (
        "A cause is named only where imposing it on the first side leaves rounding alone.",
        "仅当把原因施加到第一侧后只剩舍入误差时，才确定该原因。",
    ),
    "diff.harm.note": ("The same texts fed to both sides, and written on.", "相同文本输入两侧并续写。"),
    "diff.suspects": ("What was imposed", "尝试过的故障"),
    "diff.suspect": ("fault", "故障"),
    "diff.piece": ("piece", "片段"),
    "diff.undone_error": ("left, ×floor", "剩余（×底噪）"),
    "diff.by_position": ("Error over positions, {site}", "各位置误差，{site}"),
    "diff.by_layer": ("Error through layers (median position)", "逐层误差（位置中位数）"),
    "diff.position": ("position", "位置"),
    "diff.layer": ("layer", "层"),
    "diff.error": ("error, share of its size", "误差（相对大小）"),
}

UNSAID: dict[str, str] = {
    "sites, heads, tensors": "位点、头、张量",
    "an endpoint shows text and log-probabilities alone": "端点只给出文本与对数概率",
    "a cause": "原因",
    "neither side has weights here": "双方在此均无权重",
    "the two sides are models of unlike shape": "双方是结构不同的模型",
    "logits, sites, texts token by token": "logits、位点、逐 token 的文本",
    "the sides read other token ids": "双方读入的 token id 不同",
    "one side alone has them": "仅一侧拥有",
    "the order of the sides": "两侧的次序",
    "the first one has NaN or Inf, and stands second": "第一侧含 NaN/Inf，改列第二",
    "the residual stream": "残差流",
    "it has another width": "宽度不同",
    "the second side's own ids": "第二侧自己的 token id",
    "both sides were fed the first side's ids": "双方都输入了第一侧的 id",
    "behind NaN or Inf": "NaN/Inf 之后",
    "every later value is lost with it": "其后的数值随之全部失去",
    "the prompt's numbers in their own place": "提示自身位置的数值",
    "the echo gives those of the next token: compared there": "回显给出的是下一个 token 的数值：已在该处比较",
    "known faults in bf16": "bf16 下的已知故障",
    "the endpoint's precision is not told: openai:NAME@bf16": "未告知端点的精度：openai:NAME@bf16",
    "log-probabilities": "对数概率",
    "the endpoint gave none": "端点未给出",
    "raw text": "原始文本",
    "the recording's last state was taken after the final norm: compared as final": (
        "记录中最后一个状态取自最终归一化之后：已按 final 比较"
    ),
    "the recording's states were taken after the next norm: compared as attn_in, the last one as final": (
        "记录中的状态取自下一个归一化之后：已按 attn_in 比较，最后一个按 final 比较"
    ),
    "the recording's states stand one layer late: compared as those of the layer before": (
        "记录中的状态错后一层：已按前一层的状态比较"
    ),
    "no logits on both sides": "并非双方都有 logits",
    "no log-probabilities behind the same tokens": "没有同样 token 之后的对数概率",
}
"""What could not be compared, and why, as documents hold it, in Chinese."""
