"""What the walk through the pipeline says, in English and Chinese."""

from whybox.report.document import Lang

_WORDS: dict[str, tuple[str, str]] = {
    "text": ("text", "文本"),
    "characters": ("{n} characters", "{n} 个字符"),
    "tokens": ("tokens", "token"),
    "tokens.note": ("ids {ids}", "id：{ids}"),
    "embedding": ("embedding", "嵌入"),
    "embedding.note": (
        "each id takes its row of the {v} × {c} table, which equals a one-hot product",
        "每个 id 取 {v} × {c} 表中的一行，等价于 one-hot 乘法",
    ),
    "position": ("position", "位置"),
    "position.rope": (
        "RoPE turns query and key by position × frequency; their product depends on the distance alone",
        "RoPE 按 位置 × 频率 旋转 query 与 key，点积只取决于两者的距离",
    ),
    "position.alibi": (
        "ALiBi subtracts slope × distance from each score",
        "ALiBi 从每个分数中减去 斜率 × 距离",
    ),
    "position.learned": ("a learned row per position is added to the embedding", "每个位置有一行学到的向量，加在嵌入上"),
    "projections": ("layer 0 · query, key, value", "第 0 层 · query、key、value"),
    "projections.note": (
        "three projections of the normed stream: what is looked for, how it can be found, what is handed over",
        "归一化后的残差流做三种投影：要找什么、凭什么被找到、交出什么",
    ),
    "scores": ("layer 0 · scores", "第 0 层 · 分数"),
    "scores.note": (
        "query · key × scale; keys after the query are hidden before the softmax",
        "query · key × 缩放；query 之后的 key 在 softmax 之前被遮住",
    ),
    "scores.window": ("Only the last {n} keys are visible.", "只能看到最近 {n} 个 key。"),
    "scores.cap": ("Scores are soft-capped at ±{cap}.", "分数以 ±{cap} 软截断。"),
    "softmax": ("layer 0 · softmax", "第 0 层 · softmax"),
    "softmax.note": ("each row is non-negative and sums to 1", "每一行非负且和为 1"),
    "mix": ("layer 0 · mix and project", "第 0 层 · 加权求和与输出投影"),
    "mix.note": (
        "each head mixes the values by its weights; the output projection joins the heads and is added to the stream",
        "每个头按权重混合 value；输出投影把各头合并后加到残差流",
    ),
    "mlp": ("layer 0 · MLP", "第 0 层 · MLP"),
    "mlp.note": ("each row alone: widen, {activation}, narrow; added to the stream", "逐行进行：升维、{activation}、降维；加到残差流"),
    "layer": ("after layer {n}", "第 {n} 层之后"),
    "final": ("final norm", "最后的归一化"),
    "logits": ("logits", "logits"),
    "logits.tied": ("the head is the embedding table itself (tied)", "输出头就是嵌入表本身（权重共享）"),
    "logits.own": ("the head is a table of its own", "输出头是单独的一张表"),
    "next": ("next token", "下一个 token"),
    "next.note": ("the most probable is “{token}”", "概率最高的是“{token}”"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """The phrase in the language, filled in."""
    return _WORDS[key][lang == "zh"].format(**values)
