"""Why a number of a run is missing, in Chinese: what probes, statistics and gates say in English."""

RUN_REASONS: dict[str, str] = {
    # samples
    "no items": "没有样本",
    "too few items": "样本太少",
    "fewer than two items": "少于两个样本",
    "fewer than three runs of an item": "每个样本的运行不足三次",
    "fewer than five a place": "每个位置不足五个",
    "fewer than three places have no inside": "不足三个位置，没有中间",
    "every arm must be run at least twice, or the floor has no pair": "每个臂至少运行两次，否则底噪没有可比的一对",
    # what came back
    "no call came back": "没有任何调用返回",
    "no call of this probe was made": "这个探针没有发出任何调用",
    "no item came back in both arms": "没有样本在两个臂中都返回",
    "no item was seen in both arms": "没有样本同时出现在两个臂中",
    "no item of which every call came back": "没有哪个样本的所有调用都返回",
    "no item is whole": "没有完整的样本",
    "no given answer was scored": "没有给出的答案得到评分",
    "nothing was attempted": "没有任何尝试",
    "nothing was counted": "没有可计数的内容",
    "every pair was lost": "所有配对都丢失了",
    # what was not run
    "no repeats": "没有重复",
    "no repeat was made": "没有做重复",
    "no item has both a pair of arms and a repeat": "没有样本既有成对的臂又有重复",
    "not asked": "未询问",
    "not chosen": "未选中",
    "only a part of the plan is chosen": "只选了计划的一部分",
    "not revealed": "未公开",
    "not told": "未给出",
    "not wanted": "未要求",
    "not tried": "未尝试",
    "read by its null": "须对照零分布解读",
    "beside the primary statistic": "只是主统计量的旁证",
    "no answer is right": "没有正确的答案",
    # what a target lacks
    "the endpoint's own affair": "由端点自行决定",
    "the endpoint sent none": "端点没有返回",
    "a bot computes nothing": "机器人不做计算",
    "not usable: this bot drops them": "不可用：该机器人会丢弃它们",
    "each prompt is run from its first token": "每个提示都从第一个 token 起运行",
    "the tokenizer has no chat template": "分词器没有对话模板",
    "answers are scored only behind raw text": "只能在原始文本之后为答案打分",
    # how a design broke, and what was left out
    "depth in characters, not verified": "深度按字符计，未经核实",
    "no item failed": "没有样本失败",
    "no item was asked": "没有询问任何样本",
    "no order was asked": "没有询问任何顺序",
    "no place was tried": "没有尝试任何位置",
    "fewer than two depths were asked": "询问的深度不足两个",
    "not asked for: --margin": "未要求：用 --margin 指定",
    "not read": "未读取",
    "not known": "未知",
    "not judged": "未判定",
    "skipped": "已跳过",
    "the time is not known before the first call": "第一次调用之前无法知道用时",
    "no position was compared": "没有比较任何位置",
    "no side gives the most probable tokens of a given text": "没有一侧给出指定文本上概率最大的 token",
    # tests and nulls
    "no test": "没有检验",
    "no null for a rate": "比例没有零分布",
    "a floor": "这是底噪",
    "no interval is made of it": "不为它计算区间",
    "flips were seen": "已观察到翻转",
    "no item differed": "没有样本出现差异",
    "one item differed": "只有一个样本出现差异",
    "all answers are right": "所有答案都正确",
    "all values are the same; the bound of a rate stands in place of an error": "所有值都相同；以比例的界代替误差",
    "the interval of the denominator holds 0": "分母的区间包含 0",
    "shares of failures: they depend on how many there are": "这是失败中的占比：取决于失败的数目",
    "no item failed in any arm": "任何臂中都没有样本失败",
    "no item failed earlier in one arm than in another": "没有样本在某一臂中比在另一臂中更早失败",
    "no wrong document was named": "没有指认过错误的文档",
    "no wrong prior is held": "没有错误的先验",
    "no prior is held that is right": "没有正确的先验",
    "the judge does not tell right answers from others": "评审模型分不清正确答案与其他答案",
    "a token of both answers is part of a character, and may not be the same": (
        "两个答案共有的某个 token 只是一个字符的一部分，未必相同"
    ),
    "the tokens of the two answers never part: one answer begins the other": (
        "两个答案的 token 始终一致：其中一个是另一个的开头"
    ),
    # curves
    "compliance does not fall with depth": "遵从率不随深度下降",
    "perfect separation: rates per depth only": "完全分离：只给出每个深度的比例",
    "the curve could not be fitted": "曲线无法拟合",
    "not located: the set reaches an end of the table": "无法定位：集合延伸到表的一端",
    "fewer than half of the texts part": "不到一半的文本出现分歧",
    # gates
    "no gate": "没有门限",
    "no gate is open": "没有未决的门限",
    "nothing to settle": "没有需要确定的",
    "cannot be settled: the value sits on the limit": "无法确定：数值正好在界限上",
}

RUN_DETAILED: dict[str, str] = {
    r"(\d+) calls lost, at most (\S+) may be": "丢失 {} 次调用，最多允许 {}",
    r"length differs: (\d+) items left out": "长度不同：剔除 {} 个样本",
    r"depth differs: (\d+) items left out": "深度不同：剔除 {} 个样本",
    r"(\d+) failures: shares need (\d+) or more": "{} 个失败：计算占比需要 {} 个以上",
    r"plain retries undo (\d+) failures": "原样重试即可消除 {} 个失败",
    r"dialogues that broke off: (\d+)": "中断的对话：{} 个",
    r"a steady answer without any text: (\d+) items": "不给文本时回答稳定：{} 个样本",
    r"arm (\S+) was not asked": "臂 {} 没有询问",
    r"(\S+) documents": "{} 篇文档",
    r"(\d{4}-\d\d) to (\d{4}-\d\d)": "{} 至 {}",
    r"design not balanced: item (.+), place (.+), arm (.+): (\d+) calls, elsewhere (\d+)": (
        "设计不平衡：样本 {}、位置 {}、臂 {} 有 {} 次调用，别处 {} 次"
    ),
    r"placement: item (.+), arm (.+): asked (\S+), found (\S+)": "放置：样本 {}、臂 {} 要求 {}，实为 {}",
    r"its longest prompt has about (\d+) tokens, and the target silently cuts them at about (\d+)": (
        "最长的提示约 {} 个 token，而目标会在约 {} 处静默截断"
    ),
}
"""The same with what stands in them."""
