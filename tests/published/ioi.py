"""Indirect object identification (arXiv 2211.00593): whom does John give it to? Prompts, reads, and what heads write.

The eight prompts are those of TransformerLens' demo, in its order: each pair differs in who acts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from whybox.cause.components import Component, Group, Head
from whybox.cause.estimates import Estimate, estimates
from whybox.cause.ground import Ground, of_run
from whybox.cause.patching import pair
from whybox.cause.references import Other
from whybox.cause.replacement import Averaged
from whybox.engine.read import logit_difference
from whybox.engine.trace import Change
from whybox.measure.attribution import DirectAttribution, direct_attribution, wishes
from whybox.model import Model

HeadAt = tuple[int, int]
FORMS = (
    "When {a} and {b} went to the shops, {s} gave the bag to",
    "When {a} and {b} went to the park, {s} gave the ball to",
    "When {a} and {b} went to the shops, {s} gave an apple to",
    "After {a} and {b} went to the park, {s} gave a drink to",
)
NAMES = (("John", "Mary"), ("Tom", "James"), ("Dan", "Sid"), ("Martin", "Amy"))
FIRST_RIGHT = (1, 0, 0, 0)  # which of the two is the answer to the first prompt of each form
FLOOR = 5e-5


@dataclass(frozen=True)
class Prompt:
    """Ids with BOS in front; the id of the answer, and of who acts."""

    ids: tuple[int, ...]
    right: int
    wrong: int


def prompts(model: Model) -> list[Prompt]:
    return [
        _prompt(model, form, names, first ^ turn)
        for form, names, first in zip(FORMS, NAMES, FIRST_RIGHT, strict=True)
        for turn in (0, 1)
    ]


def _prompt(model: Model, form: str, names: tuple[str, str], right: int) -> Prompt:
    answer, actor = names[right], names[1 - right]
    return Prompt(with_bos(model, form.format(a=names[0], b=names[1], s=actor)), one(model, answer), one(model, actor))


def with_bos(model: Model, text: str) -> tuple[int, ...]:
    assert model.tokenizer.bos is not None
    return (model.tokenizer.bos, *model.tokenizer.encode(text))


def one(model: Model, name: str) -> int:
    """The id of a name behind a space."""
    (found,) = model.tokenizer.encode(f" {name}")
    return found


def loss(model: Model, text: str) -> float:
    """Mean NLL of the ids of a text behind BOS, nats."""
    ids = with_bos(model, text)
    logits = model.run(ids).logits[:-1].astype(np.float64)
    scores = logits[np.arange(len(ids) - 1), ids[1:]] - np.logaddexp.reduce(logits, axis=1)
    return float(-scores.mean())


def differences(model: Model, asked: Sequence[Prompt], texts: Sequence[tuple[int, ...]]) -> list[float]:
    """LD of each prompt's answers, read behind these texts."""
    return [
        float(logit_difference(each.right, each.wrong)(model.run(text, tail=1)))
        for each, text in zip(asked, texts, strict=True)
    ]


def clean_and_corrupted(model: Model) -> tuple[float, float]:
    """Mean LD on the eight prompts, and with the other one of each pair in its place."""
    asked = prompts(model)
    swapped = [asked[number ^ 1].ids for number in range(len(asked))]
    return tuple(float(np.mean(differences(model, asked, texts))) for texts in ([p.ids for p in asked], swapped))  # type: ignore[return-value]


def attributed(model: Model, asked: Prompt) -> DirectAttribution:
    trace = model.run(asked.ids, see=wishes(model.spec), tail=1)
    return direct_attribution(trace, model.weights, asked.right, asked.wrong)


def grounds(model: Model) -> list[Ground]:
    """LD of each prompt, as experiments read it."""
    return [
        of_run(model, list(each.ids), logit_difference(each.right, each.wrong), floor=FLOOR) for each in prompts(model)
    ]


def averaged(ground: Ground, number: int) -> Averaged:
    """Values at the last row replaced by their mean over the same form with three different names (ABC)."""
    model, form = ground.model, FORMS[number // 2]
    people = sorted({name for pair in NAMES for name in pair})
    texts = [with_bos(model, form.format(a=a, b=b, s=s)) for a, b, s in list(permutations(people, 3))[::7]]
    rows = {row: row for row in range(ground.length)}
    base = ground.seen(["head_out"])
    others = tuple(Other(model.run(text, see=["head_out"], tail=1), rows) for text in texts if len(text) == len(rows))
    return Averaged(base, others, ground.row)


def without(model: Model, groups: Iterable[Group]) -> np.ndarray:
    """Mean change of LD when each group's output at the last row is its mean."""
    chosen = [tuple(group) for group in groups]
    moved = []
    for number, ground in enumerate(grounds(model)):
        replaced = averaged(ground, number)
        moved.append([found.effect for found in ground.moved([Change(replaced(group)) for group in chosen])])
    return np.mean(moved, axis=0)


def estimated(model: Model, components: Sequence[Component]) -> list[Estimate]:
    """Gradient estimates of patching the first prompt's values into its turned twin, read as the first one's LD."""
    good, turned = prompts(model)[:2]
    bad = of_run(model, list(turned.ids), logit_difference(good.right, good.wrong), floor=FLOOR)
    both = pair(bad, list(good.ids))
    return estimates(bad, both.patch(components), components, both)


def heads(places: Iterable[HeadAt]) -> Group:
    return tuple(Head(*place) for place in places)


def auc(scores: np.ndarray, chosen: np.ndarray) -> float:
    """How likely one of the chosen scores above one of the others."""
    above = scores[chosen][:, None] - scores[~chosen][None]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())
