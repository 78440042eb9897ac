"""Every call of a kept run, for its page: what was sent, what came back, how it was scored."""

from dataclasses import asdict
from pathlib import Path

from whybox.jobs.run import RUN
from whybox.probes.design import AnyOutcome, AnyRequest, said
from whybox.report.document import CallRow, CallsPayload
from whybox.report.html.run_data import MOST_ANSWER
from whybox.suite import records, scores
from whybox.suite.scores import ScoredCall
from whybox.suite.store import Finished, Store
from whybox.targets.target import AnswerRequest, AnswerScore, Chat, Failure, Reply

PromptText = tuple[tuple[str, str], ...]


def calls_of(folder: Path) -> CallsPayload:
    """The calls of the run in that folder. UsageError where there is none."""
    with Store.existing(folder / RUN) as store:
        scored = scores.kept(store)
        prompts: dict[PromptText, int] = {}
        settings: dict[str, int] = {}
        rows = []
        for found in store.finished():
            request = found.call.request
            places = (
                prompts.setdefault(sent(request), len(prompts)),
                settings.setdefault(_setting(request), len(settings)),
            )
            rows.append(_row(found, places, scored.get(found.call.cell)))
    return CallsPayload(prompts=tuple(prompts), settings=tuple(settings), calls=tuple(rows))


def sent(request: AnyRequest) -> PromptText:
    """The messages of a request, exactly as they were sent; a raw text has no role."""
    match request.prompt:
        case Chat(turns=turns):
            return tuple((turn.role, turn.content) for turn in turns)
        case raw:
            return (("", raw.text),)


def _setting(request: AnyRequest) -> str:
    if isinstance(request, AnswerRequest):
        return records.text({"score": request.answer})
    return records.text({name: value for name, value in asdict(request.sampling).items() if value not in (None, ())})


def _row(found: Finished, places: tuple[int, int], score: ScoredCall | None) -> CallRow:
    call, answer = found.call, said(found.outcome)
    kept = answer[:MOST_ANSWER]
    return CallRow(
        target=call.target,
        probe=call.probe,
        item=call.item,
        arm=call.arm,
        run=call.run,
        prompt=places[0],
        setting=places[1],
        answer=kept,
        left_out=len(answer) - len(kept),
        outcome=_outcome(found.outcome, score),
        candidate=score.candidate if score else None,
        right=score.right if score else "",
        flags=score.flags if score else "",
        ended=_ended(found.outcome),
        source=found.source,
        seconds=found.outcome.seconds,
        facts=call.facts,
    )


def _outcome(outcome: AnyOutcome, score: ScoredCall | None) -> str | None:
    if score is not None:
        return score.outcome
    return "error" if isinstance(outcome, Failure) else None


def _ended(outcome: AnyOutcome) -> str:
    match outcome:
        case Reply(finish=finish):
            return finish
        case Failure(kind=kind):
            return kind
        case AnswerScore():
            return "score"
