"""What was found about parts, sets and the context, as sentences: from the numbers of a document alone."""

from collections.abc import Iterator

from whybox.report.document import (
    AblationRow,
    ContextView,
    Effect,
    Full,
    GradientMap,
    KnockoutRow,
    Lang,
    PartRow,
    RepairRow,
    SetRow,
    SourceRow,
    WhyDocument,
)
from whybox.report.numbers import below, number
from whybox.report.sentences import called, effect, with_unit
from whybox.report.words import WORDS, say
from whybox.verdict.experiment_words import parts_named

BACKUP = "backup"
NAMED = 4  # names in one sentence
MADE_GOOD = 0.5  # share of a direct effect that others make good, from which on it is said


def parts_finding(document: WhyDocument, lang: Lang) -> str:
    """The part with the largest effect at the decision. Where the second way does not confirm it, that is said, beside
    the largest that both ways show.
    """
    metric, noise = document.metric, document.metric.noise
    rows = document.parts.rows if document.parts else ()
    most = max(rows, key=_size, default=None)
    if most is None or below(most.zero.value, noise):
        return say("parts.finding.none", lang, metric=metric.name)
    told = {
        "part": parts_named(most.name, lang),
        "metric": metric.name,
        "zero": with_unit(most.zero.value, metric, lang),
    }
    if most.resample is None:
        return say("parts.finding.zero", lang, **told)
    told["resample"] = spread(most.resample, noise, lang)
    if not most.flags:
        return say("parts.finding", lang, **told)
    return say("parts.finding.flagged", lang, **told, flags=flags(most.flags, lang)) + _shown_by_both(document, lang)


def _size(row: PartRow) -> float:
    return abs(row.zero.value)


def confirmed(document: WhyDocument) -> PartRow | None:
    """The part with the largest effect that both ways of taking it out show; None where there is none."""
    rows = [
        row for row in verified_parts(document) if not row.flags and not below(row.zero.value, document.metric.noise)
    ]
    return max(rows, key=_size, default=None)


def _shown_by_both(document: WhyDocument, lang: Lang) -> str:
    row, metric = confirmed(document), document.metric
    if row is None or row.resample is None:
        return say("parts.finding.unconfirmed", lang)
    told = {"part": parts_named(row.name, lang), "zero": with_unit(row.zero.value, metric, lang)}
    return say("parts.finding.confirmed", lang, **told, resample=spread(row.resample, metric.noise, lang))


def parts_note(document: WhyDocument, lang: Lang) -> str:
    """What was done to every part."""
    verified = verified_parts(document)
    if not verified or verified[0].resample is None:
        return say("parts.note.alone", lang)
    return say("parts.note", lang, k=len(verified), n=verified[0].resample.n)


def verified_parts(document: WhyDocument) -> list[PartRow]:
    """Those that were put to the second test."""
    return [row for row in (document.parts.rows if document.parts else ()) if row.resample is not None]


def spread(found: Effect, noise: float, lang: Lang) -> str:
    """+1.20 ± 0.31: a mean with its SD, where there is one."""
    return effect(found.value, noise, lang) + ("" if found.sd is None else f" ± {number(found.sd)}")


def known(kind: str, text: str, lang: Lang) -> str:
    """A flag, a stage or a place of the document in the reader's language; itself where the catalogue has none."""
    key = f"{kind}.{text}"
    return say(key, lang) if key in WORDS else text


def flag(text: str, lang: Lang) -> str:
    return known("flag", text, lang)


def flags(texts: tuple[str, ...], lang: Lang) -> str:
    return ("；" if lang == "zh" else "; ").join(flag(text, lang) for text in texts)


def place(text: str, lang: Lang) -> str:
    """Where parts were changed."""
    return known("where", text, lang)


def listed(names: tuple[str, ...] | list[str], lang: Lang) -> str:
    """The first names, and how many more there are."""
    comma = "、" if lang == "zh" else ", "
    shown = comma.join(names[:NAMED])
    left = len(names) - NAMED
    return shown if left <= 0 else f"{shown} +{left}"


