"""What a pattern may mean, and the test to make: English and Chinese. None is a verdict."""

from whybox.report.document import Lang
from whybox.report.numbers import number

MEANINGS: dict[str, tuple[str, str]] = {
    "SYS_LOW": ("The system instruction may be ignored.", "系统指令可能被忽略。"),
    "SELF_ROW": (
        "That position lacks context; the tokenizer may have cut a keyword.",
        "该位置缺少上下文，关键词可能被切碎。",
    ),
    "FLAT": ("No clear source; the prompt may be vague.", "没有明确信息源，提示可能过于含糊。"),
    "RECENT": ("Recency bias.", "近因效应。"),
    "STRIPE": (
        "The whole text leans on one word, often in the system prompt.",
        "全文依赖某一个词（常在系统提示中）。",
    ),
    "ANCHOR": ("Summaries or a rest place at punctuation.", "标点充当汇总点或停放点。"),
    "SINK": ("Usual softmax drain, not a data fault.", "常见的注意力沉淀，不是数据问题。"),
    "SHORT_RANGE": ("Normal short-range work.", "浅层的局部模式，属正常。"),
    "SYS_FADES": ("Dilution by later tokens, or competition.", "被后续 token 稀释或竞争。"),
    "UNSEEN": ("Not seen: a prompt or placement problem.", "没看到：提示或位置问题。"),
    "SEEN_WRONG": (
        "Seen but misread or overruled: maybe the limit of the model.",
        "看到了但理解错或被压过，可能是能力边界。",
    ),
    "UNUSED": ("In the window, not exploited.", "片段在窗口内但未被利用。"),
    "MIDDLE": ("May be lost in the middle.", "可能中间丢失。"),
    "DOCS_COMPETE": (
        "Their keys and values compete; claims may be swapped.",
        "多个文档的 K/V 竞争，可能张冠李戴。",
    ),
    "ONE_WORD": ("Trajectory amplified from an early branch.", "自回归轨迹被早期分支放大。"),
    "COPIES_EXAMPLE": ("Copies a previous answer.", "在照抄前面的例子。"),
    "INERTIA": ("Follows its own output: loop or format inertia.", "受自身输出惯性支配（循环或格式）。"),
    "CANCEL": ("They may cancel.", "两个头可能互相抵消。"),
    "NOT_ATTENTION": ("The difference is not in attention.", "差异不在注意力。"),
    "OUT_OF_WINDOW": ("Only global layers can read it.", "证据在局部层窗口之外。"),
    "PAD_TEMPLATE": ("Mask or template fault.", "掩码或模板错误。"),
    "MASK_BUG": ("Implementation bug (mask after softmax).", "实现错误（softmax 之后才加掩码）。"),
    "ONE_HOT": ("Missing scale, or overflow.", "缺少缩放或溢出。"),
}

ACTIONS: dict[str, tuple[str, str]] = {
    "SYS_LOW": (
        "Check dilution by long context: `memory`; repeat the key instruction at the end; cut the segment and see whether anything changes.",
        "检查长上下文稀释（运行 `memory`）；在末尾重复关键指令；切断该段，看结果是否改变。",
    ),
    "SELF_ROW": ("Look at its tokens; rephrase; `edit`.", "检查分词；换一种写法；运行 `edit`。"),
    "FLAT": ("Make it specific; `edit`.", "写得更具体；运行 `edit`。"),
    "RECENT": (
        "Put key information at the end; `evidence` (L contrast).",
        "把关键信息放到末尾；运行 `evidence`（L 对比）。",
    ),
    "STRIPE": ("Replace or remove it; cut its column.", "替换或删除它；切断该列。"),
    "ANCHOR": (
        "Mean-ablate these positions; `edit` on punctuation.",
        "对这些位置做均值消融；改动标点再测（运行 `edit`）。",
    ),
    "SINK": (
        "Read shares with the sink removed; check that BOS is there once.",
        "去掉沉淀后再看占比；检查 BOS 恰好一个。",
    ),
    "SHORT_RANGE": ("Nothing to test.", "无需测试。"),
    "SYS_FADES": ("`memory` with `one-turn` and `restated`.", "做多轮记忆衰减回归（`memory`，含单轮、重申对照）。"),
    "UNSEEN": ("Move, shorten, boost the edge; `evidence`.", "移动、缩短、增强该边；运行 `evidence`。"),
    "SEEN_WRONG": ("Change the evidence value; `why`.", "改动证据值；运行 `why`。"),
    "UNUSED": ("Groundedness and citation rate; gold removed.", "检查 groundedness 与引用率；删去证据对照。"),
    "MIDDLE": ("Same evidence at every place; Q contrast.", "同一证据放在各位置，检验 Q 对比。"),
    "DOCS_COMPETE": ("Document order test; `documents`.", "调换文档顺序；运行 `documents`。"),
    "ONE_WORD": (
        "`edit`; show the top-2 gap at the fork.",
        "关键词敏感性测试（运行 `edit`）；看分叉处前二名差距。",
    ),
    "COPIES_EXAMPLE": ("Remove or reorder the examples.", "删除或重排示例。"),
    "INERTIA": ("Force the answer prefix; first-token probe.", "强制答案前缀；首 token 探测。"),
    "CANCEL": ("Ablate singly and together.", "分别和一起消融。"),
    "NOT_ATTENTION": ("MLP ablation, lens.", "消融 MLP，看 logit lens。"),
    "OUT_OF_WINDOW": ("Look at those; shorten.", "只看全局层；缩短上下文。"),
    "PAD_TEMPLATE": ("`doctor`, `diff` with batch 1.", "运行 `doctor`，与批大小 1 对比。"),
    "MASK_BUG": ("`diff` against reference. Stop.", "与参考引擎 `diff`，停止分析。"),
    "ONE_HOT": ("`diff` fp32.", "用 fp32 做 `diff`。"),
}

