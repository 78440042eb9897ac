"""The verdict in sentences, English and Chinese. They claim no more than was measured."""

from collections.abc import Iterator, Sequence
from typing import Literal

from whybox.statistics.intervals import Rate, mean_interval, wilson
from whybox.verdict.experiment_words import named
from whybox.verdict.facts import Facts, ShamRun, Try
from whybox.verdict.ground_words import WORDS
from whybox.verdict.leaf import DEMANDED, LIMIT, Leaf
from whybox.verdict.remark_words import LACKS, NEXT, REMARKS, TRY_LACK, TRY_REASON, TRY_REMARK
from whybox.verdict.remarks import Remark
from whybox.verdict.tree import Ruling

Lang = Literal["en", "zh"]
BOUNDS = (" (95 % interval {:.2f}–{:.2f})", "（95 % 区间 {:.2f}–{:.2f}）")


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
    if leaf.detail in ("not-reproduced-here", "cut-short", DEMANDED):
        return _say(f"change.{leaf.detail}", lang) + end
    return _say("change.none" if leaf.code == "none" else "change.open", lang) + end


def next_step(ruling: Ruling, facts: Facts, lang: Lang) -> str:
    """What to do now. Where nothing was determined: what to try, from what is missing, then what to keep."""
    code = ruling.causes[0].code
    tries = _tries(ruling, facts, lang) if code == "not-determined" else ()
    cause = ruling.causes[0]
    step = NEXT.get(f"{code}.{cause.detail}", NEXT[code])
    return ("" if lang == "zh" else " ").join([*tries, step[lang == "zh"]])


def _tries(ruling: Ruling, facts: Facts, lang: Lang) -> Iterator[str]:
    told = _named_parts(facts, lang)
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
        return _joined(list(_no_flip(facts, lang)), lang)
    quoted = ("、" if lang == "zh" else ", ").join(f"“{named(one.what, lang)}”" for one in flipping)
    return _say("none-named", lang, changes=quoted)


def _no_flip(facts: Facts, lang: Lang) -> Iterator[str]:
    """That no change flips, and of how many that says nothing because their limit cut the answer."""
    made = [one for one in facts.tried if one is not facts.longer]
    cut = [one for one in made if one.cut]
    if made and len(cut) == len(made):
        yield _say("nothing-given", lang)
        return
    alone = facts.alone is not None and facts.alone.flips
    yield _say("nothing-flips.else" if alone else "nothing-flips", lang)
    if cut:
        yield _say("cut.some", lang, part=len(cut), n=len(made))


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
    key = "alone.right" if facts.alone.flips else "alone.cut" if facts.alone.cut else "alone.wrong"
    ahead = not facts.alone.flips and facts.alone.own is not None and facts.alone.own > 0
    first = _say(key, lang, ld="" if ahead else _ld_of(facts.alone, lang))
    if told := _about_orders(facts, lang):
        yield _joined([first, told], lang)
    else:
        yield first


def _about_orders(facts: Facts, lang: Lang) -> str:
    """How many of the orders that were tried give the right answer. Each that does is named as a change that flips."""
    cut = sum(order.cut for order in facts.orders)
    if facts.orders and cut == len(facts.orders):
        return _say("orders.cut", lang)
    told = [_orders_right(facts, lang), _say("orders.cut.some", lang, part=cut, n=len(facts.orders)) if cut else ""]
    return _joined([one for one in told if one], lang)


def _orders_right(facts: Facts, lang: Lang) -> str:
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
    if change.undecided:
        yield _say("repeats.cut", lang, part=change.undecided)


def _said_remarks(remarks: Sequence[Remark], facts: Facts, lang: Lang) -> Iterator[str]:
    prefix, forced = facts.forced or ("", 0.0)
    boost = facts.boost
    told = {
        "prefix": prefix,
        "forced": _number(forced),
        "own": _number(facts.own_ld),
        "boost": "" if boost is None else named(boost.what, lang),
        "copied": 0 if boost is None or boost.shams is None else boost.shams.copied,
        **_named_parts(facts, lang),
        "several": ", ".join(order.what.removeprefix("order ") for order in facts.orders if order.several),
    }
    yield from (REMARKS[remark][lang == "zh"].format(**told) for remark in remarks)


def _named_parts(facts: Facts, lang: Lang) -> dict[str, str]:
    """Parts and sentences of the prompt that remarks name."""
    demanded = facts.obeyed or tuple(one.part for one in facts.demands)
    named_in = {
        "wrong_stated": facts.wrong_stated,
        "evidence": facts.evidence,
        "nearer": facts.nearer,
        "supplied_by": tuple(_place(*place, lang) for place in facts.supplied_by),
        "stated_beside": facts.stated_beside,
        "stated_in": facts.stated_in,
        "demanded": demanded,
    }
    return {key: ", ".join(names) for key, names in named_in.items()}


def _place(part: str, sentence: int | None, lang: Lang) -> str:
    return part if sentence is None else _say("sentence", lang, n=sentence, part=part)


def _candidate(leaf: Leaf, lang: Lang) -> str:
    code = " · ".join(part for part in (leaf.code, leaf.detail) if part)
    edge = "" if leaf.edge is None else _counts(leaf.edge, lang)
    lacks = _joined([LACKS[lack][lang == "zh"].format(edge=edge) for lack in leaf.lacks], lang)
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
