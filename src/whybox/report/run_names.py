"""Names in a document of a run, in the reader's language: statistics, curves, axes, shapes, abilities, kinds.

Documents hold them in English, as a suite file and `--filter` spell them. A name that a gate may use keeps that
spelling in brackets: 改变的回答（changed）. What is not listed is shown as it is.
"""

import re

from whybox.report.doctor_words import put_in
from whybox.report.document import Lang
from whybox.report.reasons import reason

STATISTICS: dict[str, str] = {
    "right": "正确率（right）",
    "changed": "改变的回答（changed）",
    "follows": "跟随（follows）",
    "flips": "翻转（flips）",
    "declines": "拒答（declines）",
    "refuses": "误拒（refuses）",
    "cited": "引用正确段落（cited）",
    "obeyed": "遵守率（obeyed）",
    "drop": "下降（drop）",
    "unexplained": "无法解释（unexplained）",
    # order
    "spread": "最好与最差顺序之差（spread）",
    "slope over order": "随顺序变化的斜率",
    "gain where first": "位于首位时的增益",
    "gain where last": "位于末位时的增益",
    "first divergent token": "首个分歧 token",
    "same content": "内容相同的选择",
    "same place": "位置相同的选择",
    "first place beyond right": "选首位超出应有的部分",
    "label A beyond right": "选标签 A 超出应有的部分",
    "JSD of choices": "选择分布的 JSD",
    "place of a wrong answer": "错误答案所在位置",
    # edit
    "gap": "差距（gap）",
    "another first choice": "首选不同",
    "KL a token, at least": "每 token 的 KL（下界）",
    "JSD a token, at least": "每 token 的 JSD（下界）",
    "place of the largest KL": "KL 最大处的位置",
    # evidence
    "ends": "两端减中间（Q）",
    "lean": "末位减首位（L）",
    "places differ": "各位置是否不同（Cochran Q）",
    "closed": "无段落（closed）",
    "oracle": "只有正确段落（oracle）",
    "unchanged without it": "去掉段落后不变",
    "grounded": "有据（grounded）",
    "changed by length": "随长度改变的回答",
    "right among citations": "引用中的正确比例",
    "cited places alike": "各位置被引用是否均等",
    "log P lost without the right passage": "去掉正确段落损失的 log P",
    "log P lost without another one": "去掉其他段落损失的 log P",
    "right place × cited place": "正确位置 × 引用位置",
    # documents
    "primacy": "首位偏向（primacy）",
    "blend": "混合（blend）",
    "mirrors agree": "镜像样本一致",
    "preferred claim": "被采信的说法",
    "right source × credited source": "正确来源 × 归属来源",
    "place of the right source × place of the credited one": "正确来源位置 × 归属来源位置",
    # memory
    "half-life": "半衰期",
    "unreliability": "不稳定度（P90 − P10）",
    "rescue by restating": "重申规则的挽回",
    "turns beyond their tokens": "轮次本身的影响（扣除 token）",
    "one message": "合并为一条消息",
    "talk on the topic": "同主题闲谈",
    "never failed until then": "至此从未违反",
    "without the rule": "无规则时",
    "other arms": "其他臂",
    # consistency
    "same text": "文本相同",
    "accuracy lost": "正确率损失",
    "right before, wrong after": "原来对、现在错",
    "wrong before, right after": "原来错、现在对",
    "drift per 1,000": "每 1,000 个位置的漂移",
    "ties per 1,000": "每 1,000 个位置的并列",
    "KL mean": "KL 均值",
    "KL median": "KL 中位数",
    "KL 99.9 %": "KL 99.9 % 分位",
    "KL most": "KL 最大值",
    "mean move of log P": "log P 的平均变动",
    "growth with position": "随位置的增长",
    "texts that differ when asked again": "重问时文本不同",
    "width of a tie": "并列的宽度（δ）",
    "drift": "漂移",
    "rung reached": "到达的阶梯",
    # knowledge
    "text over a wrong prior": "文本胜过错误先验",
    "prior over a right text": "先验胜过正确文本（PB）",
    "from memory": "凭先验作答（M_R）",
    "follows where nothing is known": "无先验时跟随文本",
    "right of all answerable": "全部可答问题的正确率",
    "right of those tried": "作答问题的正确率",
    "balance": "平衡（调和平均）",
    "confidence tells right from wrong": "置信度区分对错（AUROC）",
    "months known": "已知的月数",
    "guess rate": "猜中率",
    "follows the text": "跟随文本",
    "keeps the prior": "坚持先验",
    "right by documents": "按文档数的正确率",
    "right by month": "按月份的正确率",
    # failure
    "failing": "失败",
    "failures": "失败",
    "right runs after each step": "每一步之后答对的次数",
}
AXES: dict[str, str] = {
    "order": "顺序",
    "place": "位置",
    "position": "位置",
    "edit": "编辑",
    "edit and place": "编辑及其位置",
    "passages : depth in %": "段落数 : 深度 %",
    "passages": "段落数",
    "turns": "轮次",
    "arm": "臂",
    "dose": "剂量",
    "documents": "文档数",
    "domain": "领域",
    "month": "月份",
    "cause": "原因",
    "token": "token",
}
WORDS: dict[str, str] = {
    # what is said in a word, and its name
    "shape": "形状",
    "flat": "平坦（flat）",
    "U": "U 形",
    "inverted-U": "倒 U 形",
    "recency": "近因：末位占优（recency）",
    "primacy": "首因：首位占优（primacy）",
    "undecided": "未定",
    "placement": "放置",
    "verified in ids": "已按实际发送的 id 核实",
    "boundary": "边界",
    "before the first tier": "未达第一档",
    "knowledge fades": "知识消退",
    "knowledge fades about": "知识大约消退于",
    # what else is known of an item
    "cause": "原因",
    "undone by": "可由此步消除",
    "also undone": "同样可消除",
    "fork": "分叉处",
    "gap at the fork": "分叉处的差距",
    "none": "无",
    # targets
    "bot": "机器人",
    "local": "本地模型",
    "endpoint": "服务端点",
    "huggingface": "transformers 模型",
    "kind": "类型",
    "model": "模型",
    "model digest": "模型摘要",
    "suite": "测试套件",
    "suite digest": "测试套件摘要",
    "target": "目标",
    "seed": "随机种子",
    "digest": "摘要",
    "tokenizer": "分词器（tokenizer）",
    "engine": "引擎",
    "precision": "精度",
    "kernel": "内核",
    "cached": "使用缓存",
    "chunk": "分块",
    "rows": "批大小",
    "base_url": "地址（base_url）",
    "stream": "流式（stream）",
    "limit_name": "长度上限的字段名",
    "extra_headers": "附加请求头（extra_headers）",
    "extra_body": "附加请求体（extra_body）",
    "class": "类",
    "device": "设备",
    "weights": "权重",
    "config": "配置",
    "attention": "注意力实现",
    "training": "训练模式",
    # abilities, and what was looked at
    "chat": "对话（chat）",
    "raw": "原始文本（raw）",
    "logprobs": "对数概率（logprobs）",
    "scores": "给定答案打分（scores）",
    "chat_scores": "对话中给定答案打分",
    "ids": "公开 token id（ids）",
    "usage": "token 计数（usage）",
    "shared_prefixes": "共享前缀",
    "calls": "调用",
    "system": "系统消息",
    "added": "附加文本",
    "bos": "BOS 标记",
    "fence": "代码围栏",
    "template": "对话模板",
    "context": "上下文长度",
    "finite": "数值有限",
    "repeat": "重复运行",
    "batch": "批次",
    "cache": "缓存",
    "reach": "连通",
}
_PATTERNS = {
    r"gain at (\S+)": "位置 {} 的增益",
    r"beyond chance at (\S+)": "第 {} 轮超出随机的部分",
    r"through (\S+)": "经由 {}",
    r"follows (near|far|absurd)(:untold)?": "跟随文本：{}{}",
    r"(answerable|unanswerable|false-premise) by domain": "{}：按领域",
}
_PARTS = {
    "near": "近", "far": "远", "absurd": "荒谬", ":untold": "（未要求依据文本）",
    "answerable": "可答", "unanswerable": "不可答", "false-premise": "错误前提",
}  # fmt: skip
_SET = {"True": "是", "False": "否", "None": "未设"}
_ABILITY = re.compile(r"(yes|no|not known)(?: \((.+)\))?", re.DOTALL)
_NEEDED = re.compile(r"needs (\w+): (.+)", re.DOTALL)
_SAID = {"yes": "有", "no": "无", "not known": "未知"}


