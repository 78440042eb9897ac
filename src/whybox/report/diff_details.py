"""What the ladder of `diff` found, as documents hold it, in Chinese: sentences, and patterns of those with values."""

SIDES = {"first": "第一", "second": "第二"}
"""Values of patterns that are words."""
DETAILS: dict[str, str] = {
    "a recording holds no weights": "记录中没有权重",
    "no text was recorded": "没有记录文本",
    "none were recorded": "没有记录",
    "no patterns on both sides": "并非双方都有注意力模式",
    "no chat template": "没有对话模板",
    "0, 1, 2 … on both sides": "双方均为 0, 1, 2 …",
    "the number of prompt tokens is not told": "未告知提示的 token 数",
    "as many of them; the ids are not shown": "数目相同；未给出 id",
}
DETAILED: dict[str, str] = {
    r"(.+): not a shape that this model makes": "{}：该模型不会产生这样的形状",
    r"digest ([0-9a-f]+)": "摘要 {}",
    r"(\d+) of (\d+) tensors": "{} / {} 个张量",
    r"(\d+) of (\d+) tensors; NaN or Inf in (.+)": "{} / {} 个张量；NaN/Inf 见于 {}",
    r"layer (\d+): query (\d+) sees key (\d+) on the (\w+) side alone": "层 {0}：query {1} 仅在{3}侧看到 key {2}",
    r"(\d+) layers and (\d+)": "{} 层与 {} 层",
    r"width (\d+) and (\d+)": "宽度 {} 与 {}",
    r"(\d+) tokens in the vocabulary and (\d+)": "词表 {} 个 token 与 {} 个",
    r"(\[.*\]) … for 0, 1, 2, 3 …": "为 {} …，应为 0, 1, 2, 3 …",
    r"(\d+) positions for (\d+) tokens": "{} 个位置对应 {} 个 token",
    r"BOS twice on the (\w+) side": "{}侧 BOS 出现两次",
    r"BOS on the (\w+) side alone": "仅{}侧有 BOS",
    r"(\d+) × (.+) before the text on the (\w+) side: padding that is seen": "文本前有 {} × {}（{}侧）：可见的填充",
    r"(\d+) × (.+) behind the text on the (\w+) side: padding that is seen": "文本后有 {} × {}（{}侧）：可见的填充",
    r"the first (\d+) tokens are cut off on the (\w+) side": "开头 {} 个 token 在{}侧被截去",
    r"the last (\d+) tokens are cut off on the (\w+) side": "末尾 {} 个 token 在{}侧被截去",
    r"an end of text behind the prompt on the (\w+) side alone": "仅{}侧在提示后有结束符",
    r"control tokens spelled as ordinary characters on the (\w+) side": "{}侧把控制 token 拆成普通字符",
    r"the same text cut into other tokens, from token (\d+) on: (.+) and (.+)": (
        "同一文本切成了不同的 token，自第 {} 个起：{} 与 {}"
    ),
    r"a blank before the text on the (\w+) side alone": "仅{}侧在文本前有空格",
    r"the text normalised to (\w+) on the (\w+) side": "文本被规范化为 {}（{}侧）",
    r"the text in small letters on the (\w+) side": "{}侧的文本为小写",
    r"blanks at the ends of the text taken off on the (\w+) side": "{}侧去掉了文本两端的空白",
    r"every id ([+-]\d+) on the second side: rows of the vocabulary shifted": "第二侧每个 id {}：词表行错位",
    r"token (\d+): (\[.*\]) and (\[.*\]), (\d+) and (\d+) tokens": "第 {} 个 token：{} 与 {}，共 {} 与 {} 个",
    r"the answer is not opened on the (\w+) side": "{}侧没有开启回答",
    r"blanks differ at character (\d+): (.+) and (.+)": "第 {} 个字符处空白不同：{} 与 {}",
    r"a system message at character (\d+) on the (\w+) side alone: (.+)": "第 {} 个字符处，仅{}侧有系统消息：{}",
    r"text at character (\d+) on the (\w+) side alone: (.+)": "第 {} 个字符处，仅{}侧有文字：{}",
    r"other text at character (\d+): (.+) and (.+)": "第 {} 个字符处文字不同：{} 与 {}",
    r"(\d+) and (\d+) tokens for one chat message": "同一条对话消息为 {} 与 {} 个 token",
    r"(.+): token (\d+), (\d+) and (\d+) tokens": "{}：第 {} 个 token，共 {} 与 {} 个",
    r"(.+): (\d+) and (\d+) tokens": "{}：{} 与 {} 个 token",
}
