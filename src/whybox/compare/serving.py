"""A model against an endpoint, or two endpoints: what text and log-probabilities tell, and what they cannot.

A cause is named only where imposing it on our own weights gives the endpoint's log-probabilities, to its floor, and no
other known fault does. Text alone names none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from whybox.compare.comparison import Asked
from whybox.compare.floor import HEADROOM
from whybox.compare.harm import first_apart
from whybox.compare.heard import Followed, Place, Speller, between
from whybox.compare.imposing import Imposing, Reading
from whybox.compare.ladder import Rung
from whybox.compare.prompts import Text, default_texts, plain_texts
from whybox.compare.served import GREETING, NOT_TOLD, REPEATS, Heard, Served, Told, ask
from whybox.compare.sides import Live
from whybox.engine.rounded import SITES_IN
from whybox.engine.trace import log_softmax
from whybox.errors import UsageError
from whybox.model import Model
from whybox.statistics.intervals import Rate

Array = np.ndarray
Verdict = Literal["identical", "rounding", "within-repeats", "same-text", "named", "not-determined", "unlike"]
ASSUMED = ("fp32", "bf16")
"""Precisions of which rounding may explain an endpoint that tells none."""
SITES = ("sites, heads, tensors", "an endpoint shows text and log-probabilities alone")
BEHIND = ("the prompt's numbers in their own place", "the echo gives those of the next token: compared there")
UNTOLD = ("known faults in bf16", "the endpoint's precision is not told: openai:NAME@bf16")
LEAST = 1e-5  # nats: what the digits of an answer hide
MOST_LOGITS = 1 << 26


@dataclass(frozen=True, eq=False)
class ServedComparison:
    """verdict: identical | rounding | within-repeats | same-text | named | not-determined | unlike.

    places: where numbers were compared; limits: what is allowed at each, nats. precision: whose rounding that is, None
    between two endpoints. noise: largest change of a log-probability between equal calls; unsteady: equal calls that
    were answered otherwise. flips: texts whose greedy answers differ, at `first_divergent` first. named, rivals: what
    gives the endpoint's numbers when it is imposed; several are rivals, and none is named. unsaid: (what, why).
    """

    verdict: Verdict
    rungs: tuple[Rung, ...]
    reason: str | None
    texts: tuple[Text, ...]
    places: tuple[Place, ...]
    limits: Array
    errors: Array
    noise: float
    unsteady: Rate
    flips: Rate
    first_divergent: int | None
    precision: str | None = None
    named: tuple[str, str] | None = None
    rivals: tuple[str, ...] = ()
    tried: tuple[tuple[str, str, float], ...] = ()
    unsaid: tuple[tuple[str, str], ...] = ()


def compare_served(one: Live | Served, other: Served, asked: Asked) -> ServedComparison:
    """EndpointError for an endpoint that cannot be asked at all."""
    texts = asked.texts or tuple(default_texts(one.model) if isinstance(one, Live) else plain_texts())
    if silent := [text.name for text in texts if text.text is None and text.chat is None]:
        raise UsageError(f"an endpoint cannot be asked in token ids: {silent[0]}", "give texts with --prompts")
    return _Meeting(one, other, asked, texts).result()


@dataclass
class _Meeting:
    """What was found so far."""

    one: Live | Served
    other: Served
    asked: Asked
    texts: tuple[Text, ...]
    unsaid: list[tuple[str, str]] = field(default_factory=list)

    def result(self) -> ServedComparison:
        self.asked.effort.begin(f"{self.other.name}: {len(self.texts)} texts × {REPEATS} calls")
        theirs = ask(self.other, self.texts, self.asked.written)
        self.unsaid += [
            ("sites, heads, tensors", "an endpoint shows text and log-probabilities alone"),
            *theirs.reasons,
        ]
        if isinstance(self.one, Served):
            return self._two(ask(self.one, self.texts, self.asked.written), theirs)
        return self._ours(self.one.model, theirs)

    def _two(self, ours: Told, theirs: Told) -> ServedComparison:
        named = [(f"{what} ({self.one.name})", why) for what, why in ours.reasons]
        self.unsaid += [*named, ("a cause", "neither side has weights here")]
        counts = [each.prompt_tokens for each in ours.heard]
        rungs = (_counts("template", ours.greeting, theirs.greeting), *_prompts(counts, theirs))
        pairs = list(zip(ours.heard, theirs.heard, strict=True))
        places = tuple(place for pair in pairs for place in between(*pair))
        noise = max(ours.noise, theirs.noise)
        texts = [(_heard(a), _heard(b)) for a, b in pairs if a.replies and b.replies]
        return self._judged(rungs, places, noise, noise + LEAST if noise else 0.0, (ours, theirs), texts)

    def _ours(self, model: Model, theirs: Told) -> ServedComparison:
        prompts = [tuple(model.prompt(_asked(each)).ids) for each in theirs.heard]
        template = _counts("template", _greeting(model), theirs.greeting)
        rungs = (template, *_prompts([*map(len, prompts)], theirs, prompts))
        speller = Speller(model)
        followed = [speller.follow(h, ids) for h, ids in zip(theirs.heard, prompts, strict=True)]
        pairs = zip(theirs.heard, followed, strict=True)
        self.unsaid += [(f"answer to {heard.text.name}", each.stopped) for heard, each in pairs if each.stopped]
        most = max(1, MOST_LOGITS // model.spec.vocab - 1)
        followed = [_last(each, most) for each in followed]
        places: list[Place] = []
        for at, (heard, each) in enumerate(zip(theirs.heard, followed, strict=True)):
            if each.tokens:
                rows = _rows(model, each)
                followed[at] = speller.aligned(each, rows)
                places += speller.places(heard, followed[at], rows)
        if any(each.behind for each in followed):
            self.unsaid.append(BEHIND)
        texts = list(self._texts(model, theirs, prompts))
        judged = self._judged(rungs, tuple(places), theirs.noise, 0.0, (theirs,), texts)
        if judged.reason is not None or not places or judged.verdict == "identical":
            return judged
        return self._explained(judged, Reading(model, speller, tuple(zip(theirs.heard, followed, strict=True))))

    def _texts(
        self, model: Model, theirs: Told, prompts: Sequence[tuple[int, ...]]
    ) -> "Iterator[tuple[Written, Written]]":
        """Both sides' greedy answers."""
        for heard, ids in zip(theirs.heard, prompts, strict=True):
            if heard.replies:
                mine = model.generate(list(ids), max(1, self.asked.written))
                words = [model.tokenizer.text([token]) for token in mine.ids]
                yield Written(mine.text, words, not mine.stopped), _heard(heard)

    def _explained(self, found: ServedComparison, reading: Reading) -> ServedComparison:
        """Rounding of the told precision, or of one that may be meant; else known faults, imposed.

        An assumed bf16 allows much: what it explains may be rounding, and no fault is named by it.
        """
        told = self.other.precision
        kinds = ASSUMED if told == NOT_TOLD else (told,)
        imposing = [Imposing(reading, kind, SITES_IN[kind], found.noise + LEAST, HEADROOM) for kind in kinds]
        for each in imposing:
            if each.at_floor:
                return _with(found, "rounding", each)
        sure = imposing if told != NOT_TOLD else imposing[:1]
        for each in sure:
            self.asked.effort.plan(each.candidates)
            self.asked.effort.begin(f"{each.candidates} known faults imposed in {each.precision}")
            fault, rivals, tried = each.explain(self.asked.effort)
            if fault is not None:
                return _with(found, "named", each, named=(fault.name, fault.what), tried=tried)
        more = (UNTOLD,) if told == NOT_TOLD else ()
        unsaid = (*found.unsaid, *more)
        return _with(found, "not-determined", imposing[-1], rivals=rivals, tried=tried, unsaid=unsaid)

    def _judged(
        self,
        rungs: tuple[Rung, ...],
        places: tuple[Place, ...],
        noise: float,
        limit: float,
        told: Sequence[Told],
        texts: "Sequence[tuple[Written, Written]]",
    ) -> ServedComparison:
        """limit: nats that a log-probability may be away at any place."""
        apart = [mine.parts_from(theirs) for mine, theirs in texts if not mine.goes_with(theirs)]
        reason = next((f"{r.check}: {r.detail}" for r in rungs if r.state == "different" and r.check == "ids"), None)
        errors, limits = np.array([place.moved for place in places]), np.full(len(places), limit)
        flips, unsteady = Rate(len(apart), len(texts)), _unsteady(told)
        return ServedComparison(
            verdict="unlike" if reason else _verdict(errors, limits, flips, unsteady),
            rungs=rungs,
            reason=reason,
            texts=self.texts,
            places=places,
            limits=limits,
            errors=errors,
            noise=noise,
            unsteady=unsteady,
            flips=flips,
            first_divergent=min((place for place in apart if place is not None), default=None),
            unsaid=tuple(dict.fromkeys(self.unsaid)),
        )


