"""Keys and values of finished positions, kept because under a causal mask they can no longer change.

A cache is a value: every change makes a new one and the old stays as it was. Each slot stores its position, so three
things stay apart: slots held (`len`), tokens seen (`seen`), and a token's position (`positions`).
"""

from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import DTypeLike

from whybox.errors import UsageError


@dataclass(frozen=True, eq=False)
class LayerCache:
    """One layer's slots. Keys are stored rotated. `seen`: one beyond the last position fed, 0 before the first.

    `rolled`: positions below it have left through the window and cannot be had back.
    """

    key: Float[np.ndarray, "k g d"]
    value: Float[np.ndarray, "k g dv"]
    positions: Int[np.ndarray, "k"]
    seen: int = 0
    rolled: int = 0

    def __len__(self) -> int:
        return len(self.positions)

    def append(
        self,
        key: Float[np.ndarray, "n g d"],
        value: Float[np.ndarray, "n g dv"],
        positions: Int[np.ndarray, "n"],
        window: int | None = None,
    ) -> "LayerCache":
        """The cache with n more slots; with a window, only the last W positions stay.

        Several new queries reach back further than the last one: attend over `append(…)`, then keep `.roll(window)`.
        Raises UsageError unless the positions rise, from at least `seen` on.
        """
        if len(positions) == 0:
            return self
        require_later(positions, self)
        grown = LayerCache(
            _frozen(np.concatenate([self.key, key])),
            _frozen(np.concatenate([self.value, value])),
            _frozen(np.concatenate([self.positions, positions])),
            seen=int(positions[-1]) + 1,
            rolled=self.rolled,
        )
        return grown if window is None else grown.roll(window)

    def roll(self, window: int) -> "LayerCache":
        """Only the slots that the last token sees: positions seen − W … seen − 1."""
        oldest = max(self.seen - window, 0)
        if oldest <= self.rolled:
            return self
        return replace(self._where(self.positions >= oldest), rolled=oldest)

    def crop(self, length: int, window: int | None = None) -> "LayerCache":
        """The cache as it was when `length` tokens had been seen: the later ones are taken back.

        Raises UsageError where the window has rolled over positions that the next token would see: recompute them.
        """
        require_croppable(length, window, self)
        return replace(self._where(self.positions < length), seen=length)

    def evict(self, positions: Int[np.ndarray, "n"]) -> "LayerCache":
        """Without the slots at these positions. The others keep theirs, and so does the next token.

        Raises UsageError for a position that no slot holds.
        """
        require_held(positions, self)
        return self._where(~np.isin(self.positions, positions))

    def _where(self, kept: np.ndarray) -> "LayerCache":
        return replace(
            self,
            key=_frozen(self.key[kept]),
            value=_frozen(self.value[kept]),
            positions=_frozen(self.positions[kept]),
        )


def empty(kv_heads: int, width: int, dtype: DTypeLike, value_width: int | None = None) -> LayerCache:
    """A cache that has seen nothing."""
    key = np.zeros((0, kv_heads, width), dtype)
    value = np.zeros((0, kv_heads, width if value_width is None else value_width), dtype)
    return LayerCache(_frozen(key), _frozen(value), _frozen(np.zeros(0, np.int64)))


@runtime_checkable
class Held(Protocol):
    """Slots of any storage, as far as the rules below must know them."""

    @property
    def positions(self) -> Int[np.ndarray, "k"]:
        """Position of each slot."""

    @property
    def seen(self) -> int:
        """One beyond the last position fed."""

    @property
    def rolled(self) -> int:
        """Positions below it have left through the window."""


def require_later(positions: Int[np.ndarray, "n"], held: Held) -> None:
    """New slots come after all that was seen, in rising order."""
    if positions[0] < held.seen or (len(positions) > 1 and (np.diff(positions) <= 0).any()):
        raise UsageError(
            f"expected rising positions from {held.seen} on ({held.seen} tokens seen, {len(held.positions)} slots "
            f"held), found {_span(positions)}",
            "feed each token at its absolute position; crop the cache to take tokens back",
        )


def require_croppable(length: int, window: int | None, held: Held) -> None:
    """Tokens can be taken back as long as the next one still finds everything in its window."""
    if not 0 <= length <= held.seen:
        raise UsageError(f"expected a length of 0 … {held.seen} (tokens seen), found {length}")
    needed = 0 if window is None else max(length - window + 1, 0)
    if length < held.seen and needed < held.rolled:
        raise UsageError(
            f"token {length} would see positions from {needed} on, but those below {held.rolled} left the window",
            "run the prompt again up to that token",
        )


def require_held(positions: Int[np.ndarray, "n"], held: Held) -> None:
    """Only what is there can be evicted."""
    absent = np.setdiff1d(positions, held.positions)
    if absent.size:
        raise UsageError(f"no slot holds position {int(absent[0])}; held: {_span(held.positions)}")


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def _span(positions: Int[np.ndarray, "n"]) -> str:
    return ", ".join(map(str, positions[:8].tolist())) + (" …" if len(positions) > 8 else "") or "none"
