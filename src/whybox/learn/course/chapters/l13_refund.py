"""Case R under the knife: whole edges cut and boosted, their shams, other paths, and the judge of edge sets."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from whybox.cause import trials
from whybox.cause.answers import STEPS, answer, read
from whybox.cause.decision import decision_after
from whybox.cause.spans import Edge, keys_of, other_spans
from whybox.cause.study import Study
from whybox.cause.trials import Trial
from whybox.engine.edit import Edit
from whybox.learn.course.chapters.handed import Remarks, Unusable, listed, mapping
from whybox.learn.course.computed import Remark
from whybox.learn.ground import Ground

HeadAt = tuple[int, int]
Action = Literal["boost", "cut"]
NOISE = 1e-4  # logits; whoever measures it on this model in fp32 finds less
MOST_HEADS = 4
PREFIXES = ("A refund takes ", "Answer: ", "The answer is ")


def study_of(ground: Ground) -> Study:
    """Case R, decided, with the noise that is taken for granted here."""
    study = ground.case_r.study
    study.setting = replace(study.decided, delta=NOISE)
    return study


def attempts(ground: Ground) -> dict[str, Trial]:
    """Evidence alone, the other order, the evidence boosted, the other passage cut: each answer written anew."""
    study = ground.once(study_of)
    study.run(
        {
            "evidence alone": trials.evidence_alone,
            "other order": trials.moved(("doc2", "doc1")),
            "boost doc2": trials.boost_evidence,
            "cut doc1": trials.cut_part("doc1"),
        }
    )
    return study.trials


def shams(ground: Ground) -> tuple[float, ...]:
    """LD after boosting each other span of the evidence's length in its place."""
    return tuple(elsewhere(ground.once(study_of), "boost", "doc2", None))


def elsewhere(study: Study, action: Action, part: str, heads: Sequence[HeadAt] | None) -> list[float]:
    """LD after the same edit on every other span of that length."""
    prompt, decision = study.asked.prompt, study.decided.base.decision
    keys = keys_of(prompt, (part,))
    spans = other_spans(len(keys), keys, len(prompt.ids))
    made = [edits(action, tuple(span), heads, decision.row) for span in spans]
    return [reading.ld for reading in study.bench.results([read(study.asked, decision, each) for each in made])]


def edits(action: Action, keys: tuple[int, ...], heads: Sequence[HeadAt] | None, row: int) -> list[Edit]:
    """The edges of some heads, or of all, from a row on."""
    if heads is None:
        return [Edge(action, keys).from_row(row)]
    layers = sorted({layer for layer, _ in heads})
    chosen = {layer: tuple(sorted(head for at, head in heads if at == layer)) for layer in layers}
    return [Edge(action, keys, (layer,), chosen[layer]).from_row(row) for layer in layers]


def forced(ground: Ground) -> tuple[float, ...]:
    """LD behind prefixes that the model did not choose."""
    study = ground.once(study_of)
    asked = study.asked
    decisions = [
        decision_after(ground.model, asked.prompt, prefix, asked.right, asked.wrong, "forced") for prefix in PREFIXES
    ]
    return tuple(reading.ld for reading in study.bench.results([read(asked, each) for each in decisions]))


@dataclass(frozen=True)
class EdgeSet:
    """Some heads whose edge from the answer to one part is boosted, or cut."""

    action: Action
    part: str
    heads: tuple[HeadAt, ...]


def edge_set(text: str, ground: Ground) -> EdgeSet:
    """Read from what was handed in. Unusable says what is wrong with it."""
    given, study = mapping(text), ground.once(study_of)
    action, part = given.get("action"), given.get("to")
    if action not in get_args(Action):
        raise Unusable(
            f"action: expected boost or cut, found {action!r}", f"action：应为 boost 或 cut，得到 {action!r}"
        )
    parts = [one.name for one in study.asked.case.parts]
    if part not in parts:
        named = ", ".join(parts)
        raise Unusable(f"to: expected one of {named}, found {part!r}", f"to：应为 {named} 之一，得到 {part!r}")
    heads = tuple(dict.fromkeys(_head(one, ground) for one in listed(given.get("heads"), "heads")))
    return EdgeSet("boost" if action == "boost" else "cut", part, heads)


def _head(text: object, ground: Ground) -> HeadAt:
    layer, _, head = str(text).partition(".")
    sizes = [one.attention.heads for one in ground.model.spec.layers]
    if layer.isdigit() and head.isdigit() and int(layer) < len(sizes) and int(head) < sizes[int(layer)]:
        return int(layer), int(head)
    said = f"heads: expected layer.head such as 18.7, found {text!r}"
    raise Unusable(said, f"heads：应形如 18.7（层.头），得到 {text!r}")


def judge_edges(text: str, ground: Ground) -> Remarks:
    """It flips the written answer; no head can be spared; the same edit elsewhere does not flip."""
    found, study = edge_set(text, ground), ground.once(study_of)
    count = len(found.heads)
    if count > MOST_HEADS:
        return (
            Remark(
                False,
                f"{count} heads: sets of {MOST_HEADS} and fewer are known that flip",
                f"{count} 个头：已知 {MOST_HEADS} 个及以下的集合就能翻转",
            ),
        )
    flip = _flip(study.bench.result(_done(study, found)))
    return (flip, *_minimal(study, found), _silent(study, found)) if flip.holds else (flip,)


@dataclass(frozen=True)
class _Done:
    """LD on the old path, the answer written anew, and whether it flips: right, and ahead on both paths."""

    ld: float
    answer: str
    flips: bool


async def _done(study: Study, found: EdgeSet) -> _Done:
    asked, decision = study.asked, study.decided.base.decision
    keys = keys_of(asked.prompt, (found.part,))
    old = await read(asked, decision, edits(found.action, keys, found.heads, decision.row))
    anew = await answer(study.bench.model, asked, edits(found.action, keys, found.heads, decision.answer_row))
    return _Done(old.ld, anew.text.strip(), anew.score.right and min(anew.reading.ld, old.ld) > STEPS * NOISE)


def _flip(done: _Done) -> Remark:
    return Remark(
        done.flips,
        f"with these edges LD is {done.ld:+.3f} and the model writes: {done.answer}",
        f"改动这些边之后 LD 为 {done.ld:+.3f}，模型写出：{done.answer}",
    )


def _minimal(study: Study, found: EdgeSet) -> Remarks:
    """Each head is left out once; where it flips without it, it was not needed."""
    rests = [tuple(one for one in found.heads if one != left) for left in found.heads] if len(found.heads) > 1 else []
    without = study.bench.results([_done(study, replace(found, heads=rest)) for rest in rests])
    spared = [at for at, done in zip(found.heads, without, strict=False) if done.flips]
    names = ", ".join(f"{layer}.{head}" for layer, head in spared)
    if spared:
        return (Remark(False, f"it flips without {names} as well", f"去掉 {names} 也会翻转"),)
    return (Remark(True, "no head of it can be spared", "其中没有多余的头"),)


def _silent(study: Study, found: EdgeSet) -> Remark:
    after = elsewhere(study, found.action, found.part, found.heads)
    flipped = sum(ld > STEPS * NOISE for ld in after)
    span = f"{min(after):+.2f} … {max(after):+.2f}"
    return Remark(
        not flipped,
        f"the same edit on {len(after)} other spans: LD {span}, {flipped} flip",
        f"同样的改动放到另外 {len(after)} 段：LD {span}，{flipped} 处翻转",
    )
