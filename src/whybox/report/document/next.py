"""The document of `whybox next`."""

from typing import ClassVar

from pydantic import Field

from whybox.report.document.base import Document, Part, TokenRow


class Candidate(Part):
    """A possible next token: probability, and log-probability in nats."""

    id: int
    text: str
    prob: float = Field(ge=0, le=1)
    logprob: float


class Generated(Part):
    """What was written on. broken_off: Ctrl-C ended it before a stop token or the count did."""

    ids: tuple[int, ...]
    text: str
    broken_off: bool = False


class Stage(Part):
    """One station of the pipeline walk: the site, its shape in named axes, and a few numbers that summarise it."""

    name: str
    site: str
    shape: str
    layer: int | None = None
    numbers: dict[str, int | float] = Field(default_factory=dict)
    note: str = ""


class NextDocument(Document):
    """`whybox next`: tokens, the next-token distribution, the text written on, and the walk through the stages."""

    NAME: ClassVar[str] = "whybox.next"

    text: str
    tokens: tuple[TokenRow, ...]
    next: tuple[Candidate, ...]
    generated: Generated | None = None
    stages: tuple[Stage, ...] | None = None
    notes: tuple[str, ...] = ()
