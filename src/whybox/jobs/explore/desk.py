"""What the explorer asks of a model: read a prompt, compare it with its changes, write on beside them.

A desk keeps the last runs, so that a change computes only what it can change. It is used by one thread at a time.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from jaxtyping import Float

from whybox.cause.floor import noise, runs
from whybox.engine.read import Readable, Reading, Values, divergence
from whybox.engine.trace import Change, Trace
from whybox.errors import WhyboxError
from whybox.jobs.explore.changes import joined
from whybox.jobs.explore.lens import lens_of, rows_of
from whybox.jobs.explore.pair import Side
from whybox.jobs.explore.prompts import prompt_of, read_prompt
from whybox.jobs.provenance import model_info
from whybox.model import Model
from whybox.report.document.explore import (
    AnyChange,
    AnyPrompt,
    Beside,
    ChangeEffect,
    ExploreDocument,
    Lens,
    LensLayer,
    ReadPrompt,
    State,
)
from whybox.text.prompt import Prompt

MOST_TOKENS = 8_192  # of the runs that are kept, together
MOST_LISTED = 12
NOT_MEASURED = "not measured yet"
NOTHING_ON = "no change is on"
SEED = 0


@dataclass(frozen=True)
class Written:
    """What was written so far behind one side, and whether it is at its end."""

    text: str
    ids: tuple[int, ...]
    ended: bool


@dataclass(frozen=True, eq=False)
class _Held:
    trace: Trace
    floor: float | None = None


@dataclass
class Desk:
    """One open model, with the runs that were made last."""

    model: Model
    most_tokens: int = MOST_TOKENS
    _held: OrderedDict[tuple[int, ...], _Held] = field(default_factory=OrderedDict)

    def about(self) -> dict[str, object]:
        """Which model it is, and how many layers, heads and tokens it has."""
        spec = self.model.spec
        heads = [layer.attention.heads for layer in spec.layers]
        return {"model": model_info(self.model).model_dump(), "context": spec.context, "heads": heads}

    def prompt(self, state: State) -> Prompt:
        """The prompt without its changes."""
        return prompt_of(self.model, state.prompt)

    def read(self, state: State) -> ReadPrompt:
        """The prompt as the model gets it; nothing is run. PromptError where it is empty or too long."""
        prompt = prompt_of(self.model, state.prompt)
        self.model.require_fits(len(prompt.ids))
        return read_prompt(self.model, prompt)

    def compare(self, state: State) -> ExploreDocument:
        """The next token without the changes, with all that are on, and with each alone.

        A change that cannot be made says so where its effect would stand; a prompt that cannot be run is an error.
        """
        began = time.monotonic()
        base = prompt_of(self.model, state.prompt)
        held = self._run(base)
        before = held.trace.log_probs()
        found = self._found(state, base, held.trace, [[change] for change in state.changes])
        then = self._together(state, base, held.trace, found)
        return ExploreDocument(
            schema=ExploreDocument.identity(),
            model=model_info(self.model),
            seed=SEED,
            took_s=time.monotonic() - began,
            state=state,
            next=tuple(_beside(self.model, before, None if isinstance(then, str) else then.log_probs)),
            kl=None if isinstance(then, str) else then.kl,
            kl_reason=then if isinstance(then, str) else "",
            floor=held.floor,
            floor_reason="" if held.floor is not None else NOT_MEASURED,
            effects=tuple(_effect(self.model, each) for each in found),
        )

    def lens(self, state: State) -> Lens:
        """By layer: the most probable next token against the one that the changes make of it, else the second."""
        base = prompt_of(self.model, state.prompt)
        trace = self._run(base).trace
        on = [change for change in state.changes if change.on]
        change: Change | str = self._tried(state, base, on) if on else NOTHING_ON
        return lens_of(self.model, trace, change)

    def side(self, asked: AnyPrompt) -> Side:
        """A prompt as it is, to be set beside another one or beside another model."""
        prompt = prompt_of(self.model, asked)
        held = self._run(prompt)
        return Side(self.model, prompt, held.trace, held.floor)

    def lens_rows(self, asked: AnyPrompt, pair: tuple[int, int]) -> tuple[LensLayer, ...]:
        """The lens of a prompt as it is, for two ids."""
        return rows_of(self.model, self._run(prompt_of(self.model, asked)).trace, pair)

    def floor(self, state: State, tell: Callable[[int, int], None]) -> float:
        """What KL of the next token moves when nothing is changed, nats; measured once for a prompt.

        tell: runs done, of all; told after each, so that other work may pass.
        """
        base = prompt_of(self.model, state.prompt)
        held = self._run(base)
        if held.floor is not None:
            return held.floor
        read = _told(divergence(held.trace), tell, runs(self.model))
        floor = noise(self.model, held.trace, read, np.random.default_rng(SEED))
        self._held[base.ids] = _Held(held.trace, floor)
        return floor

    def write(self, state: State, changed: bool, most: int) -> Iterator[Written]:
        """The answer token by token: of the prompt as it is, or under all changes that are on."""
        base = prompt_of(self.model, state.prompt)
        on = [change for change in state.changes if change.on] if changed else []
        prompt, change = joined(self.model, state, base, on)
        after = None if change.edits else self._run(prompt).trace
        ids: list[int] = []
        for chosen, _ in self.model.steps(prompt, most, edits=change.edits, after=after):
            ids.append(chosen)
            yield self._written(ids, False)
        yield self._written(ids, True)

    def _written(self, ids: Sequence[int], ended: bool) -> Written:
        """The stop token is no part of the text."""
        stopped = bool(ids) and ids[-1] in self.model.tokenizer.stop_ids
        kept = tuple(ids[:-1] if stopped else ids)
        return Written(self.model.tokenizer.text(kept), kept, ended)

    def _tried(self, state: State, base: Prompt, changes: Sequence[AnyChange]) -> Change | str:
        """The counterfactual, or why it cannot be made."""
        try:
            _, change = joined(self.model, state, base, changes)
            self.model.require_possible(base.ids, change)
        except WhyboxError as error:
            return error.cause
        return change

    def _together(self, state: State, base: Prompt, trace: Trace, alone: Sequence["_Then | str"]) -> "_Then | str":
        """All changes that are on at once; a single one is what it is alone."""
        on = [(change, found) for change, found in zip(state.changes, alone, strict=True) if change.on]
        match on:
            case []:
                return NOTHING_ON
            case [(_, found)]:
                return found
            case _:
                return self._found(state, base, trace, [[change for change, _ in on]])[0]

    def _found(
        self, state: State, base: Prompt, trace: Trace, sets: Sequence[Sequence[AnyChange]]
    ) -> list["_Then | str"]:
        """The next token under each set of changes, in one sweep; or why the set cannot be made."""
        tried = [self._tried(state, base, changes) for changes in sets]

        apart = divergence(trace)

        def read(run: Trace) -> Float[np.ndarray, "v_and_2"]:
            anything = run.ids != trace.ids or any(run.changed)
            return np.append(run.log_probs().astype(np.float64), [max(float(apart(run)), 0.0), float(anything)])

        made = [each for each in tried if isinstance(each, Change)]
        after = (np.asarray(each) for each in self.model.sweep(trace, made, read))
        return [each if isinstance(each, str) else _Then.of(next(after)) for each in tried]

    def _run(self, prompt: Prompt) -> _Held:
        """The prompt's own run, from the last ones where it is among them."""
        if prompt.ids not in self._held:
            self._held[prompt.ids] = _Held(self.model.run(prompt, tail=1))
            self._forget()
        self._held.move_to_end(prompt.ids)
        return self._held[prompt.ids]

    def _forget(self) -> None:
        while len(self._held) > 1 and sum(map(len, self._held)) > self.most_tokens:
            self._held.popitem(last=False)


