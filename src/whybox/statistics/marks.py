"""Which pairs of a query and a key are counted together: the next token, copies of a token, what came after a copy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np
from jaxtyping import Bool, Int


@dataclass(frozen=True)
class Behind:
    """The key `back` tokens before the query; −1 is the next token."""

    back: int


@dataclass(frozen=True, eq=False)
class Duplicate:
    """Earlier keys with the query's own token. ids: of every position from 0 on."""

    ids: Int[np.ndarray, "n"]


@dataclass(frozen=True, eq=False)
class Induction:
    """Keys that follow a token like the query's, up to the query itself: id[k − 1] = id[q]."""

    ids: Int[np.ndarray, "n"]


@dataclass(frozen=True)
class Keys:
    """The same keys for every query."""

    positions: frozenset[int]


Mark = Behind | Duplicate | Induction | Keys


def marked(
    mark: Mark, query_pos: Int[np.ndarray, "q"], key_pos: Int[np.ndarray, "k"], nowhere: int | None = None
) -> Bool[np.ndarray, "q k"]:
    """Whether a pair counts. nowhere: the position of keys that only fill a table, which never count."""
    query, key = query_pos[:, None], key_pos[None, :]
    real = key_pos != nowhere if nowhere is not None else np.ones(len(key_pos), bool)
    match mark:
        case Behind(back):
            return (query - key == back) & real
        case Duplicate(ids):
            return (ids[query] == _of(ids, key_pos, real)) & (key < query) & real
        case Induction(ids):
            real = real & (key_pos > 0)
            return (ids[query] == _of(ids, key_pos - 1, real)) & (key <= query) & real
        case Keys(positions):
            return np.broadcast_to(chosen(positions, key_pos), (len(query_pos), len(key_pos)))
        case _:
            assert_never(mark)


def of_text(ids: Sequence[int]) -> tuple[tuple[str, Mark], ...]:
    """What a text says of induction and copying: the marks of a table of heads."""
    known = np.asarray(ids, np.int64)
    return ("induction_text", Induction(known)), ("duplicate_text", Duplicate(known))


def chosen(positions: frozenset[int], key_pos: Int[np.ndarray, "k"]) -> Bool[np.ndarray, "k"]:
    """Which keys stand at these positions."""
    return np.isin(key_pos, np.fromiter(positions, np.int64, len(positions)))


def _of(ids: Int[np.ndarray, "_n"], places: Int[np.ndarray, "k"], real: Bool[np.ndarray, "k"]) -> Int[np.ndarray, "k"]:
    return ids[np.where(real, places, 0)]
