"""What a comparison of two runs says by itself, in English and Chinese."""

COMPARISONS: dict[str, tuple[str, str]] = {
    "page.cmp": ("two runs", "两次测试"),
    "cmp.head.worse": ("The second run is shown to be worse.", "数据表明第二次测试更差。"),
    "cmp.head.better": ("The second run is shown to be better, and nowhere worse.", "数据表明第二次测试更好，且无一处更差。"),
    "cmp.head.same": ("Both runs are the same within ±{margin} points in every arm.", "两次测试在每个臂上相差均在 ±{margin} 个百分点以内。"),
    "cmp.head.alike": ("Nothing differs: all {n} answers are the same, word for word.", "没有差异：全部 {n} 条回答逐字相同。"),
    "cmp.head.itself": ("The same run: its {n} answers are compared with themselves.", "同一次测试：{n} 条回答与自身比较。"),
    "cmp.head.open": ("No difference is shown; that they are the same is not shown either.", "未显示差异；也未证明两者相同。"),
    "cmp.sides": (
        "{first} → {second} · {n} prompts in both · {only_first} only in the first, {only_second} only in the second",
        "{first} → {second} · 共有提示 {n} 条 · 仅第一次有 {only_first} 条，仅第二次有 {only_second} 条",
    ),
    "cmp.row": (
        "{value} points [{low}, {high}] · {worse} worse, {better} better of {n} items · {texts} texts differ · "
        "{lost} lost · p {p} (Holm {adjusted})",
        "{value} 个百分点 [{low}, {high}] · {n} 个样本中 {worse} 个变差、{better} 个变好 · {texts} 条文本不同 · 丢失 {lost} · "
        "p {p}（Holm {adjusted}）",
    ),
    "cmp.same": (" · same within the margin: p {p}", " · 差异在界限内：p {p}"),
    "cmp.worse": ("worse", "更差"),
    "cmp.better": ("better", "更好"),
    "cmp.equal": ("same", "相同"),
    "cmp.alike": ("nothing differs", "无差异"),
    "cmp.open": ("not shown", "未显示"),
    "cmp.together": ("all arms, each item once", "全部臂，每个样本计一次"),
    "cmp.differences": ("Differences by probe and by arm", "各探针与各臂的差异"),
    "cmp.note": (
        "Second minus first, right answers, items paired by the prompt that was sent.",
        "第二次减第一次的正确率，按发送的提示逐样本配对。",
    ),
    "cmp.settings": ("What differs in the settings", "设置的差异"),
    "cmp.no_settings": ("Nothing that the runs record.", "记录中没有差异。"),
    "cmp.setting": ("setting", "设置"),
    "cmp.first": ("first run", "第一次"),
    "cmp.second": ("second run", "第二次"),
    "cmp.changed": ("Items answered otherwise", "回答结果不同的样本"),
    "cmp.no_changed": ("None.", "无。"),
    "cmp.more": ("{n} more are left out on this page.", "本页省略另外 {n} 个。"),
}  # fmt: skip
