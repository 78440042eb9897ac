"""What is read from a run: small callables that show what they are, for sweeps and for gradients.

Rows are named by absolute position; a negative row counts from the end, −1 being the last. They ask of a run no more
than `Readable`, and reckon by indexing, sums, products and differences alone: a run whose logits carry gradients is
read alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from whybox.engine.wishes import whole, whole_numbers
from whybox.errors import PromptError, SiteError, UsageError

Number = Any
Values = Any


@runtime_checkable
class Readable(Protocol):
    """A finished run of any engine. rows: positions of the rows of `logits`, the last that of the last token."""

    @property
    def ids(self) -> tuple[int, ...]: ...
    @property
    def rows(self) -> range: ...
    @property
    def logits(self) -> Values: ...

    def log_probs(self, row: int = -1) -> Values:
        """log softmax [v] of one row of `logits`."""

    def constant(self, values: np.ndarray) -> Values:
        """Given numbers in the run's own kind of array."""

    def __getitem__(self, key: Any) -> Values: ...


Reading = Callable[[Readable], Values]


@dataclass(frozen=True)
class LogProb:
    """log P(ids | what stands before them) = Σ log p(id | all before it), nats, a summand from each row before an id.

    start: position of the first of them; None when they are the text's own last ids. The last id need not be fed.
    """

    ids: tuple[int, ...]
    start: int | None = None

    def __call__(self, run: Readable) -> Number:
        end = run.rows.stop
        start = end - len(self.ids) if self.start is None else self.start
        if start < 1:
            raise UsageError(
                "the answer's first token has no token before it", "an answer starts at position 1 or later"
            )
        offsets = [_offset(run, start - 1 + i) for i in range(len(self.ids))]
        self._require_fed(run.ids[len(run.ids) - max(end - start, 0) :], start)
        return sum(_of(run.log_probs(offset), token) for offset, token in zip(offsets, self.ids, strict=True))

    def _require_fed(self, fed: tuple[int, ...], start: int) -> None:
        if any(read != token for read, token in zip(fed, self.ids, strict=False)):
            raise UsageError(
                f"from position {start} on the run reads {fed[: len(self.ids)]}, the answer is {self.ids}",
                "give the answer as the continuation, or say where it starts",
            )


@dataclass(frozen=True)
class LogitDifference:
    """logit of the right id − logit of the wrong one, at a row."""

    right: int
    wrong: int
    row: int = -1

    def __call__(self, run: Readable) -> Number:
        logits = run.logits[_offset(run, self.row)]
        return _of(logits, self.right) - _of(logits, self.wrong)


@dataclass(frozen=True)
class Divergence:
    """KL(base‖changed) = Σ p · (ln p − ln q), nats; the mean over the rows, each found in either run by its name."""

    base: Readable
    rows: tuple[int, ...] = (-1,)

    def __call__(self, run: Readable) -> Number:
        return sum(self._at(run, row) for row in self.rows) / len(self.rows)

    def _at(self, run: Readable, row: int) -> Number:
        before = np.asarray(self.base.log_probs(_offset(self.base, row)), np.float64)
        known, weights = run.constant(before), run.constant(np.exp(before))
        return (weights * (known - run.log_probs(_offset(run, row)))).sum()


@dataclass(frozen=True)
class Logits:
    """Logits [rows v]."""

    rows: tuple[int, ...]

    def __call__(self, run: Readable) -> Values:
        return run.logits[[_offset(run, row) for row in self.rows]]


@dataclass(frozen=True)
class SiteValue:
    """A site's value, which the run must have kept (`see`)."""

    name: str
    layer: int | None = None

    def __call__(self, run: Readable) -> Values:
        return run[self.name] if self.layer is None else run[self.name, self.layer]


def log_prob_of(ids: Sequence[int], start: int | None = None) -> LogProb:
    """Log-probability of an answer in nats: by default of the run's last ids, which a continuation put there."""
    answer = whole_numbers("ids of an answer", ids)
    if not answer:
        raise UsageError("an answer has at least one id")
    return LogProb(answer, None if start is None else whole("start", start))


def logit_difference(right_id: int, wrong_id: int, row: int = -1) -> LogitDifference:
    """LD, the first metric of every effect: in logits."""
    return LogitDifference(whole("right id", right_id), whole("wrong id", wrong_id), whole("row", row))


def divergence(base: Readable, rows: int | Sequence[int] = -1) -> Divergence:
    """KL(base‖changed) in nats, mean over the rows: the metric where no answer is known."""
    if not isinstance(base, Readable):
        raise UsageError(f"expected a run to compare with, found {base!r}", "such as divergence(trace)")
    return Divergence(base, _several(rows))


def logits_at(rows: int | Sequence[int] = -1) -> Logits:
    """Logits [rows v] at some rows."""
    return Logits(_several(rows))


def site(name: str, layer: int | None = None) -> SiteValue:
    """A site's value; sweep with see=[(name, layer)]."""
    return SiteValue(name, layer)


def _several(rows: int | Sequence[int]) -> tuple[int, ...]:
    chosen = whole_numbers("rows", rows)
    if not chosen:
        raise UsageError("name at least one row")
    return chosen


def require_reading(read: object) -> None:
    """UsageError for what cannot be called with a run."""
    if not callable(read):
        raise UsageError(f"read: expected a function of a run, found {read!r}", "such as logit_difference(3, 8)")


def _of(values: Values, token: int) -> Number:
    """One id's number among those of the whole vocabulary. PromptError for an id that it lacks."""
    if not 0 <= token < len(values):
        raise PromptError(f"id {token} is outside the vocabulary of {len(values)} ids")
    return values[token]


def _offset(run: Readable, row: int) -> int:
    """The index of a row in `logits`."""
    offset = row - run.rows.start if row >= 0 else len(run.rows) + row
    if not 0 <= offset < len(run.rows):
        raise SiteError(
            f"row {row} was not computed; there are rows {run.rows.start} … {run.rows.stop - 1}",
            "run with a longer tail, or with the answer as the continuation",
        )
    return offset
