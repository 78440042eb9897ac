"""The sentences of `doctor`, in English and Chinese; one for each finding."""

import re
from functools import cache

from whybox.report.document import Lang

WORDS: dict[str, tuple[str, str]] = {
    "verdict.usable": ("Nothing was found that would spoil numbers of this target.", "没有发现会损害该目标测量结果的问题。"),
    "verdict.faults": ("Found {n} that would spoil numbers of this target.", "发现 {n} 个会损害该目标测量结果的问题。"),
    "verdict.undetermined": ("No fault was found, but {n} could not be told.", "没有发现问题，但有 {n} 项无法判断。"),
    "checks": ("What it can really do", "真实具备的能力"),
    "floor": ("Equal calls at temperature 0", "温度 0 时的相同请求"),
    "calls": ("{calls} calls, {failed} failed", "共 {calls} 次请求，{failed} 次失败"),
    "quote": ("it said: {quote}", "对方给出：{quote}"),
    "state.yes": ("yes", "有"),
    "state.no": ("no", "无"),
    "state.note": ("note", "提示"),
    "state.fault": ("fault", "问题"),
    "state.unknown": ("unknown", "未知"),
    "state.skipped": ("skipped", "跳过"),
    "column.condition": ("condition", "条件"),
    "column.differing": ("texts differ", "文本不同"),
    "column.rate": ("rate", "比例"),
    "column.interval": ("95 % interval", "95 % 区间"),
    "column.bound": ("below", "低于"),
    "column.answers": ("answers differ", "答案不同"),
    "column.logprob": ("|Δ logprob|", "|Δ logprob|"),
    "condition.cold": ("cold", "冷启动"),
    "condition.warm": ("warm", "热启动"),
    "condition.concurrent": ("concurrent", "并发"),
    "floor.said": (
        "cold: the first call against later ones · warm: the same call again · concurrent: beside other calls. "
        "“below”: the true rate lies under it with 95 % confidence. Effects count only above these rates.",
        "冷启动：首次请求与后续请求相比 · 热启动：原样再次请求 · 并发：与其他请求同时进行。"
        "“低于”：真实比例以 95 % 置信度低于该值。只有超过这些比例的效应才算数。",
    ),
    # reach and model
    "reach.answers": ("it answers ({seconds} s for the first call)", "有应答（首次请求用时 {seconds} 秒）"),
    "reach.failed": ("cannot be told: the first call failed", "无法判断：首次请求失败"),
    "model.listed": ("the model is listed", "模型在列表中"),
    "model.unlisted": ("the model is not among the {names} that are listed", "模型不在所列的 {names} 个之中"),
    "model.no_list": ("no list of models", "没有模型列表"),
    "calls.failed": ("{failed} of {calls} calls failed", "{calls} 次请求中有 {failed} 次失败"),
    "chat.none": ("no chat: only raw text can be asked", "没有对话模板：只能发送原始文本"),
    # seeds
    "seed.honoured": (
        "a seed is honoured: {pairs} pairs drawn with the same seed are equal, {others} of {of} with another differ",
        "种子有效：同种子的 {pairs} 对全部相同，不同种子的 {of} 对中有 {others} 对不同",
    ),
    "seed.ignored": (
        "a seed is not honoured: {differing} of {pairs} pairs drawn with the same seed differ [{low}, {high}]",
        "种子无效：同种子的 {pairs} 对中有 {differing} 对不同 [{low}, {high}]",
    ),
    "seed.no_draw": (
        "cannot be told: {pairs} pairs drawn at temperature 1 with different seeds are all equal; the temperature may be "
        "ignored",
        "无法判断：在温度 1 下以不同种子抽取的 {pairs} 对全部相同，温度可能未被采用",
    ),
    "seed.errors": ("cannot be told: the calls failed", "无法判断：请求失败"),
    # log-probabilities
    "logprobs.real": (
        "log-probabilities of {tokens} written tokens, ≤ 0 and varying, with the {top} most probable",
        "返回 {tokens} 个已写 token 的对数概率，均 ≤ 0 且有变化，并附最可能的 {top} 个",
    ),
    "logprobs.missing": ("no log-probabilities", "没有对数概率"),
    "logprobs.no_text": ("cannot be told: the answer is empty", "无法判断：回答为空"),
    "logprobs.errors": ("cannot be told: the call failed", "无法判断：请求失败"),
    "scores.errors": ("cannot be told: the call failed", "无法判断：请求失败"),
    "logprobs.refused": ("log-probabilities are refused", "拒绝提供对数概率"),
    "logprobs.constant": (
        "log-probabilities that are none: {tokens} tokens, all {value} nats",
        "并非真正的对数概率：{tokens} 个 token 全为 {value} nats",
    ),
    "logprobs.unordered": (
        "log-probabilities that are none: less probable tokens stand above more probable ones",
        "并非真正的对数概率：较不可能的 token 排在较可能的之前",
    ),
    "scores.apart": (
        "given answers are scored: a likely one {likely} nats, an absurd one {absurd} nats",
        "可对给定答案打分：合理的 {likely} nats，荒谬的 {absurd} nats",
    ),
    "scores.missing": ("given answers are not scored", "不能对给定答案打分"),
    "scores.alike": (
        "scores that are none: a likely answer {likely} nats, an absurd one {absurd} nats",
        "并非真正的打分：合理答案 {likely} nats，荒谬答案 {absurd} nats",
    ),
    "scores.positive": (
        "scores above 0 nats, which no log-probability is: {likely} and {absurd}",
        "打分高于 0 nats，不可能是对数概率：{likely} 与 {absurd}",
    ),
    "usage.told": ("tokens are counted in all {calls} calls", "{calls} 次请求全部给出 token 计数"),
    "usage.missing": ("tokens are counted in {told} of {calls} calls", "{calls} 次请求中有 {told} 次给出 token 计数"),
    # template
    "system.read": ("the system message is read: its code came back", "系统消息被读取：其中的代码能被复述"),
    "system.counted": (
        "the system message arrives: a longer one counts {long} tokens, a shorter one {short}",
        "系统消息已送达：较长的计 {long} 个 token，较短的计 {short} 个",
    ),
    "system.dropped": (
        "the system message is dropped: a longer one counts {long} tokens, a shorter one {short}",
        "系统消息被丢弃：较长的计 {long} 个 token，较短的计 {short} 个",
    ),
    "system.not_told": ("cannot be told: its code did not come back", "无法判断：其中的代码没有被复述"),
    "added.nothing": ("no system text is added", "没有附加系统文本"),
    "added.system_text": (
        "system text that nobody typed is added (a lone “Hello” makes {prompt} tokens)",
        "附加了无人输入的系统文本（单独一句“Hello”即 {prompt} 个 token）",
    ),
    "added.not_told": ("cannot be told: tokens are not counted", "无法判断：没有 token 计数"),
    "bos.once": ("BOS is not doubled", "BOS 没有重复"),
    "bos.twice": ("BOS is doubled (id {id})", "BOS 重复（id {id}）"),
    "bos.hidden": ("cannot be told: the ids are not shown", "无法判断：不公开 id"),
    "fence.none": ("answers are not wrapped", "回答没有被包裹"),
    "fence.always": ("all {calls} answers come in a code fence", "{calls} 个回答全部包在代码围栏中"),
    "template.none": ("the file holds no chat template", "文件中没有对话模板"),
    # context
    "context.whole": ("prompts of up to {tokens} tokens are read whole", "不超过 {tokens} 个 token 的提示被完整读取"),
    "context.trained": ("trained for {tokens} tokens; longer prompts are refused", "训练长度 {tokens} 个 token；更长的提示会被拒绝"),
    "context.refused": ("longer prompts are refused, from about {tokens} tokens on", "约 {tokens} 个 token 起，更长的提示被拒绝"),
    "context.cut_start": (
        "cut silently at about {tokens} tokens: the start of a longer prompt is not read",
        "约 {tokens} 个 token 处被静默截断：更长提示的开头没有被读取",
    ),
    "context.cut_end": (
        "cut silently at about {tokens} tokens: the end of a longer prompt is not read",
        "约 {tokens} 个 token 处被静默截断：更长提示的结尾没有被读取",
    ),
    "context.counts_stop": (
        "cut silently: the count stays at {tokens} tokens, however long the prompt",
        "被静默截断：无论提示多长，计数停在 {tokens} 个 token",
    ),
    "context.unread": (
        "cannot be told: the codes do not come back even from a short prompt, and tokens are not counted",
        "无法判断：即使短提示也不能复述代码，且没有 token 计数",
    ),
    "context.only_counted": (
        "cannot be told: the codes do not come back even from a short prompt; counts grow up to {tokens} tokens",
        "无法判断：即使短提示也不能复述代码；计数一直增长到 {tokens} 个 token",
    ),
    "context.errors": ("cannot be told: the shortest prompt failed", "无法判断：最短的提示即失败"),
    # local
    "finite.all": (
        "all values are finite on {tokens} tokens (largest |logit| {largest})",
        "{tokens} 个 token 上所有数值有限（最大 |logit| {largest}）",
    ),
    "finite.first": (
        "NaN or Inf first at {site}{layer}, position {position}",
        "NaN 或 Inf 最先出现在 {site}{layer}，位置 {position}",
    ),
    "finite.layer": (" of layer {layer}", "（第 {layer} 层）"),
    "repeat.bit_equal": ("a run repeats bit by bit", "重复运行逐位相同"),
    "repeat.differs": ("a run does not repeat: logits move by {moved}", "重复运行不同：logit 变动 {moved}"),
    "batch.moved": (
        "among {neighbours} neighbours logits move by {moved} at most",
        "与 {neighbours} 条相邻提示同批时，logit 最多变动 {moved}",
    ),
    "cache.moved": ("behind a cache logits move by {moved} at most", "使用缓存时，logit 最多变动 {moved}"),
    "engine.moved": (
        "{precision} against the reference engine in fp32: logits move by {moved} at most",
        "{precision} 与参考引擎 fp32 相比：logit 最多变动 {moved}",
    ),
    "engine.no_reference": ("the reference engine cannot run it", "参考引擎无法运行该模型"),
}  # fmt: skip


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence of that key in that language, with its blanks filled."""
    english, chinese = WORDS[key]
    return (chinese if lang == "zh" else english).format_map(values)


def put_in(text: str, lang: Lang) -> str:
    """A sentence of `doctor` that was kept in English, in that language; another text as it is."""
    if lang == "en":
        return text
    for pattern, chinese in _patterns():
        if found := pattern.fullmatch(text):
            return chinese.format_map(found.groupdict())
    return text


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Each English sentence as a pattern, with the Chinese one; a blank that stands twice is the same both times."""
    return tuple((re.compile(_pattern(english), re.DOTALL), chinese) for english, chinese in WORDS.values())


def _pattern(english: str) -> str:
    parts = re.split(r"\{(\w+)\}", english)
    seen: set[str] = set()
    for i, name in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.escape(name)
        else:
            parts[i] = f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
            seen.add(name)
    return "".join(parts)
