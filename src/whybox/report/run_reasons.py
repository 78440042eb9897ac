"""Why a number of a run is missing, in Chinese: what probes, statistics and gates say in English."""

RUN_REASONS: dict[str, str] = {
    # samples
    "no items": "没有条目",
    "too few items": "条目太少",
    "fewer than two items": "少于两个条目",
    "fewer than three runs of an item": "每个条目的运行不足三次",
    "fewer than five a place": "每个位置不足五个",
    "fewer than three places have no inside": "不足三个位置，没有中间",
    "every arm must be run at least twice, or the floor has no pair": "每个分组至少运行两次，否则底噪没有可比的一对",
    # what came back
    "no call came back": "没有任何调用返回",
    "no call of this probe was made": "这个探针没有发出任何调用",
    "no item came back in both arms": "没有条目在两个分组中都返回",
    "no item was seen in both arms": "没有条目同时出现在两个分组中",
    "no item of which every call came back": "没有哪个条目的所有调用都返回",
    "no item is whole": "没有完整的条目",
    "no given answer was scored": "没有给出的答案得到评分",
    "nothing was attempted": "没有任何尝试",
    "nothing was counted": "没有可计数的内容",
    "every pair was lost": "所有配对都丢失了",
    # what was not run
    "no repeats": "没有重复",
    "no repeat was made": "没有做重复",
    "no item has both a pair of arms and a repeat": "没有条目既有成对的分组又有重复",
    "not asked": "未询问",
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
    "no item differed": "没有条目出现差异",
    "one item differed": "只有一个条目出现差异",
    "all answers are right": "所有答案都正确",
    "all values are the same; the bound of a rate stands in place of an error": "所有值都相同；以比例的界代替误差",
    "the interval of the denominator holds 0": "分母的区间包含 0",
    "shares of failures: they depend on how many there are": "这是失败中的占比：取决于失败的数目",
    "no item failed in any arm": "任何分组中都没有条目失败",
    "no item failed earlier in one arm than in another": "没有条目在某一分组中比在另一分组中更早失败",
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
    "no gate": "没有门槛",
    "no gate is open": "没有未决的门槛",
    "nothing to settle": "没有需要确定的",
    "cannot be settled: the value sits on the limit": "无法确定：数值正好在界限上",
}
