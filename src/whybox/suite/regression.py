"""A test of a suite file (`suite.config`), asked of a target: does what a finding demanded hold now?

These are a census, not a sample: the demand is about the prompts of the file and no other ones, so the share that was
seen is compared with the limit as it is, and nothing is said of other prompts. Probes say that (docs/run.md).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from whybox.errors import EndpointError, InfrastructureError
from whybox.items.case import Case
from whybox.items.generate import Item
from whybox.items.instance import CaseInstance
from whybox.items.lenient import bare_value
from whybox.items.question import question_of
from whybox.items.scoring import AbstainScorer, CandidateScorer, Scorer
from whybox.probes.design import Ground, Record, said
from whybox.probes.order import OrderProbe
from whybox.statistics.unknown import Unknown
from whybox.suite.config import (
    AnyTest,
    BoundaryTest,
    CaseTest,
    ChangedTest,
    ChoiceTest,
    DiffTest,
    EvidenceTest,
    FormatTest,
    KnowledgeTest,
    OrderTest,
    Suite,
)
from whybox.suite.gates import State
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Failure,
    Reply,
    Request,
    Target,
    TokenLogprob,
    prompt_of,
    request_of,
    sampling_of,
)
from whybox.targets.until_done import until_closed
from whybox.targets.wire import CUT

MOST_SHOWN = 3


@dataclass(frozen=True)
class Checked:
    """state: pass, fail, or skipped where it could not be asked. shown: answers that speak against it."""

    state: State
    said: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asking:
    """One prompt and what its answer must be. place: which part of the demand it belongs to."""

    place: str
    case: CaseInstance
    good: Callable[[Reply], bool]


def check(test: AnyTest, suite: Suite, target: Target) -> Checked:
    """Asks what the test needs. EndpointError, InfrastructureError where no answer comes."""
    case = suite.case(test.case)
    return until_closed(_check(test, case, suite, target), [target])


async def _check(test: AnyTest, case: Case, suite: Suite, target: Target) -> Checked:
    if not sampling_of(case.filled(), suite.max_tokens).is_common and not target.abilities.decoding:
        return Checked(State.SKIPPED, f"cannot be asked: {target.abilities.decoding.why}")
    match test:
        case OrderTest():
            return await _order(test, case, suite, target)
        case ChoiceTest():
            return await _choice(test, case, target)
        case DiffTest():
            return Checked(
                State.SKIPPED, "two ways of computing are compared on weights: `whybox why` on the case does"
            )
        case _:
            least = 1.0 if isinstance(test, CaseTest | BoundaryTest | FormatTest) else test.least
            return await _shares(list(_askings(test, case, suite.seed)), least, suite.max_tokens, target)


def _askings(test: AnyTest, case: Case, seed: int) -> Iterator[Asking]:
    """The prompts of a test whose demand is a share of good answers."""
    cases = case.instances(seed=seed)
    match test:
        case CaseTest():
            for each in cases if test.variants else cases[:1]:
                yield Asking(test.expect, each, _right(each) if test.expect == "right" else _declined(each))
        case EvidenceTest():
            for each in cases:
                for place, order in _placed(test):
                    yield Asking(place, each.reordered(order), _right(each))
        case ChangedTest():
            yield from _changed(cases, test.evidence)
        case KnowledgeTest():
            for each in cases:
                yield from _directions(test, each)
        case BoundaryTest():
            plain = cases[0]
            told = plain.replacing({_asks(plain): f"{test.fact}\n{plain.part(_asks(plain)).text}"})
            yield Asking("with the fact", told, _right(plain))
            yield Asking("without it", plain, _declined(plain))
        case FormatTest():
            for each in cases:
                yield Asking("legal", each, _legal(each.scorer(), test.prefix or ""))
        case _:
            return


async def _shares(askings: Sequence[Asking], least: float, limit: int, target: Target) -> Checked:
    """Good answers at every place, each beside the limit."""
    if not askings:
        return Checked(State.SKIPPED, "the case has no variants that this test needs")
    requests = [request_of(asking.case, sampling_of(asking.case, limit)) for asking in askings]
    replies = await _replies(requests, target)
    good = [asking.good(reply) for asking, reply in zip(askings, replies, strict=True)]
    places = list(dict.fromkeys(asking.place for asking in askings))
    shares = {place: [g for g, a in zip(good, askings, strict=True) if a.place == place] for place in places}
    held = all(sum(each) >= least * len(each) for each in shares.values())
    told = ", ".join(f"{place} {sum(each)} of {len(each)}" for place, each in shares.items())
    bad = [
        f"  {asking.place}: expected {asking.case.right!r}, got {reply.text!r}"
        for asking, reply, is_good in zip(askings, replies, good, strict=True)
        if not is_good
    ]
    return Checked(State.PASS if held else State.FAIL, f"{told} (at least {least:.0%})", tuple(bad[:MOST_SHOWN]))


async def _order(test: OrderTest, case: Case, suite: Suite, target: Target) -> Checked:
    """D of the probe `order` on these prompts: changed answers beyond those of asking again."""
    seed, sampling = suite.seed, sampling_of(case.filled(), suite.max_tokens)
    items = tuple(
        Item(each.id, "fact", "en", each, each.scorer(), others=() if each.wrong is None else (each.wrong,))
        for each in case.instances(seed=seed)
    )
    ground = Ground(test.case, target.abilities, seed, data={"mine": items})
    probe = OrderProbe(data="mine", parts=test.parts, items=len(items), runs=2)
    plan = probe.plan("order", ground)
    asked = [call.request for call in plan.calls if isinstance(call.request, Request)]
    requests = [each if each.choices else replace(each, sampling=sampling) for each in asked]
    replies = await _replies(requests, target)
    finding = probe.read(plan, [Record(c, r) for c, r in zip(plan.calls, replies, strict=True)], seed)
    if finding.broken or isinstance(finding.estimates[0].value, Unknown):
        raise InfrastructureError(f"order: {finding.broken or 'no answer could be compared'}")
    points = 100 * finding.estimates[0].value
    shown = [
        f"  {arm}: {answer!r}"
        for one in finding.deciding[:1]
        for arm, answer in zip(one.arms, one.answers, strict=True)
    ]
    state = State.PASS if points <= test.most_points else State.FAIL
    told = f"{points:.1f} points of answers change (at most {test.most_points:g}), {len(items)} prompts"
    return Checked(state, told, tuple(shown) if state is State.FAIL else ())


async def _choice(test: ChoiceTest, case: Case, target: Target) -> Checked:
    """log P of the two answers where they part: the right one leads by so many nats."""
    one = case.filled()
    if one.wrong is None or target.abilities.scores.has is False:
        why = "the case names no wrong answer" if one.wrong is None else target.abilities.scores.why
        return Checked(State.SKIPPED, f"cannot be asked: {why}")
    right, wrong = [await _scored(AnswerRequest(prompt_of(one), answer), target) for answer in (one.right, one.wrong)]
    lead = _lead(right.tokens, wrong.tokens)
    if isinstance(lead, Unknown):
        return Checked(State.SKIPPED, f"not computed: {lead.reason}")
    state = State.PASS if lead >= test.least_nats else State.FAIL
    return Checked(state, f"the right answer leads by {lead:+.3g} nats (at least {test.least_nats:g})")


def _lead(right: Sequence[TokenLogprob], wrong: Sequence[TokenLogprob]) -> float | Unknown:
    """Nats by which the right answer leads at the first token that is not the same in both."""
    for one, other in zip(right, wrong, strict=False):
        if one.text != other.text:
            return one.logprob - other.logprob
        if one.text.strip(CUT) == "":
            return Unknown("a token of both answers is part of a character, and may not be the same")
    return Unknown("the tokens of the two answers never part: one answer begins the other")


async def _scored(request: AnswerRequest, target: Target) -> AnswerScore:
    outcome = await target.score(request)
    if isinstance(outcome, Failure):
        raise _error(outcome)
    return outcome


async def _replies(requests: Sequence[Request], target: Target) -> list[Reply]:
    """In order. A call without an answer decides nothing: it is raised."""
    found: dict[int, Reply] = {}
    async for index, outcome in target.ask_all(requests):
        if isinstance(outcome, Failure):
            raise _error(outcome)
        found[index] = outcome
    return [found[index] for index in range(len(requests))]


def _error(failure: Failure) -> InfrastructureError:
    kind = EndpointError if failure.fatal else InfrastructureError
    return kind(said(failure), failure.remedy)


def _right(case: CaseInstance) -> Callable[[Reply], bool]:
    """Right, in the form that the case's contract states."""
    scorer = case.scorer()
    return lambda reply: scorer.score(reply.text, reply.finish).right and not case.breaks_contract(reply.text)