def _told(read: Reading, tell: Callable[[int, int], None], planned: int) -> Reading:
    """The same read, which tells how many runs were read so far."""
    done = count(1)

    def reading(run: Readable) -> Values:
        tell(next(done), planned)
        return read(run)

    return reading


@dataclass(frozen=True, eq=False)
class _Then:
    """The next token under changes: log-probabilities, KL from the base, whether any value of the run changed."""

    log_probs: Float[np.ndarray, "v"]
    kl: float
    anything: bool

    @classmethod
    def of(cls, read: Float[np.ndarray, "v_and_2"]) -> "_Then":
        return cls(read[:-2], float(read[-2]), bool(read[-1]))


def _effect(model: Model, then: _Then | str) -> ChangeEffect:
    if isinstance(then, str):
        return ChangeEffect(kl=None, kl_reason=then)
    top = model.tokenizer.label(int(then.log_probs.argmax()))
    return ChangeEffect(kl=then.kl, top=top, nothing=not then.anything)


def _beside(model: Model, before: np.ndarray, after: np.ndarray | None) -> Iterator[Beside]:
    """The most probable tokens of either side, those of the base first where both are alike."""
    most = before if after is None else np.maximum(before, after)
    for token in np.argsort(-most, kind="stable")[:MOST_LISTED]:
        yield Beside(
            id=int(token),
            text=model.tokenizer.label(int(token)),
            base=float(np.exp(before[token])),
            then=None if after is None else float(np.exp(after[token])),
        )
