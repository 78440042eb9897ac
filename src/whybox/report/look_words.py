"""The sentences of `look`, in English and Chinese."""

from whybox.report.document import Lang

WORDS: dict[str, tuple[str, str]] = {
    "title": ("{n} tokens, {layers} layers, {heads} heads", "{n} 个 token，{layers} 层，{heads} 个头"),
    "short": ("short text: classes rest on {n} tokens", "文本较短：分类只依据 {n} 个 token"),
    "beyond": ("longer than the context that the model was trained for", "超出模型训练时的上下文长度"),
    "banner": (
        "Weights are not causes: a share says what was mixed in, not what decided the answer. To see that: whybox why",
        "权重不等于原因：占比说明混入了什么，不说明答案由什么决定。要看后者：whybox why",
    ),
    "diagnoses": ("Patterns that may be worth a test: {n}", "值得检验的模式：{n} 个"),
    "diagnoses.none": ("No uncommon pattern was found", "没有发现不常见的模式"),
    "common.title": ("Common patterns", "常见模式"),
    "test": ("Test: {action}", "检验：{action}"),
    "rate": ("on {share} of {n} ordinary prompts", "在 {n} 个普通提示中占 {share}"),
    "segments": (
        "The decision reads “{top}” most: {share} of its attention",
        "决定位置看得最多的是“{top}”：占注意力的 {share}",
    ),
    "segments.mean": (
        "On average, queries read “{top}” most: {share} of their attention",
        "平均而言，各 query 看得最多的是“{top}”：占注意力的 {share}",
    ),
    "not_said": ("Not decided here: {told}", "此处无法判断：{told}"),
    "column.lift": ("lift", "倍数"),
    "column.value": ("by value", "按值加权"),
    "column.mean": ("mean query", "平均"),
    "column.layers": ("by layer", "逐层"),
    "column.head": ("head", "头"),
    "column.classes": ("class", "类别"),
    "heads.clearest": ("The clearest head of each class", "每一类中最典型的头"),
    "heads.sorted": ("Heads by {column}, {n} of {all}", "按 {column} 排序的头，{n}/{all}"),
    "heads.layer": ("Heads of layer {layer}", "第 {layer} 层的头"),
    "heads.one": ("Head {head}", "头 {head}"),
    "heads.more": (
        "{n} more; -o heads.csv holds all columns of all heads",
        "另有 {n} 个；-o heads.csv 含全部头与全部列",
    ),
    "classes": ("Classes of {heads} heads", "{heads} 个头的类别"),
    "probe": (
        "induction and duplicate: {draws} draws of {tokens} random ids, repeated; control: not repeated",
        "induction 与 duplicate：{draws} 次抽取，每次 {tokens} 个随机 id 并重复一遍；对照为不重复",
    ),
    "layers": (
        "SD of the visible scores by layer (median head), dead MLP units on this input",
        "各层可见分数的标准差（中位头）与本输入下不活动的 MLP 单元",
    ),
    "layers.line": (
        "{spark}  {low} … {high} · {dead} of {units} units dead",
        "{spark}  {low} … {high} · {units} 个单元中 {dead} 个不活动",
    ),
    "dilution": ("Share of “{segment}” as filler makes the context longer", "填充文本拉长上下文时“{segment}”的占比"),
    "dilution.beyond": ("beyond training", "超出训练长度"),
    "dilution.trained": (
        "the curve ends within the trained context of {trained} tokens; --allow-long goes on to 10,000",
        "曲线止于训练时的上下文长度（{trained} 个 token）；--allow-long 可延伸到 10,000",
    ),
    "column.tokens": ("tokens", "token 数"),
    "column.brightest": ("head with most", "占比最高的头"),
    "column.share": ("share", "占比"),
    "column.segment": ("segment", "片段"),
}

# What a column of the terminal's table is called, by field of the document.
COLUMNS: dict[str, str] = {
    "entropy_norm": "H/ln n",
    "sink": "sink",
    "previous": "prev",
    "self": "self",
    "local": "local",
    "induction": "ind",
    "duplicate": "dup",
    "anchor": "anchor",
    "stripe": "stripe",
    "distance": "dist",
}


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence of that key in that language, with its blanks filled."""
    english, chinese = WORDS[key]
    return (chinese if lang == "zh" else english).format_map(values)
