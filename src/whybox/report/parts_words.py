"""What a report of `why` says of parts, sets of them, the context, answers and runs: English and Chinese."""

PART_WORDS: dict[str, tuple[str, str]] = {
    # beside the change that undoes a failure, and beside the evidence
    "verdict.written": ("Written with it", "改动后写出的答案"),
    "evidence.key.p": (
        "p: the share of those spans that change LD as much, up or down",
        "p：这些片段中，改变（无论升降）不小于它的比例",
    ),
    "evidence.finding.uncut": (
        "No cut could be made: behind it the decision row would see nothing, or nothing could be read",
        "无法做任何切断：切断后决定行将看不到任何内容，或读不出数值",
    ),
    "tried.summary": (
        "The answer flips in {k} of the {n} experiments that give one",
        "得到答案的 {n} 个实验中，有 {k} 个使答案翻转",
    ),
    "claim.context-use.more-helps": (
        "More attention to {about} makes the answer right, though its share is not low for its length",
        "对 {about} 的注意力更多时答案就正确，尽管按长度算它所得的并不低",
    ),
    # heads and MLPs at the decision
    "parts.title": ("Heads and MLPs taken out", "逐个拿掉注意力头与 MLP"),
    "parts.note": (
        "Each part is set to zero at the decision position, one at a time. The {k} with the largest change are changed a "
        "second time, to what they write at the end of {n} other prompts. What a part wrote is no effect.",
        "在决定位置逐个把每个部件置零；变化最大的 {k} 个再换成它们在另外 {n} 个提示末尾写出的值。部件写了什么，不等于效应。",
    ),
    "parts.note.alone": (
        "Each part is set to zero at the decision position, one at a time. What a part wrote is no effect.",
        "在决定位置逐个把每个部件置零。部件写了什么，不等于效应。",
    ),
    "parts.finding": (
        "Without {part} at the decision {metric} changes most: {zero} at zero, {resample} with values of other prompts",
        "决定位置没有 {part} 时 {metric} 改变最大：置零 {zero}，换成其他提示的值 {resample}",
    ),
    "parts.finding.zero": (
        "Without {part} at the decision {metric} changes most: {zero} at zero",
        "决定位置没有 {part} 时 {metric} 改变最大：置零 {zero}",
    ),
    "parts.finding.flagged": (
        "Without {part} at the decision {metric} changes most: {zero} at zero; {resample} with values of other prompts ({flags})",
        "决定位置没有 {part} 时 {metric} 改变最大：置零 {zero}；换成其他提示的值 {resample}（{flags}）",
    ),
    "parts.finding.confirmed": (
        ". Of those that both ways show, {part} is the largest: {zero}, {resample}",
        "。两种方式都证实的部件中最大的是 {part}：{zero}，{resample}",
    ),
    "parts.finding.unconfirmed": (". None is shown by both ways", "。没有一个部件由两种方式都证实"),
    "parts.finding.none": (
        "No single part taken out at the decision changed {metric} beyond the floor",
        "没有单个部件在决定位置被拿掉后使 {metric} 的改变超过底噪",
    ),
    "parts.shown": (
        "{k} of {n} parts, largest changes first; other prompts: {references}",
        "{n} 个部件中变化最大的 {k} 个；其他提示：{references}",
    ),
    "parts.key": ("mean with values of other prompts", "换成其他提示的值后的均值"),
    "parts.beside": (
        "Matched others: the other heads of the same layer, the MLPs of other layers. With few of them p cannot be small.",
        "匹配对照：同层的其他头，其他层的 MLP。对照少时 p 不可能很小。",
    ),
    # full effort
    "full.missing": (
        "Ablation in three ways, self-repair, pairs, minimal sets, the context, segments in every way and gradients",
        "三种消融、自修复、成对消融、最小集合、上下文归因、各段的多种切断与梯度",
    ),
    "context.title": ("What the context carries", "上下文中什么承载了答案"),
    "context.note": (
        "Parts of the context are taken out of view in many combinations; log P of the answer is read behind each.",
        "以多种组合让上下文的各部分不可见，每次读取答案的 log P。",
    ),
    "context.finding": (
        "log P of the {side} answer “{answer}” rests most on {source}: {score} in log-odds",
        "{side}答案“{answer}”的 log P 最依赖 {source}：对数几率 {score}",
    ),
    "context.finding.hidden": (
        "No sparse sum of the parts stands for log P of the {side} answer “{answer}”: scores are hidden",
        "各部分的稀疏相加不能代表{side}答案“{answer}”的 log P：不显示得分",
    ),
    "context.right": ("right", "正确"),
    "context.wrong": ("wrong", "错误"),
    "context.exact": (
        "Exact Shapley values over all {n} combinations. How far the scores simply add up: Spearman ρ {fit}.",
        "对全部 {n} 种组合的精确 Shapley 值。得分可简单相加的程度：Spearman ρ {fit}。",
    ),
    "context.surrogate": (
        "A sparse surrogate of {n} combinations. On unseen ones it ranks as the model does with Spearman ρ {lds} (LDS; "
        "below 0.5 no score is shown).",
        "由 {n} 种组合得到的稀疏代理模型；在未见过的组合上与模型的 Spearman ρ 为 {lds}（LDS；低于 0.5 不显示得分）。",
    ),
    "context.drop": (
        "Without the top {k}: log P falls by {top} nats; without {k} at random: {random} ± {sd} ({draws} draws).",
        "去掉得分最高的 {k} 个：log P 下降 {top} nats；随机去掉 {k} 个：{random} ± {sd}（{draws} 次）。",
    ),
    "context.method": (
        "Removal: ids kept, no later position sees them.",
        "移除方式：保留 token，但其后的位置都看不到它。",
    ),
    "ablations.title": ("Three ablations side by side", "三种消融并列"),
    "ablations.note": (
        "The strongest parts at zero, at the mean of other prompts, and at single values of them (mean and SD). "
        "Changed at: {where}.",
        "最强的部件：置零、换成其他提示的均值、换成其中单个的值（均值与标准差）。改动位置：{where}。",
    ),
    "ablations.finding.one": (
        "All {n} parts change {metric} in one direction, however they are ablated",
        "{n} 个部件无论如何消融，对 {metric} 的改变方向都一致",
    ),
    "ablations.finding.some": (
        "For {k} of {n} parts the direction depends on the ablation: {names}",
        "{n} 个部件中有 {k} 个的方向取决于消融方式：{names}",
    ),
    "repairs.title": ("Who steps in", "谁会补位"),
    "repairs.note": (
        "Heads taken out at the decision position. Direct: everything behind the head frozen. Total: plain ablation. Then "
        "with the named others out already: a head that does little alone may be a stand-in.",
        "在决定位置拿掉各个头。直接：冻结该头之后的一切；总：普通消融；再看所列的其他部件已先被拿掉时："
        "单独作用很小的头可能是后备。",
    ),
    "repairs.finding.backup": (
        "{names} act once others are gone (backup): their single ablation hides it",
        "{names} 在其他部件被拿掉后起作用（后备）：单独消融看不出来",
    ),
    "repairs.finding.none": (
        "None of the {n} heads does more than matched others once others are gone",
        "{n} 个头中没有一个在其他部件被拿掉后比匹配对照作用更大",
    ),
    "repairs.made_good": (
        "{name} is made good: frozen, its removal changes {metric} by {direct}; free, by {total}.",
        "{name} 的缺失被补上：冻结后拿掉它使 {metric} 改变 {direct}，不冻结时改变 {total}。",
    ),
    "repairs.joint": (
        "The three with the largest direct effect ({names}) together: {joint}. Sum of what each does alone: {total}; sum "
        "of their direct effects: {direct}.",
        "直接效应最大的三个（{names}）一起：{joint}；各自单独之和：{total}；直接效应之和：{direct}。",
    ),
    "pairs.title": ("Pairs", "成对消融"),
    "pairs.cancel each other": (
        "{first} and {second} cancel each other: alone {one} and {other}, together {joint} ({p}). Read the pair, not either.",
        "{first} 与 {second} 互相抵消：单独 {one} 与 {other}，一起 {joint}（{p}）。要看这一对，而不是其中一个。",
    ),
    "pairs.only together": (
        "{first} and {second} act only together: alone {one} and {other}, together {joint} ({p}).",
        "{first} 与 {second} 只在一起时起作用：单独 {one} 与 {other}，一起 {joint}（{p}）。",
    ),
    "pairs.more together": (
        "{first} and {second} do more together than the two do alone: alone {one} and {other}, together {joint} ({p}).",
        "{first} 与 {second} 一起的作用大于各自单独之和：单独 {one} 与 {other}，一起 {joint}（{p}）。",
    ),
    "pairs.p": ("p = {p} among {n} matched pairs", "在 {n} 对匹配部件中 p = {p}"),
    "pairs.no_p": ("no matched pair to compare it with", "没有匹配的部件对可作比较"),
    "sets.title": ("Smallest sets that turn the outcome", "能扭转结果的最小集合"),
    "sets.note": (
        "Parts are dropped from a set one by one while the outcome stays turned. A set is the smallest that was found.",
        "逐个去掉集合中的部件，只要结果仍被扭转。所列是找到的最小集合。",
    ),
    "sets.removal": ("taken out: {parts}", "拿掉：{parts}"),
    "sets.boost": ("boosted to {about}: {parts}", "增强对 {about} 的注意力：{parts}"),
    "sets.cut": ("cut off from {about}: {parts}", "切断对 {about} 的注意力：{parts}"),
    "sets.none.removal": ("heads and MLPs taken out", "拿掉注意力头与 MLP"),
    "sets.none.boost": ("heads boosted to {about}", "增强各头对 {about} 的注意力"),
    "sets.none.cut": ("heads cut off from {about}", "切断各头对 {about} 的注意力"),
    "sets.finding.some": (
        "{count} parts are enough: {metric} {base} → {ld}, and the answer turns",
        "{count} 个部件就够：{metric} {base} → {ld}，答案随之改变",
    ),
    "sets.finding.one": (
        "One part is enough: {metric} {base} → {ld}, and the answer turns",
        "一个部件就够：{metric} {base} → {ld}，答案随之改变",
    ),
    "sets.finding.some.metric": (
        "{count} parts turn {metric} alone, {base} → {ld}: the answer that is written then does not turn",
        "{count} 个部件只扭转了 {metric}，{base} → {ld}：此时写出的答案并未扭转",
    ),
    "sets.finding.one.metric": (
        "One part turns {metric} alone, {base} → {ld}: the answer that is written then does not turn",
        "一个部件只扭转了 {metric}，{base} → {ld}：此时写出的答案并未扭转",
    ),
    "sets.finding.none": (
        "No set of the strongest parts was found that turns the outcome",
        "没有找到能扭转结果的最强部件集合",
    ),
    "sets.others": ("not unique: {n} more, such as {parts}", "不唯一：另有 {n} 个，例如 {parts}"),
    "segments.title": ("Segments in every way", "各段的多种切断"),
    "segments.note": (
        "Direct: the decision row stops seeing the segment. Total: nobody behind it sees it. By way of others: the "
        "positions between stop seeing it. Muted: what its weights bring is dropped, the row does not renormalise.",
        "直接：决定行看不到该段。总：其后都看不到。经由其他：两者之间的位置看不到。静音：丢掉其权重带来的内容，不重新归一。",
    ),
    "segments.finding": (
        "“{name}”: total {total} = direct {direct} + by way of others {between} + interaction {interaction}",
        "“{name}”：总效应 {total} = 直接 {direct} + 经由其他 {between} + 交互 {interaction}",
    ),
    "segments.finding.none": (
        "For no segment all of direct, total and mediated effect were obtained",
        "没有一个段同时取得直接、总与中介效应",
    ),
    "gradients.title": ("Gradients, as a map", "梯度：只作地图"),
    "gradients.note": (
        "One gradient estimates every head, MLP, query and key. An estimate is no effect: the {k} largest and as many "
        "random ones were intervened on, and those numbers count.",
        "一次梯度可估计所有头、MLP、query 与 key。估计不是效应：对最大的 {k} 个与同样多的随机部件做了干预，以干预为准。",
    ),
    "gradients.finding": (
        "Ranks of estimates and interventions: Spearman ρ {rank}; signs agree in {signs} of {clear}",
        "估计与干预的排序：Spearman ρ {rank}；{clear} 个中 {signs} 个符号一致",
    ),
    "gradients.finding.none": (
        "Estimates and interventions cannot be ranked against each other; signs agree in {signs} of {clear}",
        "估计与干预无法比较排序；{clear} 个中 {signs} 个符号一致",
    ),
    "gradients.flagged": (
        "Low confidence: {k} of {n} estimates. Worst miss: {part}, estimated {estimate}, measured {effect}.",
        "低置信度：{n} 个估计中有 {k} 个。偏差最大：{part}，估计 {estimate}，实测 {effect}。",
    ),
    "gradients.along": (
        "One gradient does not see {place}: it adds up to {estimate} there, replacing all of it does {joint}. Integrated "
        "over {n} midpoints it is {shared}; {part} has the largest share, {share}, and alone does {effect}, measured.",
        "一次梯度看不到 {place}：其估计之和为 {estimate}，而替换整个位点为 {joint}。沿 {n} 个中点积分得 {shared}；"
        "份额最大的是 {part}（{share}），单独干预实测 {effect}。",
    ),
    "gradients.along.open": (
        "One gradient does not see {place}: it adds up to {estimate} there, replacing all of it does {joint}. Integrated "
        "over {n} midpoints it adds up to {shared}, which misses that by more than 10 %: no shares are given. {part} alone does "
        "{effect}, measured.",
        "一次梯度看不到 {place}：其估计之和为 {estimate}，而替换整个位点为 {joint}。沿 {n} 个中点积分得 {shared}，"
        "与之相差超过 10 %：不给出份额。{part} 单独干预实测 {effect}。",
    ),
    # a lens that tells nothing
    "lens.finding.always.wrong": (
        "The wrong answer is ahead after every layer: the lens does not tell where it was decided",
        "每一层之后都是错误答案领先：logit lens 看不出在哪里决定",
    ),
    "lens.finding.always.other": (
        "What stands in for a wrong answer is ahead after every layer: the lens does not tell where it was decided",
        "每一层之后都是代替错误答案的文字领先：logit lens 看不出在哪里决定",
    ),
    "lens.finding.always.right": (
        "The right answer is ahead after every layer: the lens does not tell where it was decided",
        "每一层之后都是正确答案领先：logit lens 看不出在哪里决定",
    ),
    # share against effect
    "shares.title": (
        "Share on the evidence against effect: ρ {signed} signed, {absolute} by size",
        "对证据的占比与效应：ρ 有符号 {signed}，按大小 {absolute}",
    ),
    "shares.x": ("share of the head's attention on the evidence", "该头对证据的注意力占比"),
    "shares.y": ("change of {metric} when that edge is cut, {unit}", "切断该边后 {metric} 的变化，{unit}"),
    "shares.brightest": ("brightest: {head}", "占比最大：{head}"),
    "shares.both": ("brightest and strongest: {head}", "占比与效应都最大：{head}"),
    "shares.strongest": ("strongest: {head}", "效应最大：{head}"),
    "shares.n": ("{n} heads", "{n} 个头"),
    # runs
    "runs.title": ("{n} runs, announced at most {most}", "共运行 {n} 次，事先公布上限 {most} 次"),
    "runs.note": (
        "A run is one question to the model: a pass that is read, or an answer that is written. Passes that only prepare "
        "others are part of theirs.",
        "一次运行是对模型的一次提问：读取一次前向，或写出一个答案。只为其他运行做准备的前向不另计。",
    ),
    "runs.all": ("Every run, in order", "全部运行，按顺序"),
    "runs.texts": ("The texts that were run", "运行所用的文本"),
    # columns
    "column.name": ("part", "部件"),
    "column.wrote": ("wrote", "写入"),
    "column.zero": ("zero", "置零"),
    "column.mean": ("mean", "均值"),
    "column.resample": ("other prompts", "其他提示"),
    "column.sd": ("SD", "标准差"),
    "column.draws": ("matched others", "匹配对照数"),
    "column.smallest": ("smallest p", "最小可能 p"),
    "column.repaired": ("made good, ρ", "补偿率 ρ"),
    "column.conditional": ("once others are gone", "其他被拿掉之后"),
    "column.everywhere": ("at all positions", "所有位置"),
    "column.others": ("other sets", "其他集合"),
    "column.given": ("the others", "所指的其他"),
    "column.first": ("first", "其一"),
    "column.second": ("second", "其二"),
    "column.joint": ("together", "一起"),
    "column.interaction": ("interaction", "交互"),
    "column.score": ("score, log-odds", "得分，对数几率"),
    "column.left_out": ("left out alone, nats", "单独去掉，nats"),
    "column.source": ("part", "部分"),
    "column.estimate": ("estimate", "估计"),
    "column.measured": ("measured", "实测"),
    "column.integrated": ("integrated", "积分"),
    "column.midpoints": ("midpoints", "中点数"),
    "column.largest": ("largest share", "最大份额"),
    "column.its_share": ("its share", "其份额"),
    "column.chosen": ("chosen", "选取"),
    "column.between": ("by way of others", "经由其他"),
    "column.muted": ("muted", "静音"),
    "column.stage": ("stage", "阶段"),
    "column.announced": ("at most", "上限"),
    "column.made": ("made", "实际"),
    "column.run": ("run", "运行"),
    "column.kind": ("kind", "类别"),
    "column.read": ("read", "读数"),
    "column.value": ("value", "值"),
    "column.tokens": ("tokens", "token 数"),
    "column.after_ld": ("LD after", "之后的 LD"),
    "column.run_text": ("text no.", "文本编号"),
    "column.p_draws": ("p (matched others)", "p（匹配对照数）"),
    "floor.short": ("≈ 0", "≈ 0"),
    "column.parts": ("parts", "部件"),
    "column.tried": ("sets tried", "试过的集合"),
    "column.turns": ("answer turns", "答案改变"),
    # stages of the plan
    "stage.answer": ("answer", "写出答案"),
    "stage.noise floor": ("noise floor", "底噪"),
    "stage.other prompts": ("other prompts", "其他提示"),
    "stage.form and decoding": ("form and decoding", "格式与解码"),
    "stage.attention edges": ("attention edges", "注意力边"),
    "stage.removals": ("removals", "拿掉部件"),
    "stage.variants": ("variants", "变体"),
    "stage.shams": ("shams", "对照编辑"),
    "stage.evidence hidden": ("evidence hidden", "隐藏证据"),
    "stage.segments": ("segments", "各段"),
    "stage.keys": ("keys", "各个 key"),
    "stage.heads": ("heads", "注意力头"),
    "stage.heads and MLPs": ("heads and MLPs", "注意力头与 MLP"),
    "stage.context": ("context", "上下文"),
    "stage.candidates": ("candidates", "候选部件"),
    "stage.three ablations": ("three ablations", "三种消融"),
    "stage.self-repair": ("self-repair", "自修复"),
    "stage.pairs": ("pairs", "成对消融"),
    "stage.minimal sets": ("minimal sets", "最小集合"),
    "stage.segments in every way": ("segments in every way", "各段的多种切断"),
    "stage.gradients": ("gradients", "梯度"),
    "stage.reference engine": ("reference engine", "参考引擎"),
    "stage.figures": ("figures", "图表"),
    # where and flags
    "where.all positions": ("all positions", "所有位置"),
    "where.the decision position": ("the decision position", "决定位置"),
    "flag.depends on the ablation": ("depends on the ablation", "取决于消融方式"),
    "flag.not confirmed by values of other prompts": (
        "not confirmed by values of other prompts",
        "换成其他提示的值未能确认",
    ),
    "flag.backup": ("backup", "后备"),
    "flag.cancel each other": ("cancel each other", "互相抵消"),
    "flag.only together": ("only together", "只在一起时起作用"),
    "flag.more together": ("more together", "一起时作用更大"),
    "flag.no effect in any of the three (direct, total, conditional)": (
        "no effect in any of the three (direct, total, conditional)",
        "直接、总、条件三种效应都没有",
    ),
    "flag.saturated softmax": ("saturated softmax", "softmax 饱和"),
    "flag.flat here: replacing the whole site moves the read, the gradient does not see it": (
        "flat here: replacing the whole site moves the read, the gradient does not see it",
        "此处平坦：替换整个位点会改变读数，梯度看不到",
    ),
    "flag.good → bad and bad → good differ in sign": (
        "good → bad and bad → good differ in sign",
        "好→坏与坏→好符号相反",
    ),
    "flag.first token, first MLP or a whole residual stream": (
        "first token, first MLP or a whole residual stream",
        "首个 token、首层 MLP 或整条残差流",
    ),
    "flag.completeness error above 10 %": ("completeness error above 10 %", "完整性误差超过 10 %"),
    "flag.largest": ("largest", "最大"),
    "flag.random": ("random", "随机"),
    "verdict.mean": (
        "over {n} variants that fail alike: mean {mean} {interval}",
        "在 {n} 个同样出错的变体上：均值 {mean} {interval}",
    ),
}
