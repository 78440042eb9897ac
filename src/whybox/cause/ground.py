"""The ground of an experiment: a base run, the number read from it, and how much that number moves on its own.

ground = between(model, case.filled(), "7 days", "30 days")      LD at the decision
ground = of_answer(model, prompt, " Paris")                      log P of an answer
ground = of_run(model, prompt, read)                             any read, such as `divergence`
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from whybox.cause.decision import Decision, Kind, decision_after
from whybox.cause.floor import noise
from whybox.engine.read import Reading, log_prob_of, logit_difference
from whybox.engine.trace import Change, Trace, Wish
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.model import Model, Promptable
from whybox.spec import Spec
from whybox.text.prompt import Prompt, extend

Array = np.ndarray
GENERATED = "answer so far"


def _nobody(run: Trace, value: float | None) -> None:
    pass


@dataclass(frozen=True)
class Moved:
    """What one change did to the read: the difference from the base, and whether its edits changed anything."""

    effect: float
    changed: bool


@dataclass(frozen=True, eq=False)
class Ground:
    """What effects are measured against. row: the decision position; rows from it on write the answer.

    floor: δ (`whybox.cause.floor`). decision: where right and wrong part; case: what the prompt was made of; each
    where it is known. told: hears of every run, with what was read from it (None: values were kept).
    """

    model: Model
    trace: Trace
    read: Reading
    row: int
    prompt: Prompt
    floor: float
    decision: Decision | None = None
    case: CaseInstance | None = None
    kept: dict[tuple[Wish, ...], Trace] = field(default_factory=dict, repr=False)
    told: Callable[[Trace, float | None], None] = field(default=_nobody, repr=False)

    @cached_property
    def value(self) -> float:
        """The read of the base run."""
        return float(self.read(self.trace))

    @property
    def spec(self) -> Spec:
        return self.model.spec

    @property
    def length(self) -> int:
        return len(self.trace.ids)

    @property
    def answer_rows(self) -> slice:
        """The decision row and all behind it."""
        return slice(self.row, None)

    def seen(self, wishes: Iterable[Wish]) -> Trace:
        """The base run with these sites kept; made once for the same sites."""
        asked = tuple(dict.fromkeys(wishes))
        if asked not in self.kept:
            self.kept.clear()
            self.kept[asked] = self.model.changed(self.trace, Change(), asked)
            self.told(self.kept[asked], None)
        return self.kept[asked]

    def moved(self, changes: Sequence[Change]) -> list[Moved]:
        """What each change does to the read. Edits that change nothing move it by exactly 0."""
        own = len(self.trace.edits)

        def reading(run: Trace) -> Array:
            flags, value = run.changed[own:], float(self.read(run))
            self.told(run, value)
            return np.array([value, any(flags) or not flags], np.float64)

        found = self.model.sweep(self.trace, changes, reading)
        return [self._moved(change, np.asarray(read)) for change, read in zip(changes, found, strict=True)]

    def _moved(self, change: Change, read: Array) -> Moved:
        same_text = change.text(self.trace.ids) == self.trace.ids
        changed = bool(read[1]) and not (same_text and not change.edits)
        return Moved(float(read[0]) - self.value if changed else 0.0, changed)


def between(
    model: Model,
    what: Promptable,
    right: str,
    wrong: str,
    prefix: str = "",
    floor: float | None = None,
    generator: np.random.Generator | None = None,
) -> Ground:
    """LD = z[right] − z[wrong] where the two answers part behind a prompt (and a prefix of the answer).

    CaseError where they part in no id. floor: where it is known already; else it is measured.
    """
    kind: Kind = "forced" if prefix else "start"
    decision = decision_after(model, model.prompt(what), prefix, right, wrong, kind)
    return at_decision(model, what, decision, floor, generator)


def at_decision(
    model: Model,
    what: Promptable,
    decision: Decision,
    floor: float | None = None,
    generator: np.random.Generator | None = None,
) -> Ground:
    """LD at a decision that was found before."""
    trace = model.run(decision.ids, tail=1)
    read = logit_difference(decision.right[0], decision.wrong[0])
    held, case = _ground(model, trace, read, decision.row, floor, generator), _case(what)
    path = _path(model, model.prompt(what), decision.ids)
    return replace(held, decision=decision, case=case, prompt=path)


def of_answer(
    model: Model,
    what: Promptable,
    answer: str,
    floor: float | None = None,
    generator: np.random.Generator | None = None,
) -> Ground:
    """log P(answer), nats, summed over its ids, prompt and answer joined on bytes. Its first row is the decision."""
    prompt = model.prompt(what)
    ids, start = model.join(prompt, answer)
    trace = model.run(ids[:-1], tail=len(ids) - start)
    held = _ground(model, trace, log_prob_of(ids[start:], start), start - 1, floor, generator)
    return replace(held, case=_case(what), prompt=_path(model, prompt, ids[:-1]))


def of_run(
    model: Model,
    what: Promptable,
    read: Reading,
    row: int | None = None,
    floor: float | None = None,
    generator: np.random.Generator | None = None,
) -> Ground:
    """Any read of the last row's logits; row: the decision position (default: the last)."""
    prompt = model.prompt(what)
    trace = model.run(prompt, tail=1)
    held = _ground(model, trace, read, len(prompt) - 1 if row is None else row, floor, generator)
    return replace(held, case=_case(what), prompt=prompt)


def _ground(
    model: Model, trace: Trace, read: Reading, row: int, floor: float | None, generator: np.random.Generator | None
) -> Ground:
    drawn = generator if generator is not None else np.random.default_rng(0)
    measured = noise(model, trace, read, drawn) if floor is None else floor
    return Ground(model, trace, read, row, model.prompt(trace.ids), measured)


def _case(what: Promptable) -> CaseInstance | None:
    match what:
        case CaseInstance():
            return what
        case Case():
            return what.filled()
        case _:
            return None


def _path(model: Model, prompt: Prompt, ids: tuple[int, ...]) -> Prompt:
    """The prompt with the part of the answer that stands before the decision."""
    if ids[: len(prompt)] == prompt.ids:
        return extend(model.tokenizer, prompt, ids[len(prompt) :], GENERATED) if len(ids) > len(prompt) else prompt
    return model.prompt(ids)
