"""Two vocabularies side by side: which token of one is which of the other."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from whybox.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class Alike:
    """Every token of two vocabularies by a number that tokens of equal text share.

    same: whether the vocabularies are one; the numbers are then the ids.
    """

    same: bool
    a: Int[np.ndarray, "v"]
    b: Int[np.ndarray, "w"]

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return 1 + int(max(self.a.max(), self.b.max()))

    def held(self, numbers: Int[np.ndarray, "_"], probabilities: Float[np.ndarray, "_v"]) -> Float[np.ndarray, "_n"]:
        """A distribution by number: tokens of equal text together, NaN where no token has the number."""
        numbers = numbers[: len(probabilities)]
        summed = np.bincount(numbers, weights=probabilities, minlength=self.count)
        summed[np.bincount(numbers, minlength=self.count) == 0] = np.nan
        return summed


def alike(one: Tokenizer, other: Tokenizer) -> Alike:
    """Tokens of equal bytes, where both or neither are control tokens, are alike; one without bytes is like none."""
    ids = np.arange(one.vocab_size)
    if one is other:
        return Alike(True, ids, ids)
    mine, theirs = list(_names(one, "a")), list(_names(other, "b"))
    if [name[:2] for name in mine] == [name[:2] for name in theirs]:
        return Alike(True, ids, ids)
    numbers: dict[Hashable, int] = {}
    codes = [np.array([numbers.setdefault(name, len(numbers)) for name in names]) for names in (mine, theirs)]
    return Alike(False, *codes)


def _names(tokenizer: Tokenizer, side: str) -> Iterator[tuple[bool, bytes, str]]:
    for token in range(tokenizer.vocab_size):
        spelled = tokenizer.token_bytes(token)
        yield tokenizer.is_control(token), spelled, "" if spelled else f"{side}{token}"
