"""What experiments are called, in the reader's language. Documents hold the English name, sentences and pages this one.

    named("boost decision → doc2", "zh")   → 增强注意力：决定位置 → doc2

Names of parts, quoted text and sites stay as they are. A name that is not listed is shown as it is.
"""

import re
from collections.abc import Callable
from typing import Literal

from whybox.verdict.note_words import NOTES

Lang = Literal["en", "zh"]

_WHOLE = {
    "evidence alone": "只留证据",
    "closed book": "去掉证据及其旁边的材料",
    "the question alone": "只问这个问题",
    "fact added": "补上事实",
    "words of the fact without the answer": "去掉答案后的事实词语",
    "lenient parse": "不计格式的读法",
    "greedy decoding": "贪心解码",
    "choice between the two answers at the start": "在开头只许在两个答案之间选择",
    "reference engine": "参考引擎",
    "no cache": "不用缓存",
    "batch 1": "批大小 1",
    "no padding": "不填充",
    "plain attention kernel": "普通注意力 kernel",
    "the start of the answer": "答案的开头",
    "each head set to zero": "逐个把头置零",
    "each head and MLP set to zero, where the answer begins (how far the form's first token falls behind)": (
        "在答案开头逐个把头与 MLP 置零（该格式的首个 token 落后多少）"
    ),
    "each head cut off from the evidence, with the evidence alone (its weight for the right answer)": (
        "只留证据时逐个切断头对证据的注意力（它对正确答案的分量）"
    ),
    "heads that read it patched, one or several": "替换读取证据的头，一个或几个",
    "several of them set to zero together": "其中几个一起置零",
    "each MLP, and the heads that wrote most against it, set to zero": "逐个把 MLP 与写入反向最多的头置零",
    # flags
    "earlier fork": "在决定位置之前分岔",
    "its value is right": "数值是对的",
    "its value is not right either": "数值也不对",
    "the answer follows": "答案随之改变",
    "the answer does not follow": "答案不随之改变",
    "with the evidence hidden: flips as well": "隐藏证据时同样翻转",
    "with the evidence hidden: does not flip": "隐藏证据时不翻转",
    "prefix not the model's own": "前缀不是模型自己写的",
    "prefix encoded anew together with the answer": "前缀与答案一起重新编码",
    "the case names no evidence: the sentences that state the right answer stand in for it": (
        "用例没有指明证据：由给出正确答案的句子代替"
    ),
    "the case names no wrong answer: what was written stands in for it": "用例没有给出错误答案：由实际写出的文字代替",
    "the case names no wrong answer: the second choice where the right answer begins stands in for it": (
        "用例没有给出错误答案：由正确答案开头处的第二候选代替"
    ),
    "the output observed elsewhere differs from the one written here": "别处观察到的输出与这里写出的不同",
    # conditions of a run
    "text of the answer": "答案文本",
    "weights digest": "权重摘要",
    "rendered ids": "渲染后的 id",
    "stop ids": "停止 id",
    "sampling settings and seed": "采样设置与种子",
    "precision": "精度",
    "engine": "引擎",
    # what a run changed
    "nothing changed": "未作改动",
    "nothing changed, values kept": "未作改动，保留数值",
    "repeats and random edits, for the noise floor": "重复与随机改动，用于测底噪",
    "repeats and random edits, for the noise floor of log P": "重复与随机改动，用于测 log P 的底噪",
    "computed otherwise": "换一种方式计算",
    "gradient of LD at every head, MLP, query and key": "LD 对每个头、MLP、query 与 key 的梯度",
    "read": "读取",
    "write": "写出",
    "gradient": "梯度",
}


_ACTED: dict[str, str] = {"boost": "增强", "cut": "切断"}