def _declined(case: CaseInstance) -> Callable[[Reply], bool]:
    known = case.scorer()
    scorer = AbstainScorer(known if isinstance(known, CandidateScorer) else None)
    return lambda reply: scorer.score(reply.text, reply.finish).right


def _legal(scorer: Scorer, prefix: str) -> Callable[[Reply], bool]:
    def good(reply: Reply) -> bool:
        legal = scorer.score(reply.text, reply.finish).outcome not in ("invalid", "error")
        return legal and reply.text.lstrip().startswith(prefix)

    return good


def _placed(test: EvidenceTest) -> Iterator[tuple[str, list[str]]]:
    """The evidence as one block at every place among the parts, or at the last."""
    others = [part for part in test.parts if part not in test.evidence]
    places = range(len(others) + 1) if test.places == "every" else [len(others)]
    for place in places:
        yield f"place {place + 1}", [*others[:place], *test.evidence, *others[place:]]


def _changed(cases: Sequence[CaseInstance], evidence: Sequence[str]) -> Iterator[Asking]:
    """The evidence of each variant in the prompt of the one before: its value is then the right one."""
    for plain, other in pairwise(cases):
        if other.right != plain.right:
            case = plain.replacing({name: other.part(name).text for name in evidence})
            case = replace(case, right=other.right, wrong=plain.right)
            yield Asking("follows", case, _right(case))


def _directions(test: KnowledgeTest, case: CaseInstance) -> Iterator[Asking]:
    if "text-right" in test.directions:
        yield Asking("the text is right", case, _right(case))
    if "text-wrong" in test.directions and case.wrong is not None:
        old, new = bare_value(case.right), bare_value(case.wrong)
        texts = {name: case.part(name).text.replace(old, new) for name in test.evidence}
        if any(texts[name] != case.part(name).text for name in texts):
            turned = replace(case.replacing(texts), right=case.wrong, wrong=case.right)
            yield Asking("the text is wrong", turned, _right(turned))


def _asks(case: CaseInstance) -> str:
    """The part that asks; where none may, the last."""
    return question_of(case) or case.parts[-1].name
