"""The finding as a suite file: for each cause the tests that would have caught it."""

from collections.abc import Iterator
from dataclasses import dataclass

from whybox.cause.study import Study
from whybox.items.case import Case
from whybox.items.question import question_of
from whybox.items.slots import slots_in
from whybox.suite.config import (
    AnyTest,
    BoundaryTest,
    CaseTest,
    ChangedTest,
    DiffTest,
    EvidenceTest,
    FormatTest,
    KnowledgeTest,
    OrderTest,
    Suite,
)
from whybox.verdict.leaf import Leaf
from whybox.verdict.tree import Ruling


@dataclass(frozen=True)
class Finding:
    """What the tests need of a study. parts: evidence and what stands beside it. ids: of the explained run.

    limit: tokens of an answer, where the case states none. right: whether the answer that was written is.
    """

    case: Case
    evidence: tuple[str, ...]
    parts: tuple[str, ...]
    fact: str
    prefix: str | None
    ids: tuple[int, ...]
    limit: int = 32
    right: bool = False

    @property
    def known(self) -> set[str]:
        """Names of the parts of the case file."""
        return {part.name for part in self.case.filled().parts}

    @property
    def asks(self) -> str:
        """The part that asks; where none may, the last."""
        case = self.case.filled()
        return question_of(case) or case.parts[-1].name


def finding_of(study: Study, case: Case, right: bool) -> Finding:
    """Only parts that the case file itself names: sentences that stood in for them are none."""
    written = {part.name for part in case.filled().parts}
    evidence = tuple(name for name in study.roles.evidence if name in written)
    beside = {*evidence, *(name for name in study.roles.others if name in written)}
    parts = tuple(part.name for part in case.filled().parts if part.name in beside)
    decision = study.decided.base.decision
    asked = study.asked
    return Finding(
        case, evidence, parts, study.fact, asked.case.contract_prefix, decision.ids, asked.settings.limit, right
    )


def regression_suite(model: str, seed: int, ruling: Ruling, finding: Finding) -> Suite:
    """The tests of every named cause, and the case itself; without a cause the bare case, as a known failure.

    Of a right answer nothing was run on the variants, so its test is the case alone. Where a fact was missing, the case
    without it must be declined, so that it is no test by itself.
    """
    name = finding.case.id
    leaves = [leaf for cause in ruling.causes for leaf in _single(cause)]
    tests = [test for leaf in leaves for test in _tests(leaf, finding)]
    open_ = ruling.causes[0].code == "not-determined" and not finding.right
    itself = CaseTest(name=f"{name}: the answer is right", case=name, known_failing=open_, variants=not finding.right)
    without = any(isinstance(test, BoundaryTest) for test in tests)
    found = {test.model_dump_json(): test for test in (*(() if without else (itself,)), *tests)}
    return Suite(
        suite=name,
        model=model,
        seed=seed,
        max_tokens=finding.limit,
        cases=[finding.case.text],
        tests=list(found.values()),
    )


def _single(leaf: Leaf) -> Iterator[Leaf]:
    """A joint cause gets the tests of both."""
    if leaf.code != "joint" or leaf.detail is None:
        yield leaf
        return
    for code in leaf.detail.split("+"):
        yield Leaf(code, "overruled" if code == "knowledge" else None, leaf.undone_by, leaf.lacks, leaf.about)


def _tests(leaf: Leaf, found: Finding) -> Iterator[AnyTest]:
    case, evidence, parts = found.case.id, list(found.evidence), list(found.parts)
    placed = bool(evidence) and len(parts) > len(evidence)
    match leaf.code, leaf.detail:
        case "order", _ if placed:
            yield OrderTest(name=f"{case}: the order of the parts does not matter", case=case, parts=parts)
            yield EvidenceTest(
                name=f"{case}: right wherever the evidence stands", case=case, evidence=evidence, parts=parts
            )
        case "context-use", "looked-at-not-used" if evidence:
            yield ChangedTest(
                name=f"{case}: the answer follows the evidence", case=case, evidence=evidence, slot=_slot(found)
            )
        case "context-use", _ if placed:
            told = f"{case}: right wherever the evidence stands", f"{case}: right with the evidence last"
            yield EvidenceTest(name=told[0], case=case, evidence=evidence, parts=parts)
            yield EvidenceTest(name=told[1], case=case, evidence=evidence, parts=parts, places="last")
        case "knowledge", "overruled" if evidence:
            yield KnowledgeTest(name=f"{case}: the text wins over what is remembered", case=case, evidence=evidence)
        case "knowledge", "missing" if found.fact:
            yield BoundaryTest(name=f"{case}: right with the fact, declined without it", case=case, fact=found.fact)
        case "format", _:
            yield FormatTest(name=f"{case}: the answer is legal", case=case, prefix=found.prefix)
        case (("implementation" | "template"), _):
            switch = "pinned ids" if leaf.undone_by is None else leaf.undone_by.what
            yield DiffTest(
                name=f"{case}: the same ids give the same logits", case=case, ids=list(found.ids), switch=switch
            )


def _slot(found: Finding) -> str | None:
    """The slot of the evidence whose values change the right answer."""
    return next(iter(slots_in(found.case.text.answer.right)), None)
