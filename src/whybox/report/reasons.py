"""Why a number is missing, in the reader's language. Documents hold reasons in English; a page shows them in its own.

    reason("run with --effort full", "zh")   → 用 --effort full 运行可得

A reason that is not listed is shown as it is: an unknown sentence is better than none.
"""

import re

from whybox.report.diff_details import DETAILED, DETAILS, SIDES
from whybox.report.diff_words import UNSAID
from whybox.report.document import Lang
from whybox.report.run_reasons import RUN_DETAILED, RUN_REASONS
from whybox.report.words import say

_CHINESE = (
    UNSAID
    | DETAILS
    | RUN_REASONS
    | {
        "no change that undoes it was confirmed": "没有任何消除它的改动得到证实",
        "the answer is right": "答案正确",
        "run with --effort full": "用 --effort full 运行可得",
        "one prompt; no generalisation": "仅一个提示，不作推广",
        "one run": "只运行一次",
        "all draws are alike": "所有抽样都相同",
        "an MLP has no heads": "MLP 没有头",
        "no single number was read": "没有读取单一数值",
        "not written anew": "没有重新写出答案",
        "its limit ended the answer before it gave a whole value": "回答还没给出完整的答案就被上限截断",
        "the metric's place does not exist in this run": "该次运行中没有这个指标的位置",
        "this change has no other place to be made": "这种改动没有别处可做",
        "the same answer, read otherwise: nothing is run anew": "同一个答案换一种读法，没有重新运行",
        "another answer would be right here": "此处正确答案会不同",
        "no change of edges flips, and the parts were not ranked": "没有边的改动能翻转，部件也未排序",
        "no part moves the metric towards the turn": "没有部件使指标朝翻转方向移动",
        "not a part of the case": "不是案例的组成部分",
        "not a part of a case": "不是案例的组成部分",
        "nothing would be left of the prompt": "提示会一无所剩",
        "it reaches up to the decision: no position lies after all of it": "它一直延伸到决定位置：它的全部之后没有位置",
        "no position lies there that could see it": "那里没有能看到它的位置",
        "the cut would leave a row with no key to see": "切断后某一行会没有可看的 key",
        "no edge was named": "没有指定边",
        "no other text is deleted": "没有删除其他文字",
        "every mask was run: none is unseen": "所有掩码都已运行：没有未见过的",
        "more than 12 sources": "来源超过 12 个",
        "no other span of this length": "没有同样长度的其他片段",
        "only parts of the case are compared with other spans": "只有案例的组成部分才与其他片段比较",
        "only heads and MLPs write into the stream": "只有头与 MLP 写入残差流",
        "it lies in several places: no single span matches it": "它分在几处：没有单个片段与之匹配",
        "matched others are resampled with --effort full": "用 --effort full 时才对匹配部件重采样",
        "no other component of this kind matches it": "没有同类的其他部件与之匹配",
        "matched others exist, and none were run": "有匹配的其他部件，但没有运行",
        "no other edges of that number and attention mass": "没有同样数目与注意力质量的其他边",
        "one of the three effects was not obtained": "三种效应之一未取得",
        "surrogate not usable": "替代模型不可用",
        "undefined: estimates or effects are all alike": "无定义：估计或效应全都相同",
        "the joint effect is within the noise floor": "联合效应在底噪之内",
    }
)
_CHECKED = re.compile(r"(shape|weights|template|ids|positions|mask|sites): (.+)", re.DOTALL)
"""A check of the ladder, and what it found."""
_WITH_NUMBERS = {
    r"the logits agree, and (\S+) is no part of the run that gives them": "logits 一致，{} 不属于该次运行",
    r"of (\d+) pairs of the strongest parts none cancels or does more together": (
        "最强部件的 {} 对中，没有一对互相抵消或一起时作用更大"
    ),
    r"layers (\d+) … (\d+)": "第 {} … {} 层",
    r"longer than (\d+) turns": "长于 {} 轮",
    r"shorter than (\d+) turns": "短于 {} 轮",
    r"a month has (\d+) facts, at least (\d+) are needed": "有的月份只有 {} 条事实，至少需要 {} 条",
    r"not located: the set spans (\d+) months": "无法定位：集合横跨 {} 个月",
    r"(\d+) controls, at least (\d+) are needed": "有 {} 个对照，至少需要 {} 个",
    r"(\d+) dated facts, at least (\d+) are needed": "有 {} 条带日期的事实，至少需要 {} 条",
    r"not among the (\d+) with the largest effect at the decision": "不在决定位置效应最大的 {} 个之中",
    r"the cut would leave position (\d+) with no key to see": "切断后位置 {} 会没有可看的 key",
    r"the prompt has (\d+) tokens; a map of all heads is kept up to (\d+)": "提示有 {} 个 token；全部头的图至多 {} 个",
    r"the text has more than (\d+) tokens": "文本超过 {} 个 token",
    r"fewer than (\d+) reference prompts fit the model's context": "能放进模型上下文的参考提示不足 {} 个",
    r"no set of up to (\d+) of the strongest parts turns the outcome": "最强部件中至多 {} 个的集合都不能翻转结果",
    **DETAILED,
    **RUN_DETAILED,
}


def reason(text: str, lang: Lang) -> str:
    """The reason in `lang`; itself where only English is known."""
    if lang == "en":
        return text
    if text not in _CHINESE and (checked := _CHECKED.fullmatch(text)):
        return f"{say(f'diff.check.{checked[1]}', lang)}：{reason(checked[2], lang)}"
    for pattern, chinese in _WITH_NUMBERS.items():
        if found := re.fullmatch(pattern, text, re.DOTALL):
            return chinese.format(*(SIDES.get(value, value) for value in found.groups()))
    return _CHINESE.get(text, text)
