"""A judge model on the answers of a kept run that no scorer could read, and on known ones, which say what it is worth.

Only where it is asked for. One call an item, drawn from its arms, so that n counts items. What scorers decided stays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whybox.errors import EndpointError, UsageError
from whybox.items.scoring import yes_no_scorer
from whybox.items.seeds import item_generator
from whybox.jobs.run import RUN, kept_document
from whybox.jobs.run_calls import sent
from whybox.statistics.intervals import Rate
from whybox.statistics.judged import Corrected, Judge, Seen, corrected
from whybox.statistics.unknown import Unknown
from whybox.suite import scores
from whybox.suite.scores import ScoredCall
from whybox.suite.store import Store
from whybox.targets.target import Failure, Reply, Request, Sampling, Target, chat
from whybox.targets.until_done import until_closed

OPEN, MOST_KNOWN = ("invalid", "hedged"), 200
ASK = """Question and documents:
{prompt}

Expected answer: {right}
Given answer: {answer}

Does the given answer say the same as the expected one? Reply with yes or no."""


@dataclass(frozen=True)
class Answer:
    """An answer of the run with what a scorer made of it. asked: the prompt, as it was sent."""

    score: ScoredCall
    asked: str
    text: str


@dataclass(frozen=True)
class JudgedProbe:
    """One probe on one target. unread: open answers that the judge said neither yes nor no to."""

    probe: str
    target: str
    seen: Seen
    unread: int
    found: Corrected | Unknown


@dataclass(frozen=True)
class JudgedRun:
    """judge: what it got right of known answers. calls: that it took. failed: those without a yes or a no."""

    judge: Judge
    calls: int
    failed: int
    probes: tuple[JudgedProbe, ...]


def judged_run(folder: Path, judge: Target) -> JudgedRun:
    """Asks the judge about one answer an item. UsageError for a run without open answers; EndpointError as `replay`."""
    document = kept_document(folder)
    answers = list(_one_an_item(_answers(folder), document.seed))
    open_ = [each for each in answers if each.score.outcome in OPEN]
    if not open_:
        raise UsageError(f"{folder}: every answer was read by its scorer, none is left for a judge")
    known = [*_some(answers, True, document.seed), *_some(answers, False, document.seed)]
    said = until_closed(_asked(judge, [*open_, *known]), [judge])
    of_open, of_known = said[: len(open_)], said[len(open_) :]
    accuracy = Judge(_agreement(known, of_known, True), _agreement(known, of_known, False))
    verdicts = dict(zip(map(id, open_), of_open, strict=True))
    places = dict.fromkeys((each.score.probe, each.score.target) for each in answers)
    probes = tuple(_probe(*place, answers, verdicts, accuracy, document.seed) for place in places)
    return JudgedRun(accuracy, len(said), said.count(None), probes)


def _answers(folder: Path) -> Iterable[Answer]:
    with Store.existing(folder / RUN) as store:
        scored = scores.kept(store)
        for found in store.finished():
            score = scored.get(found.call.cell)
            if score is not None and score.run == 0 and score.outcome not in (None, "error"):
                text = found.outcome.text if isinstance(found.outcome, Reply) else ""
                yield Answer(score, "\n".join(each for _, each in sent(found.call.request)), text)


def _one_an_item(answers: Iterable[Answer], seed: int) -> Iterable[Answer]:
    items: dict[tuple[str, str, str], list[Answer]] = {}
    for each in answers:
        items.setdefault((each.score.target, each.score.probe, each.score.item), []).append(each)
    for (target, probe, item), arms in items.items():
        yield arms[int(item_generator(seed, f"judge/{target}/{probe}", item).integers(len(arms)))]


def _some(answers: Sequence[Answer], right: bool, seed: int) -> list[Answer]:
    """Known answers of one kind, as many as are needed to know the judge."""
    wanted = "right" if right else "wrong"
    found = [each for each in answers if each.score.outcome == wanted]
    drawn = item_generator(seed, "judge", wanted).permutation(len(found))[:MOST_KNOWN]
    return [found[i] for i in sorted(drawn.tolist())]


async def _asked(judge: Target, answers: Sequence[Answer]) -> list[bool | None]:
    """Yes or no for each; None where neither came."""
    requests = [
        Request(chat(ASK.format(prompt=each.asked, right=each.score.right, answer=each.text)), Sampling(max_tokens=16))
        for each in answers
    ]
    said: list[bool | None] = [None] * len(requests)
    scorer = yes_no_scorer("yes")
    async for position, outcome in judge.ask_all(requests):
        if isinstance(outcome, Failure):
            if outcome.fatal:
                raise EndpointError(outcome.cause, outcome.remedy)
            continue
        found = scorer.score(outcome.text).outcome
        said[position] = found == "right" if found in ("right", "wrong") else None
    return said


def _agreement(known: Sequence[Answer], said: Sequence[bool | None], right: bool) -> Rate:
    told = [word for each, word in zip(known, said, strict=True) if (each.score.outcome == "right") == right]
    heard = [word for word in told if word is not None]
    return Rate(heard.count(right), len(heard))


def _probe(
    probe: str,
    target: str,
    answers: Sequence[Answer],
    verdicts: dict[int, bool | None],
    judge: Judge,
    seed: int,
) -> JudgedProbe:
    mine = [each for each in answers if (each.score.probe, each.score.target) == (probe, target)]
    outcomes = [each.score.outcome for each in mine]
    words = [verdicts[id(each)] for each in mine if id(each) in verdicts]
    other = sum(each not in ("right", *OPEN) for each in outcomes)
    seen = Seen(outcomes.count("right"), other, words.count(True), words.count(False))
    generator: np.random.Generator = item_generator(seed, "judge", f"{probe}/{target}")
    return JudgedProbe(probe, target, seen, words.count(None), corrected(seen, judge, generator))