# What the numbers of a finding are called.
EVIDENCE: dict[str, tuple[str, str]] = {
    "lift": ("lift", "lift"),
    "heads": ("heads", "头数"),
    "heads_part": ("part of the heads", "占头的比例"),
    "layers": ("layers", "层数"),
    "tokens": ("tokens", "token 数"),
    "pairs": ("pairs", "对数"),
    "share": ("share", "占比"),
    "other_share": ("share of the other", "另一个的占比"),
    "cosine": ("cosine", "余弦"),
    "sink": ("mean sink", "沉淀均值"),
    "self": ("on itself", "对自身"),
    "stripe": ("part of the queries", "占 query 的比例"),
    "entropy_norm": ("entropy ÷ ln n", "熵 ÷ ln n"),
    "local16": ("within 16 tokens", "16 个 token 之内"),
    "even": ("if even", "若均匀"),
    "anchor": ("on pauses", "对停顿处"),
    "anchor_tokens": ("their share of the tokens", "其 token 占比"),
    "most": ("most", "最多"),
    "next": ("next", "其次"),
    "first": ("lift of the first", "首个的 lift"),
    "last": ("lift of the last", "末个的 lift"),
    "mass": ("behind earlier copies", "对先前副本之后"),
    "window": ("window", "窗口"),
    "distance": ("distance", "距离"),
    "row_sum_off": ("row sum off 1 by", "行和偏离 1"),
    "bound": ("bound", "界限"),
}
COUNTED = ("tokens", "layers", "pairs", "window", "distance", "heads")

REMARKS: dict[str, tuple[str, str]] = {
    "common": ("common, not a sign of trouble", "常见，不代表有问题"),
    "counted": (" Counted as documents: {names}.", "算作文档的部分：{names}。"),
    "not-own": ("base rate of `{model}`, not of this model", "基准率来自 `{model}`，不是本模型"),
    "no-rate": ("no ordinary prompt was measured for this code", "没有为该代码测量过普通提示"),
    "needs.rows": ("rows are no attention weights: nothing more can be said", "这些行不是注意力权重：其余无从判断"),
    "needs.model": ("needs the model: values, windows", "需要模型本身：value 与窗口"),
    "needs.probe": ("needs the probe of random ids", "需要随机 id 探测"),
    "needs.text": ("queries and keys are two texts", "query 与 key 来自两段文本"),
    "needs.causal": ("queries look both ways, or into another text", "query 双向可见，或看向另一段文本"),
    "needs.decision": ("no query decides, and none was named", "没有起决定作用的 query，也未指定"),
    "needs.parts": ("needs parts with names", "需要带名称的部分"),
    "needs.evidence": (
        "needs a case: the part that holds the evidence, and whether the answer is wrong",
        "需要用例：哪个部分含证据，以及答案是否错误",
    ),
    "elsewhere.SYS_FADES": ("needs many turns: `memory`", "需要多轮对话：`memory`"),
    "elsewhere.UNUSED": ("needs what the answer cites: `evidence`", "需要答案引用了什么：`evidence`"),
    "elsewhere.ONE_WORD": ("needs two prompts and what is written on: `edit`", "需要两个提示及其续写：`edit`"),
    "elsewhere.NOT_ATTENTION": ("needs a right and a wrong run: `why`", "需要一次正确与一次错误的运行：`why`"),
}


def meaning(code: str, lang: Lang) -> str:
    """What the pattern may mean."""
    return _in(MEANINGS[code], lang)


def action(code: str, lang: Lang) -> str:
    """The test to make."""
    return _in(ACTIONS[code], lang)


def evidence(name: str, value: float, lang: Lang) -> tuple[str, str]:
    """A number of a finding: what it is called, and its digits; counts are whole numbers."""
    return _in(EVIDENCE.get(name, (name, name)), lang), f"{value:,.0f}" if name in COUNTED else number(value)


def remark(key: str, lang: Lang, **values: object) -> str:
    """What stands beside a base rate."""
    return _in(REMARKS[key], lang).format_map(values)


def _in(pair: tuple[str, str], lang: Lang) -> str:
    return pair[1] if lang == "zh" else pair[0]
