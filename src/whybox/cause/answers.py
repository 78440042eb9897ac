"""One prompt with its two answers, and what came out of it when something was changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whybox.cause.asking import Array, Read, Settings, Write, Written
from whybox.cause.decision import Decision, Reading, moved_to, own_decision, place_of, read_at
from whybox.cause.spans import Edge
from whybox.engine.edit import Edit
from whybox.engine.sampling import Decoding
from whybox.engine.trace import log_softmax
from whybox.items.instance import CaseInstance
from whybox.items.scoring import Score
from whybox.model import Model
from whybox.text.prompt import Prompt

STEPS = 5  # an effect up to five times the measured noise counts as none


@dataclass(frozen=True)
class Asked:
    """A prompt, its right and wrong answer, and how answers to it are written and scored.

    stand_in: the case names no wrong answer, and `wrong` was read from the model. in_form: an answer without the form
    of the contract is not right.
    """

    case: CaseInstance
    prompt: Prompt
    wrong: str
    settings: Settings
    stand_in: bool = False
    in_form: bool = False

    @property
    def right(self) -> str:
        return self.case.right

    def score(self, text: str, stopped: bool) -> Score:
        score = self.case.scorer().score(text, "stop" if stopped else "length")
        off_form = self.in_form and score.right and self.case.breaks_contract(text)
        return replace(score, outcome="invalid") if off_form else score

    def compared(self, score: Score) -> tuple[str, str]:
        """What of right and wrong an answer is searched for. Of a choice that was answered in the words of an option,
        what the two options say: a letter stands there by chance at most ("A refund").
        """
        options = dict(self.case.options)
        if "content-only" not in score.flags or self.wrong not in options:
            return self.right, self.wrong
        right, wrong = options[self.right], options[self.wrong]
        apart = not right.startswith(wrong) and not wrong.startswith(right)
        return (right, wrong) if apart else (self.right, self.wrong)

    def rendered(self, model: Model, case: CaseInstance) -> "Asked":
        """The same question in another prompt."""
        return replace(self, case=case, prompt=model.prompt(case))


@dataclass(frozen=True, eq=False)
class Answered:
    """What was written, how it was scored, and the decision on its own path with the metric there."""

    text: str
    written: Written
    score: Score
    decision: Decision
    reading: Reading


@dataclass(frozen=True)
class Outcome:
    """A counterfactual: the answer it gave and the metric, on the base's path and on its own.

    flips: the answer written anew is right and its own LD exceeds five times the noise.
    earlier_fork: it flips, although LD on the base's path keeps its sign (the edit acts before the decision).
    """

    answer: str
    score: Score
    own: Reading
    old: Reading | None
    flips: bool
    earlier_fork: bool

    @property
    def cut(self) -> bool:
        """Whether its limit ended it before it gave a whole value: it is then neither right nor wrong."""
        return self.score.undecided


def settings_of(model: Model, case: CaseInstance, limit: int = 32) -> Settings:
    """The decoding that a case states; greedy where it states none. UnsupportedError for a ban of several ids."""
    stated = case.decoding
    decoding = Decoding(
        temperature=stated.temperature or 0.0,
        top_k=stated.top_k,
        top_p=stated.top_p,
        seed=stated.seed or 0,
        banned=tuple(model.tokenizer.single(text) for text in stated.banned),
        penalty=stated.repetition_penalty or 1.0,
    )
    return Settings(decoding, stated.max_tokens or limit)


async def answer(model: Model, asked: Asked, edits: Sequence[Edit] = ()) -> Answered:
    """Write the answer, score it, and read the metric at the decision of its own path."""
    said = await Write(
        asked.prompt.ids, asked.settings, lambda written, logits: _said(model, asked, written, logits), tuple(edits)
    )
    reading = said.reading if said.reading is not None else await read(asked, said.decision, edits)
    return Answered(said.text, said.written, said.score, said.decision, reading)


@dataclass(frozen=True)
class _Said:
    """An answer as far as its own run tells. reading: None where the decision is not on the written path."""

    text: str
    written: Written
    score: Score
    decision: Decision
    reading: Reading | None


def _said(model: Model, asked: Asked, written: Written, logits: Sequence[Array]) -> _Said:
    text = model.tokenizer.text(written.ids)
    score = asked.score(text, written.stopped)
    answers = asked.compared(score)
    decision = own_decision(model, asked.prompt, written.ids, place_of(text, score, *answers), *answers)
    return _Said(text, written, score, decision, _on_path(asked, written, decision, logits))


def _on_path(asked: Asked, written: Written, decision: Decision, logits: Sequence[Array]) -> Reading | None:
    """From the logits that chose the id at the decision, where the path is the written one."""
    step = decision.row - (len(asked.prompt.ids) - 1)
    path = (*asked.prompt.ids, *written.ids)
    if 0 <= step < len(logits) and path[: decision.row + 1] == decision.ids:
        return read_at(logits[step], decision)
    return None


async def read(asked: Asked, decision: Decision, edits: Sequence[Edit] = ()) -> Reading:
    """The metric at a decision under edits."""
    length = len(asked.prompt.ids) + asked.settings.limit
    return await Read(decision.ids, lambda logits: read_at(logits[-1], decision), tuple(edits), length)


async def log_prob(decision: Decision, answer: tuple[int, ...]) -> float:
    """log P of a whole answer behind the decision's prefix, in nats: the sum over its ids."""

    def total(logits: Array) -> float:
        return float(sum(log_softmax(row)[token] for row, token in zip(logits, answer, strict=True)))

    return await Read((*decision.ids, *answer[:-1]), total, tail=len(answer))


def outcome(answered: Answered, old: Reading | None, delta: float) -> Outcome:
    """Whether a counterfactual flips."""
    flips = answered.score.right and answered.reading.ld > STEPS * delta
    fork = flips and old is not None and old.ld <= STEPS * delta
    return Outcome(answered.text, answered.score, answered.reading, old, flips, fork)


async def try_edges(model: Model, asked: Asked, base: Decision, edges: Sequence[Edge], delta: float) -> Outcome:
    """Edges edited at the decision row for the metric, and at every row that writes the answer when it is written."""
    old = await read(asked, base, [edge.from_row(base.row) for edge in edges])
    anew = await answer(model, asked, [edge.from_row(base.answer_row) for edge in edges])
    return outcome(anew, old, delta)


async def try_prompt(model: Model, asked: Asked, base: Decision, case: CaseInstance, delta: float) -> Outcome:
    """Another prompt: the metric behind the base's own prefix, and the answer written anew."""
    other = asked.rendered(model, case)
    forced = moved_to(model, other.prompt, base)
    old = await read(other, forced)
    return outcome(await answer(model, other), old, delta)