@dataclass(frozen=True)
class Written:
    """A greedy answer, and its tokens as texts, none where they are not told. cut: ended by the limit of tokens."""

    text: str
    words: Sequence[str]
    cut: bool

    def goes_with(self, other: "Written") -> bool:
        """Equal as far as both were written: sides count the tokens of a limit differently."""
        begins = self.text.startswith(other.text) or other.text.startswith(self.text)
        return self.text == other.text or (self.cut and other.cut and begins and bool(self.text and other.text))

    def parts_from(self, other: "Written") -> int | None:
        """The first token that differs, where both sides tell theirs."""
        return first_apart(self.words, other.words) if self.words and other.words else None


def _heard(heard: Heard) -> Written:
    return Written(heard.written, [token.text for token in heard.tokens], heard.replies[0].finish == "length")


def _with(found: ServedComparison, verdict: Verdict, by: Imposing, **more: object) -> ServedComparison:
    return replace(found, verdict=verdict, precision=by.precision, limits=by.limits, errors=by.errors, **more)  # type: ignore[arg-type]


def _verdict(errors: Array, limits: Array, flips: Rate, unsteady: Rate) -> Verdict:
    if not len(errors):
        same = not flips.hits or unsteady.hits * flips.n >= flips.hits * unsteady.n > 0
        return ("same-text" if not flips.hits else "within-repeats") if same else "not-determined"
    if not errors.any() and not flips.hits:
        return "identical"
    return "within-repeats" if limits.any() and (errors <= limits).all() else "not-determined"


