"""The sentences of `diff --sensitivity`, English and Chinese."""

SENSITIVITIES: dict[str, tuple[str, str]] = {
    "sens.advice": (
        "Keep {name} in 16 bits: KL {before} → {after} nats, for {more}.",
        "将 {name} 保持为 16 位：KL {before} → {after} nats，代价 {more}。",
    ),
    "sens.no.advice": (
        "No part that was given back takes away half of the KL of {kl} nats.",
        "恢复任何单个部分都不能消除 {kl} nats 的 KL 的一半。",
    ),
    "sens.base": (
        "the quantised weights cost KL {kl} nats on average over {positions} positions of {texts} texts (95 % interval over {blocks} blocks; {runs} runs)",
        "量化权重的代价：{texts} 段文本共 {positions} 个位置，平均 KL {kl} nats（{blocks} 个区块的 95 % 区间；{runs} 次运行）",
    ),
    "sens.as_run": (
        "as the second side really runs, with its own arithmetic: {kl}",
        "按第二侧实际运行（含其自身运算）：{kl}",
    ),
    "sens.floor": ("float32 alone moves it by {floor}", "仅 float32 运算的影响：{floor}"),
    "sens.zero": ("≈ 0 (below the floor)", "≈ 0（低于底噪）"),
    "sens.role": ("every {name}", "所有 {name}"),
    "sens.parameters": ("{n} parameters", "{n} 个参数"),
    "sens.part": ("Each part given back alone", "逐一恢复各部分"),
    "sens.part.note": (
        "What is taken away from the KL, in nats, when this part alone is full again.",
        "仅将该部分恢复为全精度时，KL 减少的量（nats）。",
    ),
    "sens.tensor": ("Each tensor given back alone", "逐一恢复各张量"),
    "sens.sets": ("The best together", "最优者合并恢复"),
    "sens.all": ("Everything that was given back", "所有恢复项"),
    "sens.left_out": ("{n} more in --json and in the page", "其余 {n} 项见 --json 与网页"),
    "sens.column.restored": ("given back", "恢复项"),
    "sens.column.gain": ("KL less by", "KL 减少"),
    "sens.column.interval": ("95 %", "95 %"),
    "sens.column.left": ("KL left", "剩余 KL"),
    "sens.column.share": ("share", "占比"),
    "sens.column.more": ("costs", "代价"),
    "sens.kinds": ("Each kind of matrix given back in all layers", "在所有层中恢复某一类矩阵"),
}
