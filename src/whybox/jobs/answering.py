"""A case answered as it asks to be: under the decoding that it states, read by its scorer and by its contract."""

from dataclasses import dataclass

from whybox.cause.answers import settings_of
from whybox.items.instance import CaseInstance
from whybox.items.scoring import AbstainScorer, CandidateScorer
from whybox.model import Model


@dataclass(frozen=True)
class Answer:
    """text: what was written. right: the scorer reads the right answer in it, in the form that the contract states.
    declined: it says that no answer is known, and gives none.
    """

    text: str
    right: bool
    declined: bool


def answer(model: Model, instance: CaseInstance, limit: int = 32) -> Answer:
    """The answer of a model to a case, as `whybox why` writes and reads it.

    limit: tokens, where the case states none. Raises what `Model.generate` raises; UnsupportedError for a ban of
    several ids.
    """
    settings = settings_of(model, instance, limit)
    written = model.generate(instance, settings.limit, settings.decoding)
    scorer, finish = instance.scorer(), "stop" if written.stopped else "length"
    declines = AbstainScorer(scorer if isinstance(scorer, CandidateScorer) else None)
    right = scorer.score(written.text, finish).right and not instance.breaks_contract(written.text)
    return Answer(written.text, right, declines.score(written.text, finish).right)
