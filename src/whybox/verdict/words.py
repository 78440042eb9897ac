"""The verdict in sentences, English and Chinese. They claim no more than was measured."""

from collections.abc import Iterator, Sequence
from typing import Literal

from whybox.statistics.intervals import Rate, mean_interval, wilson
from whybox.verdict.experiment_words import named
from whybox.verdict.facts import Facts, ShamRun, Try
from whybox.verdict.leaf import LIMIT, Leaf
from whybox.verdict.remark_words import LACKS, NEXT, REMARKS, RIGHT, SHAMS, TRY_LACK, TRY_REASON, TRY_REMARK
from whybox.verdict.remarks import Remark
from whybox.verdict.tree import Ruling

Lang = Literal["en", "zh"]
BOUNDS = (" (95 % interval {:.2f}–{:.2f})", "（95 % 区间 {:.2f}–{:.2f}）")

WORDS: dict[str, tuple[str, str]] = SHAMS | RIGHT | {
    "own": (" (LD {ld} on its own path)", "（在其自身路径上 LD {ld}）"),
    "alone.right": ("With the evidence alone the answer is right{ld}", "只留证据时答案正确{ld}"),
    "alone.wrong": ("With the evidence alone the answer is not right either{ld}", "只留证据时答案也不正确{ld}"),
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
    "change.open": (
        "A single change that turns the answer right in 8 of 10 failing variants, while its shams do not",
        "有某个单一改动在 10 个出错变体中使 8 个变对，而它的对照都做不到",
    ),
    "after": (" (LD {ld})", "（LD {ld}）"),
}  # fmt: skip


def because(ruling: Ruling, facts: Facts, lang: Lang) -> str:
    """What the verdict rests on, in one or a few sentences."""
    said = [*_grounds(ruling.causes[0], facts, lang), *_said_remarks(ruling.remarks, facts, lang)]
    said += [_candidate(leaf, lang) for leaf in ruling.candidates]
    end, gap = ("。", "") if lang == "zh" else (".", " ")
    return gap.join(sentence[0].upper() + sentence[1:] + end for sentence in said)


def would_change(ruling: Ruling, lang: Lang) -> str:
    """What finding would overturn the verdict."""
    leaf = ruling.causes[0]
    end = "。" if lang == "zh" else "."
    if leaf.undone_by is not None:
        told = [_say("change.shams", lang)] if leaf.undone_by.shams is not None else []
        more = leaf.undone_by.repeats is not None and leaf.undone_by.repeats.n > 1
        n = leaf.undone_by.repeats.n if leaf.undone_by.repeats is not None else 1
        key = "change.variants" if more else "change.no-variants"
        said = ("；或" if lang == "zh" else ", or ").join(
            [*told, _say(key, lang, what=named(leaf.undone_by.what, lang), n=n)]
        )
        return said[0].upper() + said[1:] + end
    return _say("change.none" if leaf.code == "none" else "change.open", lang) + end


def next_step(ruling: Ruling, facts: Facts, lang: Lang) -> str:
    """What to do now. Where nothing was determined: what to try, from what is missing, then what to keep."""
    code = ruling.causes[0].code
    tries = _tries(ruling, facts, lang) if code == "not-determined" else ()
    cause = ruling.causes[0]
    step = NEXT.get(f"{code}.{cause.detail}", NEXT[code])
    return ("" if lang == "zh" else " ").join([*tries, step[lang == "zh"]])


def _tries(ruling: Ruling, facts: Facts, lang: Lang) -> Iterator[str]:
    told = {
        "wrong_stated": ", ".join(facts.wrong_stated),
        "supplied_by": ", ".join(facts.supplied_by),
        "nearer": ", ".join(facts.nearer),
    }
    yield from (TRY_REMARK[one][lang == "zh"].format(**told) for one in ruling.remarks if one in TRY_REMARK)
    if ruling.causes[0].detail in TRY_REASON:
        yield TRY_REASON[ruling.causes[0].detail][lang == "zh"]
    lacks = {lack: leaf for leaf in reversed(ruling.candidates) for lack in leaf.lacks}
    for lack, leaf in lacks.items():
        if lack in TRY_LACK and leaf.undone_by is not None:
            yield TRY_LACK[lack][lang == "zh"].format(what=named(leaf.undone_by.what, lang))


