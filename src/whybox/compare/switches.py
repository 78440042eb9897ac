"""One wrong answer, computed otherwise: the reference first, then one switch at a time.

The reference is the NumPy engine in fp32, one prompt, in one piece. Where it gives the right answer to the same ids,
the way in which the model was run is to blame; the switch that flips alone says which part of that way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.cause.answers import STEPS, Asked
from whybox.cause.decision import Decision, own_decision, place_of, read_at
from whybox.compare.divergence import Divergence, first_divergence
from whybox.engine import choice
from whybox.engine.choice import NUMPY, REFERENCE_BYTES, Way, has_reference, resolve
from whybox.engine.trace import Engine
from whybox.model import Model

MOST_COMPARED = 512  # tokens of which every site is kept at once
REFERENCE = "reference engine"
MOST_SWITCHES = 6  # with the reference itself


@dataclass(frozen=True)
class Switch:
    """What was switched, in words, and the model with only that switched."""

    name: str
    model: Model


@dataclass(frozen=True)
class Switched:
    """An answer computed otherwise. after: LD at the base's decision; own: LD at the decision of its own path; nats.

    asserts: whether it asserts anything. cut: its limit ended it before it gave a whole value.
    """

    name: str
    answer: str
    right: bool
    flips: bool
    after: float
    own: float
    asserts: bool = True
    cut: bool = False


@dataclass(frozen=True)
class Compared:
    """reference: the answer of the reference. switches: single ones, run where the reference flips. first: where the
    two runs part.
    """

    reference: Switched
    switches: tuple[Switched, ...] = ()
    first: Divergence | None = None

    @property
    def flipping(self) -> tuple[Switched, ...]:
        """Single switches that flip; all of them together where none does alone."""
        if not self.reference.flips:
            return ()
        alone = tuple(switch for switch in self.switches if switch.flips)
        return alone or (replace(self.reference, name=" and ".join(s.name for s in self.switches) or REFERENCE),)

    @property
    def answers(self) -> int:
        """How many were written, each with three more passes for LD and its noise."""
        return 1 + len(self.switches)


def reference_of(model: Model, most_bytes: float = REFERENCE_BYTES) -> Model | None:
    """The same weights on the reference; None where `has_reference` says no."""
    return model.on_reference() if has_reference(model.spec, model.way, most_bytes) else None


def compared(model: Model, reference: Model, asked: Asked, decision: Decision) -> Compared:
    """The reference's answer; where it flips, every single switch and the first site at which the runs part."""
    found = switched(Switch(REFERENCE, reference), asked, decision)
    if not found.flips:
        return Compared(found)
    tried = tuple(switched(one, asked, decision) for one in switches(model, reference))
    return Compared(found, tried, _first(model, reference, asked, decision))


def switches(model: Model, reference: Model) -> Iterator[Switch]:
    """Whatever in the model's way is not the reference's, alone; the smallest change first."""
    way = model.way
    if model.cached:
        yield Switch("no cache", model.variant(cache=False))
    if way.batch != 1:
        yield Switch("batch 1", model.variant(batch=1))
    if way.padding:
        yield Switch("no padding", model.variant(padding=0))
    if resolve(way.engine) == "torch" and way.kernel != "plain":
        yield Switch("plain attention kernel", model.variant(kernel="plain"))
    if way.precision != "fp32":
        yield Switch("fp32", model.variant(precision="fp32"))
    if way.precision in choice.NUMPY_PRECISIONS:
        own = replace(NUMPY, precision=way.precision)
        same = reference if own == NUMPY else replace(reference, engine=_rebuilt(reference, own), way=own)
        yield Switch(REFERENCE, same)


def _rebuilt(model: Model, way: Way) -> Engine:
    return choice.build(model.spec, model.weights, way).engine


def switched(switch: Switch, asked: Asked, decision: Decision) -> Switched:
    """The answer written anew that way, and LD at both decisions."""
    model, settings = switch.model, asked.settings
    written = model.generate(asked.prompt, settings.limit, settings.decoding)
    score = asked.score(written.text, written.stopped)
    answers = asked.compared(score)
    own = own_decision(model, asked.prompt, written.ids, place_of(written.text, score, *answers), *answers)
    led, delta = _ld(model, own), _noise(model, own)
    return Switched(
        switch.name,
        written.text,
        score.right,
        score.right and led > STEPS * delta,
        _ld(model, decision),
        led,
        score.outcome not in ("invalid", "error"),
        score.undecided,
    )


def _ld(model: Model, decision: Decision) -> float:
    return read_at(model.engine.run(decision.ids, tail=1).logits[-1], decision).ld


def _noise(model: Model, decision: Decision) -> float:
    """δ of this way of computing, which is not the failing one's: last row behind a cache against one pass."""
    logits = model.engine.run(decision.ids, tail=1).logits[-1]
    least = float(np.spacing(np.abs(logits).max()))
    if not model.cached or len(decision.ids) < 2:
        return least
    before = model.engine.run(decision.ids[:-1], cache=model.engine.fresh_cache(len(decision.ids)), tail=1)
    stepped = model.engine.run(decision.ids[-1:], cache=before.cache, tail=1).logits[-1]
    return max(least, abs(read_at(stepped, decision).ld - read_at(logits, decision).ld))


def _first(model: Model, reference: Model, asked: Asked, decision: Decision) -> Divergence | None:
    prompt = asked.prompt.ids
    if len(decision.ids) > MOST_COMPARED or decision.ids[: len(prompt)] != prompt:
        return None
    return first_divergence(model.engine, reference.engine, prompt, decision.ids[len(prompt) :])


def repeated(switch: Switch, settings: Sequence[tuple[Asked, Decision]]) -> tuple[bool, ...]:
    """Whether the switch flips each of some other prompts."""
    return tuple(switched(switch, asked, decision).flips for asked, decision in settings)
