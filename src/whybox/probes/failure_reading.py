"""What the calls of `failure` say: for every failure the cause whose step undoes it, and the share of each cause.

The codes are those of every report. From text alone nobody can say which part of a model failed, and nothing here does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from whybox.items.generate import Item
from whybox.probes.design import (
    AnyOutcome,
    Curve,
    Deciding,
    Estimate,
    Finding,
    Grid,
    Plan,
    Record,
    Seen2,
    answer_code,
    said,
    scored,
)
from whybox.probes.estimates import of_rate
from whybox.statistics.behaviour.failure import FEWEST, OPEN, RETRIES, Step, shares, unexplained
from whybox.statistics.intervals import Rate
from whybox.targets.target import Failure, Reply

PLAIN, RETRY, GREEDY, PREFIX, PINNED = "plain", "retry", "greedy", "prefix", "pinned"
ALONE, ORDER, REMOVED, CHANGED, CLOSED, RENAMED = "alone", "order:", "removed", "changed", "closed", "renamed"
FACT, SHAM, ELSEWHERE = "fact", "sham:", "elsewhere:"
CAUSES = ("order", "context-use", "knowledge", "decoding", "format", "template")
NOISE, BEYOND, LOST = "noise", "beyond-the-model", "lost calls"
ANOTHER_SERVER = "another-server"
SAME = 4  # of five runs that give the answer of the plain one: the change moved nothing
SHOWN = 20


@dataclass(frozen=True)
class Cause:
    """code · detail, the step that undoes it, and other causes whose step undoes it as well."""

    code: str
    detail: str = ""
    undone_by: str = ""
    others: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.code} · {self.detail}" if self.detail else self.code


@dataclass(frozen=True)
class Case:
    """A failing case with everything that was tried. after: by arm the runs, those that were lost left out."""

    item: Item
    plain: Record
    asked: Mapping[str, Item]
    after: Mapping[str, tuple[AnyOutcome, ...]] = field(default_factory=dict)

    def right(self, arm: str) -> Rate:
        """How many runs of a step are right, by what the step asks."""
        outcomes = self.after.get(arm, ())
        asks = self.asked.get(arm, self.item)
        return Rate(sum(scored(asks, outcome).outcome == "right" for outcome in outcomes), len(outcomes))

    def undoes(self, arm: str) -> bool:
        """Right in at least 4 of 5 runs, plain retries in at most 1 of 5, and no sham."""
        shams = tuple(self.right(each) for each in self.after if each.startswith(SHAM))
        return Step(self.right(arm), self.right(RETRY), shams).undoes

    def as_before(self, arm: str) -> bool:
        """Whether the answer is the one of the plain call, whatever the step changed."""
        outcomes = self.after.get(arm, ())
        before = answer_code(scored(self.item, self.plain.outcome))
        same = sum(answer_code(scored(self.item, outcome)) == before for outcome in outcomes)
        return 5 * same >= SAME * len(outcomes) > 0

    @property
    def orders(self) -> list[str]:
        """The orders that undo it."""
        return [arm for arm in self.after if arm.startswith(ORDER) and self.undoes(arm)]


def failing(plan: Plan, records: Sequence[Record]) -> list[Item]:
    """The items whose plain answer came back and is not right."""
    by_id = {item.id: item for item in plan.items}
    plain = [record for record in records if record.call.arm == PLAIN]
    scores = {record.call.item: scored(by_id[record.call.item], record.outcome) for record in plain}
    failed = {item for item, score in scores.items() if not (score.right or score.undecided)}
    return [item for item in plan.items if item.id in failed]


def cause_of(case: Case) -> Cause:
    """The cause whose step undoes the failure, after the table of causes; else why there is none."""
    retries = case.right(RETRY)
    if retries.n == 0:
        return Cause(OPEN, LOST)
    if retries.hits > RETRIES:
        return Cause(OPEN, NOISE)
    found = list(_leaves(case))
    if not found and (other := next((arm for arm in case.after if _is_right_elsewhere(case, arm)), None)):
        return Cause(OPEN, ANOTHER_SERVER, f"asked of {other.removeprefix(ELSEWHERE)}")
    if not found:
        return Cause(OPEN, BEYOND if case.item.instance.evidence else "")
    first, *others = found
    return Cause(first.code, first.detail, first.undone_by, tuple(each.code for each in others))


def _is_right_elsewhere(case: Case, arm: str) -> bool:
    """Whether another target is right where this one is not. That says nothing of why: they may differ in anything."""
    return arm.startswith(ELSEWHERE) and case.undoes(arm)


def _leaves(case: Case) -> Iterator[Cause]:
    """Every cause that a step speaks for, in the order in which they are read."""
    moved = fingerprint(case)
    if moved and case.undoes(PINNED):
        yield Cause("template", f"{moved:+d} tokens reach the model", "the system text in the user's message")
    if _is_lenient(case):
        yield Cause("format", "", "a lenient reading of the same answer")
    elif _is_formless(case) and case.undoes(PREFIX):
        yield Cause("format", "", "the contract's prefix")
    if case.undoes(GREEDY):
        yield Cause("decoding", "", "greedy in place of drawn")
    elif _is_ahead(case):
        yield Cause("decoding", "", "the choice by its log-probability")
    yield from _of_text(case)


def _of_text(case: Case) -> Iterator[Cause]:
    """What lies in the passages, and in what is known without them."""
    if not case.item.instance.evidence:
        if case.undoes(FACT):
            yield Cause("knowledge", "missing", "the fact added")
        return
    if case.orders:
        yield Cause("order", "", f"another order ({case.orders[0].removeprefix(ORDER)})")
    elif case.undoes(ALONE):
        yield Cause("context-use", "", "the evidence alone")
    elif case.undoes(RENAMED) and case.as_before(CLOSED) and case.as_before(CHANGED):
        yield Cause("knowledge", "overruled", "an invented entity in place of the known one")


def fingerprint(case: Case) -> int:
    """Tokens that the target counted beyond those that were meant; 0 where it does not say."""
    outcome, facts = case.plain.outcome, dict(case.plain.call.facts)
    if not isinstance(outcome, Reply) or outcome.usage is None or "ids" not in facts:
        return 0
    return outcome.usage.prompt - int(facts["ids"])


def _is_lenient(case: Case) -> bool:
    """Whether the answer is right once its form does not count."""
    outcome = case.plain.outcome
    if not isinstance(outcome, Reply) or not _is_formless(case):
        return False
    return case.item.instance.form_scorer().score(outcome.text, outcome.finish).outcome == "right"


def _is_formless(case: Case) -> bool:
    """Whether the plain answer holds no legal answer at all."""
    return scored(case.item, case.plain.outcome).outcome == "invalid"


def _is_ahead(case: Case) -> bool:
    """Of a choice: whether the right label leads among the labels at the first token, and another was written."""
    outcome, instance = case.plain.outcome, case.item.instance
    if instance.kind != "choice" or not isinstance(outcome, Reply) or not outcome.tokens:
        return False
    labels = {label for label, _ in instance.options} or set("ABCD")
    top = [(logprob, text.strip()) for text, logprob in outcome.tokens[0].top if text.strip() in labels]
    return bool(top) and max(top)[1] == instance.right


def read(plan: Plan, records: Sequence[Record]) -> Finding:
    """The finding. A plain call that was lost is no failure, and is counted against every gate."""
    cases = failing_cases(plan, records)
    causes = [cause_of(case) for case in cases]
    codes = [cause.code for cause in causes]
    plain = [record for record in records if record.call.arm == PLAIN]
    failed = sum(isinstance(record.outcome, Failure) or _is_lost(plan, record) for record in plain)
    lost = Rate(sum(_is_lost(plan, record) for record in records), len(records))
    open_ = unexplained(codes)
    measured = {"unexplained": (("all failures", Seen2(open_, Rate(open_.hits + failed, open_.n + failed))),)}
    for code in CAUSES:
        through = Rate(codes.count(code), len(plain) - failed)
        measured[code] = (("all items", Seen2(through, Rate(through.hits + failed, len(plain)))),)
    return Finding(
        (of_rate("unexplained", open_, primary=True), *_estimates(codes, Rate(len(cases), len(plain) - failed))),
        measured,
        lost,
        tuple(_curves(causes)),
        tuple(_deciding(cases, causes)),
        tuple(_notes(causes)),
        grids=tuple(_grids(cases)),
    )


def failing_cases(plan: Plan, records: Sequence[Record]) -> list[Case]:
    """Every failing case with what came back after each step."""
    return list(_cases(plan, records))


def _cases(plan: Plan, records: Sequence[Record]) -> Iterator[Case]:
    by_item: dict[str, list[Record]] = {}
    for record in records:
        by_item.setdefault(record.call.item, []).append(record)
    for item in failing(plan, records):
        after: dict[str, list[AnyOutcome]] = {}
        for record in by_item[item.id]:
            if record.call.arm != PLAIN and not _is_lost(plan, record):
                after.setdefault(record.call.arm, []).append(record.outcome)
        plain = next(record for record in by_item[item.id] if record.call.arm == PLAIN)
        asked = {arm: plan.asked[item.id, arm] for arm in after if (item.id, arm) in plan.asked}
        yield Case(item, plain, asked, {arm: tuple(outcomes) for arm, outcomes in after.items()})


def _is_lost(plan: Plan, record: Record) -> bool:
    asked = plan.asked.get((record.call.item, record.call.arm))
    item = asked or next(item for item in plan.items if item.id == record.call.item)
    return scored(item, record.outcome).undecided


def _estimates(codes: Sequence[str], failed: Rate) -> Iterator[Estimate]:
    """How many items fail, and the share of each cause of those."""
    yield of_rate("failing", failed)
    for share in shares(codes):
        if share.code != OPEN:
            yield of_rate(f"through {share.code}", share.rate)


def _curves(causes: Sequence[Cause]) -> Iterator[Curve]:
    """Failures by cause and detail."""
    named = dict.fromkeys(sorted(cause.name for cause in causes))
    points = tuple((name, Rate(sum(each.name == name for each in causes), len(causes))) for name in named)
    if points:
        yield Curve("failures", "cause", points)


def _grids(cases: Sequence[Case]) -> Iterator[Grid]:
    """One row a case: the runs that are right after each step that all of them allow."""
    arms = [arm for arm in (cases[0].after if cases else ()) if all(arm in case.after for case in cases)]
    if arms:
        counts = tuple(tuple(case.right(arm).hits for arm in arms) for case in cases)
        yield Grid("right runs after each step", tuple(case.item.id for case in cases), tuple(arms), counts)


def _deciding(cases: Sequence[Case], causes: Sequence[Cause]) -> Iterator[Deciding]:
    """The failing cases, those with a cause first, each with its case for `whybox why`."""
    ordered = sorted(zip(cases, causes, strict=True), key=lambda pair: pair[1].code == OPEN)
    for case, cause in ordered[:SHOWN]:
        seen = [("cause", cause.name), ("undone by", cause.undone_by), ("also undone", ", ".join(cause.others))]
        told = tuple((name, text) for name, text in seen if text)
        answer = said(case.plain.outcome)
        yield Deciding(case.item.id, (PLAIN,), (answer,), case.item.instance, told)


def _notes(causes: Sequence[Cause]) -> Iterator[str]:
    if not causes:
        yield "no item failed"
    elif len(causes) < FEWEST:
        yield f"{len(causes)} failures: shares need {FEWEST} or more"
    if noisy := sum(cause.detail == NOISE for cause in causes):
        yield f"plain retries undo {noisy} failures"
