"""A cause as the tree finds it: named, or a candidate that says what it lacks."""

from dataclasses import dataclass
from enum import StrEnum

from whybox.verdict.facts import Try

DEMANDED = "demanded"  # the prompt orders the wrong answer, and without the order the answer is right
LIMIT = "limit"  # the stated decoding ends the answer too early


class Lack(StrEnum):
    """What kept a candidate from being named."""

    NO_FLIP = "no-flip"
    NO_SHAMS = "no-shams"
    FEW_SHAMS = "few-shams"
    SHAMS_FLIP = "shams-flip"
    VARIANTS = "variants"
    NO_EDGE = "no-edge"
    EDGE_UNPROVEN = "edge-unproven"
    EDGE_CUT = "edge-cut"
    NOT_CONTAINED = "not-contained"
    FOLLOWS = "follows"
    UNREAD = "unread"
    SEVERAL = "several"
    WRONG_STATED = "wrong-stated"
    SUPPLIED = "supplied"
    GUESSED = "guessed"
    NO_LEAD = "no-lead"
    NO_OWN = "no-own"
    KNOWN = "known"
    LEADS_ALONE = "leads-alone"
    DEMANDED = "demanded"


@dataclass(frozen=True)
class Leaf:
    """A cause with the change that undoes it, or a candidate with what it lacks. edge: of a candidate order, the edge
    that flips as well and is no proof.
    """

    code: str
    detail: str | None
    undone_by: Try | None = None
    lacks: tuple[Lack, ...] = ()
    about: tuple[str, ...] = ()
    edge: Try | None = None
