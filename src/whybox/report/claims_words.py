"""What the ledger of claims says by itself, in English and Chinese. The claims themselves: `whybox/learn/claims.yaml`."""

CLAIMS: dict[str, tuple[str, str]] = {
    "page.claims": ("learn --claims", "learn --claims"),
    "page.claims.skip": ("To the claims", "跳到各条说法"),
    "claims.head": (
        "{n} claims of the documents: {right} right, {imprecise} imprecise, {wrong} wrong",
        "文档中的 {n} 条说法：{right} 条正确，{imprecise} 条不精确，{wrong} 条错误",
    ),
    "claims.holds": (
        "Numbers computed now: {computed}, all of them as recorded. Measured once: {once}.",
        "此刻算出 {computed} 组数值，全部与记录一致；只测量过一次的有 {once} 组。",
    ),
    "claims.broken": (
        "Not as recorded any more: {ids}. The ledger, or what it computes with, has changed.",
        "已与记录不符：{ids}。账本或其计算方式有了变化。",
    ),
    "claims.status.right": ("right", "正确"),
    "claims.status.imprecise": ("imprecise", "不精确"),
    "claims.status.wrong": ("wrong", "错误"),
    "claims.stated": ("the document", "文中"),
    "claims.right": ("right is", "实际"),
    "claims.why": ("why", "原因"),
    "claims.not_held": ("not as recorded: {names}", "与记录不符：{names}"),
    "claims.status_not_held": ("the status does not follow from the numbers", "由数值得不出这一结论"),
    "claims.mark.erratum": (
        "★ an error of the document that was known before anything was recomputed",
        "★ 重新计算之前就已知的文档错误",
    ),
    "claims.mark.once": ("† measured once, not computed here: {reasons}", "† 只测量过一次，此处未重新计算：{reasons}"),
    "claims.mark.status": (
        "right: as said · imprecise: true only under a condition that is left out · wrong: not so",
        "正确：如文中所说 · 不精确：只在未写明的条件下成立 · 错误：并非如此",
    ),
    "claims.once.torch": ("bfloat16 with two kernels needs torch", "bfloat16 与两种 kernel 需要 torch"),
    "claims.once.long": ("thousands of tokens of context take minutes", "数千 token 的上下文需要数分钟"),
    "claims.once.published": ("published by others, on a model of 70 billion", "他人公布，模型有 700 亿参数"),
    "claims.sources": (
        "S0: the chapter for testers, “Transformer by hand”. S2: the short text on what attention computes.",
        "S0：面向测试人员的一章《Transformer 手撕与注意力机制》。S2：短文《注意力机制到底在算什么》。",
    ),
    "claims.title.all": ("The claims", "各条说法"),
    "claims.title.about": ("How to read them", "如何阅读"),
    "claims.numbers": ("Every number, with its bounds", "全部数值及其界限"),
    "claims.column.claim": ("claim", "说法"),
    "claims.column.name": ("number", "数值"),
    "claims.column.value": ("computed now", "此刻算得"),
    "claims.column.expected": ("between", "界限"),
    "claims.column.stated": ("the document", "文中"),
}