def _grounds(leaf: Leaf, facts: Facts, lang: Lang) -> Iterator[str]:
    match leaf.code, leaf.detail:
        case "none", _:
            yield _say("none", lang)
            yield from _rests_on(leaf, facts, lang)
        case "not-determined", "not-reproduced-here":
            yield _say("not-reproduced", lang)
        case "not-determined", _:
            yield _no_cause(facts, lang)
            yield from _about_alone(facts, lang)
        case (("order" | "context-use" | "joint"), _):
            yield from _about_alone(facts, lang)
            yield from _proof(leaf, facts, lang)
        case "knowledge", "overruled":
            yield _say("closed.same", lang)
            if facts.follows_change is False:
                yield _say("follows.not", lang)
            yield from _proof(leaf, facts, lang)
        case "knowledge", _:
            yield _say("missing", lang)
            yield from _proof(leaf, facts, lang)
            if leaf.undone_by is not None and leaf.undone_by.shams is not None:
                yield _say("shams.fact", lang)
        case "implementation", _:
            yield _say("implementation", lang)
            yield _joined(list(_switched(facts, lang)), lang)
        case "template", _:
            yield _say("template", lang)
            yield from _proof(leaf, facts, lang)
        case "decoding", _:
            if leaf.detail == LIMIT:
                yield _say("limit", lang)
            else:
                yield _say("decoding", lang, ld=_ld(facts.own_ld, lang))
            yield from _proof(leaf, facts, lang)
        case "format", _:
            if facts.lenient is not None:
                yield _joined([_say("format.lenient", lang), *_repeats(facts.lenient, "repeats.lenient", lang)], lang)
                return
            yield _say("format.choice" if leaf.undone_by is facts.choice else "format.prefix", lang)
            yield from _proof(leaf, facts, lang)


def _rests_on(leaf: Leaf, facts: Facts, lang: Lang) -> Iterator[str]:
    """The parts that a right answer rests on; where there is none, those of which the null cannot tell."""
    if leaf.about or not facts.unsettled:
        yield _say("rests" if leaf.about else "rests.nothing", lang, about=", ".join(leaf.about))
        return
    for why in dict.fromkeys(one.why for one in facts.unsettled):
        about = ", ".join(one.name for one in facts.unsettled if one.why == why)
        yield _say(f"rests.{why}", lang, about=about)


def _no_cause(facts: Facts, lang: Lang) -> str:
    """Which changes turn the answer right all the same. What the evidence alone does is said behind it."""
    flipping = [one for one in facts.tried if one.flips and one is not facts.alone]
    if not flipping:
        alone = facts.alone is not None and facts.alone.flips
        return _say("nothing-flips.else" if alone else "nothing-flips", lang)
    quoted = ("、" if lang == "zh" else ", ").join(f"“{named(one.what, lang)}”" for one in flipping)
    return _say("none-named", lang, changes=quoted)


def _switched(facts: Facts, lang: Lang) -> Iterator[str]:
    """The switch that flips, the others that do, and where the runs part."""
    yield from _controls(facts.switches[0], lang)
    if len(facts.switches) > 1:
        yield _say("switches", lang, names=", ".join(named(switch.what, lang) for switch in facts.switches))
    if facts.divergence is not None:
        place = facts.divergence
        where = place.site if place.layer is None else f"{place.site}[{place.layer}]"
        yield _say("divergence", lang, where=where, position=place.position, error=f"{place.error:.2g}")


def _about_alone(facts: Facts, lang: Lang) -> Iterator[str]:
    if facts.evidence and not facts.beside and not facts.right:
        yield _say("alone.prompt.kept" if facts.kept else "alone.prompt", lang, kept=", ".join(facts.kept))
    if facts.alone is None:
        return
    key = "alone.right" if facts.alone.flips else "alone.wrong"
    ahead = not facts.alone.flips and facts.alone.own is not None and facts.alone.own > 0
    first = _say(key, lang, ld="" if ahead else _ld_of(facts.alone, lang))
    if told := _about_orders(facts, lang):
        yield _joined([first, told], lang)
    else:
        yield first


def _about_orders(facts: Facts, lang: Lang) -> str:
    """How many of the orders that were tried give the right answer. Each that does is named as a change that flips."""
    flipping = sum(order.flips for order in facts.orders)
    if flipping:
        return "" if len(facts.orders) == 1 else _say("orders.some", lang, right=flipping, n=len(facts.orders))
    if not facts.orders:
        return ""
    key = "orders.several" if any(order.several for order in facts.orders) else "orders.none"
    return _say(f"{key}.tried" if facts.orders_left else key, lang, n=len(facts.orders), left=facts.orders_left)


def _proof(leaf: Leaf, facts: Facts, lang: Lang) -> Iterator[str]:
    """The change that undoes it, its shams, its repeats, and the lift where attention is what it speaks of."""
    if leaf.undone_by is None:
        return
    if leaf.code == "context-use" and facts.lift is not None:
        yield _say("lift", lang, lift=f"{facts.lift:.2f}")
    if leaf.detail == "looked-at-not-used" and facts.total_in_null:
        yield _say("total.null", lang)
    yield _joined(list(_controls(leaf.undone_by, lang)), lang)
    if leaf.code == "order":
        yield _say("shams.order.two" if len(facts.orders) == 1 else "shams.order", lang)
    for edge in (*facts.cuts, facts.boost) if leaf.code in ("order", "context-use") else ():
        if edge is not None and edge.flips and edge is not leaf.undone_by:
            yield _joined(list(_controls(edge, lang, "shams.edge")), lang)


