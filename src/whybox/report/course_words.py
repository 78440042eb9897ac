"""What the course says by itself, in English and Chinese. The chapters' own words: `whybox/learn/course/chapters/`."""

COURSE: dict[str, tuple[str, str]] = {
    "course.judged": ("{n} of {of} judged right; a pass takes {need}", "{of} 项中判对 {n} 项；通过需要 {need} 项"),
    "course.ended.raised": ("the code stopped: {kind}: {said}", "代码中断：{kind}：{said}"),
    "course.ended.missing": ("the code does not define {names}", "代码中没有定义 {names}"),
    "course.ended.slow": ("it was not done within its time and was ended", "在限定时间内没有结束，已被终止"),
    "course.ended.died": (
        "its process ended without an answer: too much memory, too large a file, or an end of its own",
        "进程没有给出结果就结束了：内存过多、文件过大，或自行退出",
    ),
    "course.ended.garbled": ("what it gave cannot be read as arrays", "它给出的内容无法读作数组"),
    "course.not_timed": ("nobody measured it", "没有计时"),
    "course.checklist": (
        "A checklist with a timer: it looks for expressions, and says nothing of how well something was understood.",
        "这是一张带计时的清单：它只查找有没有提到，不评判理解得如何。",
    ),
    "course.not_computed": ("not computed yet", "尚未计算"),
    "course.predict_first": (
        "first comes your prediction: {n} still to be made",
        "先写下你的预测：还有 {n} 个没有作答",
    ),
}
