"""The document of two prompts, or two models, side by side: A is the state's own, B stands beside it."""

from typing import ClassVar

from pydantic import Field

from whybox.report.document.base import Document, ModelInfo, Part
from whybox.report.document.explore import LensLayer, State


class PairToken(Part):
    """A token, with every character visible. apart: no token of the other side is its like, in order."""

    id: int
    shown: str
    apart: bool = False


class PairSide(Part):
    """One side: the tokens as its model gets them."""

    model: ModelInfo
    tokens: tuple[PairToken, ...]
    context: int


class PairNext(Part):
    """A possible next token. a, b: its probability on either side; null where that vocabulary has no such token."""

    text: str
    a: float | None = Field(ge=0, le=1)
    b: float | None = Field(ge=0, le=1)


class PairDocument(Document):
    """The next token of both sides, without any change.

    same_tokenizer: whether ids mean the same on both sides; where they do not, tokens are compared by their text.
    aligned: false where the prompts differ over so long a stretch that it was not searched for what is alike in it.
    kl_ab, kl_ba: KL(A‖B) and KL(B‖A), nats. floor: the larger of what KL moves on either side when nothing is changed.
    """

    NAME: ClassVar[str] = "whybox.pair"

    state: State
    a: PairSide
    b: PairSide
    same_tokenizer: bool
    aligned: bool
    next: tuple[PairNext, ...]
    kl_ab: float | None
    kl_ab_reason: str = ""
    kl_ba: float | None
    kl_ba_reason: str = ""
    floor: float | None
    floor_reason: str = ""


class PairLens(Part):
    """Both sides by layer: one token's logit minus another's, the most probable ones of A and of B."""

    first: str
    second: str
    a: tuple[LensLayer, ...]
    b: tuple[LensLayer, ...]