def _controls(change: Try, lang: Lang, shams: str = "shams") -> Iterator[str]:
    yield _say("flip" if change.flips else "no-flip", lang, what=named(change.what, lang), ld=_ld_of(change, lang))
    if change.earlier_fork:
        yield _say("fork", lang)
    if change.shams is not None:
        yield _say(shams, lang, flipped=change.shams.flipped, n=change.shams.n, p=f"{change.shams.p:#.3g}")
        yield from _comparable(change.shams, lang)
    if change.unread is not None:
        yield _say("control.flips" if change.unread else "control", lang)
    yield from _repeats(change, "repeats", lang)
    if change.repeats is not None and (spread := mean_interval(change.effects)) is not None:
        mean = sum(change.effects) / len(change.effects)
        yield _say("mean", lang, mean=_number(mean), low=_number(spread[0]), high=_number(spread[1]))


def _comparable(shams: ShamRun, lang: Lang) -> Iterator[str]:
    """Of a boost, how many shams state another value: only they could have given one."""
    if shams.rivals is None:
        return
    key = "all_rivals" if shams.rivals == shams.n else "rivals" if shams.rivals else "no_rival"
    yield _say(f"shams.{key}", lang, rivals=shams.rivals)


def _repeats(change: Try, key: str, lang: Lang) -> Iterator[str]:
    if change.repeats is not None:
        yield _say(key, lang, hits=change.repeats.hits, n=change.repeats.n, interval=_bounds(change.repeats, lang))


def _said_remarks(remarks: Sequence[Remark], facts: Facts, lang: Lang) -> Iterator[str]:
    prefix, forced = facts.forced or ("", 0.0)
    boost = facts.boost
    told = {
        "prefix": prefix,
        "forced": _number(forced),
        "own": _number(facts.own_ld),
        "boost": "" if boost is None else named(boost.what, lang),
        "copied": 0 if boost is None or boost.shams is None else boost.shams.copied,
        "wrong_stated": ", ".join(facts.wrong_stated),
        "evidence": ", ".join(facts.evidence),
        "nearer": ", ".join(facts.nearer),
        "supplied_by": ", ".join(facts.supplied_by),
        "stated_beside": ", ".join(facts.stated_beside),
        "several": ", ".join(order.what.removeprefix("order ") for order in facts.orders if order.several),
    }
    yield from (REMARKS[remark][lang == "zh"].format(**told) for remark in remarks)


def _candidate(leaf: Leaf, lang: Lang) -> str:
    code = " · ".join(part for part in (leaf.code, leaf.detail) if part)
    lacks = _joined([LACKS[lack][lang == "zh"] for lack in leaf.lacks], lang)
    return _say("candidate", lang, code=code, lacks=lacks) + (
        "" if leaf.undone_by is None else _counts(leaf.undone_by, lang)
    )


def _counts(change: Try, lang: Lang) -> str:
    """The change of a candidate with the counts of its controls, in brackets."""
    told = [_say("count.what", lang, what=named(change.what, lang))]
    if change.shams is not None:
        told.append(_say("count.shams", lang, flipped=change.shams.flipped, n=change.shams.n))
    if change.repeats is not None:
        told.append(_say("count.repeats", lang, hits=change.repeats.hits, n=change.repeats.n))
    return "（{}）".format("，".join(told)) if lang == "zh" else " ({})".format(", ".join(told))


def _bounds(rate: Rate, lang: Lang) -> str:
    """95 % Wilson interval, for showing."""
    found = wilson(rate)
    return "" if found is None else BOUNDS[lang == "zh"].format(*found)


def _joined(parts: list[str], lang: Lang) -> str:
    return ("；" if lang == "zh" else "; ").join(parts)


def _ld_of(change: Try, lang: Lang) -> str:
    """LD on the base's path; where the change acts before the decision, on the path that it opened."""
    if change.own is not None and (change.earlier_fork or change.after is None or not change.flips):
        return _say("own", lang, ld=_number(change.own))
    return _ld(change.after, lang)


def _ld(value: float | None, lang: Lang) -> str:
    return "" if value is None else _say("after", lang, ld=_number(value))


def _number(value: float) -> str:
    """Three digits, also where the last are zeros."""
    return f"{value:+#.3g}".removesuffix(".").replace("-", "−")


def _say(key: str, lang: Lang, **values: object) -> str:
    return WORDS[key][lang == "zh"].format(**values)
