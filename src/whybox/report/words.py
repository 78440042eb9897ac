"""Every sentence that a report says by itself, in English and Chinese, each written as such.

A sentence claims what was measured: "changed", "did not change beyond the floor", "not determined".
"""

from whybox.report.cause_words import CAUSES
from whybox.report.claims_words import CLAIMS
from whybox.report.comparison_words import COMPARISONS
from whybox.report.course_words import COURSE
from whybox.report.diff_sensitivity_words import SENSITIVITIES
from whybox.report.diff_words import DIFFS
from whybox.report.document import Lang
from whybox.report.estimate_words import ESTIMATES
from whybox.report.next_words import NEXT_WORDS
from whybox.report.parts_words import PART_WORDS
from whybox.report.picture_words import PICTURES
from whybox.report.run_page_words import RUN_PAGE
from whybox.report.run_words import RUNS
from whybox.report.size_words import SIZES

WORDS: dict[str, tuple[str, str]] = (
    PICTURES
    | CAUSES
    | ESTIMATES
    | PART_WORDS
    | RUNS
    | RUN_PAGE
    | COMPARISONS
    | CLAIMS
    | COURSE
    | SIZES
    | DIFFS
    | NEXT_WORDS
    | SENSITIVITIES
    | {
        # frame of a page
        "page.why": ("why · {case}", "归因 · {case}"),
        "page.theme": ("Theme", "主题"),
        "page.auto": ("Auto", "自动"),
        "page.light": ("Light", "浅色"),
        "page.dark": ("Dark", "深色"),
        "page.copy_csv": ("Copy as CSV", "复制为 CSV"),
        "page.copy_json": ("Copy the whole document as JSON", "复制完整 JSON 文档"),
        "page.copy": ("Copy", "复制"),
        "page.copied": ("Copied", "已复制"),
        "page.exact": ("Exact numbers", "精确数值"),
        "page.left_out": (
            "Rows left out on this page: {n}; the copy holds them.",
            "本页省略了 {n} 行；复制的数据包含全部。",
        ),
        "page.skip": ("To the verdict", "跳到结论"),
        "page.footer": (
            "This page works offline: it loads nothing and sends nothing.",
            "本页可离线使用：不加载任何外部内容，也不发送任何数据。",
        ),
        "page.too_large": (
            "The document exceeds the page's limit of {mb} MB and is not embedded; use --json.",
            "文档超过本页 {mb} MB 的上限，未嵌入；请使用 --json。",
        ),
        # prompt and answers
        "prompt.title": ("The prompt and the answer", "提示与答案"),
        "prompt.note": (
            "{n} tokens in {s} segments. The answer is decided after the last of them.",
            "共 {n} 个 token，分为 {s} 段。答案在最后一个 token 之后决定。",
        ),
        "prompt.text": ("Text", "文本"),
        "prompt.tokens": ("Tokens", "Token"),
        "prompt.view": ("View", "视图"),
        "prompt.caption.tokens": ("Tokens: ids, bytes and parts of characters", "Token：id、字节与字符片段"),
        "prompt.more": ("… {n} more tokens, not drawn here …", "…… 另有 {n} 个 token，此处不绘制 ……"),
        "prompt.control_like": (
            "Red underline: text that looks like a control token; it was sent as ordinary characters.",
            "红色下划线：看起来像控制 token 的文本，已按普通字符发送。",
        ),
        "answer.right": ("Right answer", "正确答案"),
        "answer.wrong": ("Wrong answer", "错误答案"),
        "answer.got": ("Written", "实际写出"),
        "answer.cut": ("cut at the limit of {n} tokens", "在 {n} 个 token 的上限处被截断"),
        "answer.logprob": ("{value} nats", "{value} nats"),
        "answer.missing": ("not given", "未给出"),
        "answer.prefix": ("Before the decision", "决定点之前"),
        "answer.position": ("Decision position", "决定位置"),
        "answer.token": ("token {n}, counted from 0", "token {n}（从 0 数起）"),
        "prefix.own": ("the model's own words", "模型自己写出的文字"),
        "prefix.start": ("nothing: the answer starts here", "无：答案从这里开始"),
        "prefix.forced": ("supplied words", "外部给定的文字"),
        "segment.evidence": ("evidence", "证据"),
        # evidence
        "evidence.title": ("Evidence", "证据"),
        "evidence.finding": (
            "Cutting “{most}” off hurts the right answer most; it holds {share} of the attention",
            "切断“{most}”对正确答案损害最大；它占 {share} 的注意力",
        ),
        "evidence.finding.help": (
            "Cutting “{most}” off helps the right answer most; it holds {share} of the attention",
            "切断“{most}”对正确答案帮助最大；它占 {share} 的注意力",
        ),
        "evidence.finding.null": (
            "; other spans of its length reach as far (p\u00a0=\u00a0{p})",
            "；等长的其他片段也能达到（p\u00a0=\u00a0{p}）",
        ),
        "evidence.finding.other_way": (
            "; other spans of its length reach as far the other way (p\u00a0=\u00a0{p})",
            "；等长的其他片段朝相反方向也能达到（p\u00a0=\u00a0{p}）",
        ),
        "evidence.finding.few": (
            "; only {n} other spans of its length exist, too few to tell it from chance (p\u00a0=\u00a0{p})",
            "；等长的其他片段只有 {n} 个，无法与偶然区分（p\u00a0=\u00a0{p}）",
        ),
        "evidence.finding.no_null": ("; nothing of its kind is there to compare it with", "；没有同类片段可作比较"),
        "evidence.finding.evidence": (", and is the evidence", "，也就是证据"),
        "evidence.finding.part": (
            ". The case does not write it; of the parts that it writes, cutting “{most}” off changes most: {effect}",
            "。它不是用例写的；在用例写的各部分中，切断“{most}”影响最大：{effect}",
        ),
        "evidence.finding.noshare": (
            "Cutting “{most}” off changes {metric} most",
            "切断“{most}”对 {metric} 的改变最大",
        ),
        "evidence.finding.none": ("No cut changed {metric} beyond the floor", "没有任何切断使 {metric} 的改变超过底噪"),
        "evidence.note": (
            "Attention share says where the decision row reads. "
            "The effect says what cutting that reading does to the answer. They are different quantities.",
            "注意力占比说明决定行在读哪里；效应说明切断这段读取之后答案如何改变。两者是不同的量。",
        ),
        "evidence.share": ("Attention share of the decision row", "决定行的注意力占比"),
        "evidence.effect": ("Change of {metric} when cut, {unit}", "切断后 {metric} 的变化，{unit}"),
        "evidence.hurts": ("← cutting hurts the right answer", "← 切断损害正确答案"),
        "evidence.helps": ("cutting helps it →", "切断有助于正确答案 →"),
        "evidence.key.null": ("95 % of the random spans of equal length", "等长随机片段的 95 % 区间"),
        "evidence.key.total": ("total effect (cut from every later position)", "总效应（从其后所有位置切断）"),
        "evidence.key.floor": ("inside the floor", "在底噪之内"),
        "evidence.key.undefined": ("not obtained", "未取得"),
        "evidence.n": ("n = {n}", "n = {n}"),
        "evidence.more": ("{n} segments with smaller effects are in the table.", "另有 {n} 个效应较小的部分，见表格。"),
        "floor.below": ("≈ 0 (below the floor)", "≈ 0（低于底噪）"),
        "floor.said": (
            "Floor: changes up to {noise} {unit} count as none.",
            "底噪：不超过 {noise} {unit} 的变化视为无变化。",
        ),
        # lens
        "lens.title": ("Where it was decided", "在哪一层决定"),
        "lens.finding.wrong": (
            "From layer {layer} on, the wrong answer stays ahead",
            "从第 {layer} 层起，错误答案一直领先",
        ),
        "lens.finding.other": (
            "From layer {layer} on, what stands in for a wrong answer stays ahead",
            "从第 {layer} 层起，代替错误答案的文字一直领先",
        ),
        "lens.finding.right": (
            "From layer {layer} on, the right answer stays ahead",
            "从第 {layer} 层起，正确答案一直领先",
        ),
        "lens.finding.none": ("No layer decides beyond the floor", "没有任何一层的领先超过底噪"),
        "lens.note": (
            "The logit lens reads the residual stream after each layer through the model's own head. "
            "Early layers are uncalibrated there: only the sign and the difference can be read.",
            "logit lens 用模型自己的输出头读取每一层之后的残差流。浅层没有校准：只能看符号与差值。",
        ),
        "lens.at": ("layer {layer}", "第 {layer} 层"),
        "lens.x": ("layer", "层"),
        "lens.y": ("{metric}, {unit}", "{metric}，{unit}"),
        "lens.n": ("{n} layers, n = 1 prompt", "{n} 层，n = 1 个提示"),
        # map
        "map.title": ("Where the attention lies", "注意力在哪里"),
        "map.finding": (
            "The decision row reads “{top}” with {share}, the evidence with {evidence}",
            "决定行有 {share} 的注意力在“{top}”，{evidence} 在证据上",
        ),
        "map.finding.plain": ("Attention, query by key", "注意力：查询 × 键"),
        "map.note": (
            "A map of reading, not of causes: the section above shows what cutting changed.",
            "这是读取的分布图，不是原因图：切断改变了什么，见上一节。",
        ),
        "map.which.mean": ("Mean over all layers and heads", "所有层与头的平均"),
        "map.which.layer": ("Layer {layer}, mean over heads", "第 {layer} 层，各头平均"),
        "map.which.head": ("Layer {layer}, head {head}", "第 {layer} 层，第 {head} 头"),
        "map.rows": ("query: this token predicts the next one", "查询：该 token 预测下一个 token"),
        "map.columns": ("key: what is read", "键：被读取的 token"),
        "map.sink": ("Take out the first key (sink)", "去掉第一个键（沉淀）"),
        "map.sink.notice": (
            "First key taken out; each row is divided by the rest.",
            "已去掉第一个键；每行按余下部分重新归一。",
        ),
        "map.pooled": ("Mean of blocks of {n} tokens", "每 {n} 个 token 一块，取平均"),
        "map.scale": ("attention weight, square-root scale", "注意力权重，平方根刻度"),
        "map.masked": ("masked or not computed", "被掩码或未计算"),
        "map.row": ("This row by segment", "该行按部分汇总"),
        "map.more": (
            "{n} segments with smaller shares are not listed here.",
            "另有 {n} 个占比较小的部分，此处未列出。",
        ),
        "map.help": (
            "Point at a cell, or focus the map and use the arrow keys.",
            "指向某个格子，或让图获得焦点后用方向键移动。",
        ),
        "map.table": ("Decision row, largest weights first", "决定行，权重由大到小"),
        # heads
        "heads.title": ("Heads", "注意力头"),
        "heads.finding": (
            "Cutting head {head} off from the evidence changes {metric} most: {effect}",
            "切断头 {head} 对证据的注意力使 {metric} 改变最大：{effect}",
        ),
        "heads.finding.none": (
            "No single head's attention to the evidence changed {metric} beyond the floor",
            "没有单个头对证据的注意力使 {metric} 的改变超过底噪",
        ),
        "heads.note": (
            "Effect of cutting one head's attention from the decision to the evidence. "
            "Its share of attention on the evidence stands beside it, without colour.",
            "在决定位置切断一个头对证据的注意力的效应；旁边是它对证据的注意力占比，不着色。",
        ),
        "heads.head": ("Head", "头"),
        "heads.share": ("Share on the evidence", "对证据的占比"),
        "heads.null": ("Above matched random heads", "高于匹配的随机头"),
        "heads.shown": ("{k} of {n} heads, largest changes first", "{n} 个头中变化最大的 {k} 个"),
        "heads.agreement": (
            "Weights are not causes: over {n} heads, Spearman ρ between the share on “{segment}” and the effect is "
            "{signed} (p\u00a0=\u00a0{signed_p}), and {absolute} with the size of the effect (p\u00a0=\u00a0{absolute_p}). "
            "The head with the largest share, {head} ({share}), changes {metric} by {effect}.",
            "权重不是原因：在 {n} 个头上，对“{segment}”的占比与效应的 Spearman ρ 为 {signed}（p\u00a0=\u00a0{signed_p}），"
            "与效应大小的 ρ 为 {absolute}（p\u00a0=\u00a0{absolute_p}）。"
            "占比最大的头 {head}（{share}）使 {metric} 改变 {effect}。",
        ),
        # regression test
        "test.title": ("Regression test", "回归测试"),
        "test.note": (
            "Keeps this finding in CI: save it beside your suite and run it with the other cases.",
            "把这一发现留在 CI 里：与测试套件存放在一起，随其他用例运行。",
        ),
        # appendix
        "tried.title": ("Everything that was run", "全部实验"),
        "tried.what": ("Changed", "改动"),
        "tried.effect": ("Effect on {metric}, {unit}", "对 {metric} 的效应，{unit}"),
        "verdict.own_path": ("{metric} {after} on the path of the new answer", "在新答案自己的路径上 {metric} {after}"),
        "verdict.other_path": (
            " behind the old prefix; the value after → is on the new answer's own path",
            "（在原前缀之后）；→ 之后的值在新答案自己的路径上",
        ),
        "tried.column": ("Effect, {unit}", "效应，{unit}"),
        "tried.more": ("{n} more are on the page and in the JSON document.", "另有 {n} 个见网页与 JSON 文档。"),
        "tried.flips": ("Flips", "翻转"),
        "tried.answer": ("Answer", "答案"),
        "tried.yes": ("yes", "是"),
        "tried.no": ("no", "否"),
        # provenance
        "provenance.title": ("Provenance", "来源"),
        "provenance.command": ("Repeat with", "重现命令"),
        "provenance.model": ("Model", "模型"),
        "provenance.digest": ("File digest", "文件摘要"),
        "provenance.engine": ("Engine", "引擎"),
        "provenance.seed": ("Seed", "种子"),
        "provenance.effort": ("Effort", "力度"),
        "provenance.runs": ("{n} runs in {s} s", "{n} 次运行，{s} 秒"),
        "provenance.case": ("Case", "用例"),
        "provenance.versions": ("Versions", "版本"),
        "provenance.metric": ("Metric", "度量"),
        "provenance.note": ("Note", "说明"),
        "missing": ("not obtained: {reason}", "未取得：{reason}"),
        # tables
        "column.segment": ("segment", "部分"),
        "column.share": ("attention share", "注意力占比"),
        "column.share_short": ("share", "占比"),
        "column.direct": ("direct", "直接效应"),
        "column.low": ("low", "下限"),
        "column.high": ("high", "上限"),
        "column.mean_low": ("mean over variants from", "变体均值下限"),
        "column.mean_high": ("to", "变体均值上限"),
        "column.total": ("total", "总效应"),
        "column.removed": ("removed", "删除文本"),
        "column.noise": ("floor", "底噪"),
        "column.null_low": ("null low", "零分布下限"),
        "column.null_high": ("null high", "零分布上限"),
        "column.p": ("p", "p"),
        "column.position": ("position", "位置"),
        "column.id": ("id", "id"),
        "column.text": ("text", "文本"),
        "column.bytes": ("bytes", "字节"),
        "column.part": ("part", "片段"),
        "column.layer": ("layer", "层"),
        "column.head": ("head", "头"),
        "column.right": ("right, nats", "正确，nats"),
        "column.wrong": ("wrong, nats", "错误，nats"),
        "column.effect": ("effect", "效应"),
        "column.percentile": ("null percentile", "零分布百分位"),
        "column.what": ("changed", "改动"),
        "column.flips": ("flips", "翻转"),
        "column.answer": ("answer", "答案"),
        "column.flags": ("flags", "标记"),
        "column.weight": ("weight", "权重"),
        "column.sham": ("sham", "对照编辑"),
        "column.after": ("{metric} after, {unit}", "编辑后的 {metric}，{unit}"),
        "text.report": ("Report: {path}", "报告：{path}"),
    }
)


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence of that key in that language, with its blanks filled."""
    english, chinese = WORDS[key]
    return (chinese if lang == "zh" else english).format_map(values)


def claim_key(code: str, detail: str | None) -> str:
    """The most special claim there is for a cause: code and detail, else the code alone."""
    special = f"claim.{code}.{detail}"
    return special if special in WORDS else f"claim.{code}"
