"""Words of the one line in which an estimate stands beside all that it must stand beside."""

ESTIMATES: dict[str, tuple[str, str]] = {
    "estimate.share": ("{name} {value} % [{low}, {high}]", "{name} {value} % [{low}, {high}]"),
    "estimate.difference": ("{name} {value} points [{low}, {high}]", "{name} {value} 个百分点 [{low}, {high}]"),
    "estimate.number": ("{name} {value}{bounds}", "{name} {value}{bounds}"),
    "estimate.nats": ("{name} {value} nats{bounds}", "{name} {value} nats{bounds}"),
    "estimate.turns": ("{name} {value} turns{bounds}", "{name} {value} 轮{bounds}"),
    "estimate.tokens": ("{name} {value} tokens{bounds}", "{name} {value} 个 token{bounds}"),
    "estimate.items": ("n {items} items", "n {items} 个样本"),
    "limit.share": ("{value} %", "{value} %"),
    "limit.difference": ("{value} points", "{value} 个百分点"),
    "estimate.unknown": ("{name} — ({reason})", "{name} —（{reason}）"),
    "estimate.floor": ("floor {value}", "底噪 {value}"),
    "estimate.net_floor": ("floor {value} (taken off)", "底噪 {value}（已扣除）"),
    "estimate.no_floor": ("floor — ({reason})", "底噪 —（{reason}）"),
    "estimate.null": ("null 95 % {value}", "零分布 95 % {value}"),
    "estimate.no_null": ("null — ({reason})", "零分布 —（{reason}）"),
    "estimate.p": ("p {p} (Holm {adjusted})", "p {p}（Holm {adjusted}）"),
    "estimate.apart": (
        "p asks whether the arms matter at all; how much, the interval says, and it holds 0",
        "p 检验各臂是否有任何影响；影响多大由区间说明，而区间包含 0",
    ),
    "estimate.n": ("n {items} items × {calls} calls", "n {items} 个样本 × {calls} 次调用"),
    "estimate.errors": ("{n} errors", "{n} 个错误"),
    "estimate.error": ("1 error", "1 个错误"),
}