def listed_parts(names: tuple[str, ...], lang: Lang) -> str:
    """Heads and MLPs, the first of them."""
    return listed([parts_named(name, lang) for name in names], lang)


def findings(document: WhyDocument, lang: Lang) -> Iterator[str]:
    """One sentence for each piece of full effort, for the terminal."""
    full = document.full
    if full is None:
        return
    if full.context is not None:
        yield context_finding(full.context, lang)
    if full.ablations:
        yield ablations_finding(full.ablations, document, lang)
    if full.repairs:
        yield repairs_finding(full.repairs, lang)
        yield joint_sentence(full, document, lang)
    yield from pair_sentences(full, document, lang)
    for row in full.sets:
        yield f"{set_name(row, lang)} · {set_finding(row, document, lang)}"
    if full.gradients is not None:
        yield gradient_finding(full.gradients, lang)


def context_finding(found: ContextView, lang: Lang) -> str:
    """The source that adds most to log P of the answer."""
    side = say("context.right" if found.right else "context.wrong", lang)
    scored = [row for row in found.sources if row.score is not None]
    if not scored:
        return say("context.finding.hidden", lang, side=side, answer=found.answer)
    most = max(scored, key=_score)
    told = {"side": side, "answer": found.answer, "source": most.name}
    return say("context.finding", lang, **told, score=number(_score(most), signed=True))


def _score(row: SourceRow) -> float:
    return row.score or 0.0


def context_sentences(found: ContextView, lang: Lang) -> Iterator[str]:
    """How the scores were made, how good they are, and what leaving out the top does beside leaving out any."""
    if found.exact:
        fit = "—" if found.fit is None else number(found.fit)
        yield say("context.exact", lang, n=found.masks, fit=fit)
    else:
        yield say("context.surrogate", lang, n=found.masks, lds="—" if found.lds is None else number(found.lds))
    for drop in found.drops:
        told = {"k": drop.k, "draws": drop.draws, "top": number(drop.top), "random": number(drop.random)}
        yield say("context.drop", lang, **told, sd=number(drop.random_sd))
    yield say("context.method", lang)


def ablations_finding(rows: tuple[AblationRow, ...], document: WhyDocument, lang: Lang) -> str:
    """How many change direction with the way of ablation."""
    depends = [parts_named(row.name, lang) for row in rows if row.flags]
    told = {"n": len(rows), "metric": document.metric.name}
    if not depends:
        return say("ablations.finding.one", lang, **told)
    return say("ablations.finding.some", lang, n=len(rows), k=len(depends), names=listed(depends, lang))


def repairs_finding(rows: tuple[RepairRow, ...], lang: Lang) -> str:
    """Who acts once others are gone."""
    backups = [parts_named(row.name, lang) for row in rows if BACKUP in row.flags]
    if not backups:
        return say("repairs.finding.none", lang, n=len(rows))
    return say("repairs.finding.backup", lang, names=listed(backups, lang))


def is_repaired(row: RepairRow) -> bool:
    """Whether ρ can be read as a share: a total effect larger than the direct one is no repair, it goes by others."""
    return row.repaired is not None and abs(row.total.value) <= abs(row.direct.value)


def made_good(full: Full, document: WhyDocument, lang: Lang) -> Iterator[str]:
    """Heads whose removal others make good."""
    for row in full.repairs:
        if is_repaired(row) and abs(row.total.value) <= (1 - MADE_GOOD) * abs(row.direct.value):
            direct, total = (with_unit(one.value, document.metric, lang) for one in (row.direct, row.total))
            told = {
                "name": parts_named(row.name, lang),
                "metric": document.metric.name,
                "direct": direct,
                "total": total,
            }
            yield say("repairs.made_good", lang, **told)


def joint_sentence(full: Full, document: WhyDocument, lang: Lang) -> str:
    """The strongest writers together, against the sums of what each does alone."""
    joint, metric = full.joint, document.metric
    if joint is None:
        return ""
    told = {"joint": joint.joint.value, "total": joint.sum_of_total, "direct": joint.sum_of_direct}
    numbers = {name: with_unit(value, metric, lang) for name, value in told.items()}
    return say("repairs.joint", lang, names=listed_parts(joint.parts, lang), **numbers)


