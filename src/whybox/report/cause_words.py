"""The verdict of `why` in its card: the claim of each cause, what proves it, what it holds for."""

CAUSES: dict[str, tuple[str, str]] = {
    # verdict: claims
    "claim.order": (
        "In another order of its parts the prompt gives the right answer",
        "各部分换一种顺序，答案就正确",
    ),
    "claim.context-use": (
        "The right passage was there and did not decide the answer",
        "正确的段落就在上下文里，但没有左右答案",
    ),
    "claim.context-use.not-looked-at": ("The model looked too little at {about}", "模型对 {about} 看得太少"),
    "claim.context-use.looked-at-not-used": (
        "What {about} says did not decide the answer, however much it was looked at",
        "{about} 的内容没有左右答案，看得再多也一样",
    ),
    "claim.knowledge.overruled": ("What the weights remember won over the text", "权重里的旧知识压过了给定的文本"),
    "claim.knowledge.missing": (
        "The fact was not given, and without it the model does not answer right",
        "上下文没有给出这一事实；没有它，模型答不对",
    ),
    "claim.knowledge": ("What the weights remember decided the answer", "答案由权重里的知识决定"),
    "claim.decoding": ("The right answer was ahead and was not written", "正确答案领先，却没有被写出来"),
    "claim.decoding.limit": (
        "The limit of tokens cuts the answer before it is given",
        "token 上限在给出答案之前就截断了它",
    ),
    "claim.format": ("No legal answer was written", "没有写出符合格式的答案"),
    "claim.implementation": (
        "The same file, computed otherwise, gives the right answer",
        "同一个模型文件换一种计算方式，答案就是对的",
    ),
    "claim.template": ("The ids that were sent are not the ids that were meant", "实际发送的 token id 与本意不符"),
    "claim.joint": ("Two causes, and only together: {about}", "两个原因共同起作用，缺一不可：{about}"),
    "claim.none": ("The answer is right", "答案正确"),
    "claim.not-determined": ("The cause was not determined", "原因未能确定"),
    "claim.not-determined.noise": (
        "The cause was not determined: no change exceeded the floor",
        "原因未能确定：没有任何改动的效应超过底噪",
    ),
    "claim.not-determined.not-reproduced-here": (
        "The cause was not determined: the wrong answer did not appear here",
        "原因未能确定：错误答案在本机没有复现",
    ),
    "claim.not-determined.cut-short": (
        "The cause was not determined: the limit of tokens cut the answer before it gave a whole value",
        "原因未能确定：回答还没给出完整的答案就被 token 上限截断",
    ),
    "claim.not-determined.path-dependent": (
        "The cause was not determined: the answer depends on the words written before it",
        "原因未能确定：答案取决于它之前写出的文字",
    ),
    "claim.not-determined.beyond-the-model": (
        "The cause was not determined: given the evidence and nothing beside it, the answer is not right",
        "原因未能确定：除证据外别无材料时，答案也不正确",
    ),
    "claim.not-determined.demanded": (
        "No cause in the model was determined: {about} orders the wrong answer, and without it the answer is right",
        "没有认定模型方面的原因：{about} 要求给出错误答案，去掉它答案就正确",
    ),
    "claim.not-determined.several-answers": (
        "The cause was not determined: the answer states the right answer and another one",
        "原因未能确定：答案既给出了正确答案，又给出了另一个",
    ),
    "claim.not-determined.another-server": (
        "The cause was not determined: the answer came from another server",
        "原因未能确定：答案来自另一台服务器",
    ),
    # verdict: proof
    "proof.variants": (
        "“{edit}” flips the answer in {hits} of {n} variants",
        "“{edit}”使 {n} 个变体中的 {hits} 个翻转为正确",
    ),
    "proof.one": ("“{edit}” flips the answer of this prompt", "“{edit}”使这个提示的答案翻转为正确"),
    "proof.none": ("“{edit}” does not flip the answer of this prompt", "“{edit}”没有使这个提示的答案翻转"),
    "proof.parse": ("with the form left aside it is right", "不计格式要求则是对的"),
    "proof.parse.variants": (
        "with the form left aside it is right in {hits} of {n} variants",
        "不计格式要求，{n} 个变体中有 {hits} 个是对的",
    ),
    "proof.open": (
        "{hits} of the {n} experiments that gave an answer turn it right, none with all that shows a cause",
        "得到答案的 {n} 个实验中有 {hits} 个使答案变对，但都不足以认定原因",
    ),
    "proof.open.one": (
        "1 of the {n} experiments that gave an answer turns it right, without all that shows a cause",
        "得到答案的 {n} 个实验中有 1 个使答案变对，但不足以认定原因",
    ),
    "proof.open.none": (
        "none of the {n} experiments that gave an answer turns it right",
        "得到答案的 {n} 个实验无一使答案变对",
    ),
    "proof.only.one": (
        "the only experiment that gave an answer turns it right, without all that shows a cause",
        "只有 1 个实验得到答案，它使答案变对，但不足以认定原因",
    ),
    "proof.only.none": (
        "the only experiment that gave an answer does not turn it right",
        "只有 1 个实验得到答案，它没有使答案变对",
    ),
    "proof.open.silent": ("no experiment gave an answer", "没有一个实验得到答案"),
    "proof.no_sham": ("no sham does (0 of {n})", "对照编辑无一翻转（0 / {n}）"),
    "proof.shams": ("{hits} of {n} shams do, too", "{n} 个对照编辑中也有 {hits} 个翻转"),
    "verdict.title": ("Verdict", "结论"),
    "verdict.undone_by": ("Undone by", "何种改动能消除"),
    "verdict.effect": ("Effect on {metric}", "对 {metric} 的效应"),
    "verdict.flips": ("Flips", "翻转"),
    "verdict.shams": ("Shams", "对照编辑"),
    "verdict.of": ("{hits} of {n}", "{hits} / {n}"),
    "verdict.p": ("{hits} of {n} flip · p\u00a0=\u00a0{p}", "{n} 个中 {hits} 个翻转 · p\u00a0=\u00a0{p}"),
    "verdict.scope": ("Scope", "适用范围"),
    "verdict.because": ("Because", "依据"),
    "verdict.mind": ("What would change this verdict", "什么会改变这个结论"),
    "verdict.next": ("Next step", "下一步"),
    "verdict.checked": ("Compared with the observed run", "与观察到的运行相比"),
    "check.same": ("same", "相同"),
    "check.differs": ("differs", "不同"),
    "check.unknown": ("unknown", "未知"),
    "verdict.others": ("Also flips", "同样能翻转的还有"),
    "scope.this-prompt": ("this prompt only", "仅限这个提示"),
    "scope.variants": ("{n} variants, this prompt among them", "{n} 个变体（含这个提示）"),
    "scope.variants.unknown": ("this prompt and its variants", "这个提示及其变体"),
    "line.title.flip": (
        "The edit carries {metric} over zero; {n} shams do not",
        "该编辑使 {metric} 越过零点；{n} 个对照编辑没有",
    ),
    "line.title.some": (
        "{metric} with the edit, and with {n} shams",
        "编辑之后的 {metric}，以及 {n} 个对照编辑之后的 {metric}",
    ),
    "line.title.plain": ("{metric} without and with the edit", "编辑前后的 {metric}"),
    "line.base": ("as it is", "原样"),
    "line.after": ("with the edit", "编辑后"),
    "line.shams": ("shams", "对照编辑"),
    "line.wrong_side": ("wrong answer ahead", "错误答案领先"),
    "line.right_side": ("right answer ahead", "正确答案领先"),
}
