"""Which keys the rows of a pass can see: a predicate on positions, made a mask only where one is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from whybox.engine.fast.keys import NOWHERE, Part
from whybox.engine.fast.stairs import corner
from whybox.engine.fast.tiled import Places
from whybox.engine.fast.tiled import sight as reach


@dataclass(frozen=True, eq=False)
class Sight:
    """Which keys the rows of a pass can see: a predicate on positions, made a mask only where one is asked for."""

    query: Int[np.ndarray, "n q"]
    key: tuple[Int[np.ndarray, "_m _k"], ...]
    window: int | None
    device: torch.device

    @cached_property
    def everything(self) -> bool:
        """Every row sees every key: no mask is needed."""
        latest = max(int(part.max(initial=-1)) for part in self.key)
        earliest = min(int(part.min(initial=latest)) for part in self.key)
        near = self.window is None or earliest > int(self._real.max()) - self.window
        return latest <= int(self.query.min()) and near

    @cached_property
    def triangle(self) -> bool:
        """Keys are the rows themselves, in rising order, all of them within the window: a lower triangle."""
        return self.stairs and len(self.key) == 1 and self.key[0].shape == self.query.shape

    @cached_property
    def stairs(self) -> bool:
        """The last keys are the rows themselves, as in a triangle, and every row sees all that come before."""
        rows = self.query.shape[1]
        *_, last = self.key
        if not np.array_equal(last[:, -rows:], self.query) or not (np.diff(self.query, axis=1) > 0).all():
            return False
        before = [*self.key[:-1], last[:, : last.shape[1] - rows]]
        first = self._real.min(axis=1)
        latest = max(int(part.max(initial=-1)) for part in before)
        earliest = min(int(part.min(initial=NOWHERE)) for part in before)
        near = self.window is None or int((self._real.max(axis=1) - np.minimum(first, earliest)).max()) < self.window
        return near and latest <= int(first.min())

    @cached_property
    def corner(self) -> Float[Tensor, "n n"]:
        """What is added to the scores where a step of a triangle meets the diagonal."""
        return corner(self.device)

    @cached_property
    def _real(self) -> Int[np.ndarray, "b q"]:
        """Where padding looks from does not matter: it is counted as its sequence's first row."""
        return np.where(self.query < NOWHERE, self.query, self.query[:, :1])

    @cached_property
    def places(self) -> Places | None:
        """One row of rising positions, where all sequences of the batch have the same in one part; else None."""
        if len(self.key) != 1 or len(self.key[0]) != len(self.query):
            return None
        plain = all(
            (places == places[:1]).all() and (np.diff(places[0]) >= 0).all() for places in (self.query, *self.key)
        )
        return Places(self.query[0], self.key[0][0]) if plain else None

    @cached_property
    def visible(self) -> int:
        """Pairs of a query and a key that it sees, where all sequences have the same places."""
        assert self.places is not None
        end, oldest = reach(self.places.query, self.places.key, self.window)
        return int((end - oldest).sum())

    @cached_property
    def mask(self) -> Bool[Tensor, "n q k"] | None:
        """True = visible; None where everything is."""
        if self.everything:
            return None
        if self.triangle:
            rows = self.query.shape[1]
            return torch.ones(1, rows, rows, dtype=torch.bool, device=self.device).tril()
        each = [self._part(part) for part in self.key]
        rows = max(map(len, each))
        seen = np.concatenate([np.broadcast_to(part, (rows, *part.shape[1:])) for part in each], axis=-1)
        return torch.from_numpy(seen).to(self.device)

    @cached_property
    def each(self) -> tuple["Sight", ...]:
        """The sight of every part by itself."""
        return tuple(Sight(self.query, (part,), self.window, self.device) for part in self.key)

    @cached_property
    def blind(self) -> Bool[Tensor, "n q"] | None:
        """Rows that see nothing; None where all see something."""
        if self.mask is None or self.triangle:
            return None
        blind = ~self.mask.any(dim=-1)
        return blind if bool(blind.any()) else None

    @cached_property
    def hidden(self) -> Bool[Tensor, "n q k"] | None:
        """True = not visible; None where everything is."""
        return None if self.mask is None else ~self.mask

    @cached_property
    def penalty(self) -> Float[Tensor, "n q k"]:
        """What is added to scores: 0 where a key is visible, else −∞."""
        assert self.mask is not None
        return torch.zeros(self.mask.shape, device=self.device).masked_fill_(~self.mask, -torch.inf)

    def _part(self, key: Int[np.ndarray, "m k"]) -> Bool[np.ndarray, "n q k"]:
        query, key = self.query[:, :, None], key[:, None, :]
        seen: Bool[np.ndarray, "n q k"] = key <= query
        return seen if self.window is None else seen & (key > query - self.window)


def beside(parts: Sequence[Int[np.ndarray, "_m _k"]]) -> Int[np.ndarray, "m k"]:
    """The positions of several parts as one axis k; what all rows share is repeated only where others differ."""
    rows = max(map(len, parts))
    return np.concatenate([np.broadcast_to(part, (rows, part.shape[1])) for part in parts], axis=1)


@dataclass
class Sights:
    """The sights of one pass; layers that look at the same places share one."""

    query: Int[np.ndarray, "n q"]
    device: torch.device
    _known: dict[int | None, Sight] = field(default_factory=dict)

    def of(self, parts: Sequence[Part], window: int | None) -> Sight:
        places = tuple(part.positions for part in parts)
        known = self._known.get(window)
        if known is None or not _same(known.key, places):
            known = self._known[window] = Sight(self.query, places, window, self.device)
        return known


def _same(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> bool:
    return len(before) == len(after) and all(map(_equal, before, after))


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Asked in every layer, where comparing bytes costs a tenth of `np.array_equal`."""
    return a is b or (a.shape == b.shape and a.tobytes() == b.tobytes())