_PATTERNS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"(boost|cut) decision → tokens (.+)", lambda m: f"{_ACTED[m[1]]}注意力：决定位置 → token {m[2]}"),
    (r"(boost|cut) decision → (.+)", lambda m: f"{_ACTED[m[1]]}注意力：决定位置 → {m[2]}"),
    (r"without (.+)", lambda m: f"去掉 {m[1]}"),
    (r"order (.+) and (.+ set to zero.*)", lambda m: f"顺序 {m[1]}，并把{named(m[2], 'zh')}"),
    (r"order (.+)", lambda m: f"顺序 {m[1]}"),
    (r"prefix (.+) forced", lambda m: f"强制前缀 {m[1]}"),
    (r"behind the prefix (“.*”)", lambda m: f"在前缀{m[1]}之后"),
    (r"limit of (\d+) tokens", lambda m: f"上限 {m[1]} 个 token"),
    (r"the evidence says (.+)", lambda m: f"证据改说 {m[1]}"),
    (
        r"(.+): (\d+) runs, most by (.+)",
        lambda m: f"{named(m[1], 'zh')}：{m[2]} 次运行，最大的是 {_parts(named(m[3], 'zh'))}",
    ),
    (r"(each MLP.+ set to zero) in the order (.+)", lambda m: f"{named(m[1], 'zh')}，顺序 {m[2]}"),
    (r"(.+) set to zero, evidence hidden", lambda m: f"{_parts(m[1])} 置零，且隐藏证据"),
    (r"(.+) set to zero", lambda m: f"{_parts(m[1])} 置零"),
    (r"(.+) patched from the evidence alone, hidden", lambda m: f"{_parts(m[1])} 换成只有证据且隐藏证据时的值"),
    (r"(.+) patched from the evidence alone", lambda m: f"{_parts(m[1])} 换成只有证据时的值"),
    (r"(\d+) of (\d+) shams flip", lambda m: f"{m[2]} 个对照中 {m[1]} 个翻转"),
    (
        r"(\d+) of the shams gave no whole value in (\d+) times the limit either",
        lambda m: f"其中 {m[1]} 个对照写到上限的 {m[2]} 倍仍没有给出完整的答案",
    ),
    (r"on (\d+) more no whole value before the limit", lambda m: f"另有 {m[1]} 个变体在上限之前没有给出完整的答案"),
    (r"flips (\d+) of (\d+) failing variants", lambda m: f"{m[2]} 个出错变体中 {m[1]} 个翻转"),
    (r"(.+), on a variant that fails alike", lambda m: f"{named(m[1], 'zh')}，用在同样出错的变体上"),
    (r"gradient of LD along (.+)", lambda m: f"LD 沿 {m[1]} 的梯度"),
    (r"(.+), values kept", lambda m: f"{m[1]}，保留数值"),
    (r"(.+) at the decision position", lambda m: f"决定位置处的 {m[1]}"),
    (r"built-in reference set \((\d+) neutral prompts\)", lambda m: f"内置参考集（{m[1]} 个中性提示）"),
    (r"(\d+) variants of the case", lambda m: f"该用例的 {m[1]} 个变体"),
    *NOTES,
    (r"head (\d+\.\d+)", lambda m: f"头 {m[1]}"),
    (r"((?:no cache|batch 1|plain attention kernel|fp32|reference engine)(?: and .+))", lambda m: _together(m[1])),
)


_SEGMENTS = {"template": "模板", "answer so far": "已写出的答案", "bos": "BOS", "between the parts": "各部分之间"}


def segment_named(name: str, lang: Lang) -> str:
    """The name of a segment that nobody named: template, what it says by itself, what was written so far."""
    if lang == "en":
        return name
    return _SEGMENTS.get(name) or name.replace("not typed", "非用户输入")


def named(what: str, lang: Lang) -> str:
    """The name of an experiment or a flag in `lang`."""
    if lang == "en":
        return what
    if what in _WHOLE:
        return _WHOLE[what]
    for pattern, chinese in _PATTERNS:
        if found := re.fullmatch(pattern, what, re.DOTALL):
            return chinese(found)
    return what


def parts_named(names: str, lang: Lang) -> str:
    """Heads and MLPs (`head 23.0`, `MLP 7 and head 2.1`) in `lang`."""
    return names if lang == "en" else _parts(names)


def _parts(names: str) -> str:
    return re.sub(r"\bheads? (?=\d)", "头 ", names).replace(" and ", " 与 ")


def _together(names: str) -> str:
    return " 与 ".join(named(name, "zh") for name in names.split(" and "))