def statistic(name: str, lang: Lang) -> str:
    """A statistic, a curve or a grid; what stands behind ` · ` or `, ` names a part or a side, and stays."""
    if lang == "en" or not name:
        return name
    if name in STATISTICS:
        return STATISTICS[name]
    for pattern, chinese in _PATTERNS.items():
        if found := re.fullmatch(pattern, name):
            return chinese.format(*(_PARTS.get(part, part) for part in found.groups(default="")))
    if (bounded := name.replace(", at least, ", ", ", 1)) != name:
        return f"{statistic(bounded, lang)}（下界）"
    known = [head for head in STATISTICS if name.startswith((f"{head} · ", f"{head}, "))]
    if not known:
        return name
    head = max(known, key=len)
    return f"{STATISTICS[head]} · {name[len(head) :].lstrip(' ·,')}"


def axis(name: str, lang: Lang) -> str:
    """What runs along a curve."""
    return AXES.get(name, name) if lang == "zh" else name


def word(name: str, lang: Lang) -> str:
    """A shape, a kind, an ability, the name of a detail; else a reason, since some words are one."""
    if lang == "en":
        return name
    if name in WORDS:
        return WORDS[name]
    head, comma, _ = name.partition(", ")
    if comma and head in STATISTICS:
        return statistic(name, lang)
    owner, colon, key = name.rpartition(": ")
    if colon and key in WORDS:
        return f"{WORDS['target'] if owner == 'target' else owner}：{WORDS[key]}"
    return told(name, lang)


def detail(value: str, lang: Lang) -> str:
    """A setting of a target: on, off or not set in words, anything else as it is."""
    return _SET.get(value, value) if lang == "zh" else value


def ability(text: str, lang: Lang) -> str:
    """yes, no or not known, with the reason."""
    if lang == "en" or (found := _ABILITY.fullmatch(text)) is None:
        return text
    said = _SAID[found[1]]
    return said if found[2] is None else f"{said}（{told(found[2], lang)}）"


def told(text: str, lang: Lang) -> str:
    """Why something is missing: a sentence of `doctor`, or a reason."""
    if lang == "zh" and (needed := _NEEDED.fullmatch(text)):
        return f"需要{word(needed[1], lang)}：{told(needed[2], lang)}"
    found = put_in(text, lang)
    return reason(text, lang) if found == text else found
