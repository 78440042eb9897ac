"""Notes in Chinese: of a study, of what a model's file does not say, of how a prompt was read. Documents hold them in
English; a note that is not listed is shown as it is.
"""

import re
from collections.abc import Callable

_NOT_RUN = {
    "other engines and precisions": "其他引擎与精度",
    "activation patching of readers": "读取头的激活替换",
    "mean ablation": "均值消融",
    "self-repair": "自修复",
    "pairs": "成对消融",
    "minimal sets": "最小集合",
    "context attribution": "上下文归因",
    "gradients": "梯度",
}
_RULES = {
    "attention_factor, as given": "按给出的 attention_factor",
    "mscale over mscale_all_dim": "mscale 除以 mscale_all_dim",
    "0.1·ln(factor) + 1; one of mscale and mscale_all_dim alone is not used": (
        "0.1·ln(factor) + 1；mscale 与 mscale_all_dim 只给出一个时不使用"
    ),
    "1, since the context is not extended": "1，因为上下文没有扩展",
}
"""Rules of a magnitude; formulas stay as they are."""

NOTES: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (
        r"noise floor: five times (\S+) nats, .*?(and the reference engine)?, on the base and on 5 random edits; .*",
        lambda m: (
            f"底噪：{m[1]} nats 的五倍，即在原样与 5 个随机改动上，重复、分批、缓存运行{'与参考引擎' if m[2] else ''}之间 LD 的最大变化；"
            "空改动没有改变任何数值"
        ),
    ),
    (r"planted weights: the mechanism is known by construction", lambda _: "手工构造的权重：机制由构造可知"),
    (
        r"(\d+) of (\d+) variants drawn fail like the case",
        lambda m: f"抽取的 {m[2]} 个变体中有 {m[1]} 个与本用例同样出错",
    ),
    (
        r"the answers are compared in the letters that were written: (.+), (.+)",
        lambda m: f"按写出的大小写比较两个答案：{m[1]}、{m[2]}",
    ),
    (
        r"the answer is in the words of an option: what the options say is compared: (.+), (.+)",
        lambda m: f"回答用的是选项的内容：比较的是两个选项的内容：{m[1]}、{m[2]}",
    ),
    (
        r"no part is called `question`: “(.+)” is taken for the one that asks",
        lambda m: f"没有名为 `question` 的部分：以“{m[1]}”为提问的部分",
    ),
    (
        r"(\d+) of (\d+) combinations of `vary` are used: .*",
        lambda m: f"`vary` 的 {m[2]} 种组合中用了 {m[1]} 种：其余组合中一个值包含另一个值",
    ),
    (
        r"lift of the evidence at the decision row: (\S+) \(.*\)",
        lambda m: f"决定行对证据的 lift：{m[1]}（沉淀占比不超过 .3 的头的平均）",
    ),
    (
        r"ρ\(attention share, \|effect of the cut\|\) over (\d+) keys: (\S+) \(p (\S+)\)",
        lambda m: f"在 {m[1]} 个 key 上 ρ（注意力占比，|切断的效应|）：{m[2]}（p {m[3]}）",
    ),
    (
        r"the evidence hidden from all later positions: LD (\S+) nats \((?:null (.+), p (\S+)|too few.*)\)",
        lambda m: (
            f"对之后所有位置隐藏证据：LD {m[1]} nats"
            + (f"（零分布 {m[2]}，p {m[3]}）" if m[2] else "（其他片段太少，没有零分布）")
        ),
    ),
    (r"not run: (.+)", lambda m: f"没有做：{'、'.join(_NOT_RUN.get(name, name) for name in m[1].split(', '))}"),
    (r"not typed by the user, added by the template: (.+)", lambda m: f"并非用户输入，由模板加入：{m[1]}"),
    (r"the work was ended during “(.+)”; .*", lambda m: f"工作在“{m[1]}”阶段被中止；其后的都没有运行"),
    (
        r"(\S+) = (\S+) \(not in the file; the family's default\)",
        lambda m: f"{m[1]} = {m[2]}（文件中没有，取该系列的默认值）",
    ),
    # what the file does not say
    (r"(\S+) = (\S+) was accepted without being obeyed", lambda m: f"{m[1]} = {m[2]}：按用户要求接受，但没有执行"),
    (
        r"query_pre_attn_scalar = (\S+) \(not in the file; by the table of (\d+) layers\)",
        lambda m: f"query_pre_attn_scalar = {m[1]}（文件中没有，按 {m[2]} 层模型的对照表取值）",
    ),
    (
        r"(layer_types: )?layers (\d.*…) global, the others through the window \(not in the file; the family's rule\)",
        lambda m: f"{m[1] or ''}第 {m[2]} 层看全部，其余层只看窗口（文件中没有，取该系列的规则）",
    ),
    (
        r"(layer_types: )?layers (\d.*…) through the window \(not in the file; the family's rule\)",
        lambda m: f"{m[1] or ''}第 {m[2]} 层只看窗口（文件中没有，取该系列的规则）",
    ),
    (
        r"layer_types: sliding from layer (\d+) on \(not in the file; the family's rule\)",
        lambda m: f"layer_types: 从第 {m[1]} 层起只看窗口（文件中没有，取该系列的规则）",
    ),
    (
        r"experts: the chosen weights are divided by their sum \(Mixtral's rule; not in the file\)",
        lambda _: "专家：选中的权重除以它们的和（Mixtral 的规则，文件中没有）",
    ),
    (
        r"activation: the tanh form of GELU \(not in the file; the family's\)",
        lambda _: "激活函数：GELU 的 tanh 形式（文件中没有，取该系列的）",
    ),
    (
        r'activation: "gelu" in the file, the tanh form is meant and used',
        lambda _: "激活函数：文件写的是 gelu，所指并采用的是 tanh 形式",
    ),
    (r"norm eps = (\S+) \(not in the file; the family's\)", lambda m: f"norm eps = {m[1]}（文件中没有，取该系列的）"),
    (
        r"(YaRN|LongRoPE) magnitude (\S+) by the rule: (.+)",
        lambda m: f"{m[1]} 的幅度 {m[2]}，规则：{_RULES.get(m[3], m[3])}",
    ),
    (r"planted weights: the mechanism is known by construction", lambda _: "人工布置的权重：机制在构造时已知"),
    # how a prompt was read
    (
        r"(.+): (.+) would have become a control token; it is ordinary text here",
        lambda m: f"{m[1]}：{m[2]} 本会变成控制 token；这里按普通文本处理",
    ),
    (
        r"token (\d+) (.+) lies in (\S+) and in (\S+); the first one owns it",
        lambda m: f"token {m[1]} {m[2]} 跨在 {m[3]} 与 {m[4]} 之间；它归前者",
    ),
    (r"(\S+) is empty: it owns no token", lambda m: f"{m[1]} 是空的：没有 token 归它"),
    (
        r"(\S+) is wholly inside a token of the part before it: it owns no token",
        lambda m: f"{m[1]} 整个落在前一部分的 token 里：没有 token 归它",
    ),
    (
        r"the prompt starts with (\d+) BOS tokens \(id (\d+)\); models expect one",
        lambda m: f"提示以 {m[1]} 个 BOS token（id {m[2]}）开头；模型只预期一个",
    ),
    (
        r"the template writes no BOS, although raw text gets one; none was added",
        lambda _: "模板没有写 BOS，而纯文本会加一个；这里没有添加",
    ),
    (
        r"the template writes today's date; it is given (.+) on every day",
        lambda m: f"模板会写入当天日期；这里每天都给它 {m[1]}",
    ),
    (
        r"(\d+) tokens: beyond the (\d+) of the trained context",
        lambda m: f"{m[1]} 个 token：超出训练时的上下文 {m[2]}",
    ),
)
