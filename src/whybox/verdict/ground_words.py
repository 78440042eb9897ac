"""What a verdict says of its grounds: English and Chinese, each written as such. They claim no more than was measured."""

from whybox.verdict.remark_words import RIGHT, SHAMS

WORDS: dict[str, tuple[str, str]] = SHAMS | RIGHT | {
    "own": (" (LD {ld} on its own path)", "（在其自身路径上 LD {ld}）"),
    "alone.right": ("With the evidence alone the answer is right{ld}", "只留证据时答案正确{ld}"),
    "alone.wrong": ("With the evidence alone the answer is not right either{ld}", "只留证据时答案也不正确{ld}"),
    "alone.cut": (
        "With the evidence alone the answer was cut by the limit before it gave a whole value, which is neither right nor wrong",
        "只留证据时，回答还没给出完整的答案就被上限截断，既不算对也不算错",
    ),
    "orders.cut": (
        "in every other order that was tried the answer was cut by the limit before it gave a whole value",
        "试过的其他顺序中，回答都在给出完整的答案之前被上限截断",
    ),
    "orders.cut.some": (
        "in {part} of the {n} orders that were tried the answer was cut by the limit before it gave a whole value",
        "试过的 {n} 种顺序中有 {part} 种在给出完整的答案之前就被上限截断",
    ),
    "orders.none": ("no other order of the parts gives the right answer", "换任何顺序都得不到正确答案"),
    "orders.none.tried": (
        "none of the {n} other orders that were tried gives the right answer ({left} more exist)",
        "试过的 {n} 种其他顺序都得不到正确答案（另有 {left} 种未试）",
    ),
    "orders.some": (
        "in {right} of {n} other orders the answer is right",
        "其他 {n} 种顺序中有 {right} 种答案正确",
    ),
    "flip": ("“{what}” turns the answer right{ld}", "“{what}”使答案变为正确{ld}"),
    "no-flip": ("“{what}” does not turn the answer right{ld}", "“{what}”不能使答案变为正确{ld}"),
    "fork": ("it acts before the decision", "它在决定位置之前就起作用"),
    "control": ("with the evidence hidden it does not", "证据被隐藏时则不能"),
    "control.flips": ("with the evidence hidden it does so as well", "证据被隐藏时它同样能做到"),
    "repeats": ("it does so in {hits} of {n} failing variants{interval}", "{n} 个同样出错的变体中有 {hits} 个也是如此{interval}"),
    "repeats.cut": (
        "in {part} more its answer was cut by the limit before it gave a whole value",
        "另有 {part} 个变体的回答还没给出完整的答案就被上限截断",
    ),
    "mean": (
        "its mean effect on LD is {mean} nats there (95 % interval {low} to {high})",
        "在这些变体上对 LD 的平均效应为 {mean} nats（95 % 区间 {low} 至 {high}）",
    ),
    "lift": (
        "in heads without a sink the decision row gives the evidence {lift} of the attention that its length would give it",
        "在没有沉淀的头中，决定位置分给证据的注意力是按长度平摊时的 {lift} 倍",
    ),
    "alone.prompt": (
        "Nothing stands beside the evidence and the question, so that the evidence alone is this very prompt and shows nothing more",
        "除证据与问题之外没有别的材料，“只留证据”就是这个提示本身，不能说明更多问题",
    ),
    "alone.prompt.kept": (
        "Beside the evidence and the question stands only {kept}, which stays in every prompt, so that the evidence alone is this "
        "very prompt and shows nothing more",
        "除证据与问题之外只有 {kept}，它在每个提示中都保留，因此“只留证据”就是这个提示本身，不能说明更多问题",
    ),
    "orders.several": (
        "no other order of the parts gives the right answer alone",
        "换任何顺序都得不到只含正确答案的回答",
    ),
    "orders.several.tried": (
        "none of the {n} other orders that were tried gives the right answer alone ({left} more exist)",
        "试过的 {n} 种其他顺序都得不到只含正确答案的回答（另有 {left} 种未试）",
    ),
    "closed.same": (
        "without the evidence and what stands beside it the model gives the same wrong answer",
        "去掉证据及其旁边的材料后，模型给出同样的错误答案",
    ),
    "follows.not": ("with another value in the evidence the answer does not move to it", "把证据中的数值换成别的，答案也不随之改变"),
    "total.null": (
        "hiding the evidence from every later position does not move the metric beyond its null",
        "对之后所有位置隐藏证据，指标的变化不超出零分布",
    ),
    "not-reproduced": (
        "The wrong output was observed elsewhere; here the same prompt gives the right answer. Weights, rendered ids, stop "
        "ids, sampling settings, precision and engine: whatever of these is not known to be the same may be the reason, and "
        "none is named",
        "错误输出来自别处；同一提示在这里得到正确答案。权重、渲染后的 id、停止符、采样设置、精度与引擎中，凡未确知与对方相同的都可能是原因，不指名任何一项",
    ),
    "nothing-flips": (
        "No single change after which an answer was written turns it right",
        "改动之后重新写出的答案，没有一个是正确的",
    ),
    "nothing-flips.else": (
        "Beside keeping the evidence alone, no single change after which an answer was written turns it right",
        "除了只留证据之外，改动之后重新写出的答案，没有一个是正确的",
    ),
    "nothing-given": (
        "No change was made after which a whole value was given: the limit cut every answer before that, so that none of them shows "
        "anything",
        "改动之后没有一次给出完整的答案：回答都在那之前被上限截断，因此都不能说明问题",
    ),
    "cut.some": (
        "{part} of the {n} changes gave no whole value before the limit, and show nothing",
        "{n} 个改动中有 {part} 个在上限之前没有给出完整的答案，不能说明问题",
    ),
    "none-named": (
        "These turn the answer right: {changes}; none of them has all that naming a cause takes",
        "以下改动使答案变对：{changes}；但都不具备认定原因所需的全部条件",
    ),
    "decoding": ("On the model's own path the right answer leads{ld}, yet another was written", "在模型自己的路径上正确答案领先{ld}，写出的却是另一个"),
    "limit": (
        "The answer was cut at the limit that the case states, before it gave a whole value; written on, it is right",
        "输出还没给出完整的答案，就被用例所设的上限截断；继续写下去，答案就正确",
    ),
    "format.lenient": (
        "Read without the required form, the answer is right: the value is there, its form is not",
        "不计格式要求时答案正确：数值在，格式不对",
    ),
    "format.choice": (
        "The free answer holds no legal answer, and where it begins the right one leads the wrong one",
        "自由作答中没有合法答案，而在开头处正确答案领先于错误答案",
    ),
    "repeats.lenient": ("it is so in {hits} of {n} variants that fail alike{interval}", "{n} 个同样出错的变体中有 {hits} 个也是如此{interval}"),
    "format.prefix": ("The free answer holds no legal answer", "自由作答中没有合法答案"),
    "implementation": ("The same ids, computed otherwise, give the right answer", "同样的 id，换一种计算方式，就得到正确答案"),
    "switches": ("each of these does it alone: {names}", "以下每一项单独都能做到：{names}"),
    "divergence": (
        "the two runs part first at {where}, position {position}, by {error} of what is usual there (rms)",
        "两次运行最先在 {where}、位置 {position} 处分开，相差为该处均方根的 {error} 倍",
    ),
    "template": ("With the ids that were meant the answer is right", "换成本来想发送的 id，答案就正确"),
    "missing": ("No evidence is given; with the fact added the answer is right", "没有给出证据；补上事实后答案正确"),
    "candidate": ("Candidate {code}: {lacks}", "候选 {code}：{lacks}"),
    "count.what": ("“{what}”", "“{what}”"),
    "count.shams": ("{flipped} of {n} shams", "{n} 个对照中 {flipped} 个"),
    "count.repeats": ("{hits} of {n} variants", "{n} 个变体中 {hits} 个"),
    "change.shams": ("a sham that turns the answer right as often", "有对照同样使答案正确"),
    "change.variants": (
        "further variants, beside the {n} that were run, if “{what}” turned fewer than 8 in 10 of them right",
        "在已运行的 {n} 个变体之外再取变体，而“{what}”使答案变对的不到八成",
    ),
    "change.no-variants": (
        "variants of this prompt (the case has none that fail alike), if “{what}” turned fewer than 8 in 10 of them right",
        "为这个提示补上变体（该用例没有同样出错的变体），而“{what}”使答案变对的不到八成",
    ),
    "change.none": ("A wrong answer to the same ids", "同样的 id 得到错误答案"),
    "change.not-reproduced-here": (
        "The wrong answer here as well, from the same weights, ids and settings as in the observed run",
        "用与那次运行相同的权重、id 与设置，这里也得到错误答案",
    ),
    "change.cut-short": (
        "An answer that gives a whole value before the limit",
        "在上限之前给出了完整答案的回答",
    ),
    "change.demanded": (
        "The wrong answer to a prompt that does not ask for it",
        "没有要求给出错误答案的提示，也得到错误答案",
    ),
    "change.open": (
        "A single change that turns the answer right in 8 of 10 failing variants, while its shams do not",
        "有某个单一改动在 10 个出错变体中使 8 个变对，而它的对照都做不到",
    ),
    "sentence": ("sentence {n} of {part}", "{part} 的第 {n} 句"),
    "after": (" (LD {ld})", "（LD {ld}）"),
}  # fmt: skip
