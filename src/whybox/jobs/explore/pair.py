"""Two prompts, or two models, side by side."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from whybox.engine.read import divergence
from whybox.engine.trace import Trace
from whybox.errors import UnsupportedError
from whybox.jobs.explore.align import apart
from whybox.jobs.explore.alike import Alike
from whybox.jobs.explore.prompts import read_prompt
from whybox.jobs.provenance import model_info
from whybox.model import Model
from whybox.report.document.explore import State
from whybox.report.document.pair import PairDocument, PairNext, PairSide, PairToken
from whybox.text.prompt import Prompt

MOST_LISTED = 12
NOT_MEASURED = "not measured yet on both sides"
NO_DIVERGENCE = "the tokenizers differ: no token of one side is a choice of the other, so that there is no KL"
Ids = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Side:
    """A prompt as it is, run on one model. floor: what KL moves when nothing is changed, once it was measured."""

    model: Model
    prompt: Prompt
    trace: Trace
    floor: float | None = None

    @property
    def probabilities(self) -> Float[np.ndarray, "v"]:
        """Of the next token."""
        return np.exp(self.trace.log_probs())


def paired(state: State, a: Side, b: Side, known: Alike, took_s: float, seed: int) -> PairDocument:
    """Tokens that the other side has not, the next token of both, and how far one distribution is from the other."""
    codes = [numbers[np.array(side.prompt.ids)] for numbers, side in ((known.a, a), (known.b, b))]
    in_a, in_b, aligned = apart(*codes)
    floors = [side.floor for side in (a, b) if side.floor is not None]
    reason = "" if known.same else NO_DIVERGENCE
    return PairDocument(
        schema=PairDocument.identity(),
        model=model_info(a.model),
        seed=seed,
        took_s=took_s,
        state=state,
        a=_side(a, in_a),
        b=_side(b, in_b),
        same_tokenizer=known.same,
        aligned=aligned,
        next=tuple(_next(a, b, known)),
        kl_ab=_kl(a, b) if known.same else None,
        kl_ab_reason=reason,
        kl_ba=_kl(b, a) if known.same else None,
        kl_ba_reason=reason,
        floor=max(floors) if len(floors) == 2 else None,
        floor_reason="" if len(floors) == 2 else NOT_MEASURED,
    )


def chosen(a: Side, b: Side, known: Alike) -> tuple[Ids, Ids]:
    """Two tokens by their ids on either side: A's most probable one, and B's; where they are alike, A's next after it.

    UnsupportedError where a vocabulary lacks one of them.
    """
    first = _most(a, known.a)
    others = [_most(b, known.b), *map(int, known.a[np.argsort(-a.probabilities, kind="stable")[:2]])]
    second = next(number for number in others if number != first)
    (a1, a2), (b1, b2) = (
        tuple(_id(side, numbers, each) for each in (first, second)) for side, numbers in ((a, known.a), (b, known.b))
    )
    return (a1, a2), (b1, b2)


def _most(side: Side, numbers: np.ndarray) -> int:
    return int(numbers[side.probabilities.argmax()])


def _id(side: Side, numbers: np.ndarray, number: int) -> int:
    found = np.flatnonzero(numbers == number)
    if not len(found):
        raise UnsupportedError(
            f"{side.model.name} has no token for one of the two most probable ones: there is no lens for both",
            "look at each model alone",
        )
    return int(found[0])


def _kl(base: Side, then: Side) -> float:
    """KL(base‖then) of the next token, nats."""
    return max(float(divergence(base.trace)(then.trace)), 0.0)


def _side(side: Side, differing: Bool[np.ndarray, "n"]) -> PairSide:
    tokens = read_prompt(side.model, side.prompt).tokens
    shown = tuple(PairToken(id=t.id, shown=t.shown, apart=bool(d)) for t, d in zip(tokens, differing, strict=True))
    return PairSide(model=model_info(side.model), tokens=shown, context=side.model.spec.context)


def _next(a: Side, b: Side, known: Alike) -> Iterator[PairNext]:
    """The most probable tokens of either side, by their text where the tokenizers differ."""
    in_a, in_b = known.held(known.a, a.probabilities), known.held(known.b, b.probabilities)
    most = np.fmax(in_a, in_b)
    for number in np.argsort(-most, kind="stable")[:MOST_LISTED]:
        side, numbers = (b, known.b) if np.isnan(in_a[number]) else (a, known.a)
        text = side.model.tokenizer.label(int(np.flatnonzero(numbers == number)[0]))
        yield PairNext(text=text, a=_known(in_a[number]), b=_known(in_b[number]))


def _known(probability: float) -> float | None:
    return None if np.isnan(probability) else min(float(probability), 1.0)
