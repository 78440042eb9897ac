"""Judging a regression case by running it: it fails today, it names its evidence, and its variants fail alike."""

from dataclasses import replace

from whybox.cause.answers import Answered, answer
from whybox.cause.bench import Bench
from whybox.cause.parts import alone, roles_of, states
from whybox.cause.study import open_study
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.learn.course.chapters.handed import Remarks
from whybox.learn.course.computed import Remark
from whybox.learn.ground import Ground

VARIANTS = 8  # at least, the case included
RUN = 4  # of them are run
LIMIT = 24  # tokens of an answer


def judge_case(text: str, ground: Ground) -> Remarks:
    """CaseError where it is no case."""
    instances = Case.parse(text, "the case").instances()
    itself = instances[0]
    said = (_names_evidence(itself), _names_wrong(itself), _varies(len(instances)))
    if not all(remark.holds for remark in said):
        return said
    found = _written(ground, (*instances[:RUN], alone(itself, roles_of(itself))))
    return (*said, _fails(found[:RUN]), _answerable(found[RUN]))


def _names_evidence(case: CaseInstance) -> Remark:
    held = bool(case.evidence) and any(states(case, case.part(name).text) for name in case.evidence)
    named = ", ".join(case.evidence) or "–"
    return Remark(
        held,
        f"evidence: {named}; the right answer {case.right!r} {'stands' if held else 'does not stand'} there",
        f"evidence：{named}；正确答案 {case.right!r} {'写在' if held else '不在'}其中",
    )


def _names_wrong(case: CaseInstance) -> Remark:
    beside = [part.text for part in case.parts if part.name not in case.evidence]
    held = case.wrong is not None and any(case.wrong in text for text in beside)
    return Remark(
        held,
        f"wrong: {case.wrong!r}, {'stated' if held else 'not stated'} beside the evidence",
        f"wrong：{case.wrong!r}，{'' if held else '不'}写在证据之外的段落里",
    )


def _varies(count: int) -> Remark:
    return Remark(
        count >= VARIANTS,
        f"{count} variants by its slots; at least {VARIANTS} are needed before a sentence says more than this prompt",
        f"槽位给出 {count} 个变体；至少要 {VARIANTS} 个，结论才能超出这一条提示",
    )


def _written(ground: Ground, cases: tuple[CaseInstance, ...]) -> list[Answered]:
    """Answers to each, written as `whybox why` writes them."""
    model, bench = ground.model, Bench(ground.model)
    asked = open_study(bench, cases[:1], LIMIT).asked
    each = [replace(asked, case=case, prompt=model.prompt(case), wrong=case.wrong or "") for case in cases]
    return bench.results([answer(model, one) for one in each])


def _fails(found: list[Answered]) -> Remark:
    wrong = sum(one.score.outcome == "wrong" for one in found)
    return Remark(
        wrong == len(found),
        f"wrong in {wrong} of the {len(found)} variants that were run; the first: {found[0].text.strip()}",
        f"运行的 {len(found)} 个变体中 {wrong} 个答错；第一个：{found[0].text.strip()}",
    )


def _answerable(one: Answered) -> Remark:
    return Remark(
        one.score.right,
        f"with the evidence alone: {one.text.strip()}",
        f"只留证据时：{one.text.strip()}",
    )