def _counts(check: str, mine: int | None, theirs: int | None) -> Rung:
    """Tokens of one chat message on both sides: what can be seen of a template."""
    if mine is None or theirs is None:
        return Rung(check, "unknown", "the number of prompt tokens is not told")
    return Rung(check, "same" if mine == theirs else "different", f"{mine} and {theirs} tokens for one chat message")


def _prompts(
    mine: Sequence[int | None], theirs: Told, ids: Sequence[tuple[int, ...]] | None = None
) -> tuple[Rung, ...]:
    """Token ids where the endpoint shows them, else how many there are."""
    for place, (count, heard) in enumerate(zip(mine, theirs.heard, strict=True)):
        if ids is not None and heard.ids is not None and heard.ids != ids[place]:
            at = first_apart(ids[place], heard.ids)
            return (Rung("ids", "different", f"{heard.text.name}: token {at}, {count} and {len(heard.ids)} tokens"),)
        if None not in (count, heard.prompt_tokens) and count != heard.prompt_tokens:
            return (Rung("ids", "different", f"{heard.text.name}: {count} and {heard.prompt_tokens} tokens"),)
    if any(count is None for count in mine) or any(each.prompt_tokens is None for each in theirs.heard):
        return (Rung("ids", "unknown", "the number of prompt tokens is not told"),)
    shown = all(each.ids is not None for each in theirs.heard) and ids is not None
    return (Rung("ids", "same", "" if shown else "as many of them; the ids are not shown"),)


def _asked(heard: Heard) -> str | list[dict[str, str]]:
    """What ours reads in place of what the endpoint was asked."""
    asked = heard.text.asked or ""
    return [{"role": "user", "content": asked}] if heard.chat and isinstance(asked, str) else asked


def _greeting(model: Model) -> int | None:
    if not model.tokenizer.chat_template:
        return None
    return len(model.prompt([{"role": turn.role, "content": turn.content} for turn in GREETING.turns]).ids)


def _last(followed: Followed, most: int) -> Followed:
    """At most so many places, the last ones: a vocabulary of 262,144 would fill the memory."""
    less = max(0, len(followed.tokens) - most)
    return replace(followed, first=followed.first + less, tokens=followed.tokens[less:])


def _rows(model: Model, followed: Followed) -> Array:
    return log_softmax(model.engine.run(followed.ids, tail=len(followed.tokens) + 1).logits)


def _unsteady(told: Sequence[Told]) -> Rate:
    """Equal calls that were answered by another text than the first."""
    heard = [each for side in told for each in side.heard]
    return Rate(sum(each.unsteady for each in heard), sum(max(0, len(each.replies) - 1) for each in heard))
