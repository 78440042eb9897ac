"""One row of the benchmark: what is planted where, what the other side shows of it, and what was said."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from whybox.compare.comparison import Comparison
from whybox.testing.faults import Fault

Kind = Literal["single", "pair", "self"]
State = Literal["right", "part", "not-determined", "wrong", "no effect"]


@dataclass(frozen=True)
class Planted:
    """what: in words. names: of the faults, as they must be named. why: that such a naming is right.

    by: whose code holds the fault: ours, transformers, a file, or what is fed. silent: CASES knows it to leave the
    answer text unchanged.
    """

    what: str
    names: tuple[str, ...]
    why: str
    by: str = "ours"
    silent: bool = False


@dataclass(frozen=True)
class Row:
    """subject: a model's name. seen: what of the other side is at hand. compare: makes the comparison.

    fault: the same as one of ours, where there is one: a cause under another name is right if it describes the same
    model.
    """

    subject: str
    kind: Kind
    planted: Planted
    seen: str
    compare: Callable[[], Comparison | None] = field(repr=False)
    fault: Fault | None = None

    @property
    def key(self) -> str:
        return f"{self.subject} · {self.planted.what} · {self.seen}"


@dataclass(frozen=True)
class Judged:
    """What was said of a row. named: names; said: in words. proved: imposed on the whole, it gave the same logits."""

    key: str
    subject: str
    kind: Kind
    what: str
    why: str
    by: str
    silent: bool
    seen: str
    verdict: str
    named: tuple[str, ...]
    said: tuple[str, ...]
    place: str | None
    proved: bool | None
    state: State
    took_s: float
