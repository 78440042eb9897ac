"""States to start from, for who opens the explorer for the first time."""

from whybox.errors import WhyboxError
from whybox.jobs.explore.prompts import prompt_of
from whybox.model import Model
from whybox.report.document.explore import ChatPrompt, HeadGone, PartText, RawPrompt, SegmentBoosted, State, Turn

_REFUND = ChatPrompt(
    messages=(
        Turn(role="system", parts=(PartText(name="policy", text="You answer from the documents only."),)),
        Turn(
            role="user",
            parts=(
                PartText(name="doc1", text="Exchanges are accepted for 30 days."),
                PartText(name="doc2", text="Refunds are paid within 7 days."),
                PartText(name="question", text="How long does a refund take?"),
            ),
        ),
    )
)
_CAPITAL = RawPrompt(parts=(PartText(name="prompt", text="The capital of France is"),))
_COPY = RawPrompt(
    parts=(
        PartText(name="once", text="Mr Dursley met Ms Figg."),
        PartText(name="again", text="Later Mr Dursley met Ms"),
    )
)
_ALL = {
    "refund": State(prompt=_REFUND, changes=(SegmentBoosted(segment="doc2", on=False),)),
    "capital": State(prompt=_CAPITAL),
    "copy": State(prompt=_COPY, changes=(HeadGone(layer=0, head=0, on=False),)),
}


def examples(model: Model) -> dict[str, dict[str, object]]:
    """Those that this model can read: a conversation needs a template."""
    return {name: state.model_dump(mode="json") for name, state in _ALL.items() if _readable(model, state)}


def _readable(model: Model, state: State) -> bool:
    try:
        prompt_of(model, state.prompt)
    except WhyboxError:
        return False
    return True