def pair_sentences(full: Full, document: WhyDocument, lang: Lang) -> Iterator[str]:
    """Pairs that cancel, or do more together than alone, each with its p among matched pairs."""
    for pair in full.pairs:
        one, other, joint = (with_unit(v, document.metric, lang) for v in (*pair.alone, pair.joint.value))
        first, second = (parts_named(part, lang) for part in pair.parts)
        told = {"first": first, "second": second, "one": one, "other": other, "joint": joint}
        yield say(f"pairs.{pair.flag}", lang, **told, p=_among_pairs(pair.joint, lang))


def _among_pairs(joint: Effect, lang: Lang) -> str:
    if joint.p is None:
        return say("pairs.no_p", lang)
    return say("pairs.p", lang, p=number(joint.p), n=joint.draws)


def set_name(row: SetRow, lang: Lang) -> str:
    """What was changed, in which parts."""
    about = listed(row.about, lang)
    if not row.parts:
        return say(f"sets.none.{row.what}", lang, about=about)
    return say(f"sets.{row.what}", lang, about=about, parts=listed_parts(row.parts, lang))


def set_finding(row: SetRow, document: WhyDocument, lang: Lang) -> str:
    """How many parts are enough, and what they do to the metric."""
    metric = document.metric
    if row.ld is None:
        return say("sets.finding.none", lang)
    size = "one" if len(row.parts) == 1 else "some"
    key = f"sets.finding.{size}" if row.turns else f"sets.finding.{size}.metric"
    told = {"metric": metric.name, "base": number(metric.base), "ld": number(row.ld, signed=True)}
    return say(key, lang, count=len(row.parts), **told)


def others(row: SetRow, lang: Lang) -> str:
    """Other minimal sets, where there are any."""
    return say("sets.others", lang, n=len(row.others), parts=listed_parts(row.others[0], lang)) if row.others else ""


def segments_finding(rows: tuple[KnockoutRow, ...], document: WhyDocument, lang: Lang) -> str:
    """The segment with the largest total effect, taken apart."""
    whole = [row for row in rows if row.interaction is not None and row.total and row.direct and row.between]
    most = max(whole, key=lambda row: abs(row.total.value if row.total else 0.0), default=None)
    if most is None or most.total is None or most.direct is None or most.between is None:
        return say("segments.finding.none", lang)
    values = (most.total.value, most.direct.value, most.between.value, most.interaction)
    noise = document.metric.noise
    total, direct, between, interaction = (effect(value, noise, lang) for value in values)
    told = {"total": total, "direct": direct, "between": between, "interaction": interaction}
    return say("segments.finding", lang, name=called(most.name, document, lang), **told)


def gradient_finding(found: GradientMap, lang: Lang) -> str:
    """How far the map can be trusted."""
    if found.rank is None:
        return say("gradients.finding.none", lang, signs=found.signs, clear=found.clear)
    return say("gradients.finding", lang, rank=number(found.rank), signs=found.signs, clear=found.clear)


def along_sentences(found: GradientMap, document: WhyDocument, lang: Lang) -> Iterator[str]:
    """What integrated gradients say of the sites that one gradient does not see."""
    for row in found.along:
        told = {
            "place": row.place,
            "n": row.midpoints,
            "estimate": number(row.estimate, signed=True),
            "joint": with_unit(row.joint, document.metric, lang),
            "shared": number(row.shared, signed=True),
            "part": parts_named(row.largest, lang),
            "share": number(row.share, signed=True),
            "effect": effect(row.effect.value, document.metric.noise, lang),
        }
        yield say("gradients.along.open" if row.flags else "gradients.along", lang, **told)


def gradient_sentence(found: GradientMap, document: WhyDocument, lang: Lang) -> str:
    """Low confidence, and where the map hides most."""
    worst = next(row for row in found.rows if row.name == found.worst)
    told = {
        "k": found.flagged,
        "n": found.estimated,
        "part": parts_named(worst.name, lang),
        "estimate": number(worst.estimate, signed=True),
    }
    return say("gradients.flagged", lang, **told, effect=with_unit(worst.effect.value, document.metric, lang))
