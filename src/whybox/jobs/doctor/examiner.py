"""Who asks for the doctor: counts calls and failures, and stops where no call can succeed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from whybox.errors import EndpointError
from whybox.items.generate import Language
from whybox.report.document import DoctorCheck
from whybox.report.document.doctor import CheckState, Number
from whybox.targets.target import AnswerRequest, AnswerScore, Failure, Outcome, Reply, Request, Target

MOST_QUOTED = 120
Tell = Callable[[int], None]


@dataclass
class Examiner:
    """Asks a target. tell: is told how many calls are done."""

    target: Target
    language: Language
    seed: int
    tell: Tell
    calls: int = 0
    failures: list[Failure] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)

    async def ask(self, request: Request) -> Reply | None:
        """One reply; None for a failure, which is kept. EndpointError where every call would fail."""
        found = self._counted(await self.target.ask(request))
        return found if isinstance(found, Reply) else None

    async def outcome(self, request: Request) -> Outcome:
        """One outcome, a failure included: for checks in which a refusal is a finding, and not an error."""
        outcome = await self.target.ask(request)
        self.calls += 1
        self.tell(self.calls)
        return outcome

    async def ask_all(self, requests: Sequence[Request]) -> list[Reply | None]:
        """The replies in the order of the requests, asked as many at a time as the target takes."""
        found: list[Reply | None] = [None] * len(requests)
        async for index, outcome in self.target.ask_all(requests):
            kept = self._counted(outcome)
            found[index] = kept if isinstance(kept, Reply) else None
        return found

    async def score(self, request: AnswerRequest) -> AnswerScore | Failure:
        """log P of an answer; a failure here says that the target does not give it."""
        found = await self.target.score(request)
        self.calls += 1
        self.tell(self.calls)
        return found

    def _counted(self, outcome: Outcome) -> Outcome:
        self.calls += 1
        self.tell(self.calls)
        if isinstance(outcome, Reply):
            self.replies.append(outcome)
            return outcome
        if outcome.fatal:
            raise EndpointError(outcome.cause, outcome.remedy)
        self.failures.append(outcome)
        return outcome


def check(
    name: str, state: CheckState, finding: str, numbers: Mapping[str, Number] | None = None, quote: str | None = None
) -> DoctorCheck:
    """One finding; its code carries the name of the check."""
    shown = None if quote is None else quote[:MOST_QUOTED]
    return DoctorCheck(check=name, state=state, finding=f"{name}.{finding}", numbers=dict(numbers or {}), quote=shown)
