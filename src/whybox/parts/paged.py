"""A cache in blocks from one pool, as an operating system pages memory (arXiv 2309.06180).

A sequence owns a table of block numbers, in its own order; the blocks lie anywhere. So no sequence needs room that
is contiguous or reserved, and at most block − 1 slots of each stand empty.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from whybox.errors import CapacityError, UsageError
from whybox.parts.flash import Tile


@dataclass(frozen=True, eq=False)
class Pool:
    """n blocks of s slots, shared by all sequences. `free`: blocks nobody owns, in the order they will be given."""

    key: Float[np.ndarray, "n s g d"]
    value: Float[np.ndarray, "n s g dv"]
    free: tuple[int, ...]

    @property
    def block(self) -> int:
        """Slots in a block."""
        return int(self.key.shape[1])


@dataclass(frozen=True)
class Table:
    """A sequence's blocks, first to last; slot i of the table holds position i, for i below `length`."""

    blocks: tuple[int, ...] = ()
    length: int = 0


def pool_like(
    key: Float[np.ndarray, "k g d"], value: Float[np.ndarray, "k g dv"], block: int, order: tuple[int, ...]
) -> Pool:
    """An empty pool for such keys and values; its blocks will be given in this order."""
    if block < 1 or sorted(order) != list(range(len(order))):
        raise UsageError(f"expected blocks of at least 1 slot and an order of 0 … n − 1, found {block} and {order}")
    shape = (len(order), block)
    return Pool(np.zeros((*shape, *key.shape[1:]), key.dtype), np.zeros((*shape, *value.shape[1:]), value.dtype), order)


def store(
    pool: Pool, table: Table, key: Float[np.ndarray, "n g d"], value: Float[np.ndarray, "n g dv"]
) -> tuple[Pool, Table]:
    """The pool and the table with n more positions; the old ones stay as they were.

    Raises CapacityError when the pool has too few free blocks.
    """
    length = table.length + len(key)
    lacking = -(-length // pool.block) - len(table.blocks)
    if lacking > len(pool.free):
        raise CapacityError(f"{lacking} more blocks of {pool.block} slots are needed, {len(pool.free)} are free")
    grown = Table(table.blocks + pool.free[:lacking], length)
    places = np.arange(table.length, length)
    block, slot = np.asarray(grown.blocks, np.int64)[places // pool.block], places % pool.block
    keys, values = pool.key.copy(), pool.value.copy()
    keys[block, slot], values[block, slot] = key, value
    return Pool(keys, values, pool.free[lacking:]), grown


def release(pool: Pool, table: Table) -> Pool:
    """The pool with the sequence's blocks given back. Their content stays until it is overwritten: lengths hide it."""
    return replace(pool, free=pool.free + table.blocks)


def gather(pool: Pool, table: Table) -> tuple[Float[np.ndarray, "k g d"], Float[np.ndarray, "k g dv"]]:
    """Keys and values of the sequence, contiguous and in order."""
    blocks = list(table.blocks)
    key, value = pool.key[blocks], pool.value[blocks]
    return (
        key.reshape(-1, *key.shape[2:])[: table.length],
        value.reshape(-1, *value.shape[2:])[: table.length],
    )


def tiles_of(pool: Pool, table: Table) -> Iterator[Tile]:
    """The sequence block by block, as views into the pool: attention needs no contiguous copy."""
    for place, number in enumerate(table.blocks):
        start = place * pool.block
        held = min(pool.block, table.length - start)
        yield Tile(pool.key[number, :held], pool.value[number, :held], np.arange(start, start + held))


def waste(pool: Pool, table: Table) -> int:
    """Slots that the sequence owns and does not use: at most block − 1."""
    return len(table.blocks) * pool.block - table.length
