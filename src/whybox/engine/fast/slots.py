"""One layer's keys and values as immutable values that share storage: a fork costs nothing until both sides write.

Slots lie in a storage with room behind them. The first to append behind the last slot writes there; anyone else who
appends at the same place finds it taken and copies. What was handed out once is never written again.
"""

from dataclasses import dataclass, field, replace
from threading import Lock

import numpy as np
import torch
from jaxtyping import Float, Int, Num

from whybox.engine.trace import LayerSlots
from whybox.errors import UsageError
from whybox.parts.cache import LayerCache, require_croppable, require_held, require_later

SMALLEST = 16  # slots of a storage that grew from nothing


@dataclass(eq=False)
class _Storage:
    """Room for slots. `used` of them were claimed, by whoever came first."""

    key: Float[torch.Tensor, "g room d"]
    value: Float[torch.Tensor, "g room dv"]
    positions: Int[np.ndarray, "room"]
    used: int = 0
    lock: Lock = field(default_factory=Lock)

    def claim(self, end: int, count: int) -> bool:
        """Whether slots end … end + count − 1 now belong to the caller alone."""
        with self.lock:
            if self.used != end or end + count > len(self.positions):
                return False
            self.used = end + count
            return True


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots first … first + k − 1 of a storage; same meaning and errors as `parts.cache.LayerCache`.

    Keys are stored rotated. `seen`: one beyond the last position fed. `rolled`: positions below it left through the
    window.
    """

    storage: _Storage
    first: int = 0
    count: int = 0
    seen: int = 0
    rolled: int = 0

    def __len__(self) -> int:
        return self.count

    @property
    def end(self) -> int:
        """The slot of the storage behind the last one."""
        return self.first + self.count

    @property
    def key(self) -> Float[torch.Tensor, "g k d"]:
        """A view, not to be written."""
        return self.storage.key.narrow(1, self.first, self.count)

    @property
    def value(self) -> Float[torch.Tensor, "g k dv"]:
        """A view, not to be written."""
        return self.storage.value.narrow(1, self.first, self.count)

    @property
    def positions(self) -> Int[np.ndarray, "k"]:
        """The absolute position of each slot, rising; read-only."""
        view = self.storage.positions[self.first : self.end]
        view.flags.writeable = False
        return view

    def append(
        self,
        key: Float[torch.Tensor, "g n d"],
        value: Float[torch.Tensor, "g n dv"],
        positions: Int[np.ndarray, "n"],
    ) -> "Slots":
        """With n more slots: written in place where nobody has written yet, else into a copy.

        Raises UsageError unless the positions rise, from at least `seen` on.
        """
        count = len(positions)
        if count == 0:
            return self
        require_later(positions, self)
        home = self if self.storage.claim(self.end, count) else self._moved(count)
        place = slice(home.end, home.end + count)
        home.storage.key.narrow(1, home.end, count).copy_(key)
        home.storage.value.narrow(1, home.end, count).copy_(value)
        home.storage.positions[place] = positions
        return Slots(home.storage, home.first, home.count + count, int(positions[-1]) + 1, home.rolled)

    def roll(self, window: int) -> "Slots":
        """Only the slots that the last token sees: positions seen − W … seen − 1. Copies nothing."""
        oldest = max(self.seen - window, 0)
        if oldest <= self.rolled:
            return self
        left = int(np.searchsorted(self.positions, oldest))
        return replace(self, first=self.first + left, count=self.count - left, rolled=oldest)

    def crop(self, length: int, window: int | None = None) -> "Slots":
        """As it was when `length` tokens had been seen. Copies nothing.

        Raises UsageError where the window has rolled over positions that the next token would see.
        """
        require_croppable(length, window, self)
        return replace(self, count=int(np.searchsorted(self.positions, length)), seen=length)

    def evict(self, positions: Int[np.ndarray, "n"]) -> "Slots":
        """Without the slots at these positions, in a storage of its own. The others keep their positions.

        Raises UsageError for a position that no slot holds.
        """
        require_held(positions, self)
        kept = np.flatnonzero(~np.isin(self.positions, positions))
        chosen = torch.from_numpy(kept).to(self.key.device)
        storage = _room(self.storage, 2 * len(kept))
        storage.key[:, : len(kept)] = self.key[:, chosen]
        storage.value[:, : len(kept)] = self.value[:, chosen]
        storage.positions[: len(kept)] = self.positions[kept]
        storage.used = len(kept)
        return replace(self, storage=storage, first=0, count=len(kept))

    def to_numpy(self) -> LayerCache:
        """The same slots as the reference engine's cache [k g d], in float32 where NumPy has no such type."""
        positions = self.positions.copy()
        positions.flags.writeable = False
        return LayerCache(_as_numpy(self.key), _as_numpy(self.value), positions, self.seen, self.rolled)

    def _moved(self, count: int) -> "Slots":
        """The same slots in a storage of twice the size, with the next `count` claimed."""
        storage = _room(self.storage, 2 * (self.count + count))
        storage.key[:, : self.count] = self.key
        storage.value[:, : self.count] = self.value
        storage.positions[: self.count] = self.positions
        storage.used = self.count + count
        return replace(self, storage=storage, first=0)


def empty(
    kv_heads: int,
    width: int,
    dtype: torch.dtype,
    device: torch.device,
    capacity: int = SMALLEST,
    value_width: int | None = None,
) -> Slots:
    """Slots that have seen nothing, with room for `capacity`."""
    return Slots(_storage((kv_heads, width, width if value_width is None else value_width), capacity, dtype, device))


def _room(like: _Storage, capacity: int) -> _Storage:
    widths = (like.key.shape[0], like.key.shape[-1], like.value.shape[-1])
    return _storage(widths, max(capacity, SMALLEST), like.key.dtype, like.key.device)


def _storage(widths: tuple[int, int, int], capacity: int, dtype: torch.dtype, device: torch.device) -> _Storage:
    kv_heads, key_width, value_width = widths
    with torch.inference_mode(False):  # so that a run with gradients may read what a plain run has kept
        return _Storage(
            torch.empty(kv_heads, capacity, key_width, dtype=dtype, device=device),
            torch.empty(kv_heads, capacity, value_width, dtype=dtype, device=device),
            np.empty(capacity, np.int64),
        )


def _as_numpy(slots: Num[torch.Tensor, "g k d"]) -> Float[np.ndarray, "k g d"]:
    exact = slots.detach().cpu()
    exact = exact.float() if exact.dtype is torch.bfloat16 else exact
    array = np.ascontiguousarray(exact.transpose(0, 1).numpy()).copy()
    array.flags.writeable = False
    return array


def own(layer: LayerSlots) -> Slots:
    """UsageError for a cache that another engine made."""
    if isinstance(layer, Slots):
        return layer
    raise UsageError("this cache was made by another engine", "run the prompt with this engine, and use its cache")
